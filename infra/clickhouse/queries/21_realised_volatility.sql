-- Question: how restless was the price?
-- A row: an interval of a venue; from its candles of one minute.
-- Units: annual_pct is the standard deviation of one-minute returns by the year (525,600 minutes), percent; range_pct is
-- highest over lowest price, percent; minutes that it rests on. A minute without trades has no candle: the return behind it
-- is that of all minutes since the candle before.
-- Parameters: asset, venue, seconds, start, end
SELECT
    toStartOfInterval(minute, toIntervalSecond({seconds:UInt32}), toDateTime64('1970-01-05 00:00:00', 6, 'UTC')) AS time,
    sum(passed) AS minutes,
    100 * sqrt(sum(change * change) / minutes * 525600) AS annual_pct,
    100 * (max(highest) / min(lowest) - 1) AS range_pct
FROM
(
    SELECT
        candle.time AS minute, high AS highest, low AS lowest,
        log(close / lagInFrame(toNullable(close)) OVER in_time) AS change,
        dateDiff('minute', lagInFrame(candle.time, 1, candle.time) OVER in_time, candle.time) AS passed
    FROM ohlcv(asset = {asset:String}, venue = {venue:String}, seconds = 60,
               start = {start:DateTime64(6, 'UTC')}, end = {end:DateTime64(6, 'UTC')}) AS candle
    WINDOW in_time AS (ORDER BY candle.time ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
)
GROUP BY time
ORDER BY time
