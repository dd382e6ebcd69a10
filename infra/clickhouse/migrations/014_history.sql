-- market.history: the venues' past, as candles of theirs or made of their archives of trades. One series is told of it and of
-- trades: up to the first whole hour of an instrument's trades the archive stands, where there is none the venue's candle; from
-- there on trades, whatever came first. A candle that comes twice is one.
--
-- Candles stand by time before instruments, since a range asks for those of all venues: then it is one stretch. Which hours
-- there are of an instrument is a table of days, so that nobody reads all candles to learn where they begin and end.

CREATE TABLE IF NOT EXISTS venue_candles_log
(
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue' CODEC(ZSTD(1)),
    instrument LowCardinality(String) COMMENT 'venue:market:native symbol' CODEC(ZSTD(1)),
    seconds UInt32 COMMENT 'Length of the candle: 3600 or 60' CODEC(ZSTD(1)),
    start DateTime64(6, 'UTC') COMMENT 'Start of the candle' CODEC(DoubleDelta, ZSTD(1)),
    open Float64 COMMENT 'Quote units' CODEC(Delta, ZSTD(1)),
    high Float64 COMMENT 'Quote units' CODEC(Delta, ZSTD(1)),
    low Float64 COMMENT 'Quote units' CODEC(Delta, ZSTD(1)),
    close Float64 COMMENT 'Quote units' CODEC(Delta, ZSTD(1)),
    volume Float64 COMMENT 'Base units' CODEC(ZSTD(1)),
    taker_buy Nullable(Float64) COMMENT 'What takers bought of it, base units; null: the venue does not say' CODEC(ZSTD(1)),
    quote Nullable(Float64) COMMENT 'Worth of the volume, quote units; null: the source does not say' CODEC(ZSTD(1)),
    taker_buy_quote Nullable(Float64) COMMENT 'What takers bought of it, quote units; null: the source does not say' CODEC(ZSTD(1)),
    trades Nullable(UInt64) COMMENT 'Fills; of an archive its rows; null: the venue does not say' CODEC(ZSTD(1)),
    source LowCardinality(String) COMMENT 'venue_candles, or archive: made of its archive of trades' CODEC(ZSTD(1)),
    received DateTime64(6, 'UTC') COMMENT 'When our feed had it' CODEC(Delta, ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of market.history' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset in that partition' CODEC(Delta, ZSTD(1)),
    version UInt64 MATERIALIZED bitNot(offset) - multiIf(source = 'archive', 0, taker_buy IS NULL, 9223372036854775808, 4611686018427387904) COMMENT 'An archive stands before a candle, one that says what takers bought before one that does not; of two of a kind the first in the log' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYear(start)
ORDER BY (asset, seconds, start, instrument)
SETTINGS index_granularity = 1024
COMMENT 'The venues'' past in candles, theirs or made of their archives of trades; read the views venue_candles, ohlcv and cvd';

CREATE TABLE IF NOT EXISTS venue_past_days
(
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue' CODEC(ZSTD(1)),
    seconds UInt32 COMMENT 'Length of the candles: 3600 or 60' CODEC(ZSTD(1)),
    instrument LowCardinality(String) COMMENT 'venue:market:native symbol' CODEC(ZSTD(1)),
    day Date COMMENT 'Day of UTC' CODEC(DoubleDelta, ZSTD(1)),
    hours SimpleAggregateFunction(groupBitOr, UInt32) COMMENT 'Hours of the day in which candles start, a bit each, the lowest is the first' CODEC(ZSTD(1)),
    first_start SimpleAggregateFunction(min, DateTime64(6, 'UTC')) COMMENT 'Start of its first candle' CODEC(Delta, ZSTD(1)),
    last_start SimpleAggregateFunction(max, DateTime64(6, 'UTC')) COMMENT 'Start of its last candle' CODEC(Delta, ZSTD(1)),
    taker_hours SimpleAggregateFunction(groupBitOr, UInt32) COMMENT 'As hours, of candles that say what takers bought; 0: none does' CODEC(ZSTD(1)),
    first_taker SimpleAggregateFunction(min, DateTime64(6, 'UTC')) COMMENT 'Start of the first of those; the year 2200: none' CODEC(Delta, ZSTD(1)),
    last_taker SimpleAggregateFunction(max, DateTime64(6, 'UTC')) COMMENT 'Start of the last of those; 1970: none' CODEC(Delta, ZSTD(1))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYear(day)
ORDER BY (asset, seconds, instrument, day)
SETTINGS index_granularity = 256
COMMENT 'Which hours of a day the venues'' past has of an instrument; group by asset, seconds, instrument and day, with groupBitOr, min and max.';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_venue_past_day TO venue_past_days AS
SELECT
    candle.asset AS asset,
    candle.seconds AS seconds,
    candle.instrument AS instrument,
    toDate(candle.start) AS day,
    groupBitOr(bitShiftLeft(toUInt32(1), toHour(candle.start))) AS hours,
    min(candle.start) AS first_start,
    max(candle.start) AS last_start,
    groupBitOr(if(candle.taker_buy IS NULL, toUInt32(0), bitShiftLeft(toUInt32(1), toHour(candle.start)))) AS taker_hours,
    min(if(candle.taker_buy IS NULL, toDateTime64('2200-01-01 00:00:00', 6, 'UTC'), candle.start)) AS first_taker,
    max(if(candle.taker_buy IS NULL, toDateTime64(0, 6, 'UTC'), candle.start)) AS last_taker
FROM venue_candles_log AS candle
GROUP BY asset, seconds, instrument, day;

CREATE OR REPLACE VIEW venue_candles AS
SELECT
    instrument,
    asset,
    splitByChar(':', instrument)[1] AS venue,
    splitByChar(':', instrument)[2] AS market,
    substring(instrument, length(venue) + length(market) + 3) AS symbol,
    * EXCEPT (instrument, asset)
FROM venue_candles_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'The venues'' past in candles, their own or made of their archives of trades (source), volumes in base units, whether our trades cover their time or not. Filter by asset, seconds and start.';

CREATE OR REPLACE VIEW venue_past AS
SELECT
    instrument,
    since,
    newest,
    taker_since,
    taker_newest,
    first,
    multiIf(first = 0, never, newest >= begun AND since <= first, ended, begun) AS until,
    multiIf(first = 0, never, taker_newest >= begun AND taker_since <= first, ended, begun) AS taker_until,
    taker_since < never AS takers
FROM
(
    SELECT
        instrument,
        toInt64(4611686018427387904) AS never,
        min(oldest) AS since,
        max(latest) AS newest,
        min(taker_oldest) AS taker_since,
        max(taker_latest) AS taker_newest,
        max(traded) AS first,
        intDiv(first, 1000000 * {unit:UInt32}) * 1000000 * {unit:UInt32} AS begun,
        intDiv(first + 1000000 * {unit:UInt32} - 1, 1000000 * {unit:UInt32}) * 1000000 * {unit:UInt32} AS ended
    FROM
    (
        SELECT
            instrument,
            min(toUnixTimestamp64Micro(first_start)) AS oldest,
            max(toUnixTimestamp64Micro(last_start)) AS latest,
            min(if(taker_hours = 0, toInt64(4611686018427387904), toUnixTimestamp64Micro(first_taker))) AS taker_oldest,
            max(if(taker_hours = 0, toInt64(0), toUnixTimestamp64Micro(last_taker))) AS taker_latest,
            toInt64(0) AS traded
        FROM venue_past_days
        WHERE asset = {asset:String} AND seconds = {unit:UInt32}
        GROUP BY instrument
        UNION ALL
        SELECT
            instrument,
            toInt64(4611686018427387904) AS oldest,
            toInt64(0) AS latest,
            oldest AS taker_oldest,
            toInt64(0) AS taker_latest,
            min(toUnixTimestamp64Micro(open_time)) AS traded
        FROM flow_hours_log
        WHERE asset = {asset:String}
        GROUP BY instrument
    )
    GROUP BY instrument
    HAVING since < never
)
COMMENT 'Where the venues'' past ends and our trades begin, by instrument. Parameters: asset, unit (3600 or 60, seconds). Columns, microseconds since the Unix epoch: since (start of the oldest candle), newest (of the newest), taker_since, taker_newest (the same of those that say what takers bought), first (first trade, 0: none), until (candles count before it, trades from it on: the first whole unit of trades), taker_until (the same of those that say what takers bought); takers (1: some do)';

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
