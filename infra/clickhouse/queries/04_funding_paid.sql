-- Question: what did a long position of constant size pay (negative: earn) for funding at each venue?
-- A row: one perpetual.
-- Units: settlements in number, paid_pct in percent of the position, annual_pct the same by the year that they make up.
-- Parameters: asset, start, end
SELECT
    settlement.instrument AS instrument,
    count() AS settlements,
    100 * sum(settled_rate) AS paid_pct,
    paid_pct / (settlements * any(interval_hours)) * 24 * 365 AS annual_pct
FROM funding_settlements AS settlement
INNER JOIN latest_terms AS terms ON terms.instrument = settlement.instrument
WHERE settlement.asset = {asset:String}
    AND settlement.time >= {start:DateTime64(6, 'UTC')} AND settlement.time < {end:DateTime64(6, 'UTC')}
GROUP BY instrument
ORDER BY paid_pct DESC
