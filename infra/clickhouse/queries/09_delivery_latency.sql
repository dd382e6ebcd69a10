-- Question: how long after a condition was met does its webhook leave, and when is it taken?
-- A row: a day of triggers, without tests and what tells that a ring is over.
-- Units: milliseconds from the moment that the condition was met to the first attempt, and to the end of the one that was
-- taken (null: there was none); undelivered counts triggers that were not taken so far, attempted or not.
-- Parameters: start, end
SELECT
    toDate(triggered, 'UTC') AS day,
    count() AS triggers,
    countIf(delivered_ms IS NULL) AS undelivered,
    quantileExact(0.5)(first_ms) AS first_p50_ms,
    quantileExact(0.99)(first_ms) AS first_p99_ms,
    quantileExact(0.5)(delivered_ms) AS delivered_p50_ms,
    quantileExact(0.99)(delivered_ms) AS delivered_p99_ms
FROM
(
    SELECT
        triggers.trigger_id AS trigger_id,
        any(triggers.time) AS triggered,
        minOrNullIf(dateDiff('microsecond', triggers.time, attempts.started), attempts.number > 0) / 1000 AS first_ms,
        minOrNullIf(dateDiff('microsecond', triggers.time, attempts.finished), attempts.outcome = 'delivered') / 1000 AS delivered_ms
    FROM triggers
    LEFT JOIN webhook_attempts AS attempts ON attempts.trigger_id = triggers.trigger_id
    WHERE NOT triggers.test AND NOT endsWith(triggers.trigger_id, '_over')
        AND triggers.time >= {start:DateTime64(6, 'UTC')} AND triggers.time < {end:DateTime64(6, 'UTC')}
    GROUP BY trigger_id
)
GROUP BY day
ORDER BY day
