-- Question: after a signal, did the price go where it pointed?
-- A row: a kind, a period and a class of signal that has a direction; hits count moves of any size in its direction.
-- Units: returns in basis points over `horizon` seconds, positive where the price rose; hit_low and hit_high bound the true
-- share of hits at 95 % (Wilson), so that three signals do not look like a law. They rest on the signals whose horizons do
-- not overlap (independent): others tell the same story twice. Signals without a price of the minute before them, or of the
-- minute after their horizon, do not count.
-- Parameters: asset, horizon, start, end
WITH
    1.96 AS z,
    marked AS
    (
        SELECT
            kind, period, to, if(to ILIKE '%bullish%', 1, -1) AS direction,
            time AS at, time + toIntervalSecond({horizon:UInt32}) AS later
        FROM signals
        WHERE asset = {asset:String} AND (to ILIKE '%bullish%' OR to ILIKE '%bearish%')
            AND time >= {start:DateTime64(6, 'UTC')} AND time < {end:DateTime64(6, 'UTC')}
    ),
    quoted AS
    (
        SELECT 1 AS one, time, price
        FROM prices
        WHERE asset = {asset:String} AND NOT late
            AND time >= {start:DateTime64(6, 'UTC')} - INTERVAL 1 MINUTE
            AND time < {end:DateTime64(6, 'UTC')} + toIntervalSecond({horizon:UInt32}) + INTERVAL 1 MINUTE
    ),
    entered AS
    (
        SELECT kind, period, to, direction, at, later, quoted.price AS entry
        FROM (SELECT *, 1 AS one FROM marked) AS signal
        ASOF INNER JOIN quoted ON quoted.one = signal.one AND signal.at >= quoted.time
        WHERE quoted.time >= signal.at - INTERVAL 1 MINUTE
    ),
    moved AS
    (
        SELECT kind, period, to, direction, at, 10000 * (quoted.price / entry - 1) AS return_bp
        FROM (SELECT *, 1 AS one FROM entered) AS signal
        ASOF INNER JOIN quoted ON quoted.one = signal.one AND signal.later <= quoted.time
        WHERE quoted.time <= signal.later + INTERVAL 1 MINUTE
    )
SELECT
    kind,
    period,
    to AS class,
    count() AS signals,
    arrayFold(
        (last, began) -> if(began >= last.2, (last.1 + 1, began + {horizon:UInt32}), last),
        arraySort(groupArray(toFloat64(at))),
        (toUInt64(0), toFloat64(0))
    ).1 AS independent,
    countIf(return_bp * direction > 0) / signals AS hit_rate,
    (hit_rate + z * z / (2 * independent) - z * sqrt(hit_rate * (1 - hit_rate) / independent + z * z / (4 * independent * independent))) / (1 + z * z / independent) AS hit_low,
    (hit_rate + z * z / (2 * independent) + z * sqrt(hit_rate * (1 - hit_rate) / independent + z * z / (4 * independent * independent))) / (1 + z * z / independent) AS hit_high,
    avg(return_bp) AS mean_return_bp,
    median(return_bp) AS median_return_bp
FROM moved
GROUP BY kind, period, class
ORDER BY kind, period, class
