-- What the time is by the venues' times, as a feed's mark says. A mark that its own venues contradict is no time of its
-- partition and no news of its venues: the processors do not follow it either. feed_marks_log and the tables for replays
-- keep it as it is. Reading of these topics stops here and is begun again by 051, where it was.

DROP VIEW IF EXISTS market_trades_pump;
DROP VIEW IF EXISTS market_tickers_pump;
DROP VIEW IF EXISTS market_funding_pump;
DROP VIEW IF EXISTS market_liquidations_pump;
DROP VIEW IF EXISTS market_candles_pump;

ALTER TABLE market_trades_in ADD COLUMN IF NOT EXISTS venue_time Nullable(Int64) AFTER changes;
ALTER TABLE market_tickers_in ADD COLUMN IF NOT EXISTS venue_time Nullable(Int64) AFTER changes;
ALTER TABLE market_funding_in ADD COLUMN IF NOT EXISTS venue_time Nullable(Int64) AFTER changes;
ALTER TABLE market_liquidations_in ADD COLUMN IF NOT EXISTS venue_time Nullable(Int64) AFTER changes;
ALTER TABLE market_candles_in ADD COLUMN IF NOT EXISTS venue_time Nullable(Int64) AFTER changes;
ALTER TABLE market_trades_others_in ADD COLUMN IF NOT EXISTS venue_time Nullable(Int64) AFTER changes;
ALTER TABLE derived_flow_others_in ADD COLUMN IF NOT EXISTS venue_time Nullable(Int64) AFTER changes;
ALTER TABLE derived_flow_in ADD COLUMN IF NOT EXISTS venue_time Nullable(Int64) AFTER changes;
ALTER TABLE derived_signals_in ADD COLUMN IF NOT EXISTS venue_time Nullable(Int64) AFTER changes;
ALTER TABLE derived_funding_in ADD COLUMN IF NOT EXISTS venue_time Nullable(Int64) AFTER changes;
ALTER TABLE derived_audit_in ADD COLUMN IF NOT EXISTS venue_time Nullable(Int64) AFTER changes;
ALTER TABLE alerts_inputs_in ADD COLUMN IF NOT EXISTS venue_time Nullable(Int64) AFTER changes;
ALTER TABLE alerts_events_in ADD COLUMN IF NOT EXISTS venue_time Nullable(Int64) AFTER changes;

ALTER TABLE tickers_replay ADD COLUMN IF NOT EXISTS venue_time Nullable(Int64) AFTER changes;
ALTER TABLE funding_replay ADD COLUMN IF NOT EXISTS venue_time Nullable(Int64) AFTER changes;

ALTER TABLE feed_marks_log
    ADD COLUMN IF NOT EXISTS venue_time Nullable(DateTime64(6, 'UTC')) COMMENT 'What the time is by the venues'' times, as the feed process has them; null: it cannot tell' CODEC(ZSTD(1)) AFTER changes;

CREATE OR REPLACE VIEW feed_marks AS
SELECT
    writer,
    run,
    time,
    venue_time,
    venues,
    changes,
    partition,
    offset
FROM feed_marks_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Marks of the feed processes: one a second in each partition of market.trades';

ALTER TABLE feed_marks
    COMMENT COLUMN writer 'The feed process that wrote the mark',
    COMMENT COLUMN run 'When that feed process started',
    COMMENT COLUMN time 'Partition time: the writer''s clock, on a tape the tape''s',
    COMMENT COLUMN venue_time 'What the time is by the venues'' times, as the feed process has them; null: it cannot tell',
    COMMENT COLUMN venues 'All venues of the feed process: state, open WebSocket connections, since when',
    COMMENT COLUMN changes 'Subscriptions that were acknowledged, ended or refused since the writer''s previous mark',
    COMMENT COLUMN partition 'Kafka partition of market.trades',
    COMMENT COLUMN offset 'Kafka offset in that partition';

DROP VIEW IF EXISTS ingest_mark;

CREATE MATERIALIZED VIEW ingest_mark TO feed_marks_log AS
SELECT
    assumeNotNull(record.writer) AS writer,
    log_partition AS partition,
    fromUnixTimestamp64Micro(record.time, 'UTC') AS time,
    fromUnixTimestamp64Micro(record.run, 'UTC') AS run,
    arrayMap(x -> (x.venue, x.state, toUInt32(x.sockets), fromUnixTimestamp64Micro(x.since, 'UTC')), record.venues) AS venues,
    arrayMap(x -> (x.instrument, x.asset, x.state, fromUnixTimestamp64Micro(x.time, 'UTC')), record.changes) AS changes,
    fromUnixTimestamp64Micro(record.venue_time, 'UTC') AS venue_time,
    log_offset AS offset
FROM market_trades_others_in AS record
WHERE log_error = '' AND record.writer IS NOT NULL;

DROP VIEW IF EXISTS ingest_venue_state;

CREATE MATERIALIZED VIEW ingest_venue_state TO venue_states_log AS
SELECT
    assumeNotNull(record.writer) AS writer,
    entry.venue AS venue,
    fromUnixTimestamp64Micro(record.run, 'UTC') AS run,
    entry.state AS state,
    toUInt32(entry.sockets) AS sockets,
    fromUnixTimestamp64Micro(entry.since, 'UTC') AS since,
    fromUnixTimestamp64Micro(record.time, 'UTC') AS time
FROM market_trades_others_in AS record
ARRAY JOIN record.venues AS entry
WHERE log_error = '' AND record.writer IS NOT NULL
    AND (record.venue_time IS NULL OR record.time <= record.venue_time + 5000000);

DROP VIEW IF EXISTS ingest_trades_time;

CREATE MATERIALIZED VIEW ingest_trades_time TO partition_times_log AS
SELECT
    'market.trades' AS topic,
    log_partition AS partition,
    fromUnixTimestamp64Micro(max(record.time), 'UTC') AS time
FROM market_trades_others_in AS record
WHERE log_error = '' AND record.writer IS NOT NULL
    AND (record.venue_time IS NULL OR record.time <= record.venue_time + 5000000)
GROUP BY partition;

DROP VIEW IF EXISTS ingest_tickers_states;

CREATE MATERIALIZED VIEW ingest_tickers_states TO channel_states_log AS
SELECT
    'market.tickers' AS topic,
    assumeNotNull(record.writer) AS writer,
    entry.venue AS venue,
    fromUnixTimestamp64Micro(record.run, 'UTC') AS run,
    argMax(entry.state, record.time) AS state,
    toUInt32(argMax(entry.sockets, record.time)) AS sockets,
    fromUnixTimestamp64Micro(argMax(entry.since, record.time), 'UTC') AS since,
    fromUnixTimestamp64Micro(max(record.time), 'UTC') AS time
FROM market_tickers_in AS record
ARRAY JOIN record.venues AS entry
WHERE log_error = '' AND record.writer IS NOT NULL
    AND (record.venue_time IS NULL OR record.time <= record.venue_time + 5000000)
GROUP BY writer, venue, run;

DROP VIEW IF EXISTS ingest_tickers_time;

CREATE MATERIALIZED VIEW ingest_tickers_time TO partition_times_log AS
SELECT
    'market.tickers' AS topic,
    log_partition AS partition,
    fromUnixTimestamp64Micro(max(record.time), 'UTC') AS time
FROM market_tickers_in AS record
WHERE log_error = '' AND record.writer IS NOT NULL
    AND (record.venue_time IS NULL OR record.time <= record.venue_time + 5000000)
GROUP BY partition;

DROP VIEW IF EXISTS ingest_funding_facts_states;

CREATE MATERIALIZED VIEW ingest_funding_facts_states TO channel_states_log AS
SELECT
    'market.funding' AS topic,
    assumeNotNull(record.writer) AS writer,
    entry.venue AS venue,
    fromUnixTimestamp64Micro(record.run, 'UTC') AS run,
    argMax(entry.state, record.time) AS state,
    toUInt32(argMax(entry.sockets, record.time)) AS sockets,
    fromUnixTimestamp64Micro(argMax(entry.since, record.time), 'UTC') AS since,
    fromUnixTimestamp64Micro(max(record.time), 'UTC') AS time
FROM market_funding_in AS record
ARRAY JOIN record.venues AS entry
WHERE log_error = '' AND record.writer IS NOT NULL
    AND (record.venue_time IS NULL OR record.time <= record.venue_time + 5000000)
GROUP BY writer, venue, run;

DROP VIEW IF EXISTS ingest_funding_facts_time;

CREATE MATERIALIZED VIEW ingest_funding_facts_time TO partition_times_log AS
SELECT
    'market.funding' AS topic,
    log_partition AS partition,
    fromUnixTimestamp64Micro(max(record.time), 'UTC') AS time
FROM market_funding_in AS record
WHERE log_error = '' AND record.writer IS NOT NULL
    AND (record.venue_time IS NULL OR record.time <= record.venue_time + 5000000)
GROUP BY partition;

DROP VIEW IF EXISTS ingest_liquidations_states;

CREATE MATERIALIZED VIEW ingest_liquidations_states TO channel_states_log AS
SELECT
    'market.liquidations' AS topic,
    assumeNotNull(record.writer) AS writer,
    entry.venue AS venue,
    fromUnixTimestamp64Micro(record.run, 'UTC') AS run,
    argMax(entry.state, record.time) AS state,
    toUInt32(argMax(entry.sockets, record.time)) AS sockets,
    fromUnixTimestamp64Micro(argMax(entry.since, record.time), 'UTC') AS since,
    fromUnixTimestamp64Micro(max(record.time), 'UTC') AS time
FROM market_liquidations_in AS record
ARRAY JOIN record.venues AS entry
WHERE log_error = '' AND record.writer IS NOT NULL
    AND (record.venue_time IS NULL OR record.time <= record.venue_time + 5000000)
GROUP BY writer, venue, run;

DROP VIEW IF EXISTS ingest_liquidations_time;

CREATE MATERIALIZED VIEW ingest_liquidations_time TO partition_times_log AS
SELECT
    'market.liquidations' AS topic,
    log_partition AS partition,
    fromUnixTimestamp64Micro(max(record.time), 'UTC') AS time
FROM market_liquidations_in AS record
WHERE log_error = '' AND record.writer IS NOT NULL
    AND (record.venue_time IS NULL OR record.time <= record.venue_time + 5000000)
GROUP BY partition;

DROP VIEW IF EXISTS ingest_candles_states;

CREATE MATERIALIZED VIEW ingest_candles_states TO channel_states_log AS
SELECT
    'market.candles' AS topic,
    assumeNotNull(record.writer) AS writer,
    entry.venue AS venue,
    fromUnixTimestamp64Micro(record.run, 'UTC') AS run,
    argMax(entry.state, record.time) AS state,
    toUInt32(argMax(entry.sockets, record.time)) AS sockets,
    fromUnixTimestamp64Micro(argMax(entry.since, record.time), 'UTC') AS since,
    fromUnixTimestamp64Micro(max(record.time), 'UTC') AS time
FROM market_candles_in AS record
ARRAY JOIN record.venues AS entry
WHERE log_error = '' AND record.writer IS NOT NULL
    AND (record.venue_time IS NULL OR record.time <= record.venue_time + 5000000)
GROUP BY writer, venue, run;

DROP VIEW IF EXISTS ingest_candles_time;

CREATE MATERIALIZED VIEW ingest_candles_time TO partition_times_log AS
SELECT
    'market.candles' AS topic,
    log_partition AS partition,
    fromUnixTimestamp64Micro(max(record.time), 'UTC') AS time
FROM market_candles_in AS record
WHERE log_error = '' AND record.writer IS NOT NULL
    AND (record.venue_time IS NULL OR record.time <= record.venue_time + 5000000)
GROUP BY partition;

DROP VIEW IF EXISTS ingest_tickers_replay;

CREATE MATERIALIZED VIEW ingest_tickers_replay TO tickers_replay AS
SELECT *
FROM market_tickers_in
WHERE log_error = '';

DROP VIEW IF EXISTS ingest_funding_replay;

CREATE MATERIALIZED VIEW ingest_funding_replay TO funding_replay AS
SELECT *
FROM market_funding_in
WHERE log_error = '';

DROP VIEW IF EXISTS market_trades_others;

CREATE MATERIALIZED VIEW market_trades_others TO market_trades_others_in AS
SELECT * FROM market_trades_in
WHERE log_error != '' OR price IS NULL;
