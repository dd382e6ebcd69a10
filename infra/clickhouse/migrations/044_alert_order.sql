-- In which order alerts were created, within a second too: created_at is partition time, which stands still for one. Alerts
-- of before that was said have created_at.

ALTER TABLE alert_events_log ADD COLUMN IF NOT EXISTS taken DateTime64(6, 'UTC') DEFAULT created_at COMMENT 'When the log took the creation: what lists of alerts are ordered by' CODEC(Delta, ZSTD(1)) AFTER created_at;

ALTER TABLE alerts_events_in ADD COLUMN IF NOT EXISTS `alert.AlertState.taken` Int64 AFTER `alert.AlertState.last_triggered`;

DROP VIEW IF EXISTS ingest_alert_event;

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
    created_at,
    taken,
    expires_at,
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
    COMMENT COLUMN alert_id 'The alert',
    COMMENT COLUMN event 'created, triggered, rearmed, repeated, extended, cancelled, expired, tested, resent, rejected',
    COMMENT COLUMN request_id 'The command that it follows from; null: a price or the time',
    COMMENT COLUMN error 'For rejected: the error identifier',
    COMMENT COLUMN trigger_id 'For triggered, tested and resent',
    COMMENT COLUMN kind 'What the alert watches: price, liquidation; empty: there is no such alert',
    COMMENT COLUMN asset 'Asset id of the catalogue',
    COMMENT COLUMN symbol 'As submitted',
    COMMENT COLUMN condition 'above, below, crosses_above, crosses_below; cascade_risk',
    COMMENT COLUMN target_price 'USD; null for liquidation alerts',
    COMMENT COLUMN threshold_pct 'Percent of open interest at risk; null for price alerts',
    COMMENT COLUMN min_value_usd 'Least open interest at risk, USD; null for price alerts',
    COMMENT COLUMN status 'After the event: active, triggered, expired, cancelled',
    COMMENT COLUMN created_at 'When the alert was created',
    COMMENT COLUMN taken 'When the log took the creation: what lists of alerts are ordered by; created_at is the same for all of a second',
    COMMENT COLUMN expires_at 'When it expires',
    COMMENT COLUMN ended_at 'When it expired, was cancelled, or triggered for good; null: not yet',
    COMMENT COLUMN trigger_count 'Triggers so far',
    COMMENT COLUMN last_triggered 'When it triggered last; null: never',
    COMMENT COLUMN time 'When it happened, by the record that it follows from',
    COMMENT COLUMN v 'Version: generation times 2^44 plus the source offset it follows from',
    COMMENT COLUMN partition 'Kafka partition of alerts.events',
    COMMENT COLUMN offset 'Kafka offset in that partition';
