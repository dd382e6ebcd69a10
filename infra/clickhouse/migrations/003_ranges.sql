-- Parameterized views: SELECT * FROM ohlcv(asset = 'btc', venue = 'binance', seconds = 60, start = ..., end = ...).
-- Intervals of whole 10 s are read from flow_10s, others from the trades themselves. The range is [start, end); start is
-- rounded down to a whole interval since the Unix epoch.

CREATE OR REPLACE VIEW ohlcv AS
SELECT
    toDateTime64(intDiv(toUnixTimestamp64Micro(at), {seconds:UInt32} * 1000000) * {seconds:UInt32}, 6, 'UTC') AS time,
    argMin(first_price, (first_time, first_id)) AS open,
    max(highest) AS high,
    min(lowest) AS low,
    argMax(last_price, (last_time, last_id)) AS close,
    sum(buy) + sum(sell) AS volume,
    sum(buy) AS buy_volume,
    sum(sell) AS sell_volume,
    sum(records) AS trades
FROM
(
    SELECT
        bucket AS at, open AS first_price, high AS highest, low AS lowest, close AS last_price,
        open_time AS first_time, close_time AS last_time, first_id, last_id,
        buy, sell, buy_count + sell_count AS records
    FROM flow_10s
    WHERE {seconds:UInt32} % 10 = 0
        AND asset = {asset:String}
        AND ({venue:String} = 'all' OR venue = {venue:String})
        AND bucket >= toDateTime64(intDiv(toUnixTimestamp64Micro({start:DateTime64(6, 'UTC')}), {seconds:UInt32} * 1000000) * {seconds:UInt32}, 6, 'UTC')
        AND bucket < {end:DateTime64(6, 'UTC')}
    UNION ALL
    SELECT
        time AS at, price AS first_price, price AS highest, price AS lowest, price AS last_price,
        time AS first_time, time AS last_time, first_id, last_id,
        if(taker = 'buy', size, 0) AS buy, if(taker = 'sell', size, 0) AS sell, 1 AS records
    FROM trades
    WHERE {seconds:UInt32} % 10 != 0
        AND asset = {asset:String}
        AND ({venue:String} = 'all' OR venue = {venue:String})
        AND time >= toDateTime64(intDiv(toUnixTimestamp64Micro({start:DateTime64(6, 'UTC')}), {seconds:UInt32} * 1000000) * {seconds:UInt32}, 6, 'UTC')
        AND time < {end:DateTime64(6, 'UTC')}
)
GROUP BY time
ORDER BY time
COMMENT 'Candles of one asset at one venue, or of all merged (venue = all): absent where nothing traded. Volumes in base units.';

CREATE OR REPLACE VIEW cvd AS
SELECT
    time,
    venue,
    market,
    buy_volume - sell_volume AS delta,
    before + sum(delta) OVER (PARTITION BY venue, market ORDER BY time) AS cvd,
    buy_volume,
    sell_volume,
    buy_usd - sell_usd AS delta_usd,
    buy_usd,
    sell_usd,
    trades
FROM
(
    SELECT
        toDateTime64(intDiv(toUnixTimestamp64Micro(at), {seconds:UInt32} * 1000000) * {seconds:UInt32}, 6, 'UTC') AS time,
        venue,
        market,
        sum(buy) AS buy_volume,
        sum(sell) AS sell_volume,
        sum(buy_quote) AS buy_usd,
        sum(sell_quote) AS sell_usd,
        sum(records) AS trades
    FROM
    (
        SELECT venue, market, bucket AS at, buy, sell, buy_quote, sell_quote, buy_count + sell_count AS records
        FROM flow_10s
        WHERE {seconds:UInt32} % 10 = 0
            AND asset = {asset:String}
            AND bucket >= toDateTime64(intDiv(toUnixTimestamp64Micro({start:DateTime64(6, 'UTC')}), {seconds:UInt32} * 1000000) * {seconds:UInt32}, 6, 'UTC')
            AND bucket < {end:DateTime64(6, 'UTC')}
        UNION ALL
        SELECT
            venue, market, time AS at,
            if(taker = 'buy', size, 0) AS buy, if(taker = 'sell', size, 0) AS sell,
            if(taker = 'buy', quote, 0) AS buy_quote, if(taker = 'sell', quote, 0) AS sell_quote, 1 AS records
        FROM trades
        WHERE {seconds:UInt32} % 10 != 0
            AND asset = {asset:String}
            AND time >= toDateTime64(intDiv(toUnixTimestamp64Micro({start:DateTime64(6, 'UTC')}), {seconds:UInt32} * 1000000) * {seconds:UInt32}, 6, 'UTC')
            AND time < {end:DateTime64(6, 'UTC')}
    )
    GROUP BY time, venue, market
) AS ranged
LEFT JOIN
(
    SELECT venue, market, sum(buy) - sum(sell) AS before
    FROM flow_10s
    WHERE asset = {asset:String}
        AND bucket < toDateTime64(intDiv(toUnixTimestamp64Micro({start:DateTime64(6, 'UTC')}), {seconds:UInt32} * 1000000) * {seconds:UInt32}, 6, 'UTC')
    GROUP BY venue, market
) AS earlier USING (venue, market)
ORDER BY time, venue
COMMENT 'Taker flow of one asset per venue and interval; cvd counts from the first trade in the log. Volumes in base units.';
