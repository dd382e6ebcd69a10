-- When the venues' liquidations were heard: so a time without any is told from one in which nobody listened. Each mark says
-- since when a channel is live: of all marks of one such time one row remains. They come with what goes from `marks` into
-- marks_log, every 10 to 30 s, so that the marks themselves cost what they did. Of the time before this, the newest mark of
-- each run is known.

CREATE TABLE IF NOT EXISTS live_stretches_log
(
    topic LowCardinality(String) COMMENT 'Topic without its namespace',
    venue LowCardinality(String) COMMENT 'Venue name',
    writer LowCardinality(String) COMMENT 'The feed process that says so',
    time DateTime64(6, 'UTC') COMMENT 'From when on the venue''s channels for the topic were live',
    until DateTime64(6, 'UTC') COMMENT 'Time of the newest mark that says so'
)
ENGINE = ReplacingMergeTree(until)
ORDER BY (topic, venue, time, writer)
COMMENT 'Times in which a venue''s channels for liquidations were live; read the view live_stretches';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_live_stretch TO live_stretches_log AS
SELECT
    topic,
    entry.venue AS venue,
    entry.since AS time,
    writer,
    max(mark.time) AS until
FROM marks_log AS mark
ARRAY JOIN mark.venues AS entry
WHERE topic = 'market.liquidations' AND entry.state = 'live'
GROUP BY topic, venue, entry.since, writer;

CREATE OR REPLACE VIEW live_stretches AS
SELECT *
FROM live_stretches_log FINAL
COMMENT 'Times in which a venue''s channels for liquidations were live, as each feed process says; up to 30 s behind';

ALTER TABLE live_stretches
    COMMENT COLUMN topic 'Topic without its namespace: market.liquidations alone';
