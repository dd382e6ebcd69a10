-- Histories by interval of what venues say of perpetuals, as the API's routes of these names tell them. Intervals are
-- counted from the first Monday of the epoch, 1970-01-05, so that weeks begin with Monday.

CREATE OR REPLACE VIEW open_interest_history AS
SELECT
    toDateTime64(slot * {seconds:UInt32} + 345600, 6, 'UTC') AS time,
    interest.venue AS venue,
    interest.units AS open_interest,
    marks.price AS mark,
    open_interest * mark AS open_interest_usd
FROM
(
    SELECT intDiv(toUnixTimestamp64Micro(time) - 345600000000, {seconds:UInt32} * 1000000) AS slot, venue,
        argMax(open_interest.open_interest, time) AS units
    FROM open_interest
    WHERE asset = {asset:String} AND time >= {start:DateTime64(6, 'UTC')} AND time < {end:DateTime64(6, 'UTC')}
    GROUP BY slot, venue
) AS interest
LEFT JOIN
(
    SELECT intDiv(toUnixTimestamp64Micro(time) - 345600000000, {seconds:UInt32} * 1000000) AS slot, venue,
        toNullable(argMax(assumeNotNull(mark), time)) AS price
    FROM mark_prices
    WHERE asset = {asset:String} AND mark IS NOT NULL
        AND time >= {start:DateTime64(6, 'UTC')} AND time < {end:DateTime64(6, 'UTC')}
    GROUP BY slot, venue
) AS marks USING (slot, venue)
ORDER BY time, venue
COMMENT 'The last open interest that a venue said of an asset''s perpetual in an interval; none where it said nothing. Parameters: asset, seconds (length of the interval), start and end (UTC, end exclusive). Columns: time (start of the interval, UTC), venue, open_interest (base units of one side), mark (its last mark price of the interval, quote units; null: none), open_interest_usd (at that mark, USDT taken for USD)';

CREATE OR REPLACE VIEW basis_history AS
SELECT
    toDateTime64(slot * {seconds:UInt32} + 345600, 6, 'UTC') AS time,
    marks.venue AS venue,
    marks.price AS mark,
    spot.price AS spot,
    mark - spot AS basis_usd,
    100 * (mark / spot - 1) AS basis_pct
FROM
(
    SELECT intDiv(toUnixTimestamp64Micro(time) - 345600000000, {seconds:UInt32} * 1000000) AS slot, venue,
        argMax(assumeNotNull(mark), time) AS price
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
COMMENT 'The last mark price of a venue''s perpetual in an interval against the last price of Binance''s USDT spot pair in it; none where the venue said nothing. Parameters: asset, seconds (length of the interval), start and end (UTC, end exclusive). Columns: time (start of the interval, UTC), venue, mark, spot (USDT; spot null: none), basis_usd (mark minus spot), basis_pct (percent of spot)';

CREATE OR REPLACE VIEW long_short_history AS
SELECT
    toDateTime64(slot * {seconds:UInt32} + 345600, 6, 'UTC') AS time,
    venue,
    said.1 AS long_ratio,
    said.2 AS short_ratio,
    said.3 AS ls_ratio
FROM
(
    SELECT intDiv(toUnixTimestamp64Micro(time) - 345600000000, {seconds:UInt32} * 1000000) AS slot, venue,
        argMax((long_ratio, short_ratio, ls_ratio), time) AS said
    FROM long_short_ratios
    WHERE asset = {asset:String} AND cohort = 'top_traders' AND basis = 'positions'
        AND time >= {start:DateTime64(6, 'UTC')} AND time < {end:DateTime64(6, 'UTC')}
    GROUP BY slot, venue
)
ORDER BY time, venue
COMMENT 'How a venue''s top traders were positioned in the last of its periods that begins in an interval; none where none does. Parameters: asset, seconds (length of the interval), start and end (UTC, end exclusive). Columns: time (start of the interval, UTC), venue, long_ratio, short_ratio (shares of positions, 0 to 1), ls_ratio (one over the other)';

CREATE OR REPLACE VIEW liquidation_history AS
SELECT
    toDateTime64(slot * {seconds:UInt32} + 345600, 6, 'UTC') AS time,
    venue,
    sumIf(value, side = 'long') AS long_usd,
    sumIf(value, side = 'short') AS short_usd,
    countIf(side = 'long') AS long_count,
    countIf(side = 'short') AS short_count
FROM
(
    SELECT intDiv(toUnixTimestamp64Micro(time) - 345600000000, {seconds:UInt32} * 1000000) AS slot, venue, side, value
    FROM liquidations
    WHERE asset = {asset:String} AND time >= {start:DateTime64(6, 'UTC')} AND time < {end:DateTime64(6, 'UTC')}
)
GROUP BY slot, venue
ORDER BY time, venue
COMMENT 'What a venue reported as liquidated of an asset in an interval, by side; none where nothing was. Parameters: asset, seconds (length of the interval), start and end (UTC, end exclusive). Columns: time (start of the interval, UTC), venue, long_usd, short_usd (value, USD; a lower bound where completeness is sampled), long_count, short_count (positions)';
