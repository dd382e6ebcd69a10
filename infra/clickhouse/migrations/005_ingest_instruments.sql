-- As 004, for market.instruments.

CREATE TABLE IF NOT EXISTS market_instruments_in
(
    instrument String,
    asset String,
    venue String,
    market String,
    symbol String,
    base String,
    quote String,
    settle String,
    size_factor Float64,
    price_factor Float64,
    tick Nullable(Float64),
    status String,
    source String,
    valid_from Int64,
    log_partition UInt16,
    log_offset UInt64,
    log_time DateTime64(3, 'UTC'),
    log_error String,
    log_raw String
)
ENGINE = Null
COMMENT 'Records of market.instruments on their way into the base tables';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_instrument TO instruments_log AS
SELECT
    instrument,
    fromUnixTimestamp64Micro(record.valid_from, 'UTC') AS valid_from,
    asset,
    venue,
    market,
    symbol,
    base,
    quote,
    settle,
    size_factor,
    price_factor,
    tick,
    status,
    source,
    log_partition AS partition,
    log_offset AS offset
FROM market_instruments_in AS record
WHERE log_error = '';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_instruments_error TO ingest_errors_log AS
SELECT
    'market.instruments' AS topic,
    log_partition AS partition,
    log_offset AS offset,
    log_time AS time,
    log_error AS error,
    log_raw AS raw
FROM market_instruments_in
WHERE log_error != '';
