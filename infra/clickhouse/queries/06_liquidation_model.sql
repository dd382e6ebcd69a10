-- Question: did the liquidations that the model expected come about where the price swept its levels?
-- A row: an asset; the mass that the model swept in the range, over each of its starts, beside what the venues reported
-- in the range, from its first start on.
-- Units: USD of one side; ratio is observed over expected (null: nothing was expected).
-- Parameters: start, end
WITH
    counted AS
    (
        SELECT
            asset,
            since,
            -- A start within the range counts from nothing, an earlier one from what it had.
            argMax(swept_long_usd, time) - if(since < {start:DateTime64(6, 'UTC')}, argMin(swept_long_usd, time), 0) AS long_usd,
            argMax(swept_short_usd, time) - if(since < {start:DateTime64(6, 'UTC')}, argMin(swept_short_usd, time), 0) AS short_usd
        FROM liquidation_risk
        WHERE time >= {start:DateTime64(6, 'UTC')} AND time < {end:DateTime64(6, 'UTC')}
        GROUP BY asset, since
    ),
    swept AS
    (
        SELECT asset, min(since) AS first, sum(counted.long_usd) AS long_usd, sum(counted.short_usd) AS short_usd
        FROM counted
        GROUP BY asset
    ),
    seen AS
    (
        SELECT asset, sumIf(value, side = 'long') AS long_usd, sumIf(value, side = 'short') AS short_usd
        FROM liquidations
        INNER JOIN (SELECT asset, first FROM swept) AS begun USING (asset)
        WHERE time >= greatest({start:DateTime64(6, 'UTC')}, first) AND time < {end:DateTime64(6, 'UTC')}
        GROUP BY asset
    )
SELECT
    swept.asset AS asset,
    swept.long_usd AS expected_long_usd,
    seen.long_usd AS observed_long_usd,
    swept.short_usd AS expected_short_usd,
    seen.short_usd AS observed_short_usd,
    (observed_long_usd + observed_short_usd) / nullIf(expected_long_usd + expected_short_usd, 0) AS ratio
FROM swept
LEFT JOIN seen ON seen.asset = swept.asset
ORDER BY expected_long_usd + expected_short_usd DESC, asset
