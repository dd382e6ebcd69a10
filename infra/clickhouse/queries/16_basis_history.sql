-- Question: how far above or below spot do the perpetuals stand?
-- A row: an interval of a perpetual, its newest mark beside Binance's newest spot price in USDT.
-- Units: prices in USDT, basis_pct in percent of spot, annual_pct the same by the year (a perpetual converges at each funding),
-- by the contract's interval at the time of the mark (null: its terms are not known).
-- Parameters: asset, seconds, start, end
WITH
    terms AS
    (
        SELECT instrument, interval_hours,
            if(received = min(received) OVER (PARTITION BY instrument), toDateTime64(0, 6, 'UTC'), received) AS since
        FROM contract_terms
        WHERE asset = {asset:String}
    ),
    spot AS
    (
        SELECT toStartOfInterval(time, toIntervalSecond({seconds:UInt32}), toDateTime64('1970-01-05 00:00:00', 6, 'UTC')) AS bucket, argMax(price, time) AS price
        FROM tickers
        WHERE asset = {asset:String} AND venue = 'binance' AND quote = 'USDT'
            AND time >= {start:DateTime64(6, 'UTC')} AND time < {end:DateTime64(6, 'UTC')}
        GROUP BY bucket
    ),
    marks AS
    (
        SELECT instrument, toStartOfInterval(time, toIntervalSecond({seconds:UInt32}), toDateTime64('1970-01-05 00:00:00', 6, 'UTC')) AS bucket, argMax(mark_prices.mark, time) AS price, max(time) AS at
        FROM mark_prices
        WHERE asset = {asset:String} AND mark_prices.mark IS NOT NULL
            AND time >= {start:DateTime64(6, 'UTC')} AND time < {end:DateTime64(6, 'UTC')}
        GROUP BY instrument, bucket
    )
SELECT
    marks.bucket AS time,
    marks.instrument AS instrument,
    marks.price AS mark,
    spot.price AS spot,
    100 * (mark / spot - 1) AS basis_pct,
    basis_pct * 8760 / nullIf(terms.interval_hours, 0) AS annual_pct
FROM marks
INNER JOIN spot ON spot.bucket = marks.bucket
ASOF LEFT JOIN terms ON terms.instrument = marks.instrument AND marks.at >= terms.since
ORDER BY time, instrument
