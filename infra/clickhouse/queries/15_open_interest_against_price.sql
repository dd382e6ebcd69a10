-- Question: is a move made by new positions or by closed ones?
-- A row: an interval of a perpetual with both figures at its end and a change against the interval before.
-- Units: open_interest in base units of one side, price is the mark in quote units, changes in percent.
-- Parameters: asset, seconds, start, end
WITH
    interest AS
    (
        SELECT instrument, toStartOfInterval(time, toIntervalSecond({seconds:UInt32}), toDateTime64('1970-01-05 00:00:00', 6, 'UTC')) AS bucket, argMax(open_interest.open_interest, time) AS units
        FROM open_interest
        WHERE asset = {asset:String} AND time >= {start:DateTime64(6, 'UTC')} AND time < {end:DateTime64(6, 'UTC')}
        GROUP BY instrument, bucket
    ),
    marks AS
    (
        SELECT instrument, toStartOfInterval(time, toIntervalSecond({seconds:UInt32}), toDateTime64('1970-01-05 00:00:00', 6, 'UTC')) AS bucket, argMax(mark, time) AS price
        FROM mark_prices
        WHERE asset = {asset:String} AND mark IS NOT NULL
            AND time >= {start:DateTime64(6, 'UTC')} AND time < {end:DateTime64(6, 'UTC')}
        GROUP BY instrument, bucket
    )
SELECT
    instrument,
    bucket AS time,
    interest.units AS open_interest,
    marks.price AS price,
    100 * (open_interest / lagInFrame(toNullable(interest.units)) OVER in_time - 1) AS interest_change_pct,
    100 * (price / lagInFrame(marks.price) OVER in_time - 1) AS price_change_pct,
    multiIf(interest_change_pct > 0 AND price_change_pct > 0, 'longs open', interest_change_pct > 0 AND price_change_pct < 0, 'shorts open',
        interest_change_pct < 0 AND price_change_pct > 0, 'shorts close', interest_change_pct < 0 AND price_change_pct < 0, 'longs close', '') AS reading
FROM interest
INNER JOIN marks USING (instrument, bucket)
WINDOW in_time AS (PARTITION BY instrument ORDER BY bucket ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
ORDER BY instrument, time
