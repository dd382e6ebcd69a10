-- Base tables of alerts and their deliveries. What could tell a webhook's address or who asked for it (URL, sealed or
-- not, receiver, wallets, payment, Idempotency-Key) is read into no table.

CREATE TABLE IF NOT EXISTS alert_commands_log
(
    alert_id String COMMENT 'The alert that it is about' CODEC(ZSTD(1)),
    request_id String COMMENT 'Of the API; the event that follows from it repeats it' CODEC(ZSTD(1)),
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue' CODEC(ZSTD(1)),
    action LowCardinality(String) COMMENT 'create, extend, cancel, test, resend' CODEC(ZSTD(1)),
    add_hours Nullable(Int32) COMMENT 'For extend: hours' CODEC(ZSTD(1)),
    created DateTime64(6, 'UTC') COMMENT 'Clock of the API' CODEC(Delta, ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of alerts.inputs' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset in that partition' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(created)
ORDER BY (alert_id, request_id)
COMMENT 'What was asked of alerts; read the view alert_commands';

CREATE TABLE IF NOT EXISTS alert_events_log
(
    alert_id String COMMENT 'The alert' CODEC(ZSTD(1)),
    event LowCardinality(String) COMMENT 'created, triggered, rearmed, repeated, extended, cancelled, expired, tested, resent, rejected' CODEC(ZSTD(1)),
    request_id Nullable(String) COMMENT 'The command that it follows from; null: a price or the time' CODEC(ZSTD(1)),
    error LowCardinality(Nullable(String)) COMMENT 'For rejected: the error identifier' CODEC(ZSTD(1)),
    trigger_id Nullable(String) COMMENT 'For triggered, tested and resent' CODEC(ZSTD(1)),
    kind LowCardinality(String) COMMENT 'What the alert watches: price, liquidation; empty: there is no such alert' CODEC(ZSTD(1)),
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue' CODEC(ZSTD(1)),
    symbol LowCardinality(String) COMMENT 'As submitted' CODEC(ZSTD(1)),
    condition LowCardinality(String) COMMENT 'above, below, crosses_above, crosses_below; cascade_risk' CODEC(ZSTD(1)),
    target_price Nullable(Float64) COMMENT 'USD; null for liquidation alerts' CODEC(ZSTD(1)),
    threshold_pct Nullable(Float64) COMMENT 'Percent of open interest at risk; null for price alerts' CODEC(ZSTD(1)),
    min_value_usd Nullable(Float64) COMMENT 'Least open interest at risk, USD; null for price alerts' CODEC(ZSTD(1)),
    status LowCardinality(String) COMMENT 'After the event: active, triggered, expired, cancelled' CODEC(ZSTD(1)),
    created_at DateTime64(6, 'UTC') COMMENT 'When the alert was created' CODEC(Delta, ZSTD(1)),
    expires_at DateTime64(6, 'UTC') COMMENT 'When it expires' CODEC(Delta, ZSTD(1)),
    ended_at DateTime64(6, 'UTC') COMMENT 'When it expired, was cancelled, or triggered for good; 1970: not yet' CODEC(Delta, ZSTD(1)),
    trigger_count UInt32 COMMENT 'Triggers so far' CODEC(ZSTD(1)),
    last_triggered DateTime64(6, 'UTC') COMMENT 'When it triggered last; 1970: never' CODEC(Delta, ZSTD(1)),
    time DateTime64(6, 'UTC') COMMENT 'When it happened, by the record that it follows from' CODEC(Delta, ZSTD(1)),
    v UInt64 COMMENT 'Version: generation times 2^44 plus the source offset it follows from' CODEC(Delta, ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of alerts.events' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset in that partition' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(v)
PARTITION BY toYYYYMM(time)
ORDER BY (alert_id, bitAnd(v, 17592186044415), event)
SETTINGS index_granularity = 1024
COMMENT 'What happened to each alert; read the view alert_events';

CREATE TABLE IF NOT EXISTS triggers_log
(
    alert_id String COMMENT 'The alert' CODEC(ZSTD(1)),
    trigger_id String COMMENT 'alert id and trigger count, for a test its request; the webhook-id of every attempt' CODEC(ZSTD(1)),
    kind LowCardinality(String) COMMENT 'Which payload: price, liquidation' CODEC(ZSTD(1)),
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue' CODEC(ZSTD(1)),
    symbol LowCardinality(String) COMMENT 'As submitted' CODEC(ZSTD(1)),
    severity LowCardinality(String) COMMENT 'low, medium, high' CODEC(ZSTD(1)),
    test Bool COMMENT 'Asked for by the owner; nothing was triggered' CODEC(ZSTD(1)),
    current_price Float64 COMMENT 'USD' CODEC(ZSTD(1)),
    target_price Nullable(Float64) COMMENT 'USD; null for liquidation alerts' CODEC(ZSTD(1)),
    condition LowCardinality(String) COMMENT 'Of the alert' CODEC(ZSTD(1)),
    condition_met String COMMENT 'What was met, for people' CODEC(ZSTD(1)),
    oi_at_risk_usd Nullable(Float64) COMMENT 'Open interest within 5 % of the price, USD; null for price alerts' CODEC(ZSTD(1)),
    oi_at_risk_pct Nullable(Float64) COMMENT 'The same, percent of the open interest' CODEC(ZSTD(1)),
    cascade_risk LowCardinality(Nullable(String)) COMMENT 'low, medium, high; null for price alerts' CODEC(ZSTD(1)),
    threshold_pct Nullable(Float64) COMMENT 'Percent; null for price alerts' CODEC(ZSTD(1)),
    sources Array(Tuple(exchange LowCardinality(String), price Nullable(Float64), open_interest_usd Nullable(Float64), time DateTime64(6, 'UTC')))
        COMMENT 'Venues that the decision rests on: price or open interest in USD, venue time' CODEC(ZSTD(1)),
    quality LowCardinality(String) COMMENT 'good or degraded' CODEC(ZSTD(1)),
    late Bool COMMENT 'It happened while no source was there' CODEC(ZSTD(1)),
    trigger_count UInt32 COMMENT 'Triggers so far, this one included' CODEC(ZSTD(1)),
    record String COMMENT 'Id of the log record that caused it, for GET /records/:id' CODEC(ZSTD(1)),
    time DateTime64(6, 'UTC') COMMENT 'When the condition was met' CODEC(Delta, ZSTD(1)),
    v UInt64 COMMENT 'Version: generation times 2^44 plus the source offset it follows from' CODEC(Delta, ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of alerts.triggers' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset in that partition' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(v)
PARTITION BY toYYYYMM(time)
ORDER BY (alert_id, trigger_id)
SETTINGS index_granularity = 1024
COMMENT 'Deliveries to be made; read the view triggers';

CREATE TABLE IF NOT EXISTS delivery_orders_log
(
    alert_id String COMMENT 'The alert' CODEC(ZSTD(1)),
    `order` LowCardinality(String) COMMENT 'stop: no further attempt for the alert; resend: the trigger once more' CODEC(ZSTD(1)),
    trigger_id Nullable(String) COMMENT 'For resend' CODEC(ZSTD(1)),
    time DateTime64(6, 'UTC') COMMENT 'When it was asked for' CODEC(Delta, ZSTD(1)),
    v UInt64 COMMENT 'Version: generation times 2^44 plus the source offset it follows from' CODEC(Delta, ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of alerts.triggers' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset in that partition' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(v)
PARTITION BY toYYYYMM(time)
ORDER BY (alert_id, bitAnd(v, 17592186044415), `order`)
COMMENT 'The owners'' word on deliveries; read the view delivery_orders';

CREATE TABLE IF NOT EXISTS webhook_attempts_log
(
    alert_id String COMMENT 'The alert' CODEC(ZSTD(1)),
    trigger_id String COMMENT 'The trigger that was sent' CODEC(ZSTD(1)),
    number UInt32 COMMENT '1 for the first attempt of a delivery or a resending; 0: the delivery ended without one' CODEC(ZSTD(1)),
    outcome LowCardinality(String) COMMENT 'What became of the trigger by it: delivered, retry, exhausted, cancelled' CODEC(ZSTD(1)),
    status Nullable(UInt16) COMMENT 'HTTP status; null: none came' CODEC(ZSTD(1)),
    error LowCardinality(Nullable(String)) COMMENT 'Code where no answer came or it was refused' CODEC(ZSTD(1)),
    started DateTime64(6, 'UTC') COMMENT 'When it began' CODEC(Delta, ZSTD(1)),
    finished DateTime64(6, 'UTC') COMMENT 'When it was over' CODEC(Delta, ZSTD(1)),
    due Nullable(DateTime64(6, 'UTC')) COMMENT 'The next attempt, for retry' CODEC(ZSTD(1)),
    test Bool COMMENT 'A test event' CODEC(ZSTD(1)),
    triggered DateTime64(6, 'UTC') COMMENT 'When the condition was met' CODEC(Delta, ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of webhooks.attempts' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset in that partition' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(started)
ORDER BY (alert_id, started, partition, offset)
SETTINGS index_granularity = 1024
COMMENT 'Attempts to deliver; read the view webhook_attempts';
