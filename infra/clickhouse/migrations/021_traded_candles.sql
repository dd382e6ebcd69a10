-- Some venues tell candles of a time in which nothing was traded, with the price before it: their rows stay, since they say that
-- the time was read back, but they are no candles and no high or low of all venues.

CREATE OR REPLACE VIEW ohlcv AS
SELECT * EXCEPT (buy_all, sell_all) FROM
(
SELECT
    toDateTime64(slot * {seconds:UInt32} + 345600, 6, 'UTC') AS time,
    argMin(first_price, first_key) AS open,
    max(highest) AS high,
    min(lowest) AS low,
    argMax(last_price, last_key) AS close,
    sum(buy) AS buy_all,
    sum(sell) AS sell_all,
    buy_all + sell_all AS volume,
    if(max(past) = 3, NULL, buy_all) AS buy_volume,
    if(max(past) = 3, NULL, sell_all) AS sell_volume,
    if(max(past) = 3, NULL, sum(records)) AS trades,
    multiIf(max(past) = 0, 'trades', min(past) > 1, 'venue_candles', min(past) = 1 AND max(past) = 1, 'archive', 'mixed') AS source
FROM
(
    SELECT
        intDiv(toUnixTimestamp64Micro(hour) - 345600000000, {seconds:UInt32} * 1000000) AS slot,
        open AS first_price, high AS highest, low AS lowest, close AS last_price,
        bitShiftLeft(toUInt128(toUnixTimestamp64Micro(open_time)), 64) + first_id AS first_key,
        bitShiftLeft(toUInt128(toUnixTimestamp64Micro(close_time)), 64) + last_id AS last_key,
        buy, sell, buy_count + sell_count AS records, 0 AS past
    FROM flow_hours_log FINAL
    WHERE toUnixTimestamp64Micro(hour) >= (SELECT mapFromArrays(groupArray(instrument), groupArray(until)) FROM venue_past(asset = {asset:String}, unit = if({seconds:UInt32} % 3600 = 0, 3600, if({seconds:UInt32} % 60 = 0, 60, 0))))[instrument]
        AND {seconds:UInt32} % 3600 = 0
        AND asset = {asset:String}
        AND ({venue:String} = 'all' OR startsWith(instrument, concat({venue:String}, ':')))
        AND hour >= toDateTime64(intDiv(toUnixTimestamp64Micro({start:DateTime64(6, 'UTC')}) - 345600000000, {seconds:UInt32} * 1000000) * {seconds:UInt32} + 345600, 6, 'UTC')
        AND hour < toStartOfHour({end:DateTime64(6, 'UTC')})
    UNION ALL
    SELECT
        intDiv(toUnixTimestamp64Micro(bucket) - 345600000000, {seconds:UInt32} * 1000000) AS slot,
        open AS first_price, high AS highest, low AS lowest, close AS last_price,
        bitShiftLeft(toUInt128(toUnixTimestamp64Micro(open_time)), 64) + first_id AS first_key,
        bitShiftLeft(toUInt128(toUnixTimestamp64Micro(close_time)), 64) + last_id AS last_key,
        buy, sell, buy_count + sell_count AS records, 0 AS past
    FROM flow_log FINAL
    WHERE toUnixTimestamp64Micro(bucket) >= (SELECT mapFromArrays(groupArray(instrument), groupArray(until)) FROM venue_past(asset = {asset:String}, unit = if({seconds:UInt32} % 3600 = 0, 3600, if({seconds:UInt32} % 60 = 0, 60, 0))))[instrument]
        AND {seconds:UInt32} % 10 = 0
        AND asset = {asset:String}
        AND ({venue:String} = 'all' OR startsWith(instrument, concat({venue:String}, ':')))
        AND bucket >= toDateTime64(intDiv(toUnixTimestamp64Micro({start:DateTime64(6, 'UTC')}) - 345600000000, {seconds:UInt32} * 1000000) * {seconds:UInt32} + 345600, 6, 'UTC')
        AND ({seconds:UInt32} % 3600 != 0 OR bucket >= toStartOfHour({end:DateTime64(6, 'UTC')}))
        AND bucket < {end:DateTime64(6, 'UTC')}
    UNION ALL
    SELECT
        intDiv(toUnixTimestamp64Micro(time) - 345600000000, {seconds:UInt32} * 1000000) AS slot,
        price AS first_price, price AS highest, price AS lowest, price AS last_price,
        bitShiftLeft(toUInt128(toUnixTimestamp64Micro(time)), 64) + first_id AS first_key,
        bitShiftLeft(toUInt128(toUnixTimestamp64Micro(time)), 64) + first_id + span AS last_key,
        if(taker = 'buy', size, 0) AS buy, if(taker = 'sell', size, 0) AS sell, 1 AS records, 0 AS past
    FROM trades_log FINAL
    WHERE {seconds:UInt32} % 10 != 0
        AND asset = {asset:String}
        AND ({venue:String} = 'all' OR startsWith(instrument, concat({venue:String}, ':')))
        AND time >= toDateTime64(intDiv(toUnixTimestamp64Micro({start:DateTime64(6, 'UTC')}) - 345600000000, {seconds:UInt32} * 1000000) * {seconds:UInt32} + 345600, 6, 'UTC')
        AND time < {end:DateTime64(6, 'UTC')}
    UNION ALL
    SELECT
        intDiv(toUnixTimestamp64Micro(start) - 345600000000, {seconds:UInt32} * 1000000) AS slot,
        open AS first_price, high AS highest, low AS lowest, close AS last_price,
        bitShiftLeft(toUInt128(toUnixTimestamp64Micro(start)), 64) AS first_key,
        bitShiftLeft(toUInt128(toUnixTimestamp64Micro(start) + 1000000 * seconds - 1), 64) AS last_key,
        ifNull(taker_buy, 0) AS buy, volume - buy AS sell, ifNull(trades, 0) AS records, multiIf(source = 'archive', 1, taker_buy IS NULL, 3, 2) AS past
    FROM venue_candles_log FINAL
    WHERE asset = {asset:String}
        AND volume > 0
        AND seconds = if({seconds:UInt32} % 3600 = 0, 3600, if({seconds:UInt32} % 60 = 0, 60, 0))
        AND ({venue:String} = 'all' OR startsWith(instrument, concat({venue:String}, ':')))
        AND start >= toDateTime64(intDiv(toUnixTimestamp64Micro({start:DateTime64(6, 'UTC')}) - 345600000000, {seconds:UInt32} * 1000000) * {seconds:UInt32} + 345600, 6, 'UTC')
        AND start < {end:DateTime64(6, 'UTC')}
        AND toUnixTimestamp64Micro(start) < (SELECT mapFromArrays(groupArray(instrument), groupArray(until)) FROM venue_past(asset = {asset:String}, unit = if({seconds:UInt32} % 3600 = 0, 3600, if({seconds:UInt32} % 60 = 0, 60, 0))))[instrument]
)
GROUP BY slot
)
ORDER BY time
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Candles of one asset at one venue, or of all merged (venue = all): absent where nothing traded. Before the first whole hour of trades (first minute, of intervals below an hour) they are of the venue''s archive of trades, or its own candles. Parameters: asset, venue, seconds (length of the interval), start and end (UTC, end exclusive). Columns: time (start of the interval, UTC), open, high, low, close (quote units), volume, buy_volume, sell_volume (base units, by the taker), trades (records), source (trades, archive, venue_candles, or mixed: several, each for its own hours); buy_volume, sell_volume and trades are null where a venue''s candle does not say them';
