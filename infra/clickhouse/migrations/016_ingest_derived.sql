-- As 004, for derived.funding, derived.audit and alerts.inputs.

CREATE TABLE IF NOT EXISTS derived_funding_in
(
    asset Nullable(String),
    exchanges Array(Tuple( exchange String, instrument String, rate Nullable(Float64), rate_time Nullable(Int64), next_settlement Nullable(Int64), interval_hours Float64, mark Nullable(Float64), index Nullable(Float64), mark_time Nullable(Int64), premium Nullable(Float64), premium_time Nullable(Int64), average_premium Nullable(Float64), samples Int32, expected Int32, predicted Nullable(Float64), settled_rate Nullable(Float64), settled_time Nullable(Int64), open_interest Nullable(Float64), open_interest_time Nullable(Int64))),
    v Int64,
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
COMMENT 'Records of derived.funding on their way into the base tables';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_latest_funding TO latest_funding_log AS
SELECT
    assumeNotNull(record.asset) AS asset,
    arrayMap(x -> (x.exchange, x.instrument, x.rate, fromUnixTimestamp64Micro(x.rate_time, 'UTC'), fromUnixTimestamp64Micro(x.next_settlement, 'UTC'), x.interval_hours, x.mark, x.index, fromUnixTimestamp64Micro(x.mark_time, 'UTC'), x.premium, fromUnixTimestamp64Micro(x.premium_time, 'UTC'), x.average_premium, toUInt32(x.samples), toUInt32(x.expected), x.predicted, x.settled_rate, fromUnixTimestamp64Micro(x.settled_time, 'UTC'), x.open_interest, fromUnixTimestamp64Micro(x.open_interest_time, 'UTC')), record.exchanges) AS exchanges,
    fromUnixTimestamp64Micro(record.time, 'UTC') AS time,
    v,
    log_partition AS partition,
    log_offset AS offset
FROM derived_funding_in AS record
WHERE log_error = '' AND record.asset IS NOT NULL;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_funding_time TO partition_times_log AS
SELECT
    'derived.funding' AS topic,
    log_partition AS partition,
    fromUnixTimestamp64Micro(max(record.time), 'UTC') AS time
FROM derived_funding_in AS record
WHERE log_error = '' AND record.writer IS NOT NULL
GROUP BY partition;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_funding_error TO ingest_errors_log AS
SELECT
    'derived.funding' AS topic,
    log_partition AS partition,
    log_offset AS offset,
    log_time AS time,
    log_error AS error,
    log_raw AS raw
FROM derived_funding_in
WHERE log_error != '';

CREATE TABLE IF NOT EXISTS derived_audit_in
(
    instrument String,
    asset String,
    minute Nullable(Int64),
    ours_volume Float64,
    theirs_volume Float64,
    volume_difference Float64,
    ours_delta Float64,
    theirs_delta Nullable(Float64),
    delta_difference Nullable(Float64),
    ours_trades Int64,
    theirs_trades Nullable(Int64),
    state String,
    v Int64,
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
COMMENT 'Records of derived.audit on their way into the base tables';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_audit TO audits_log AS
SELECT
    asset,
    instrument,
    fromUnixTimestamp64Micro(assumeNotNull(record.minute), 'UTC') AS minute,
    ours_volume,
    theirs_volume,
    volume_difference,
    ours_delta,
    theirs_delta,
    delta_difference,
    ours_trades,
    theirs_trades,
    state,
    fromUnixTimestamp64Micro(record.time, 'UTC') AS time,
    v,
    log_partition AS partition,
    log_offset AS offset
FROM derived_audit_in AS record
WHERE log_error = '' AND record.minute IS NOT NULL;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_audit_time TO partition_times_log AS
SELECT
    'derived.audit' AS topic,
    log_partition AS partition,
    fromUnixTimestamp64Micro(max(record.time), 'UTC') AS time
FROM derived_audit_in AS record
WHERE log_error = '' AND record.writer IS NOT NULL
GROUP BY partition;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_audit_error TO ingest_errors_log AS
SELECT
    'derived.audit' AS topic,
    log_partition AS partition,
    log_offset AS offset,
    log_time AS time,
    log_error AS error,
    log_raw AS raw
FROM derived_audit_in
WHERE log_error != '';

CREATE TABLE IF NOT EXISTS alerts_inputs_in
(
    asset String,
    price Float64,
    low Nullable(Float64),
    high Float64,
    change_24h Nullable(Float64),
    sources Array(Tuple(exchange String, instrument String, price Float64, low Float64, high Float64, time Int64)),
    quality String,
    late Bool,
    open_interest_usd Nullable(Float64),
    exchanges Array(Tuple(exchange String, open_interest_usd Float64, mark Float64, time Int64)),
    levels Array(Tuple(price Float64, long_usd Float64, short_usd Float64)),
    clusters Array(Tuple(leverage Int32, side String, price Float64, usd Float64)),
    at_risk_5_usd Float64,
    at_risk_5_pct Float64,
    at_risk_10_usd Float64,
    at_risk_10_pct Float64,
    cascade_risk String,
    swept_long_usd Float64,
    swept_short_usd Float64,
    since Int64,
    v Int64,
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
COMMENT 'Records of alerts.inputs on their way into the base tables';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_price TO prices_log AS
SELECT
    asset,
    fromUnixTimestamp64Micro(record.time, 'UTC') AS time,
    price,
    assumeNotNull(record.low) AS low,
    high,
    change_24h,
    arrayMap(x -> (x.exchange, x.instrument, x.price, x.low, x.high, fromUnixTimestamp64Micro(x.time, 'UTC')), record.sources) AS sources,
    quality,
    late,
    v,
    log_partition AS partition,
    log_offset AS offset
FROM alerts_inputs_in AS record
WHERE log_error = '' AND record.low IS NOT NULL;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_latest_price TO latest_prices_log AS
SELECT
    asset,
    price,
    assumeNotNull(record.low) AS low,
    high,
    change_24h,
    arrayMap(x -> (x.exchange, x.instrument, x.price, x.low, x.high, fromUnixTimestamp64Micro(x.time, 'UTC')), record.sources) AS sources,
    quality,
    late,
    fromUnixTimestamp64Micro(record.time, 'UTC') AS time,
    log_partition AS partition,
    log_offset AS offset
FROM alerts_inputs_in AS record
WHERE log_error = '' AND record.low IS NOT NULL;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_risk TO liquidation_risk_log AS
SELECT
    asset,
    fromUnixTimestamp64Micro(record.time, 'UTC') AS time,
    price,
    assumeNotNull(record.open_interest_usd) AS open_interest_usd,
    arrayMap(x -> (x.exchange, x.open_interest_usd, x.mark, fromUnixTimestamp64Micro(x.time, 'UTC')), record.exchanges) AS exchanges,
    levels,
    arrayMap(x -> (toUInt16(x.leverage), x.side, x.price, x.usd), record.clusters) AS clusters,
    at_risk_5_usd,
    at_risk_5_pct,
    at_risk_10_usd,
    at_risk_10_pct,
    cascade_risk,
    swept_long_usd,
    swept_short_usd,
    fromUnixTimestamp64Micro(record.since, 'UTC') AS since,
    v,
    log_partition AS partition,
    log_offset AS offset
FROM alerts_inputs_in AS record
WHERE log_error = '' AND record.open_interest_usd IS NOT NULL;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_latest_risk TO latest_risk_log AS
SELECT
    asset,
    fromUnixTimestamp64Micro(record.time, 'UTC') AS time,
    price,
    assumeNotNull(record.open_interest_usd) AS open_interest_usd,
    arrayMap(x -> (x.exchange, x.open_interest_usd, x.mark, fromUnixTimestamp64Micro(x.time, 'UTC')), record.exchanges) AS exchanges,
    levels,
    arrayMap(x -> (toUInt16(x.leverage), x.side, x.price, x.usd), record.clusters) AS clusters,
    at_risk_5_usd,
    at_risk_5_pct,
    at_risk_10_usd,
    at_risk_10_pct,
    cascade_risk,
    swept_long_usd,
    swept_short_usd,
    fromUnixTimestamp64Micro(record.since, 'UTC') AS since,
    v,
    log_partition AS partition,
    log_offset AS offset
FROM alerts_inputs_in AS record
WHERE log_error = '' AND record.open_interest_usd IS NOT NULL;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_inputs_time TO partition_times_log AS
SELECT
    'alerts.inputs' AS topic,
    log_partition AS partition,
    fromUnixTimestamp64Micro(max(record.time), 'UTC') AS time
FROM alerts_inputs_in AS record
WHERE log_error = '' AND record.writer IS NOT NULL
GROUP BY partition;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_inputs_error TO ingest_errors_log AS
SELECT
    'alerts.inputs' AS topic,
    log_partition AS partition,
    log_offset AS offset,
    log_time AS time,
    log_error AS error,
    log_raw AS raw
FROM alerts_inputs_in
WHERE log_error != '';
