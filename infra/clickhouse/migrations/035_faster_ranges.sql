-- The views of 003 again, with the same columns and rows: they read the base table by instrument, take the venue off the
-- few rows that are left, and order opens and closes by one number (time, then id) rather than by a pair.

CREATE OR REPLACE VIEW ohlcv AS
SELECT
    toDateTime64(slot * {seconds:UInt32}, 6, 'UTC') AS time,
    argMin(first_price, first_key) AS open,
    max(highest) AS high,
    min(lowest) AS low,
    argMax(last_price, last_key) AS close,
    sum(buy) + sum(sell) AS volume,
    sum(buy) AS buy_volume,
    sum(sell) AS sell_volume,
    sum(records) AS trades
FROM
(
    SELECT
        intDiv(toUnixTimestamp64Micro(bucket), {seconds:UInt32} * 1000000) AS slot,
        open AS first_price, high AS highest, low AS lowest, close AS last_price,
        bitShiftLeft(toUInt128(toUnixTimestamp64Micro(open_time)), 64) + first_id AS first_key,
        bitShiftLeft(toUInt128(toUnixTimestamp64Micro(close_time)), 64) + last_id AS last_key,
        buy, sell, buy_count + sell_count AS records
    FROM flow_log FINAL
    WHERE {seconds:UInt32} % 10 = 0
        AND asset = {asset:String}
        AND ({venue:String} = 'all' OR startsWith(instrument, concat({venue:String}, ':')))
        AND bucket >= toDateTime64(intDiv(toUnixTimestamp64Micro({start:DateTime64(6, 'UTC')}), {seconds:UInt32} * 1000000) * {seconds:UInt32}, 6, 'UTC')
        AND bucket < {end:DateTime64(6, 'UTC')}
    UNION ALL
    SELECT
        intDiv(toUnixTimestamp64Micro(time), {seconds:UInt32} * 1000000) AS slot,
        price AS first_price, price AS highest, price AS lowest, price AS last_price,
        bitShiftLeft(toUInt128(toUnixTimestamp64Micro(time)), 64) + first_id AS first_key,
        bitShiftLeft(toUInt128(toUnixTimestamp64Micro(time)), 64) + first_id + span AS last_key,
        if(taker = 'buy', size, 0) AS buy, if(taker = 'sell', size, 0) AS sell, 1 AS records
    FROM trades_log FINAL
    WHERE {seconds:UInt32} % 10 != 0
        AND asset = {asset:String}
        AND ({venue:String} = 'all' OR startsWith(instrument, concat({venue:String}, ':')))
        AND time >= toDateTime64(intDiv(toUnixTimestamp64Micro({start:DateTime64(6, 'UTC')}), {seconds:UInt32} * 1000000) * {seconds:UInt32}, 6, 'UTC')
        AND time < {end:DateTime64(6, 'UTC')}
)
GROUP BY slot
ORDER BY slot
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Candles of one asset at one venue, or of all merged (venue = all): absent where nothing traded. Parameters: asset, venue, seconds (length of the interval), start and end (UTC, end exclusive). Columns: time (start of the interval, UTC), open, high, low, close (quote units), volume, buy_volume, sell_volume (base units, by the taker), trades (records)';

CREATE OR REPLACE VIEW cvd AS
SELECT
    toDateTime64(slot * {seconds:UInt32}, 6, 'UTC') AS time,
    venue,
    market,
    buy_volume - sell_volume AS delta,
    before + sum(delta) OVER (PARTITION BY venue, market ORDER BY slot) AS cvd,
    buy_volume,
    sell_volume,
    buy_usd - sell_usd AS delta_usd,
    buy_usd,
    sell_usd,
    trades
FROM
(
    SELECT
        slot,
        splitByChar(':', instrument)[1] AS venue,
        splitByChar(':', instrument)[2] AS market,
        sum(buys) AS buy_volume,
        sum(sells) AS sell_volume,
        sum(buys_quote) AS buy_usd,
        sum(sells_quote) AS sell_usd,
        sum(records) AS trades
    FROM
    (
        SELECT
            intDiv(toUnixTimestamp64Micro(bucket), {seconds:UInt32} * 1000000) AS slot,
            instrument,
            sum(buy) AS buys, sum(sell) AS sells, sum(buy_quote) AS buys_quote, sum(sell_quote) AS sells_quote,
            sum(buy_count + sell_count) AS records
        FROM flow_log FINAL
        WHERE {seconds:UInt32} % 10 = 0
            AND asset = {asset:String}
            AND bucket >= toDateTime64(intDiv(toUnixTimestamp64Micro({start:DateTime64(6, 'UTC')}), {seconds:UInt32} * 1000000) * {seconds:UInt32}, 6, 'UTC')
            AND bucket < {end:DateTime64(6, 'UTC')}
        GROUP BY slot, instrument
        UNION ALL
        SELECT
            intDiv(toUnixTimestamp64Micro(time), {seconds:UInt32} * 1000000) AS slot,
            instrument,
            sumIf(size, taker = 'buy') AS buys, sumIf(size, taker = 'sell') AS sells,
            sumIf(quote, taker = 'buy') AS buys_quote, sumIf(quote, taker = 'sell') AS sells_quote,
            count() AS records
        FROM trades_log FINAL
        WHERE {seconds:UInt32} % 10 != 0
            AND asset = {asset:String}
            AND time >= toDateTime64(intDiv(toUnixTimestamp64Micro({start:DateTime64(6, 'UTC')}), {seconds:UInt32} * 1000000) * {seconds:UInt32}, 6, 'UTC')
            AND time < {end:DateTime64(6, 'UTC')}
        GROUP BY slot, instrument
    )
    GROUP BY slot, venue, market
) AS ranged
LEFT JOIN
(
    SELECT
        splitByChar(':', instrument)[1] AS venue,
        splitByChar(':', instrument)[2] AS market,
        sum(buys) - sum(sells) AS before
    FROM
    (
        SELECT instrument, sum(buy) AS buys, sum(sell) AS sells
        FROM flow_log FINAL
        WHERE asset = {asset:String}
            AND bucket < toDateTime64(intDiv(toUnixTimestamp64Micro({start:DateTime64(6, 'UTC')}), {seconds:UInt32} * 1000000) * {seconds:UInt32}, 6, 'UTC')
        GROUP BY instrument
    )
    GROUP BY venue, market
) AS earlier USING (venue, market)
ORDER BY time, venue
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Taker flow of one asset per venue and interval. Parameters: asset, seconds (length of the interval), start and end (UTC, end exclusive). Columns: time (start of the interval, UTC), venue, market (perp, spot), delta (buys minus sells, base units), cvd (sum of delta since the first trade in the log, base units), buy_volume, sell_volume (base units), delta_usd, buy_usd, sell_usd (quote units, taken for USD), trades (records)';
