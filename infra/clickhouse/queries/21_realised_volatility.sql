-- Question: how restless was the price?
-- A row: an interval of a venue; from its candles of one minute.
-- Units: annual_pct is the standard deviation of one-minute returns by the year (525,600 minutes), percent; range_pct is
-- highest over lowest price, percent; minutes that it rests on.
-- Parameters: asset, venue, seconds, start, end
SELECT
    toStartOfInterval(minute, toIntervalSecond({seconds:UInt32})) AS time,
    count(change) AS minutes,
    100 * sqrt(sum(change * change) / minutes * 525600) AS annual_pct,
    100 * (max(highest) / min(lowest) - 1) AS range_pct
FROM
(
    SELECT
        candle.time AS minute, high AS highest, low AS lowest,
        log(close / lagInFrame(toNullable(close)) OVER (ORDER BY candle.time ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)) AS change
    FROM ohlcv(asset = {asset:String}, venue = {venue:String}, seconds = 60,
               start = {start:DateTime64(6, 'UTC')}, end = {end:DateTime64(6, 'UTC')}) AS candle
)
GROUP BY time
ORDER BY time
