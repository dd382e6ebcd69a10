-- As 004, for market.liquidations, market.candles and market.tokens.

CREATE TABLE IF NOT EXISTS market_liquidations_in
(
    instrument String,
    asset String,
    id String,
    side String,
    size Float64,
    price Nullable(Float64),
    price_kind String,
    value Float64,
    completeness String,
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
COMMENT 'Records of market.liquidations on their way into the base tables';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_liquidation TO liquidations_log AS
SELECT
    fromUnixTimestamp64Micro(record.time, 'UTC') AS time,
    instrument,
    id,
    asset,
    side,
    size,
    assumeNotNull(record.price) AS price,
    price_kind,
    value,
    completeness,
    fromUnixTimestamp64Micro(record.received, 'UTC') AS received,
    log_partition AS partition,
    log_offset AS offset
FROM market_liquidations_in AS record
WHERE log_error = '' AND record.price IS NOT NULL;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_liquidations_states TO channel_states_log AS
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
GROUP BY writer, venue, run;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_liquidations_time TO partition_times_log AS
SELECT
    'market.liquidations' AS topic,
    log_partition AS partition,
    fromUnixTimestamp64Micro(max(record.time), 'UTC') AS time
FROM market_liquidations_in AS record
WHERE log_error = '' AND record.writer IS NOT NULL
GROUP BY partition;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_liquidations_error TO ingest_errors_log AS
SELECT
    'market.liquidations' AS topic,
    log_partition AS partition,
    log_offset AS offset,
    log_time AS time,
    log_error AS error,
    log_raw AS raw
FROM market_liquidations_in
WHERE log_error != '';

CREATE TABLE IF NOT EXISTS market_candles_in
(
    instrument String,
    asset String,
    minute Nullable(Int64),
    open Float64,
    high Float64,
    low Float64,
    close Float64,
    volume Float64,
    taker_buy Nullable(Float64),
    trades Nullable(Int64),
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
COMMENT 'Records of market.candles on their way into the base tables';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_candle TO candles_log AS
SELECT
    asset,
    instrument,
    fromUnixTimestamp64Micro(assumeNotNull(record.minute), 'UTC') AS minute,
    open,
    high,
    low,
    close,
    volume,
    taker_buy,
    trades,
    fromUnixTimestamp64Micro(record.received, 'UTC') AS received,
    log_partition AS partition,
    log_offset AS offset
FROM market_candles_in AS record
WHERE log_error = '' AND record.minute IS NOT NULL;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_candles_states TO channel_states_log AS
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
GROUP BY writer, venue, run;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_candles_time TO partition_times_log AS
SELECT
    'market.candles' AS topic,
    log_partition AS partition,
    fromUnixTimestamp64Micro(max(record.time), 'UTC') AS time
FROM market_candles_in AS record
WHERE log_error = '' AND record.writer IS NOT NULL
GROUP BY partition;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_candles_error TO ingest_errors_log AS
SELECT
    'market.candles' AS topic,
    log_partition AS partition,
    log_offset AS offset,
    log_time AS time,
    log_error AS error,
    log_raw AS raw
FROM market_candles_in
WHERE log_error != '';

CREATE TABLE IF NOT EXISTS market_tokens_in
(
    id String,
    asset Nullable(String),
    symbol String,
    name String,
    price Nullable(Float64),
    change_24h Nullable(Float64),
    change_7d Nullable(Float64),
    change_30d Nullable(Float64),
    volume_24h Nullable(Float64),
    market_cap Nullable(Float64),
    market_cap_rank Nullable(Int32),
    circulating_supply Nullable(Float64),
    total_supply Nullable(Float64),
    ath Nullable(Float64),
    ath_date Nullable(Int64),
    atl Nullable(Float64),
    atl_date Nullable(Int64),
    last_updated Int64,
    received Int64,
    log_partition UInt16,
    log_offset UInt64,
    log_time DateTime64(3, 'UTC'),
    log_error String,
    log_raw String
)
ENGINE = Null
COMMENT 'Records of market.tokens on their way into the base tables';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_token TO tokens_log AS
SELECT
    id,
    asset,
    symbol,
    name,
    price,
    change_24h,
    change_7d,
    change_30d,
    volume_24h,
    market_cap,
    market_cap_rank,
    circulating_supply,
    total_supply,
    ath,
    fromUnixTimestamp64Micro(record.ath_date, 'UTC') AS ath_date,
    atl,
    fromUnixTimestamp64Micro(record.atl_date, 'UTC') AS atl_date,
    fromUnixTimestamp64Micro(record.last_updated, 'UTC') AS last_updated,
    fromUnixTimestamp64Micro(record.received, 'UTC') AS received,
    log_offset AS offset
FROM market_tokens_in AS record
WHERE log_error = '';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_tokens_error TO ingest_errors_log AS
SELECT
    'market.tokens' AS topic,
    log_partition AS partition,
    log_offset AS offset,
    log_time AS time,
    log_error AS error,
    log_raw AS raw
FROM market_tokens_in
WHERE log_error != '';
