-- As 004, for derived.flow.

CREATE TABLE IF NOT EXISTS derived_flow_in
(
    asset String,
    instrument String,
    bucket Nullable(Int64),
    part Int64,
    buy Float64,
    sell Float64,
    buy_quote Float64,
    sell_quote Float64,
    buy_count Int64,
    sell_count Int64,
    open Float64,
    high Float64,
    low Float64,
    close Float64,
    open_time Int64,
    close_time Int64,
    first_id Int64,
    last_id Int64,
    final Bool,
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
COMMENT 'Records of derived.flow on their way into the base tables';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_flow TO flow_log AS
SELECT
    asset,
    instrument,
    fromUnixTimestamp64Micro(assumeNotNull(record.bucket), 'UTC') AS bucket,
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
FROM derived_flow_in AS record
WHERE log_error = '' AND record.bucket IS NOT NULL;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_flow_time TO partition_times_log AS
SELECT
    'derived.flow' AS topic,
    log_partition AS partition,
    fromUnixTimestamp64Micro(max(record.time), 'UTC') AS time
FROM derived_flow_in AS record
WHERE log_error = '' AND record.writer IS NOT NULL
GROUP BY partition;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_flow_error TO ingest_errors_log AS
SELECT
    'derived.flow' AS topic,
    log_partition AS partition,
    log_offset AS offset,
    log_time AS time,
    log_error AS error,
    log_raw AS raw
FROM derived_flow_in
WHERE log_error != '';
