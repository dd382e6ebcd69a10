-- As 004, for derived.signals.

CREATE TABLE IF NOT EXISTS derived_signals_in
(
    asset String,
    kind Nullable(String),
    period String,
    from String,
    to String,
    value Float64,
    evidence Map(String, Float64),
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
COMMENT 'Records of derived.signals on their way into the base tables';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_signal TO signals_log AS
SELECT
    asset,
    assumeNotNull(record.kind) AS kind,
    period,
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

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_signals_time TO partition_times_log AS
SELECT
    'derived.signals' AS topic,
    log_partition AS partition,
    fromUnixTimestamp64Micro(max(record.time), 'UTC') AS time
FROM derived_signals_in AS record
WHERE log_error = '' AND record.writer IS NOT NULL
GROUP BY partition;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_signals_error TO ingest_errors_log AS
SELECT
    'derived.signals' AS topic,
    log_partition AS partition,
    log_offset AS offset,
    log_time AS time,
    log_error AS error,
    log_raw AS raw
FROM derived_signals_in
WHERE log_error != '';
