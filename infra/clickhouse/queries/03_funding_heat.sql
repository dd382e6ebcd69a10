-- Question: where is it dear to be long, and where is one paid for it?
-- A row: one asset with each venue's mean running rate, dearest first.
-- Units: percent a year, by each contract's own interval at the time of the rate (before the first terms that were read: by
-- those); null: the venue said none. spread_pct is highest minus lowest.
-- Parameters: start, end
WITH
    terms AS
    (
        SELECT instrument, interval_hours,
            if(received = min(received) OVER (PARTITION BY instrument), toDateTime64(0, 6, 'UTC'), received) AS since
        FROM contract_terms
    ),
    rates AS
    (
        SELECT rate.asset AS asset, rate.venue AS venue, avg(rate.rate * 24 / terms.interval_hours * 365 * 100) AS annual_pct
        FROM funding_rates AS rate
        ASOF INNER JOIN terms ON terms.instrument = rate.instrument AND rate.time >= terms.since
        WHERE rate.time >= {start:DateTime64(6, 'UTC')} AND rate.time < {end:DateTime64(6, 'UTC')}
        GROUP BY asset, venue
    )
SELECT
    asset,
    anyOrNullIf(annual_pct, venue = 'binance') AS binance_pct,
    anyOrNullIf(annual_pct, venue = 'bybit') AS bybit_pct,
    anyOrNullIf(annual_pct, venue = 'okx') AS okx_pct,
    avg(annual_pct) AS mean_pct,
    max(annual_pct) - min(annual_pct) AS spread_pct
FROM rates
GROUP BY asset
ORDER BY mean_pct DESC, asset
