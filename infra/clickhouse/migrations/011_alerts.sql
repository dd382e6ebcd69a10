-- alerts.events, alerts.triggers and webhooks.attempts. All are sorted by alert_id, as alert_commands is: filter by it.

CREATE TABLE IF NOT EXISTS alert_events_log
(
    alert_id String COMMENT 'The alert' CODEC(ZSTD(1)),
    event LowCardinality(String) COMMENT 'created, triggered, rearmed, repeated, extended, cancelled, expired, tested, resent, rejected, edited, paused, resumed, warmed' CODEC(ZSTD(1)),
    request_id Nullable(String) COMMENT 'The command that it follows from; null: a price or the time' CODEC(ZSTD(1)),
    error LowCardinality(Nullable(String)) COMMENT 'For rejected: the error identifier' CODEC(ZSTD(1)),
    trigger_id Nullable(String) COMMENT 'For triggered, tested and resent' CODEC(ZSTD(1)),
    kind LowCardinality(String) COMMENT 'What the alert watches: price, liquidation, rule; empty: there is no such alert' CODEC(ZSTD(1)),
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue' CODEC(ZSTD(1)),
    symbol LowCardinality(String) COMMENT 'As submitted' CODEC(ZSTD(1)),
    condition String COMMENT 'above, below, crosses_above, crosses_below; cascade_risk; of a rule its terms, JSON' CODEC(ZSTD(1)),
    target_price Nullable(Float64) COMMENT 'USD; of price alerts alone' CODEC(ZSTD(1)),
    threshold_pct Nullable(Float64) COMMENT 'Percent of open interest at risk; of liquidation alerts alone' CODEC(ZSTD(1)),
    min_value_usd Nullable(Float64) COMMENT 'Least open interest at risk, USD; of liquidation alerts alone' CODEC(ZSTD(1)),
    status LowCardinality(String) COMMENT 'After the event: active, triggered, expired, cancelled' CODEC(ZSTD(1)),
    created_at DateTime64(6, 'UTC') COMMENT 'When the alert was created' CODEC(Delta, ZSTD(1)),
    taken DateTime64(6, 'UTC') DEFAULT created_at COMMENT 'When the log took the creation: what lists of alerts are ordered by' CODEC(Delta, ZSTD(1)),
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
    alert_id String COMMENT 'The alert; of a rule for several symbols its part, whose owner''s id is what stands before the first point' CODEC(ZSTD(1)),
    trigger_id String COMMENT 'alert id and trigger count, for a test its request; with _over behind it what tells that this ring is over, which is no further one; the webhook-id of every attempt' CODEC(ZSTD(1)),
    kind LowCardinality(String) COMMENT 'Which payload: price, liquidation, rule' CODEC(ZSTD(1)),
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue' CODEC(ZSTD(1)),
    symbol LowCardinality(String) COMMENT 'As submitted' CODEC(ZSTD(1)),
    severity LowCardinality(String) COMMENT 'low, medium, high' CODEC(ZSTD(1)),
    test Bool COMMENT 'Asked for by the owner; nothing was triggered' CODEC(ZSTD(1)),
    current_price Float64 COMMENT 'USD; 0: none was known. Of a test without a known price the target' CODEC(ZSTD(1)),
    target_price Nullable(Float64) COMMENT 'USD; of price alerts alone' CODEC(ZSTD(1)),
    condition String COMMENT 'Of the alert; of a rule its terms and, as figures, what met them, JSON' CODEC(ZSTD(1)),
    condition_met String COMMENT 'What was met, for people' CODEC(ZSTD(1)),
    oi_at_risk_usd Nullable(Float64) COMMENT 'Open interest within 5 % of the price, USD; of liquidation alerts alone' CODEC(ZSTD(1)),
    oi_at_risk_pct Nullable(Float64) COMMENT 'The same, percent of the open interest' CODEC(ZSTD(1)),
    cascade_risk LowCardinality(Nullable(String)) COMMENT 'low, medium, high; of liquidation alerts alone' CODEC(ZSTD(1)),
    threshold_pct Nullable(Float64) COMMENT 'Percent; of liquidation alerts alone' CODEC(ZSTD(1)),
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
    number UInt32 COMMENT '1 for the first attempt of a delivery or a resending; 0: the delivery ended without one, or waits for its digest' CODEC(ZSTD(1)),
    outcome LowCardinality(String) COMMENT 'What became of the trigger by it: delivered, retry, exhausted, cancelled; digested: it waits for its digest' CODEC(ZSTD(1)),
    status Nullable(UInt16) COMMENT 'HTTP status; null: none came' CODEC(ZSTD(1)),
    error LowCardinality(Nullable(String)) COMMENT 'Code where no answer came or it was refused' CODEC(ZSTD(1)),
    started DateTime64(6, 'UTC') COMMENT 'When it began' CODEC(Delta, ZSTD(1)),
    finished DateTime64(6, 'UTC') COMMENT 'When it was over' CODEC(Delta, ZSTD(1)),
    due Nullable(DateTime64(6, 'UTC')) COMMENT 'The next attempt, for retry' CODEC(ZSTD(1)),
    test Bool COMMENT 'A test event' CODEC(ZSTD(1)),
    triggered DateTime64(6, 'UTC') COMMENT 'When the condition was met' CODEC(Delta, ZSTD(1)),
    digest Nullable(String) COMMENT 'The digest that the trigger is, or is to be, told in; null: by itself' CODEC(ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of webhooks.attempts' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset in that partition' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(started)
ORDER BY (alert_id, started, partition, offset)
SETTINGS index_granularity = 1024
COMMENT 'Attempts to deliver; read the view webhook_attempts';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_alert_event TO alert_events_log AS
SELECT
    alert_id,
    assumeNotNull(record.event) AS event,
    request_id,
    error,
    trigger_id,
    `alert.AlertState.kind` AS kind,
    `alert.AlertState.asset` AS asset,
    `alert.AlertState.symbol` AS symbol,
    `alert.AlertState.condition` AS condition,
    `alert.AlertState.target_price` AS target_price,
    `alert.AlertState.threshold_pct` AS threshold_pct,
    `alert.AlertState.min_value_usd` AS min_value_usd,
    `alert.AlertState.status` AS status,
    fromUnixTimestamp64Micro(`alert.AlertState.created_at`, 'UTC') AS created_at,
    fromUnixTimestamp64Micro(if(`alert.AlertState.taken` = 0, `alert.AlertState.created_at`, `alert.AlertState.taken`), 'UTC') AS taken,
    fromUnixTimestamp64Micro(`alert.AlertState.expires_at`, 'UTC') AS expires_at,
    fromUnixTimestamp64Micro(`alert.AlertState.ended_at`, 'UTC') AS ended_at,
    `alert.AlertState.trigger_count` AS trigger_count,
    fromUnixTimestamp64Micro(`alert.AlertState.last_triggered`, 'UTC') AS last_triggered,
    fromUnixTimestamp64Micro(record.time, 'UTC') AS time,
    v,
    log_partition AS partition,
    log_offset AS offset
FROM alerts_events_in AS record
WHERE log_error = '' AND record.event IS NOT NULL;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_trigger TO triggers_log AS
SELECT
    alert_id,
    assumeNotNull(record.trigger_id) AS trigger_id,
    kind,
    asset,
    symbol,
    severity,
    test,
    current_price,
    target_price,
    condition,
    assumeNotNull(record.condition_met) AS condition_met,
    oi_at_risk_usd,
    oi_at_risk_pct,
    cascade_risk,
    threshold_pct,
    arrayMap(x -> (x.exchange, x.price, x.open_interest_usd, fromUnixTimestamp64Micro(x.time, 'UTC')), record.sources) AS sources,
    quality,
    late,
    trigger_count,
    record.record AS record,
    fromUnixTimestamp64Micro(record.time, 'UTC') AS time,
    v,
    log_partition AS partition,
    log_offset AS offset
FROM alerts_triggers_in AS record
WHERE log_error = '' AND record.condition_met IS NOT NULL;

CREATE OR REPLACE VIEW alert_events AS
SELECT
    alert_id,
    event,
    request_id,
    error,
    trigger_id,
    kind,
    asset,
    symbol,
    condition,
    target_price,
    threshold_pct,
    min_value_usd,
    status,
    nullIf(alert_events_log.created_at, toDateTime64(0, 6, 'UTC')) AS created_at,
    nullIf(alert_events_log.taken, toDateTime64(0, 6, 'UTC')) AS taken,
    nullIf(alert_events_log.expires_at, toDateTime64(0, 6, 'UTC')) AS expires_at,
    nullIf(alert_events_log.ended_at, toDateTime64(0, 6, 'UTC')) AS ended_at,
    trigger_count,
    nullIf(alert_events_log.last_triggered, toDateTime64(0, 6, 'UTC')) AS last_triggered,
    time,
    v,
    partition,
    offset
FROM alert_events_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'What happened to each alert, with its state after it; in order of v';

ALTER TABLE alert_events
    COMMENT COLUMN created_at 'When the alert was created; null: there is no such alert',
    COMMENT COLUMN taken 'When the log took the creation: what lists of alerts are ordered by; created_at is the same for all of a second; null: there is no such alert',
    COMMENT COLUMN expires_at 'When it expires; null: there is no such alert',
    COMMENT COLUMN ended_at 'When it expired, was cancelled, or triggered for good; null: not yet',
    COMMENT COLUMN last_triggered 'When it triggered last; null: never';

CREATE OR REPLACE VIEW triggers AS
SELECT
    alert_id,
    trigger_id,
    kind,
    asset,
    symbol,
    severity,
    test,
    current_price,
    target_price,
    condition,
    condition_met,
    oi_at_risk_usd,
    oi_at_risk_pct,
    cascade_risk,
    threshold_pct,
    sources,
    quality,
    late,
    trigger_count,
    record,
    time,
    v,
    partition,
    offset
FROM triggers_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Deliveries to be made, one row a trigger, tests included; partition and offset are those of alerts.triggers';

CREATE OR REPLACE VIEW delivery_orders AS
SELECT
    alert_id,
    `order`,
    trigger_id,
    time,
    v,
    partition,
    offset
FROM delivery_orders_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'The owners'' word on deliveries: stop, resend';

CREATE OR REPLACE VIEW webhook_attempts AS
SELECT
    alert_id,
    trigger_id,
    number,
    outcome,
    status,
    error,
    started,
    finished,
    due,
    test,
    triggered,
    digest,
    partition,
    offset
FROM webhook_attempts_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Attempts to deliver a trigger, sorted by alert and time; number 0: its delivery ended without an attempt, or waits for its digest';
