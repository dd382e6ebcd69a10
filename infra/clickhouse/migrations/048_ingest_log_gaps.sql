-- As 042, for control.gaps.

CREATE TABLE IF NOT EXISTS control_gaps_in
(
    reader String,
    topic String,
    partition Int32,
    reason String,
    position Int64,
    next Int64,
    shift Int64,
    missing Nullable(Int64),
    from_time Int64,
    to_time Int64,
    time Int64,
    log_partition UInt16,
    log_offset UInt64,
    log_time DateTime64(3, 'UTC'),
    log_error String,
    log_raw String
)
ENGINE = Null
COMMENT 'Records of control.gaps on their way into the base table';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_log_gap TO log_gaps_log AS
SELECT
    reader,
    topic,
    record.partition AS partition,
    reason,
    position,
    next,
    missing,
    fromUnixTimestamp64Micro(record.from_time, 'UTC') AS from_time,
    fromUnixTimestamp64Micro(record.to_time, 'UTC') AS to_time,
    shift,
    fromUnixTimestamp64Micro(record.time, 'UTC') AS time,
    log_partition AS told_partition,
    log_offset AS told_offset
FROM control_gaps_in AS record
WHERE log_error = '';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_log_gaps_error TO ingest_errors_log AS
SELECT
    'control.gaps' AS topic,
    log_partition AS partition,
    log_offset AS offset,
    log_time AS time,
    log_error AS error,
    log_raw AS raw
FROM control_gaps_in
WHERE log_error != '';
