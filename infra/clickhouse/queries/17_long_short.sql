-- Question: how are the top traders positioned, and does one venue stand apart?
-- A row: an interval; each venue's newest ratio in it.
-- Units: longs over shorts of positions, 1 is even; null: the venue said nothing; spread is highest minus lowest.
-- Parameters: asset, seconds, start, end
WITH newest AS
(
    SELECT toStartOfInterval(time, toIntervalSecond({seconds:UInt32}), toDateTime64('1970-01-05 00:00:00', 6, 'UTC')) AS bucket, venue, argMax(ls_ratio, time) AS ratio
    FROM long_short_ratios
    WHERE asset = {asset:String} AND cohort = 'top_traders' AND basis = 'positions'
        AND time >= {start:DateTime64(6, 'UTC')} AND time < {end:DateTime64(6, 'UTC')}
    GROUP BY bucket, venue
)
SELECT
    bucket AS time,
    anyOrNullIf(ratio, venue = 'binance') AS binance,
    anyOrNullIf(ratio, venue = 'okx') AS okx,
    anyOrNullIf(ratio, venue = 'gate') AS gate,
    avg(ratio) AS mean,
    max(ratio) - min(ratio) AS spread
FROM newest
GROUP BY bucket
ORDER BY bucket
