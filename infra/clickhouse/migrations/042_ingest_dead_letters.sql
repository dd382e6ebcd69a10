-- As 025, for control.dead_letters. Key and value are no columns and are skipped as they are read.

CREATE TABLE IF NOT EXISTS control_dead_letters_in
(
    processor String,
    topic String,
    partition Int32,
    offset Int64,
    time Int64,
    reason String,
    code String,
    message String,
    at Nullable(String),
    attempts Int32,
    size Int32,
    log_partition UInt16,
    log_offset UInt64,
    log_time DateTime64(3, 'UTC'),
    log_error String,
    log_raw String
)
ENGINE = Null
COMMENT 'Records of control.dead_letters on their way into the base table';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_dead_letter TO dead_letters_log AS
SELECT
    processor,
    topic,
    record.partition AS partition,
    record.offset AS offset,
    fromUnixTimestamp64Micro(record.time, 'UTC') AS time,
    reason,
    code,
    if(startsWith(record.topic, 'market.') OR startsWith(record.topic, 'derived.'), record.message, '') AS message,
    at,
    attempts,
    size,
    log_partition AS letter_partition,
    log_offset AS letter_offset
FROM control_dead_letters_in AS record
WHERE log_error = '';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_dead_letters_error TO ingest_errors_log AS
SELECT
    'control.dead_letters' AS topic,
    log_partition AS partition,
    log_offset AS offset,
    log_time AS time,
    log_error AS error,
    '' AS raw
FROM control_dead_letters_in
WHERE log_error != '';
