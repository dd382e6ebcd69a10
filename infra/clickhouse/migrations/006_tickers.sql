-- market.tickers.
--
-- tickers_replay, and funding_replay beside it, have the topic record by record, as the log has it: a backtest reads the
-- processors' inputs from here when Kafka holds them no longer. The other tables keep one row for each fact, and not the
-- feeds' marks, by which partition time advances. Trades need none of this: trades_log, gaps_log and feed_marks_log say all
-- of them.

CREATE TABLE IF NOT EXISTS tickers_log
(
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue' CODEC(ZSTD(1)),
    instrument LowCardinality(String) COMMENT 'venue:market:native symbol' CODEC(ZSTD(1)),
    bid Nullable(Float64) COMMENT 'Best bid, quote units; null: the channel has none' CODEC(ZSTD(1)),
    ask Nullable(Float64) COMMENT 'Best ask, quote units; null: the channel has none' CODEC(ZSTD(1)),
    last Float64 COMMENT 'Price of the last trade, quote units' CODEC(Delta, ZSTD(1)),
    price Float64 COMMENT 'Middle of bid and ask, or the last price, quote units' CODEC(Delta, ZSTD(1)),
    low Float64 COMMENT 'Lowest price since the previous record of the instrument, quote units' CODEC(Delta, ZSTD(1)),
    high Float64 COMMENT 'Highest price since the previous record of the instrument, quote units' CODEC(Delta, ZSTD(1)),
    change_24h Nullable(Float64) COMMENT 'Change of the last price over 24 h, percent' CODEC(ZSTD(1)),
    volume_24h Nullable(Float64) COMMENT 'Volume of 24 h, base units' CODEC(ZSTD(1)),
    quote_volume_24h Nullable(Float64) COMMENT 'Volume of 24 h, quote units' CODEC(ZSTD(1)),
    quote LowCardinality(String) COMMENT 'Ticker of the quote currency' CODEC(ZSTD(1)),
    quote_usd Float64 COMMENT 'What a unit of the quote is worth in USD' CODEC(Delta, ZSTD(1)),
    time DateTime64(6, 'UTC') COMMENT 'The venue''s time, or ours where it says none' CODEC(Delta, ZSTD(1)),
    received DateTime64(6, 'UTC') COMMENT 'When our feed had it' CODEC(Delta, ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of market.tickers' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset in that partition' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(offset)
PARTITION BY toYYYYMM(time)
ORDER BY (asset, instrument, time, received)
COMMENT 'Spot tickers of the chain venues; read the view tickers';

CREATE TABLE IF NOT EXISTS price_ranges_log
(
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue',
    instrument LowCardinality(String) COMMENT 'venue:market:native symbol',
    from DateTime64(6, 'UTC') COMMENT 'Start of the time without tickers',
    to DateTime64(6, 'UTC') COMMENT 'Its end, exclusive',
    low Float64 COMMENT 'Lowest price, quote units',
    high Float64 COMMENT 'Highest price, quote units',
    quote LowCardinality(String) COMMENT 'Ticker of the quote currency',
    quote_usd Float64 COMMENT 'What a unit of the quote is worth in USD',
    received DateTime64(6, 'UTC') COMMENT 'When our feed had it',
    candles Array(Tuple(minute DateTime64(6, 'UTC'), low Float64, high Float64)) COMMENT 'Start and bounds of each minute, quote units',
    partition UInt16 COMMENT 'Kafka partition of market.tickers',
    offset UInt64 COMMENT 'Kafka offset in that partition'
)
ENGINE = ReplacingMergeTree(offset)
ORDER BY (asset, instrument, from, to)
COMMENT 'Bounds of the price in times without tickers; read the view price_ranges';

CREATE TABLE IF NOT EXISTS tickers_replay AS market_tickers_in
ENGINE = ReplacingMergeTree
ORDER BY (log_partition, log_offset)
SETTINGS default_compression_codec = 'ZSTD(1)'
COMMENT 'Every record of market.tickers in the order of its log; npm run backtest -- --source clickhouse';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_tickers_replay TO tickers_replay AS
SELECT *
FROM market_tickers_in
WHERE log_error = '';

CREATE OR REPLACE VIEW tickers AS
SELECT
    instrument,
    asset,
    splitByChar(':', instrument)[1] AS venue,
    splitByChar(':', instrument)[2] AS market,
    substring(instrument, length(venue) + length(market) + 3) AS symbol,
    * EXCEPT (instrument, asset)
FROM tickers_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Spot tickers of the chain venues, at most one a second a market by each feed process. Filter by asset and time.';

CREATE OR REPLACE VIEW price_ranges AS
SELECT
    instrument,
    asset,
    splitByChar(':', instrument)[1] AS venue,
    splitByChar(':', instrument)[2] AS market,
    substring(instrument, length(venue) + length(market) + 3) AS symbol,
    * EXCEPT (instrument, asset)
FROM price_ranges_log FINAL
COMMENT 'Lowest and highest price of a market in times without tickers, from the venue''s candles';
