-- Question: what did a long position of constant size pay (negative: earn) for funding at each venue?
-- A row: one perpetual.
-- Units: settlements in number, paid_pct in percent of the position, annual_pct the same by the year that they make up, each by
-- the time since the one before, or where that is no interval that venues settle in, by the contract's terms of then; those of
-- which neither is known are not in it (null: no other).
-- Parameters: asset, start, end
WITH
    terms AS
    (
        SELECT instrument, interval_hours,
            if(received = min(received) OVER (PARTITION BY instrument), toDateTime64(0, 6, 'UTC'), received) AS since
        FROM contract_terms
        WHERE asset = {asset:String}
    ),
    -- From one interval before the range: what lies there tells how long the first one's was.
    settled AS
    (
        SELECT instrument, time, settled_rate,
            dateDiff('microsecond', lagInFrame(time) OVER (PARTITION BY instrument ORDER BY time ROWS BETWEEN 1 PRECEDING AND CURRENT ROW), time) / 3600e6 AS hours
        FROM funding_settlements
        WHERE asset = {asset:String}
            AND time >= {start:DateTime64(6, 'UTC')} - INTERVAL 8 HOUR AND time < {end:DateTime64(6, 'UTC')}
    )
SELECT
    settled.instrument AS instrument,
    count() AS settlements,
    100 * sum(settled_rate) AS paid_pct,
    100 * sumIf(settled_rate, own_hours IS NOT NULL) / sum(if(hours IN (1, 2, 4, 6, 8), hours, nullIf(interval_hours, 0)) AS own_hours) * 24 * 365 AS annual_pct
FROM settled
ASOF LEFT JOIN terms ON terms.instrument = settled.instrument AND settled.time >= terms.since
WHERE settled.time >= {start:DateTime64(6, 'UTC')}
GROUP BY instrument
ORDER BY paid_pct DESC
