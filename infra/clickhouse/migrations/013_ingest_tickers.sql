-- As 004, for market.tickers.

CREATE TABLE IF NOT EXISTS market_tickers_in
(
    instrument String,
    asset String,
    bid Nullable(Float64),
    ask Nullable(Float64),
    last Nullable(Float64),
    price Float64,
    low Float64,
    high Float64,
    change_24h Nullable(Float64),
    volume_24h Nullable(Float64),
    quote_volume_24h Nullable(Float64),
    quote String,
    quote_usd Float64,
    from Nullable(Int64),
    to Int64,
    received Int64,
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
COMMENT 'Records of market.tickers on their way into the base tables';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_ticker TO tickers_log AS
SELECT
    asset,
    instrument,
    fromUnixTimestamp64Micro(record.time, 'UTC') AS time,
    fromUnixTimestamp64Micro(record.received, 'UTC') AS received,
    bid,
    ask,
    assumeNotNull(record.last) AS last,
    price,
    low,
    high,
    change_24h,
    volume_24h,
    quote_volume_24h,
    quote,
    quote_usd,
    log_partition AS partition,
    log_offset AS offset
FROM market_tickers_in AS record
WHERE log_error = '' AND record.last IS NOT NULL;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_latest_ticker TO latest_tickers_log AS
SELECT
    instrument,
    asset,
    bid,
    ask,
    assumeNotNull(record.last) AS last,
    price,
    change_24h,
    volume_24h,
    quote_volume_24h,
    quote,
    quote_usd,
    fromUnixTimestamp64Micro(record.time, 'UTC') AS time,
    fromUnixTimestamp64Micro(record.received, 'UTC') AS received
FROM market_tickers_in AS record
WHERE log_error = '' AND record.last IS NOT NULL;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_price_range TO price_ranges_log AS
SELECT
    asset,
    instrument,
    fromUnixTimestamp64Micro(assumeNotNull(record.from), 'UTC') AS from,
    fromUnixTimestamp64Micro(record.to, 'UTC') AS to,
    low,
    high,
    quote,
    quote_usd,
    fromUnixTimestamp64Micro(record.received, 'UTC') AS received,
    log_partition AS partition,
    log_offset AS offset
FROM market_tickers_in AS record
WHERE log_error = '' AND record.from IS NOT NULL;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_tickers_states TO channel_states_log AS
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
GROUP BY writer, venue, run;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_tickers_time TO partition_times_log AS
SELECT
    'market.tickers' AS topic,
    log_partition AS partition,
    fromUnixTimestamp64Micro(max(record.time), 'UTC') AS time
FROM market_tickers_in AS record
WHERE log_error = '' AND record.writer IS NOT NULL
GROUP BY partition;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_tickers_error TO ingest_errors_log AS
SELECT
    'market.tickers' AS topic,
    log_partition AS partition,
    log_offset AS offset,
    log_time AS time,
    log_error AS error,
    log_raw AS raw
FROM market_tickers_in
WHERE log_error != '';
