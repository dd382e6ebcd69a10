-- derived.flow: taker flow by 10 s buckets, five minutes and hours, and ranges of it. Five minutes stand by time before
-- instruments, as candles do: a range of all venues is one stretch. What seldom comes goes by a table of its own, as
-- with trades.
--
-- Parameterized views: SELECT * FROM ohlcv(asset = 'btc', venue = 'binance', seconds = 60, start = ..., end = ...). Intervals
-- of whole 10 s are read from flow, others from the trades themselves. The range is [start, end); start is rounded down to a
-- whole interval. Intervals, here and in further files, are counted from the first Monday of the epoch, 1970-01-05, so that
-- weeks begin with Monday. Whole hours are read as hours, the one in which a range ends in buckets. cvd reads each table
-- once: what lies before the range is a slot of its own, which is left out at the end. Both have few levels, since most of
-- such a query's time is its planning.

CREATE TABLE IF NOT EXISTS derived_flow_others_in AS derived_flow_in
ENGINE = Null
COMMENT 'What seldom comes in derived.flow, on its way into the base tables';

CREATE TABLE IF NOT EXISTS flow_log
(
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue' CODEC(ZSTD(1)),
    instrument LowCardinality(String) COMMENT 'venue:market:native symbol' CODEC(ZSTD(1)),
    bucket DateTime64(6, 'UTC') COMMENT 'Start of the 10 s bucket by venue time, half open' CODEC(DoubleDelta, ZSTD(1)),
    part Int64 COMMENT '0: the stream; over 0: the backfill of the gap with this id; below 0: one late trade' CODEC(ZSTD(1)),
    buy Float64 COMMENT 'Taker buys, base units' CODEC(ZSTD(1)),
    sell Float64 COMMENT 'Taker sells, base units' CODEC(ZSTD(1)),
    buy_quote Float64 COMMENT 'Taker buys, quote units' CODEC(ZSTD(1)),
    sell_quote Float64 COMMENT 'Taker sells, quote units' CODEC(ZSTD(1)),
    buy_count UInt64 COMMENT 'Trade records with a buying taker' CODEC(T64, ZSTD(1)),
    sell_count UInt64 COMMENT 'Trade records with a selling taker' CODEC(T64, ZSTD(1)),
    open Float64 COMMENT 'Price of the first trade by venue time' CODEC(Delta, ZSTD(1)),
    high Float64 COMMENT 'Highest price' CODEC(Delta, ZSTD(1)),
    low Float64 COMMENT 'Lowest price' CODEC(Delta, ZSTD(1)),
    close Float64 COMMENT 'Price of the last trade by venue time' CODEC(Delta, ZSTD(1)),
    open_time DateTime64(6, 'UTC') COMMENT 'Venue time of the open' CODEC(Delta, ZSTD(1)),
    close_time DateTime64(6, 'UTC') COMMENT 'Venue time of the close' CODEC(Delta, ZSTD(1)),
    first_id UInt64 COMMENT 'Lowest venue id in the part' CODEC(Delta, ZSTD(1)),
    last_id UInt64 COMMENT 'Highest venue id in the part' CODEC(Delta, ZSTD(1)),
    final Bool COMMENT 'The bucket''s window has closed' CODEC(ZSTD(1)),
    v UInt64 COMMENT 'Version: generation times 2^44 plus the source offset it follows from' CODEC(Delta, ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of derived.flow' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset in that partition' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(v)
PARTITION BY toYYYYMM(bucket)
ORDER BY (asset, instrument, bucket, part)
SETTINGS index_granularity = 1024
COMMENT 'Taker flow per instrument, 10 s bucket and part; read the view flow_10s';

CREATE TABLE IF NOT EXISTS flow_hours_log
(
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue' CODEC(ZSTD(1)),
    instrument LowCardinality(String) COMMENT 'venue:market:native symbol' CODEC(ZSTD(1)),
    hour DateTime64(6, 'UTC') COMMENT 'Start of the hour by venue time, half open' CODEC(DoubleDelta, ZSTD(1)),
    part Int64 COMMENT '0: the stream and all backfills; below 0: one late trade' CODEC(ZSTD(1)),
    buy Float64 COMMENT 'Taker buys, base units' CODEC(ZSTD(1)),
    sell Float64 COMMENT 'Taker sells, base units' CODEC(ZSTD(1)),
    buy_quote Float64 COMMENT 'Taker buys, quote units' CODEC(ZSTD(1)),
    sell_quote Float64 COMMENT 'Taker sells, quote units' CODEC(ZSTD(1)),
    buy_count UInt64 COMMENT 'Trade records with a buying taker' CODEC(T64, ZSTD(1)),
    sell_count UInt64 COMMENT 'Trade records with a selling taker' CODEC(T64, ZSTD(1)),
    open Float64 COMMENT 'Price of the first trade by venue time' CODEC(Delta, ZSTD(1)),
    high Float64 COMMENT 'Highest price' CODEC(Delta, ZSTD(1)),
    low Float64 COMMENT 'Lowest price' CODEC(Delta, ZSTD(1)),
    close Float64 COMMENT 'Price of the last trade by venue time' CODEC(Delta, ZSTD(1)),
    open_time DateTime64(6, 'UTC') COMMENT 'Venue time of the open' CODEC(Delta, ZSTD(1)),
    close_time DateTime64(6, 'UTC') COMMENT 'Venue time of the close' CODEC(Delta, ZSTD(1)),
    first_id UInt64 COMMENT 'Orders opens of equal times: lowest venue id of the bucket''s part that has the open' CODEC(Delta, ZSTD(1)),
    last_id UInt64 COMMENT 'Orders closes of equal times: highest venue id of the bucket''s part that has the close' CODEC(Delta, ZSTD(1)),
    final Bool COMMENT 'The hour''s last bucket has closed' CODEC(ZSTD(1)),
    v UInt64 COMMENT 'Version: generation times 2^44 plus the source offset it follows from' CODEC(Delta, ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of derived.flow' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset in that partition' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(v)
PARTITION BY toYYYYMM(hour)
ORDER BY (asset, instrument, hour, part)
SETTINGS index_granularity = 1024
COMMENT 'Taker flow per instrument and hour, of its closed buckets; read the view flow_1h';

CREATE TABLE IF NOT EXISTS flow_fives_log
(
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue' CODEC(ZSTD(1)),
    instrument LowCardinality(String) COMMENT 'venue:market:native symbol' CODEC(ZSTD(1)),
    start DateTime64(6, 'UTC') COMMENT 'Start of the five minutes by venue time; the end is half open' CODEC(DoubleDelta, ZSTD(1)),
    part Int64 COMMENT '0: the stream and all backfills; below 0: one late trade' CODEC(ZSTD(1)),
    buy Float64 COMMENT 'Taker buys, base units' CODEC(ZSTD(1)),
    sell Float64 COMMENT 'Taker sells, base units' CODEC(ZSTD(1)),
    buy_quote Float64 COMMENT 'Taker buys, quote units' CODEC(ZSTD(1)),
    sell_quote Float64 COMMENT 'Taker sells, quote units' CODEC(ZSTD(1)),
    buy_count UInt64 COMMENT 'Trade records with a buying taker' CODEC(T64, ZSTD(1)),
    sell_count UInt64 COMMENT 'Trade records with a selling taker' CODEC(T64, ZSTD(1)),
    open Float64 COMMENT 'Price of the first trade by venue time' CODEC(Delta, ZSTD(1)),
    high Float64 COMMENT 'Highest price' CODEC(Delta, ZSTD(1)),
    low Float64 COMMENT 'Lowest price' CODEC(Delta, ZSTD(1)),
    close Float64 COMMENT 'Price of the last trade by venue time' CODEC(Delta, ZSTD(1)),
    open_time DateTime64(6, 'UTC') COMMENT 'Venue time of the open' CODEC(Delta, ZSTD(1)),
    close_time DateTime64(6, 'UTC') COMMENT 'Venue time of the close' CODEC(Delta, ZSTD(1)),
    first_id UInt64 COMMENT 'Orders opens of equal times: lowest venue id of the bucket''s part that has the open' CODEC(Delta, ZSTD(1)),
    last_id UInt64 COMMENT 'Orders closes of equal times: highest venue id of the bucket''s part that has the close' CODEC(Delta, ZSTD(1)),
    v UInt64 COMMENT 'Version: generation times 2^44 plus the source offset it follows from' CODEC(Delta, ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of derived.flow' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset in that partition' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(v)
PARTITION BY toYYYYMM(start)
ORDER BY (asset, start, instrument, part)
SETTINGS index_granularity = 1024
COMMENT 'Taker flow per instrument and five minutes, once all of their buckets have closed; read the view flow_5m';

CREATE MATERIALIZED VIEW IF NOT EXISTS derived_flow_others TO derived_flow_others_in AS
SELECT * FROM derived_flow_in
WHERE log_error != '' OR hour IS NOT NULL OR start IS NOT NULL;

CREATE OR REPLACE VIEW flow_10s AS
SELECT
    asset,
    instrument,
    splitByChar(':', instrument)[1] AS venue,
    splitByChar(':', instrument)[2] AS market,
    * EXCEPT (asset, instrument)
FROM flow_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Taker flow per instrument, 10 s bucket and part; sum the parts of a bucket. Filter by asset and bucket.';

CREATE OR REPLACE VIEW flow_5m AS
SELECT
    asset,
    instrument,
    splitByChar(':', instrument)[1] AS venue,
    splitByChar(':', instrument)[2] AS market,
    * EXCEPT (asset, instrument)
FROM flow_fives_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Taker flow per instrument and five minutes, once all of their 10 s buckets have closed; sum the parts. Filter by asset and start.';

CREATE OR REPLACE VIEW flow_1h AS
SELECT
    asset,
    instrument,
    splitByChar(':', instrument)[1] AS venue,
    splitByChar(':', instrument)[2] AS market,
    * EXCEPT (asset, instrument)
FROM flow_hours_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Taker flow per instrument and hour, of those of its 10 s buckets that have closed; sum the parts of an hour. Filter by asset and hour.';
