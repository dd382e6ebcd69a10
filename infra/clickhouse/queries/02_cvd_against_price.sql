-- Question: do takers push the price, or does it move against them?
-- A row: one interval in which the venue traded; divergence says which way takers leaned while the price went the other.
-- Units: close in quote units, change_pct in percent of the close before (null: none), delta and cvd in base units over all
-- venues; cvd counts from the first trade in the log.
-- Parameters: asset, venue, seconds, start, end
WITH
    candle AS
    (
        SELECT time, close
        FROM ohlcv(asset = {asset:String}, venue = {venue:String}, seconds = {seconds:UInt32},
                   start = {start:DateTime64(6, 'UTC')}, end = {end:DateTime64(6, 'UTC')})
    ),
    -- A venue that is silent for an interval has no row in it: the deltas are summed up here, not its totals.
    flow AS
    (
        SELECT time, sum(delta) AS delta
        FROM cvd(asset = {asset:String}, seconds = {seconds:UInt32},
                 start = {start:DateTime64(6, 'UTC')}, end = {end:DateTime64(6, 'UTC')})
        GROUP BY time
    ),
    before AS
    (
        SELECT sum(delta) AS cvd
        FROM
        (
            SELECT buy - sell AS delta FROM flow_1h WHERE asset = {asset:String} AND hour < toStartOfHour(toDateTime64(intDiv(toUnixTimestamp({start:DateTime64(6, 'UTC')}), {seconds:UInt32}) * {seconds:UInt32}, 6, 'UTC'))
            UNION ALL
            SELECT buy - sell AS delta FROM flow_10s
            WHERE asset = {asset:String} AND bucket >= toStartOfHour(toDateTime64(intDiv(toUnixTimestamp({start:DateTime64(6, 'UTC')}), {seconds:UInt32}) * {seconds:UInt32}, 6, 'UTC'))
                AND bucket < toDateTime64(intDiv(toUnixTimestamp({start:DateTime64(6, 'UTC')}), {seconds:UInt32}) * {seconds:UInt32}, 6, 'UTC')
        )
    )
SELECT
    time,
    candle.close AS close,
    100 * (close / lagInFrame(toNullable(candle.close)) OVER in_time - 1) AS change_pct,
    flow.delta AS delta,
    (SELECT cvd FROM before) + sum(flow.delta) OVER in_time AS cvd,
    multiIf(change_pct > 0 AND delta < 0, 'price up, takers sell', change_pct < 0 AND delta > 0, 'price down, takers buy', '') AS divergence
FROM candle
INNER JOIN flow USING (time)
WINDOW in_time AS (ORDER BY time ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
ORDER BY time
