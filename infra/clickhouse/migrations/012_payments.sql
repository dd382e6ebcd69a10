-- payments.intents and payments.events. A payer's signature is worth the money until it is settled, and a signed transaction
-- holds it: neither is read into any table, nor is what a payment was for beyond its route. payment_events is sorted by
-- payment_id, payment_intents by time. Requests that are charged to an API key reserve their purchase here: no money moves, and
-- it is no revenue.

CREATE TABLE IF NOT EXISTS payment_intents_log
(
    payment_id String COMMENT 'chain id:asset:payer:nonce of the authorization, lower case; credit:purchase of one that is charged to an API key' CODEC(ZSTD(1)),
    request_id String COMMENT 'The request that brought it' CODEC(ZSTD(1)),
    method LowCardinality(String) COMMENT 'HTTP method' CODEC(ZSTD(1)),
    route LowCardinality(String) COMMENT 'Path of the route as the route table has it' CODEC(ZSTD(1)),
    price_usd Decimal(18, 6) COMMENT 'The route''s price, USD' CODEC(ZSTD(1)),
    version UInt8 COMMENT 'Version of the payment protocol: 1 or 2; 0: it is charged to an API key' CODEC(ZSTD(1)),
    chain_id UInt64 COMMENT '8453 Base, 84532 Base Sepolia or the local chain' CODEC(ZSTD(1)),
    asset LowCardinality(String) COMMENT 'Token contract, lower-case hex' CODEC(ZSTD(1)),
    pay_to LowCardinality(String) COMMENT 'Receiver, lower-case hex' CODEC(ZSTD(1)),
    payer String COMMENT 'Lower-case hex' CODEC(ZSTD(1)),
    amount_usd Decimal(18, 6) COMMENT 'What was signed, USD' CODEC(ZSTD(1)),
    valid_after DateTime64(0, 'UTC') COMMENT 'The authorization counts from then, as signed' CODEC(Delta, ZSTD(1)),
    valid_before DateTime64(0, 'UTC') COMMENT 'and until then' CODEC(Delta, ZSTD(1)),
    created DateTime64(6, 'UTC') COMMENT 'Clock of the API' CODEC(Delta, ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of payments.intents' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset in that partition' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(created)
ORDER BY (created, payment_id, request_id)
SETTINGS index_granularity = 1024
COMMENT 'Checked payments with their requests; read the view payment_intents';

CREATE TABLE IF NOT EXISTS payment_events_log
(
    payment_id String COMMENT 'chain id:asset:payer:nonce of the authorization, lower case; credit:purchase of one that is charged to an API key' CODEC(ZSTD(1)),
    event LowCardinality(String) COMMENT 'broadcast, pending, settled, failed, conflict; reserved: charged to an API key, no payment' CODEC(ZSTD(1)),
    request_id String COMMENT 'The request that it follows from; of a conflict, the refused one' CODEC(ZSTD(1)),
    method LowCardinality(String) COMMENT 'HTTP method' CODEC(ZSTD(1)),
    route LowCardinality(String) COMMENT 'Path of the route as the route table has it' CODEC(ZSTD(1)),
    payer String COMMENT 'Lower-case hex' CODEC(ZSTD(1)),
    amount_usd Decimal(18, 6) COMMENT 'USD' CODEC(ZSTD(1)),
    tx String COMMENT 'Transaction hash; empty: none is known' CODEC(ZSTD(1)),
    block Nullable(UInt64) COMMENT 'Block of the transaction; null: in none' CODEC(ZSTD(1)),
    reason LowCardinality(Nullable(String)) COMMENT 'Reason code of x402, for failed, pending and conflict' CODEC(ZSTD(1)),
    submitted_by LowCardinality(String) COMMENT 'us, facilitator, other: found on chain' CODEC(ZSTD(1)),
    valid_before DateTime64(0, 'UTC') COMMENT 'End of the authorization, as signed' CODEC(Delta, ZSTD(1)),
    time DateTime64(6, 'UTC') COMMENT 'When it happened' CODEC(Delta, ZSTD(1)),
    v UInt64 COMMENT 'Offset in payments.intents of the intent that it follows from' CODEC(Delta, ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of payments.events' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset in that partition' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(time)
ORDER BY (payment_id, v, event, tx)
SETTINGS index_granularity = 1024
COMMENT 'What became of payments; read the views payments and payment_events';

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

CREATE OR REPLACE VIEW payment_intents AS
SELECT
    payment_id,
    request_id,
    method,
    route,
    price_usd,
    version,
    chain_id,
    asset,
    pay_to,
    payer,
    amount_usd,
    valid_after,
    valid_before,
    created,
    partition,
    offset
FROM payment_intents_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Checked payments with the requests that brought them, to be settled; a payment that came twice has two';

CREATE OR REPLACE VIEW payment_events AS
SELECT
    payment_id,
    event,
    request_id,
    method,
    route,
    payer,
    amount_usd,
    nullIf(tx, '') AS tx,
    block,
    reason,
    submitted_by,
    valid_before,
    time,
    v,
    partition,
    offset
FROM payment_events_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'What became of each payment, step by step, sorted by payment';

ALTER TABLE payment_events
    COMMENT COLUMN tx 'Transaction hash; null: none is known';

CREATE OR REPLACE VIEW payments AS
SELECT
    payment_id,
    toUInt64OrZero(splitByChar(':', payment_id)[1]) AS chain_id,
    splitByChar(':', payment_id)[2] AS asset,
    argMax(payer, newest) AS payer,
    argMax(event, newest) AS state,
    argMax(method, newest) AS method,
    argMax(route, newest) AS route,
    argMax(request_id, newest) AS request_id,
    argMax(amount_usd, newest) AS amount_usd,
    nullIf(argMax(tx, newest), '') AS tx,
    argMax(tuple(block), newest).1 AS block,
    argMax(tuple(reason), newest).1 AS reason,
    argMax(submitted_by, newest) AS submitted_by,
    min(event_time) AS begun,
    argMax(event_time, newest) AS time,
    uniqExactIf(v, event = 'conflict') AS conflicts
FROM
(
    SELECT
        *,
        time AS event_time,
        (event != 'conflict', event = 'settled', offset) AS newest
    FROM payment_events_log
)
GROUP BY payment_id
COMMENT 'A payment as it stands: state broadcast, pending, settled or failed, when it began and came to that (UTC), USD, and how many other requests tried to use it; a settled one stays so';

ALTER TABLE payments
    COMMENT COLUMN chain_id '8453 Base, 84532 Base Sepolia or the local chain; 0: charged to an API key',
    COMMENT COLUMN asset 'Token contract, lower-case hex',
    COMMENT COLUMN state 'What it has come to: broadcast, pending, settled, failed; reserved: charged to an API key, no payment',
    COMMENT COLUMN request_id 'The request that it is for',
    COMMENT COLUMN amount_usd 'What was signed, USD',
    COMMENT COLUMN tx 'Transaction hash; null: none is known',
    COMMENT COLUMN reason 'Reason code of x402 where it failed or is pending; null otherwise',
    COMMENT COLUMN begun 'When its first step was taken, UTC',
    COMMENT COLUMN time 'When it came to its state, UTC',
    COMMENT COLUMN conflicts 'Other requests that tried to use it';

CREATE OR REPLACE VIEW revenue AS
SELECT
    toDate(time, 'UTC') AS day,
    chain_id,
    asset,
    method,
    route,
    count() AS payments,
    uniqExact(payer) AS payers,
    sum(amount_usd) AS usd
FROM payments
WHERE state = 'settled'
GROUP BY day, chain_id, asset, method, route
COMMENT 'What each route earned on each day (UTC) by settled payments, USD; chain 84532 is test or play money';

ALTER TABLE revenue
    COMMENT COLUMN chain_id '8453 Base, 84532 Base Sepolia or the local chain',
    COMMENT COLUMN day 'Day of the settlement, UTC',
    COMMENT COLUMN payments 'Settled payments',
    COMMENT COLUMN payers 'Different payers among them',
    COMMENT COLUMN usd 'What they paid together, USD';
