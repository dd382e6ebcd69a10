-- Base tables of payments. A payer's signature is worth the money until it is settled, and a signed transaction holds it:
-- neither is read into any table, nor is what a payment was for beyond its route.

CREATE TABLE IF NOT EXISTS payment_intents_log
(
    payment_id String COMMENT 'chain id:asset:payer:nonce of the authorization, lower case' CODEC(ZSTD(1)),
    request_id String COMMENT 'The request that brought it' CODEC(ZSTD(1)),
    method LowCardinality(String) COMMENT 'HTTP method' CODEC(ZSTD(1)),
    route LowCardinality(String) COMMENT 'Path of the route as the route table has it' CODEC(ZSTD(1)),
    price_usd Decimal(18, 6) COMMENT 'The route''s price, USD' CODEC(ZSTD(1)),
    version UInt8 COMMENT 'Version of the payment protocol: 1 or 2' CODEC(ZSTD(1)),
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
    payment_id String COMMENT 'chain id:asset:payer:nonce of the authorization, lower case' CODEC(ZSTD(1)),
    event LowCardinality(String) COMMENT 'broadcast, pending, settled, failed, conflict' CODEC(ZSTD(1)),
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
