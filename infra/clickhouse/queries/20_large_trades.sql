-- Question: how much of the volume do the largest trades make, and on which side do they stand?
-- A row: a venue; large is what takes over ten times the venue's median trade.
-- Units: median_usd in quote units, shares from 0 to 1, net_large_usd is large buys minus large sells.
-- Parameters: asset, start, end
WITH sized AS
(
    SELECT venue, quote, taker, 10 * medianExact(quote) OVER (PARTITION BY venue) AS bound
    FROM trades
    WHERE asset = {asset:String} AND time >= {start:DateTime64(6, 'UTC')} AND time < {end:DateTime64(6, 'UTC')}
)
SELECT
    venue,
    count() AS trades,
    any(bound) / 10 AS median_usd,
    countIf(quote > bound) AS large_trades,
    sumIf(quote, quote > bound) / sum(quote) AS large_share,
    sumIf(quote, quote > bound AND taker = 'buy') - sumIf(quote, quote > bound AND taker = 'sell') AS net_large_usd
FROM sized
GROUP BY venue
ORDER BY large_share DESC, venue
