-- As 004, for alerts.events, alerts.triggers and webhooks.attempts, and the commands in alerts.inputs. A field that is no
-- column is skipped as it is read: so the sealed webhook URLs and what else 019 leaves out never get here. What could not
-- be read is told without its bytes, which may hold them.

ALTER TABLE alerts_inputs_in ADD COLUMN IF NOT EXISTS request_id String AFTER v;
ALTER TABLE alerts_inputs_in ADD COLUMN IF NOT EXISTS action Nullable(String) AFTER request_id;
ALTER TABLE alerts_inputs_in ADD COLUMN IF NOT EXISTS alert_id String AFTER action;
ALTER TABLE alerts_inputs_in ADD COLUMN IF NOT EXISTS add_hours Nullable(Int32) AFTER alert_id;
ALTER TABLE alerts_inputs_in ADD COLUMN IF NOT EXISTS created Int64 AFTER add_hours;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_command TO alert_commands_log AS
SELECT
    alert_id,
    request_id,
    asset,
    assumeNotNull(record.action) AS action,
    add_hours,
    fromUnixTimestamp64Micro(record.created, 'UTC') AS created,
    log_partition AS partition,
    log_offset AS offset
FROM alerts_inputs_in AS record
WHERE log_error = '' AND record.action IS NOT NULL;

DROP VIEW IF EXISTS ingest_inputs_error;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_inputs_error TO ingest_errors_log AS
SELECT
    'alerts.inputs' AS topic,
    log_partition AS partition,
    log_offset AS offset,
    log_time AS time,
    log_error AS error,
    '' AS raw
FROM alerts_inputs_in
WHERE log_error != '';

CREATE TABLE IF NOT EXISTS alerts_events_in
(
    event Nullable(String),
    alert_id String,
    request_id Nullable(String),
    error Nullable(String),
    trigger_id Nullable(String),
    `alert.AlertState.kind` String,
    `alert.AlertState.asset` String,
    `alert.AlertState.symbol` String,
    `alert.AlertState.condition` String,
    `alert.AlertState.target_price` Nullable(Float64),
    `alert.AlertState.threshold_pct` Nullable(Float64),
    `alert.AlertState.min_value_usd` Nullable(Float64),
    `alert.AlertState.status` String,
    `alert.AlertState.created_at` Int64,
    `alert.AlertState.expires_at` Int64,
    `alert.AlertState.ended_at` Int64,
    `alert.AlertState.trigger_count` Int32,
    `alert.AlertState.last_triggered` Int64,
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
COMMENT 'Records of alerts.events on their way into the base tables';

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

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_alert_events_time TO partition_times_log AS
SELECT
    'alerts.events' AS topic,
    log_partition AS partition,
    fromUnixTimestamp64Micro(max(record.time), 'UTC') AS time
FROM alerts_events_in AS record
WHERE log_error = '' AND record.writer IS NOT NULL
GROUP BY partition;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_alert_events_error TO ingest_errors_log AS
SELECT
    'alerts.events' AS topic,
    log_partition AS partition,
    log_offset AS offset,
    log_time AS time,
    log_error AS error,
    '' AS raw
FROM alerts_events_in
WHERE log_error != '';

CREATE TABLE IF NOT EXISTS alerts_triggers_in
(
    trigger_id Nullable(String),
    alert_id String,
    kind String,
    asset String,
    symbol String,
    severity String,
    test Bool,
    current_price Float64,
    target_price Nullable(Float64),
    condition String,
    condition_met Nullable(String),
    oi_at_risk_usd Nullable(Float64),
    oi_at_risk_pct Nullable(Float64),
    cascade_risk Nullable(String),
    threshold_pct Nullable(Float64),
    sources Array(Tuple(exchange String, price Nullable(Float64), open_interest_usd Nullable(Float64), time Int64)),
    quality String,
    late Bool,
    trigger_count Int32,
    record String,
    `order` Nullable(String),
    time Int64,
    v Int64,
    log_partition UInt16,
    log_offset UInt64,
    log_time DateTime64(3, 'UTC'),
    log_error String,
    log_raw String
)
ENGINE = Null
COMMENT 'Records of alerts.triggers on their way into the base tables';

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

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_delivery_order TO delivery_orders_log AS
SELECT
    alert_id,
    assumeNotNull(record.order) AS `order`,
    trigger_id,
    fromUnixTimestamp64Micro(record.time, 'UTC') AS time,
    v,
    log_partition AS partition,
    log_offset AS offset
FROM alerts_triggers_in AS record
WHERE log_error = '' AND record.order IS NOT NULL;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_triggers_error TO ingest_errors_log AS
SELECT
    'alerts.triggers' AS topic,
    log_partition AS partition,
    log_offset AS offset,
    log_time AS time,
    log_error AS error,
    '' AS raw
FROM alerts_triggers_in
WHERE log_error != '';

CREATE TABLE IF NOT EXISTS webhooks_attempts_in
(
    trigger_id String,
    alert_id String,
    number Int32,
    outcome String,
    status Nullable(Int32),
    error Nullable(String),
    started Int64,
    finished Int64,
    due Nullable(Int64),
    test Bool,
    triggered Int64,
    log_partition UInt16,
    log_offset UInt64,
    log_time DateTime64(3, 'UTC'),
    log_error String,
    log_raw String
)
ENGINE = Null
COMMENT 'Records of webhooks.attempts on their way into the base tables';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_attempt TO webhook_attempts_log AS
SELECT
    alert_id,
    trigger_id,
    number,
    outcome,
    status,
    error,
    fromUnixTimestamp64Micro(record.started, 'UTC') AS started,
    fromUnixTimestamp64Micro(record.finished, 'UTC') AS finished,
    fromUnixTimestamp64Micro(record.due, 'UTC') AS due,
    test,
    fromUnixTimestamp64Micro(record.triggered, 'UTC') AS triggered,
    log_partition AS partition,
    log_offset AS offset
FROM webhooks_attempts_in AS record
WHERE log_error = '';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_attempts_error TO ingest_errors_log AS
SELECT
    'webhooks.attempts' AS topic,
    log_partition AS partition,
    log_offset AS offset,
    log_time AS time,
    log_error AS error,
    '' AS raw
FROM webhooks_attempts_in
WHERE log_error != '';
