-- Question: what happens to attempts to deliver, and why do they fail?
-- A row: an outcome with its reason.
-- Units: attempts and alerts in number, one for several symbols is one; seconds are the median length of an attempt.
-- Parameters: start, end
SELECT
    outcome,
    ifNull(toString(status), '') AS http_status,
    ifNull(error, '') AS reason,
    count() AS attempts,
    uniqExact(splitByChar('.', alert_id)[1]) AS alerts,
    median(dateDiff('microsecond', started, finished)) / 1e6 AS seconds
FROM webhook_attempts
WHERE started >= {start:DateTime64(6, 'UTC')} AND started < {end:DateTime64(6, 'UTC')} AND number > 0
GROUP BY outcome, http_status, reason
ORDER BY attempts DESC, outcome, http_status, reason
