-- Question: how old is a trade when we have it?
-- A row: a venue's stream; backfilled trades are left out.
-- Units: milliseconds between the venue's trade time and ours of receipt (two clocks: below zero is their difference).
-- Parameters: asset, start, end
SELECT
    venue,
    market,
    count() AS trades,
    quantileExact(0.5)(age_ms) AS p50_ms,
    quantileExact(0.99)(age_ms) AS p99_ms,
    max(age_ms) AS max_ms
FROM
(
    SELECT venue, market, dateDiff('microsecond', time, received) / 1000 AS age_ms
    FROM trades
    WHERE asset = {asset:String} AND origin = 'stream'
        AND time >= {start:DateTime64(6, 'UTC')} AND time < {end:DateTime64(6, 'UTC')}
)
GROUP BY venue, market
ORDER BY venue, market
