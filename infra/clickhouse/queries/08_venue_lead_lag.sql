-- Question: which venue moves first, and by how many seconds do others follow?
-- A row: a pair of venues and a lag; the lag of the highest correlation is how far `follower` trails `leader`.
-- Units: lag_s in seconds, correlation of one-second returns from -1 to 1, seconds that it rests on (over 4).
-- Parameters: asset, start, end
WITH
    last_prices AS
    (
        SELECT venue, toUnixTimestamp(time) AS second, argMax(price, (time, first_id)) AS price
        FROM trades
        WHERE asset = {asset:String} AND time >= {start:DateTime64(6, 'UTC')} AND time < {end:DateTime64(6, 'UTC')}
        GROUP BY venue, second
        ORDER BY venue, second WITH FILL
        INTERPOLATE (price AS price)
    ),
    returns AS
    (
        SELECT venue, second, price / lagInFrame(toNullable(price)) OVER (PARTITION BY venue ORDER BY second ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) - 1 AS change
        FROM last_prices
    )
SELECT
    earlier.venue AS leader,
    later.venue AS follower,
    lag_s,
    corr(earlier.change, later.change) AS correlation,
    count() AS seconds
FROM (SELECT venue, second, change, arrayJoin(range(6)) AS lag_s FROM returns WHERE change IS NOT NULL) AS earlier
INNER JOIN (SELECT venue, second, change FROM returns WHERE change IS NOT NULL) AS later
    ON later.second = earlier.second + earlier.lag_s
WHERE leader != follower
GROUP BY leader, follower, lag_s
HAVING seconds > 4 AND isFinite(correlation)
ORDER BY correlation DESC, leader, follower, lag_s
