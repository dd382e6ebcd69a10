-- A topic's records pass through a table that keeps nothing and has the columns of all its record types; one view per
-- record type takes its own. A column that tells a type apart is a required field that only this type has, nullable
-- here: it is null exactly where the record is of another type. The views stand before anything flows (008), so no
-- record can pass one of them by.

CREATE TABLE IF NOT EXISTS market_trades_in
(
    instrument String,
    asset String,
    first_id Int64,
    last_id Int64,
    count Int32,
    sequence Nullable(Int64),
    price Nullable(Float64),
    size Float64,
    quote Float64,
    size_factor Float64,
    price_factor Float64,
    taker String,
    received Int64,
    origin String,
    gap_id Nullable(Int64),
    state String,
    reason Nullable(String),
    from_id Nullable(Int64),
    to_id Nullable(Int64),
    from_time Int64,
    to_time Int64,
    missing Nullable(Int64),
    feed String,
    writer Nullable(String),
    run Int64,
    time Int64,
    venues Array(Tuple(venue String, state String, sockets Int32, since Int64)),
    changes Array(Tuple(instrument String, asset String, state String, time Int64)),
    log_partition UInt16,
    log_offset UInt64,
    log_time DateTime64(3, 'UTC'),
    log_error String,
    log_raw String
)
ENGINE = Null
COMMENT 'Records of market.trades on their way into the base tables';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_trade TO trades_log AS
SELECT
    asset,
    instrument,
    fromUnixTimestamp64Micro(record.time, 'UTC') AS time,
    toUInt64(record.first_id) AS first_id,
    toUInt64(record.last_id - record.first_id) AS span,
    toUInt32(record.count) AS count,
    sequence,
    assumeNotNull(record.price) AS price,
    size,
    quote,
    size_factor,
    price_factor,
    taker,
    fromUnixTimestamp64Micro(record.received, 'UTC') AS received,
    origin,
    gap_id,
    log_partition AS partition,
    log_offset AS offset
FROM market_trades_in AS record
WHERE log_error = '' AND record.price IS NOT NULL;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_gap TO gaps_log AS
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
FROM market_trades_in AS record
WHERE log_error = '' AND record.reason IS NOT NULL;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_mark TO feed_marks_log AS
SELECT
    assumeNotNull(record.writer) AS writer,
    log_partition AS partition,
    fromUnixTimestamp64Micro(record.time, 'UTC') AS time,
    fromUnixTimestamp64Micro(record.run, 'UTC') AS run,
    arrayMap(x -> (x.venue, x.state, toUInt32(x.sockets), fromUnixTimestamp64Micro(x.since, 'UTC')), record.venues) AS venues,
    arrayMap(x -> (x.instrument, x.asset, x.state, fromUnixTimestamp64Micro(x.time, 'UTC')), record.changes) AS changes,
    log_offset AS offset
FROM market_trades_in AS record
WHERE log_error = '' AND record.writer IS NOT NULL;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_venue_state TO venue_states_log AS
SELECT
    assumeNotNull(record.writer) AS writer,
    entry.venue AS venue,
    fromUnixTimestamp64Micro(record.run, 'UTC') AS run,
    entry.state AS state,
    toUInt32(entry.sockets) AS sockets,
    fromUnixTimestamp64Micro(entry.since, 'UTC') AS since,
    fromUnixTimestamp64Micro(record.time, 'UTC') AS time
FROM market_trades_in AS record
ARRAY JOIN record.venues AS entry
WHERE log_error = '' AND record.writer IS NOT NULL;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_subscription TO subscriptions_log AS
SELECT
    assumeNotNull(record.writer) AS writer,
    fromUnixTimestamp64Micro(record.run, 'UTC') AS run,
    entry.instrument AS instrument,
    entry.asset AS asset,
    entry.state AS state,
    fromUnixTimestamp64Micro(entry.time, 'UTC') AS since
FROM market_trades_in AS record
ARRAY JOIN record.changes AS entry
WHERE log_error = '' AND record.writer IS NOT NULL;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_trades_time TO partition_times_log AS
SELECT
    'market.trades' AS topic,
    log_partition AS partition,
    fromUnixTimestamp64Micro(max(record.time), 'UTC') AS time
FROM market_trades_in AS record
WHERE log_error = '' AND record.writer IS NOT NULL
GROUP BY partition;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_trades_error TO ingest_errors_log AS
SELECT
    'market.trades' AS topic,
    log_partition AS partition,
    log_offset AS offset,
    log_time AS time,
    log_error AS error,
    log_raw AS raw
FROM market_trades_in
WHERE log_error != '';
