-- Public views over 019, as in 011. Each is sorted by alert_id: filter by it.

CREATE OR REPLACE VIEW alert_commands AS
SELECT
    alert_id,
    request_id,
    asset,
    action,
    add_hours,
    created,
    partition,
    offset
FROM alert_commands_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'What was asked of alerts';

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
    partition,
    offset
FROM webhook_attempts_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Attempts to deliver a trigger, sorted by alert and time; number 0: its delivery ended without an attempt';
