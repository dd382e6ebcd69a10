-- Question: how far do the spot venues' prices lie apart, and who is at the ends?
-- A row: an interval with two venues or more.
-- Units: basis points of the lowest price, mean and largest in the interval; dearest and cheapest at the largest.
-- Parameters: asset, seconds, start, end
SELECT
    toStartOfInterval(at, toIntervalSecond({seconds:UInt32}), toDateTime64('1970-01-05 00:00:00', 6, 'UTC')) AS time,
    count() AS prices,
    avg(spread) AS mean_bp,
    max(spread) AS largest_bp,
    argMax(dear, spread) AS dearest,
    argMax(cheap, spread) AS cheapest
FROM
(
    SELECT
        prices.time AS at,
        arraySort(source -> source.1, arrayMap(source -> (source.price, source.exchange), sources)) AS ranked,
        10000 * (ranked[-1].1 / ranked[1].1 - 1) AS spread,
        ranked[-1].2 AS dear,
        ranked[1].2 AS cheap
    FROM prices
    WHERE asset = {asset:String} AND NOT late AND length(sources) > 1
        AND time >= {start:DateTime64(6, 'UTC')} AND time < {end:DateTime64(6, 'UTC')}
)
GROUP BY time
ORDER BY time
