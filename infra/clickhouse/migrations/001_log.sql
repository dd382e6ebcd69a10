-- What every topic's reading has in common: partition times by their marks, and records that could not be read.
--
-- In this and all further files: a topic's records pass through a table that keeps nothing (`_in`), made of its schemas before
-- these files (incoming.ts), with the columns of all its record types; one view per record type (`ingest_`) takes its own. A
-- column that tells a type apart is a required field that only this type has, nullable there: it is null exactly where the
-- record is of another type. Views of marks and of records that could not be read are alike for all topics (readings.ts).
-- All views stand before anything flows, so no record can pass one of them by.
--
-- Base tables (`_log`) have what Kafka brought, each row with the partition and offset of its record. Of the rows of one key
-- the one with the highest version stands: so when parts merge, and so in the public views at every read. A record that
-- Kafka delivers twice is the same row twice. Where the partition key follows from the sorting key, rows of one key never
-- lie in two partitions, so partitions are read each for itself.
--
-- Public views are deduplicated, without the reader needing FINAL. A view's column is what the column of its name is in what
-- the view reads (migrate.ts); an ALTER behind the view says what is otherwise. Whoever makes a view again says that again.

CREATE TABLE IF NOT EXISTS marks_log
(
    topic LowCardinality(String) COMMENT 'Topic without its namespace',
    partition UInt16 COMMENT 'Kafka partition',
    writer LowCardinality(String) COMMENT 'The feed process or processor that wrote the mark',
    run DateTime64(6, 'UTC') COMMENT 'When that feed process started',
    time DateTime64(6, 'UTC') COMMENT 'Time of the newest mark',
    venues Array(Tuple(venue LowCardinality(String), state LowCardinality(String), sockets UInt32, since DateTime64(6, 'UTC')))
        COMMENT 'All venues of the feed process, as to this topic: state, open WebSocket connections, since when'
)
ENGINE = ReplacingMergeTree(time)
ORDER BY (topic, partition, writer, run)
COMMENT 'The newest mark of each writer in each partition of all topics; read the views partition_times, channel_states and venue_states';

-- Marks come every second to each partition of most topics, and a part of a table costs as much for one row as for thousands.
-- What a server that is killed loses of them is told again by the next mark, and what it had told is not ahead of the rows.
CREATE TABLE IF NOT EXISTS marks AS marks_log
ENGINE = Buffer(currentDatabase(), marks_log, 1, 10, 30, 10000, 100000, 1000000, 10000000)
COMMENT 'marks_log, with the marks of the last 30 s that are not written to it yet; read the views partition_times, channel_states and venue_states';

CREATE TABLE IF NOT EXISTS ingest_errors_log
(
    topic LowCardinality(String) COMMENT 'Topic without its namespace',
    partition UInt16 COMMENT 'Kafka partition',
    offset UInt64 COMMENT 'Kafka offset in that partition',
    time DateTime64(3, 'UTC') COMMENT 'Kafka record time',
    error String COMMENT 'Why the record could not be read',
    raw String COMMENT 'The record''s first 4096 bytes'
)
ENGINE = ReplacingMergeTree
ORDER BY (topic, partition, offset)
COMMENT 'Records that ClickHouse could not read; read the view ingest_errors';

CREATE OR REPLACE VIEW partition_times AS
SELECT
    topic,
    partition,
    max(time) AS time
FROM marks
GROUP BY topic, partition
COMMENT 'Partition time: the newest mark of each partition';

CREATE OR REPLACE VIEW ingest_errors AS
SELECT *
FROM ingest_errors_log FINAL
COMMENT 'Records that ClickHouse could not read, with why';
