-- payments.entries: the movements of API keys' credit. Sorted by key and time.

CREATE TABLE IF NOT EXISTS credit_entries_log
(
    key_id String COMMENT 'API key' CODEC(ZSTD(1)),
    kind LowCardinality(String) COMMENT 'bought: a payment came in; charged: answers were given' CODEC(ZSTD(1)),
    route LowCardinality(String) COMMENT 'Method and path as the route table has them' CODEC(ZSTD(1)),
    requests UInt64 COMMENT 'Answers given; of bought 1' CODEC(ZSTD(1)),
    amount_usd Decimal(18, 6) COMMENT 'Above zero, USD' CODEC(ZSTD(1)),
    payer String COMMENT 'Who bought the key, lower-case hex' CODEC(ZSTD(1)),
    payment_id String COMMENT 'Of bought: the payment, as in payments; empty otherwise' CODEC(ZSTD(1)),
    time DateTime64(6, 'UTC') COMMENT 'When it was counted' CODEC(Delta, ZSTD(1)),
    v UInt64 COMMENT 'Version: generation and offset in payments.credit' CODEC(Delta, ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of payments.entries' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset in that partition' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(time)
ORDER BY (key_id, time, v, kind, route)
SETTINGS index_granularity = 1024
COMMENT 'Movements of API keys'' credit; read the views credit_entries, key_usage and key_balances';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_credit_entry TO credit_entries_log AS
SELECT
    key_id,
    kind,
    route,
    greatest(record.requests, 0) AS requests,
    toDecimal64(record.amount, 6) / 1000000 AS amount_usd,
    payer,
    ifNull(record.payment_id, '') AS payment_id,
    fromUnixTimestamp64Micro(record.time, 'UTC') AS time,
    v,
    log_partition AS partition,
    log_offset AS offset
FROM payments_entries_in AS record
WHERE log_error = '';

CREATE OR REPLACE VIEW credit_entries AS
SELECT
    key_id,
    kind,
    route,
    requests,
    amount_usd,
    payer,
    nullIf(payment_id, '') AS payment_id,
    time,
    v,
    partition,
    offset
FROM credit_entries_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'A movement of an API key''s credit: a purchase, or what a route was charged for since the telling before, a quarter of a second at least';

ALTER TABLE credit_entries
    COMMENT COLUMN payment_id 'Of bought: the payment, as in payments; null otherwise',
    COMMENT COLUMN time 'When it was counted, UTC';

CREATE OR REPLACE VIEW key_usage AS
SELECT
    toDate(time, 'UTC') AS day,
    key_id,
    payer,
    route,
    sum(requests) AS requests,
    sum(amount_usd) AS usd
FROM credit_entries
WHERE kind = 'charged'
GROUP BY day, key_id, payer, route
COMMENT 'What each API key was charged on each day (UTC) by route, USD';

ALTER TABLE key_usage
    COMMENT COLUMN day 'Day of the charge, UTC',
    COMMENT COLUMN requests 'Answers given',
    COMMENT COLUMN usd 'What they cost together, USD';

CREATE OR REPLACE VIEW key_balances AS
SELECT
    key_id,
    payer,
    sumIf(amount_usd, kind = 'bought') AS bought_usd,
    sumIf(amount_usd, kind = 'charged') AS charged_usd,
    bought_usd - charged_usd AS balance_usd,
    sumIf(requests, kind = 'charged') AS requests,
    min(time) AS begun,
    max(time) AS newest
FROM credit_entries
GROUP BY key_id, payer
COMMENT 'Credit of each API key as its entries add up, USD';

ALTER TABLE key_balances
    COMMENT COLUMN bought_usd 'All that was paid in, USD',
    COMMENT COLUMN charged_usd 'All that was charged, USD',
    COMMENT COLUMN balance_usd 'What is left, USD',
    COMMENT COLUMN requests 'Answers given',
    COMMENT COLUMN begun 'First purchase, UTC',
    COMMENT COLUMN newest 'Newest movement, UTC';
