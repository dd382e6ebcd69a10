-- Question: at which prices were positions closed by force, and whose?
-- A row: a band of half a percent of price and a side, the largest first.
-- Units: from_price and to_price in quote units, value in USD, events in number; a venue that samples is a lower bound.
-- Parameters: asset, start, end
SELECT
    exp(band * log(1.005)) AS from_price,
    exp((band + 1) * log(1.005)) AS to_price,
    side,
    count() AS events,
    sum(value) AS value_usd,
    groupUniqArray(venue) AS venues
FROM
(
    SELECT toInt64(floor(log(price) / log(1.005))) AS band, side, value, venue
    FROM liquidations
    WHERE time >= {start:DateTime64(6, 'UTC')} AND time < {end:DateTime64(6, 'UTC')} AND asset = {asset:String} AND price > 0
)
GROUP BY band, side
ORDER BY value_usd DESC, band
