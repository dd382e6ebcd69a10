-- As 021, for payments.intents and payments.events. A field that is no column is skipped as it is read: so signatures and
-- signed transactions never get here. What could not be read is told without its bytes, which may hold them.

CREATE TABLE IF NOT EXISTS payments_intents_in
(
    payment_id String,
    request_id String,
    method String,
    route String,
    price String,
    version Int32,
    chain_id Int64,
    asset String,
    pay_to String,
    `from` String,
    value String,
    valid_after Int64,
    valid_before Int64,
    created Int64,
    log_partition UInt16,
    log_offset UInt64,
    log_time DateTime64(3, 'UTC'),
    log_error String,
    log_raw String
)
ENGINE = Null
COMMENT 'Records of payments.intents on their way into the base tables';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_payment_intent TO payment_intents_log AS
SELECT
    payment_id,
    request_id,
    method,
    route,
    toDecimal64OrZero(price, 6) / 1000000 AS price_usd,
    version,
    chain_id,
    asset,
    pay_to,
    record.`from` AS payer,
    toDecimal64OrZero(value, 6) / 1000000 AS amount_usd,
    toDateTime64(least(record.valid_after, 9000000000), 0, 'UTC') AS valid_after,
    toDateTime64(least(record.valid_before, 9000000000), 0, 'UTC') AS valid_before,
    fromUnixTimestamp64Micro(record.created, 'UTC') AS created,
    log_partition AS partition,
    log_offset AS offset
FROM payments_intents_in AS record
WHERE log_error = '';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_payment_intents_error TO ingest_errors_log AS
SELECT
    'payments.intents' AS topic,
    log_partition AS partition,
    log_offset AS offset,
    log_time AS time,
    log_error AS error,
    '' AS raw
FROM payments_intents_in
WHERE log_error != '';

CREATE TABLE IF NOT EXISTS payments_events_in
(
    payment_id String,
    event String,
    request_id String,
    method String,
    route String,
    payer String,
    amount String,
    tx Nullable(String),
    block Nullable(Int64),
    reason Nullable(String),
    `by` String,
    valid_before Int64,
    time Int64,
    v Int64,
    log_partition UInt16,
    log_offset UInt64,
    log_time DateTime64(3, 'UTC'),
    log_error String,
    log_raw String
)
ENGINE = Null
COMMENT 'Records of payments.events on their way into the base tables';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_payment_event TO payment_events_log AS
SELECT
    payment_id,
    event,
    request_id,
    method,
    route,
    payer,
    toDecimal64OrZero(amount, 6) / 1000000 AS amount_usd,
    ifNull(record.tx, '') AS tx,
    block,
    reason,
    record.`by` AS submitted_by,
    toDateTime64(least(record.valid_before, 9000000000), 0, 'UTC') AS valid_before,
    fromUnixTimestamp64Micro(record.time, 'UTC') AS time,
    v,
    log_partition AS partition,
    log_offset AS offset
FROM payments_events_in AS record
WHERE log_error = '';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_payment_events_error TO ingest_errors_log AS
SELECT
    'payments.events' AS topic,
    log_partition AS partition,
    log_offset AS offset,
    log_time AS time,
    log_error AS error,
    '' AS raw
FROM payments_events_in
WHERE log_error != '';
