-- Signals with their venue, and every change of a subscription. The old consumer of derived.signals is taken away
-- first: 018 makes one of a new group, which reads the topic from its start, so that no signal stays without its venue.

DROP VIEW IF EXISTS derived_signals_pump;
DROP TABLE IF EXISTS derived_signals_queue;
DROP VIEW IF EXISTS ingest_signal;
DROP TABLE IF EXISTS signals_log;

ALTER TABLE derived_signals_in ADD COLUMN IF NOT EXISTS exchange Nullable(String) AFTER v;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_signal TO signal_changes_log AS
SELECT
    asset,
    assumeNotNull(record.kind) AS kind,
    period,
    ifNull(record.exchange, '') AS exchange,
    fromUnixTimestamp64Micro(record.time, 'UTC') AS time,
    record.from AS from,
    record.to AS to,
    value,
    evidence,
    v,
    log_partition AS partition,
    log_offset AS offset
FROM derived_signals_in AS record
WHERE log_error = '' AND record.kind IS NOT NULL;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_subscription_change TO subscription_changes_log AS
SELECT
    entry.instrument AS instrument,
    fromUnixTimestamp64Micro(entry.time, 'UTC') AS time,
    assumeNotNull(record.writer) AS writer,
    fromUnixTimestamp64Micro(record.run, 'UTC') AS run,
    entry.asset AS asset,
    entry.state AS state
FROM market_trades_in AS record
ARRAY JOIN record.changes AS entry
WHERE log_error = '' AND record.writer IS NOT NULL;

-- What the marks said before this view stood; what comes twice is the same row.
INSERT INTO subscription_changes_log (instrument, time, writer, run, asset, state)
SELECT
    entry.instrument,
    entry.time,
    writer,
    run,
    entry.asset,
    entry.state
FROM feed_marks_log
ARRAY JOIN changes AS entry;
