-- What takers bought had the name of its column: the condition that a candle says it was of the alias, which is never null, and a
-- candle that does not say it counted as one sell.

CREATE OR REPLACE VIEW cvd AS
SELECT
    toDateTime64(slot * {seconds:UInt32} + 345600, 6, 'UTC') AS time,
    substringIndex(instrument, ':', 1) AS venue,
    substringIndex(substringIndex(instrument, ':', 2), ':', -1) AS market,
    sum(buy) - sum(sell) AS delta,
    sum(delta) OVER (PARTITION BY venue, market ORDER BY slot) AS cvd,
    sum(buy) AS buy_volume,
    sum(sell) AS sell_volume,
    sum(buy_quote) - sum(sell_quote) AS delta_usd,
    sum(buy_quote) AS buy_usd,
    sum(sell_quote) AS sell_usd,
    sum(records) AS trades,
    multiIf(max(past) = 0, 'trades', min(past) > 1, 'venue_candles', min(past) = 1 AND max(past) = 1, 'archive', 'mixed') AS source
FROM
(
    SELECT
        if(toUnixTimestamp64Micro(hour) < (SELECT mapFromArrays(groupArray(instrument), groupArray(taker_until)) FROM venue_past(asset = {asset:String}, unit = if({seconds:UInt32} % 3600 = 0, 3600, if({seconds:UInt32} % 60 = 0, 60, 0))) WHERE takers)[instrument], intDiv(toUnixTimestamp64Micro({start:DateTime64(6, 'UTC')}) - 345600000000, {seconds:UInt32} * 1000000) - 1, greatest(intDiv(toUnixTimestamp64Micro(hour) - 345600000000, {seconds:UInt32} * 1000000), intDiv(toUnixTimestamp64Micro({start:DateTime64(6, 'UTC')}) - 345600000000, {seconds:UInt32} * 1000000) - 1)) AS slot,
        instrument,
        buy, sell, buy_quote, sell_quote, buy_count + sell_count AS records, 0 AS past
    FROM flow_hours_log FINAL
    WHERE asset = {asset:String}
        AND hour < toStartOfHour(if({seconds:UInt32} % 3600 = 0, {end:DateTime64(6, 'UTC')}, toDateTime64(intDiv(toUnixTimestamp64Micro({start:DateTime64(6, 'UTC')}) - 345600000000, {seconds:UInt32} * 1000000) * {seconds:UInt32} + 345600, 6, 'UTC')))
    UNION ALL
    SELECT
        if(toUnixTimestamp64Micro(bucket) < (SELECT mapFromArrays(groupArray(instrument), groupArray(taker_until)) FROM venue_past(asset = {asset:String}, unit = if({seconds:UInt32} % 3600 = 0, 3600, if({seconds:UInt32} % 60 = 0, 60, 0))) WHERE takers)[instrument], intDiv(toUnixTimestamp64Micro({start:DateTime64(6, 'UTC')}) - 345600000000, {seconds:UInt32} * 1000000) - 1, greatest(intDiv(toUnixTimestamp64Micro(bucket) - 345600000000, {seconds:UInt32} * 1000000), intDiv(toUnixTimestamp64Micro({start:DateTime64(6, 'UTC')}) - 345600000000, {seconds:UInt32} * 1000000) - 1)) AS slot,
        instrument,
        buy, sell, buy_quote, sell_quote, buy_count + sell_count AS records, 0 AS past
    FROM flow_log FINAL
    WHERE asset = {asset:String}
        AND bucket >= toStartOfHour(if({seconds:UInt32} % 3600 = 0, {end:DateTime64(6, 'UTC')}, toDateTime64(intDiv(toUnixTimestamp64Micro({start:DateTime64(6, 'UTC')}) - 345600000000, {seconds:UInt32} * 1000000) * {seconds:UInt32} + 345600, 6, 'UTC')))
        AND bucket < if({seconds:UInt32} % 10 = 0, {end:DateTime64(6, 'UTC')}, toDateTime64(intDiv(intDiv(toUnixTimestamp64Micro({start:DateTime64(6, 'UTC')}) - 345600000000, {seconds:UInt32} * 1000000) * {seconds:UInt32} + 345600, 10) * 10, 6, 'UTC'))
    UNION ALL
    SELECT
        greatest(intDiv(toUnixTimestamp64Micro(time) - 345600000000, {seconds:UInt32} * 1000000), intDiv(toUnixTimestamp64Micro({start:DateTime64(6, 'UTC')}) - 345600000000, {seconds:UInt32} * 1000000) - 1) AS slot,
        instrument,
        if(taker = 'buy', size, 0) AS buy, if(taker = 'sell', size, 0) AS sell,
        if(taker = 'buy', quote, 0) AS buy_quote, if(taker = 'sell', quote, 0) AS sell_quote, toUInt64(1) AS records, 0 AS past
    FROM trades_log FINAL
    WHERE asset = {asset:String}
        AND {seconds:UInt32} % 10 != 0
        AND time >= toDateTime64(intDiv(intDiv(toUnixTimestamp64Micro({start:DateTime64(6, 'UTC')}) - 345600000000, {seconds:UInt32} * 1000000) * {seconds:UInt32} + 345600, 10) * 10, 6, 'UTC')
        AND time < {end:DateTime64(6, 'UTC')}
    UNION ALL
    SELECT
        intDiv(toUnixTimestamp64Micro({start:DateTime64(6, 'UTC')}) - 345600000000, {seconds:UInt32} * 1000000) - 1 AS slot,
        instrument,
        buy, sell, buy_quote, sell_quote, buy_count + sell_count AS records, 0 AS past
    FROM flow_log FINAL
    WHERE asset = {asset:String}
        AND bucket >= {end:DateTime64(6, 'UTC')}
        AND toUnixTimestamp64Micro(bucket) < (SELECT max(taker_until) FROM venue_past(asset = {asset:String}, unit = if({seconds:UInt32} % 3600 = 0, 3600, if({seconds:UInt32} % 60 = 0, 60, 0))) WHERE takers AND first > 0)
        AND toUnixTimestamp64Micro(bucket) < (SELECT mapFromArrays(groupArray(instrument), groupArray(taker_until)) FROM venue_past(asset = {asset:String}, unit = if({seconds:UInt32} % 3600 = 0, 3600, if({seconds:UInt32} % 60 = 0, 60, 0))) WHERE takers)[instrument]
    UNION ALL
    SELECT
        slot,
        instrument,
        sign * bought AS buy, sign * (volume - bought) AS sell,
        ifNull(sign * taker_buy_quote, buy * close) AS buy_quote, ifNull(sign * (quote - taker_buy_quote), sell * close) AS sell_quote,
        if(sign = 1, ifNull(trades, 0), 0) AS records, if(source = 'archive', 1, 2) AS past
    FROM
    (
        SELECT
            instrument, assumeNotNull(taker_buy) AS bought, taker_buy_quote, quote, source, volume, trades, (high + low + close) / 3 AS close,
            arrayJoin([(1, intDiv(toUnixTimestamp64Micro(start) - 345600000000, {seconds:UInt32} * 1000000)), (-1, intDiv(toUnixTimestamp64Micro({start:DateTime64(6, 'UTC')}) - 345600000000, {seconds:UInt32} * 1000000) - 1)]) AS placed,
            placed.1 AS sign, placed.2 AS slot
        FROM venue_candles_log FINAL
        WHERE asset = {asset:String}
            AND seconds = if({seconds:UInt32} % 3600 = 0, 3600, if({seconds:UInt32} % 60 = 0, 60, 0))
            AND taker_buy IS NOT NULL
            AND start >= toDateTime64(intDiv(toUnixTimestamp64Micro({start:DateTime64(6, 'UTC')}) - 345600000000, {seconds:UInt32} * 1000000) * {seconds:UInt32} + 345600, 6, 'UTC')
            AND toUnixTimestamp64Micro(start) < (SELECT mapFromArrays(groupArray(instrument), groupArray(taker_until)) FROM venue_past(asset = {asset:String}, unit = if({seconds:UInt32} % 3600 = 0, 3600, if({seconds:UInt32} % 60 = 0, 60, 0))) WHERE takers)[instrument]
    )
    WHERE slot < intDiv(toUnixTimestamp64Micro({end:DateTime64(6, 'UTC')}) - 345600000000 + {seconds:UInt32} * 1000000 - 1, {seconds:UInt32} * 1000000)
)
GROUP BY slot, venue, market
QUALIFY slot >= intDiv(toUnixTimestamp64Micro({start:DateTime64(6, 'UTC')}) - 345600000000, {seconds:UInt32} * 1000000)
ORDER BY slot, venue
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Taker flow of one asset per venue and interval. Before the first whole hour of trades (first minute, of intervals below an hour) it is that of the venue''s archive of trades, or of its own candles where they say what takers bought. Parameters: asset, seconds (length of the interval), start and end (UTC, end exclusive). Columns: time (start of the interval, UTC), venue, market (perp, spot), delta (buys minus sells, base units), cvd (sum of delta since the first trade in the log, base units; before it the same curve goes on to the left), buy_volume, sell_volume (base units), delta_usd, buy_usd, sell_usd (quote units, taken for USD), trades (records), source (trades, archive, venue_candles, or mixed: several, each for its own hours; USD of a venue''s candle is at the mean of its high, low and close)';
