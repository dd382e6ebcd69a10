-- Question: do takers push the price, or does it move against them?
-- A row: one interval in which the venue traded; divergence says which way takers leaned while the price went the other.
-- Units: close in quote units, change_pct in percent of the close before (null: none), delta and cvd in base units over all
-- venues; cvd counts from the interval that start lies in, over the venues' past and trades alike.
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
        SELECT time, sum(each.delta) AS delta, sum(delta) OVER (ORDER BY time) AS cvd
        FROM cvd(asset = {asset:String}, seconds = {seconds:UInt32},
                 start = {start:DateTime64(6, 'UTC')}, end = {end:DateTime64(6, 'UTC')}) AS each
        GROUP BY time
    )
SELECT
    time,
    candle.close AS close,
    100 * (close / lagInFrame(toNullable(candle.close)) OVER (ORDER BY time) - 1) AS change_pct,
    flow.delta AS delta,
    flow.cvd AS cvd,
    multiIf(change_pct > 0 AND delta < 0, 'price up, takers sell', change_pct < 0 AND delta > 0, 'price down, takers buy', '') AS divergence
FROM candle
INNER JOIN flow USING (time)
ORDER BY time
