-- Nearly all that comes in market.trades and derived.flow is trades and buckets. Each view over what comes is planned
-- anew for each block of it, 2 to 3 ms of a core: what is neither goes by a table of its own, whose views have nothing to
-- do in most flushes. Reading stops here and is begun again by 039, where it was.

DROP VIEW IF EXISTS market_trades_pump;
DROP VIEW IF EXISTS derived_flow_pump;

CREATE TABLE IF NOT EXISTS market_trades_others_in AS market_trades_in
ENGINE = Null
COMMENT 'Records of market.trades that are no trades, on their way into the base tables';

CREATE TABLE IF NOT EXISTS derived_flow_others_in AS derived_flow_in
ENGINE = Null
COMMENT 'Records of derived.flow that are no buckets, on their way into the base tables';

DROP VIEW IF EXISTS ingest_gap;

CREATE MATERIALIZED VIEW ingest_gap TO gaps_log AS
SELECT
    instrument,
    toUInt64(assumeNotNull(record.gap_id)) AS gap_id,
    asset,
    state,
    assumeNotNull(record.reason) AS reason,
    from_id,
    to_id,
    fromUnixTimestamp64Micro(record.from_time, 'UTC') AS from_time,
    fromUnixTimestamp64Micro(record.to_time, 'UTC') AS to_time,
    missing,
    feed,
    fromUnixTimestamp64Micro(record.time, 'UTC') AS time,
    log_partition AS partition,
    log_offset AS offset
FROM market_trades_others_in AS record
WHERE log_error = '' AND record.reason IS NOT NULL;

DROP VIEW IF EXISTS ingest_mark;

CREATE MATERIALIZED VIEW ingest_mark TO feed_marks_log AS
SELECT
    assumeNotNull(record.writer) AS writer,
    log_partition AS partition,
    fromUnixTimestamp64Micro(record.time, 'UTC') AS time,
    fromUnixTimestamp64Micro(record.run, 'UTC') AS run,
    arrayMap(x -> (x.venue, x.state, toUInt32(x.sockets), fromUnixTimestamp64Micro(x.since, 'UTC')), record.venues) AS venues,
    arrayMap(x -> (x.instrument, x.asset, x.state, fromUnixTimestamp64Micro(x.time, 'UTC')), record.changes) AS changes,
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
WHERE log_error = '' AND record.writer IS NOT NULL;

DROP VIEW IF EXISTS ingest_subscription;

CREATE MATERIALIZED VIEW ingest_subscription TO subscriptions_log AS
SELECT
    assumeNotNull(record.writer) AS writer,
    fromUnixTimestamp64Micro(record.run, 'UTC') AS run,
    entry.instrument AS instrument,
    entry.asset AS asset,
    entry.state AS state,
    fromUnixTimestamp64Micro(entry.time, 'UTC') AS since
FROM market_trades_others_in AS record
ARRAY JOIN record.changes AS entry
WHERE log_error = '' AND record.writer IS NOT NULL;

DROP VIEW IF EXISTS ingest_trades_time;

CREATE MATERIALIZED VIEW ingest_trades_time TO partition_times_log AS
SELECT
    'market.trades' AS topic,
    log_partition AS partition,
    fromUnixTimestamp64Micro(max(record.time), 'UTC') AS time
FROM market_trades_others_in AS record
WHERE log_error = '' AND record.writer IS NOT NULL
GROUP BY partition;

DROP VIEW IF EXISTS ingest_trades_error;

CREATE MATERIALIZED VIEW ingest_trades_error TO ingest_errors_log AS
SELECT
    'market.trades' AS topic,
    log_partition AS partition,
    log_offset AS offset,
    log_time AS time,
    log_error AS error,
    log_raw AS raw
FROM market_trades_others_in
WHERE log_error != '';

DROP VIEW IF EXISTS ingest_subscription_change;

CREATE MATERIALIZED VIEW ingest_subscription_change TO subscription_changes_log AS
SELECT
    entry.instrument AS instrument,
    fromUnixTimestamp64Micro(entry.time, 'UTC') AS time,
    assumeNotNull(record.writer) AS writer,
    fromUnixTimestamp64Micro(record.run, 'UTC') AS run,
    entry.asset AS asset,
    entry.state AS state
FROM market_trades_others_in AS record
ARRAY JOIN record.changes AS entry
WHERE log_error = '' AND record.writer IS NOT NULL;

DROP VIEW IF EXISTS ingest_flow_time;

CREATE MATERIALIZED VIEW ingest_flow_time TO partition_times_log AS
SELECT
    'derived.flow' AS topic,
    log_partition AS partition,
    fromUnixTimestamp64Micro(max(record.time), 'UTC') AS time
FROM derived_flow_others_in AS record
WHERE log_error = '' AND record.writer IS NOT NULL
GROUP BY partition;

DROP VIEW IF EXISTS ingest_flow_error;

CREATE MATERIALIZED VIEW ingest_flow_error TO ingest_errors_log AS
SELECT
    'derived.flow' AS topic,
    log_partition AS partition,
    log_offset AS offset,
    log_time AS time,
    log_error AS error,
    log_raw AS raw
FROM derived_flow_others_in
WHERE log_error != '';

DROP VIEW IF EXISTS ingest_flow_hour;

CREATE MATERIALIZED VIEW ingest_flow_hour TO flow_hours_log AS
SELECT
    asset,
    instrument,
    fromUnixTimestamp64Micro(assumeNotNull(record.hour), 'UTC') AS hour,
    part,
    buy,
    sell,
    buy_quote,
    sell_quote,
    buy_count,
    sell_count,
    open,
    high,
    low,
    close,
    fromUnixTimestamp64Micro(record.open_time, 'UTC') AS open_time,
    fromUnixTimestamp64Micro(record.close_time, 'UTC') AS close_time,
    first_id,
    last_id,
    final,
    v,
    log_partition AS partition,
    log_offset AS offset
FROM derived_flow_others_in AS record
WHERE log_error = '' AND record.hour IS NOT NULL;

-- Every record that 004 does not take for a trade, and 006 not for a bucket.
DROP VIEW IF EXISTS market_trades_others;

CREATE MATERIALIZED VIEW market_trades_others TO market_trades_others_in AS
SELECT * FROM market_trades_in
WHERE log_error != '' OR price IS NULL;

DROP VIEW IF EXISTS derived_flow_others;

CREATE MATERIALIZED VIEW derived_flow_others TO derived_flow_others_in AS
SELECT * FROM derived_flow_in
WHERE log_error != '' OR bucket IS NULL;
