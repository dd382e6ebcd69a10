-- As 004, for market.funding. Each group of a derivative ticker goes to its own table, with its own venue time.

CREATE TABLE IF NOT EXISTS market_funding_in
(
    instrument String,
    asset String,
    channel Nullable(String),
    rate Nullable(Float64),
    next_settlement Nullable(Int64),
    rate_time Nullable(Int64),
    mark Nullable(Float64),
    `index` Nullable(Float64),
    mark_time Nullable(Int64),
    premium Nullable(Float64),
    premium_time Nullable(Int64),
    open_interest Nullable(Float64),
    open_interest_time Nullable(Int64),
    settled_rate Nullable(Float64),
    cohort String,
    basis String,
    long_ratio Float64,
    short_ratio Float64,
    ls_ratio Nullable(Float64),
    interval_hours Nullable(Float64),
    rate_cap Nullable(Float64),
    rate_floor Nullable(Float64),
    interest_daily Nullable(Float64),
    max_leverage Nullable(Float64),
    margin_tiers Array(Tuple(up_to Nullable(Float64), rate Float64, deduction Float64)),
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
COMMENT 'Records of market.funding on their way into the base tables';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_funding_rate TO funding_rates_log AS
SELECT
    asset,
    instrument,
    fromUnixTimestamp64Micro(ifNull(record.rate_time, record.received), 'UTC') AS time,
    assumeNotNull(record.rate) AS rate,
    fromUnixTimestamp64Micro(record.next_settlement, 'UTC') AS next_settlement,
    assumeNotNull(record.channel) AS channel,
    fromUnixTimestamp64Micro(record.received, 'UTC') AS received,
    log_partition AS partition,
    log_offset AS offset
FROM market_funding_in AS record
WHERE log_error = '' AND record.channel IS NOT NULL AND record.rate IS NOT NULL;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_mark_price TO mark_prices_log AS
SELECT
    asset,
    instrument,
    fromUnixTimestamp64Micro(ifNull(record.mark_time, record.received), 'UTC') AS time,
    mark,
    record.index AS index_price,
    assumeNotNull(record.channel) AS channel,
    fromUnixTimestamp64Micro(record.received, 'UTC') AS received,
    log_partition AS partition,
    log_offset AS offset
FROM market_funding_in AS record
WHERE log_error = '' AND record.channel IS NOT NULL AND (record.mark IS NOT NULL OR record.index IS NOT NULL);

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_premium TO premiums_log AS
SELECT
    asset,
    instrument,
    fromUnixTimestamp64Micro(ifNull(record.premium_time, record.received), 'UTC') AS time,
    assumeNotNull(record.premium) AS premium,
    fromUnixTimestamp64Micro(record.received, 'UTC') AS received,
    log_partition AS partition,
    log_offset AS offset
FROM market_funding_in AS record
WHERE log_error = '' AND record.channel IS NOT NULL AND record.premium IS NOT NULL;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_open_interest TO open_interest_log AS
SELECT
    asset,
    instrument,
    fromUnixTimestamp64Micro(ifNull(record.open_interest_time, record.received), 'UTC') AS time,
    assumeNotNull(record.open_interest) AS open_interest,
    assumeNotNull(record.channel) AS channel,
    fromUnixTimestamp64Micro(record.received, 'UTC') AS received,
    log_partition AS partition,
    log_offset AS offset
FROM market_funding_in AS record
WHERE log_error = '' AND record.channel IS NOT NULL AND record.open_interest IS NOT NULL;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_settlement TO funding_settlements_log AS
SELECT
    asset,
    instrument,
    fromUnixTimestamp64Micro(record.time, 'UTC') AS time,
    assumeNotNull(record.settled_rate) AS settled_rate,
    mark,
    fromUnixTimestamp64Micro(record.received, 'UTC') AS received,
    log_partition AS partition,
    log_offset AS offset
FROM market_funding_in AS record
WHERE log_error = '' AND record.settled_rate IS NOT NULL;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_ratio TO long_short_ratios_log AS
SELECT
    asset,
    instrument,
    cohort,
    basis,
    fromUnixTimestamp64Micro(record.time, 'UTC') AS time,
    long_ratio,
    short_ratio,
    assumeNotNull(record.ls_ratio) AS ls_ratio,
    fromUnixTimestamp64Micro(record.received, 'UTC') AS received,
    log_partition AS partition,
    log_offset AS offset
FROM market_funding_in AS record
WHERE log_error = '' AND record.ls_ratio IS NOT NULL;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_latest_ratio TO latest_ratios_log AS
SELECT
    instrument,
    cohort,
    basis,
    asset,
    long_ratio,
    short_ratio,
    assumeNotNull(record.ls_ratio) AS ls_ratio,
    fromUnixTimestamp64Micro(record.time, 'UTC') AS time,
    fromUnixTimestamp64Micro(record.received, 'UTC') AS received
FROM market_funding_in AS record
WHERE log_error = '' AND record.ls_ratio IS NOT NULL;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_terms TO contract_terms_log AS
SELECT
    asset,
    instrument,
    fromUnixTimestamp64Micro(record.received, 'UTC') AS received,
    assumeNotNull(record.interval_hours) AS interval_hours,
    rate_cap,
    rate_floor,
    interest_daily,
    max_leverage,
    margin_tiers,
    log_partition AS partition,
    log_offset AS offset
FROM market_funding_in AS record
WHERE log_error = '' AND record.interval_hours IS NOT NULL;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_funding_facts_states TO channel_states_log AS
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
GROUP BY writer, venue, run;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_funding_facts_time TO partition_times_log AS
SELECT
    'market.funding' AS topic,
    log_partition AS partition,
    fromUnixTimestamp64Micro(max(record.time), 'UTC') AS time
FROM market_funding_in AS record
WHERE log_error = '' AND record.writer IS NOT NULL
GROUP BY partition;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_funding_facts_error TO ingest_errors_log AS
SELECT
    'market.funding' AS topic,
    log_partition AS partition,
    log_offset AS offset,
    log_time AS time,
    log_error AS error,
    log_raw AS raw
FROM market_funding_in
WHERE log_error != '';
