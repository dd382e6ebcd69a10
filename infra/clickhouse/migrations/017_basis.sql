-- The basis of a time whose spot price nobody told us, against the index that the venue tells beside its mark.

CREATE OR REPLACE VIEW basis_history AS
SELECT
    toDateTime64(slot * {seconds:UInt32} + 345600, 6, 'UTC') AS time,
    marks.venue AS venue,
    marks.said.1 AS mark,
    spot.price AS spot,
    marks.said.2 AS index_price,
    multiIf(spot IS NOT NULL, 'spot', index_price IS NOT NULL, 'index', NULL) AS against,
    mark - ifNull(spot, index_price) AS basis_usd,
    100 * (mark / ifNull(spot, index_price) - 1) AS basis_pct,
    marks.said.3 AS source
FROM
(
    SELECT intDiv(toUnixTimestamp64Micro(time) - 345600000000, {seconds:UInt32} * 1000000) AS slot, venue,
        argMax((assumeNotNull(mark), index_price, source), (source = 'live', time)) AS said
    FROM mark_prices
    WHERE asset = {asset:String} AND mark IS NOT NULL
        AND time >= {start:DateTime64(6, 'UTC')} AND time < {end:DateTime64(6, 'UTC')}
    GROUP BY slot, venue
) AS marks
LEFT JOIN
(
    SELECT intDiv(toUnixTimestamp64Micro(time) - 345600000000, {seconds:UInt32} * 1000000) AS slot,
        toNullable(argMax(tickers.price, time)) AS price
    FROM tickers
    WHERE asset = {asset:String} AND startsWith(instrument, 'binance:spot:') AND quote = 'USDT'
        AND time >= {start:DateTime64(6, 'UTC')} AND time < {end:DateTime64(6, 'UTC')}
    GROUP BY slot
) AS spot USING (slot)
ORDER BY time, venue
COMMENT 'The last mark price of a venue''s perpetual in an interval against the last price of Binance''s USDT spot pair in it, or where there is none against the venue''s own index at that mark; none where the venue said nothing. Parameters: asset, seconds (length of the interval), start and end (UTC, end exclusive). Columns: time (start of the interval, UTC), venue, mark, spot (USDT; null: none), index_price (USDT; null: not said), against (spot, index; null: neither is known), basis_usd (mark minus that), basis_pct (percent of it), source (of mark and index: live, or venue_history, what the venue told later)';
