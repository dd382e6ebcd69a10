-- Public views over 023, as in 011. payment_events is sorted by payment_id, payment_intents by time.

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
