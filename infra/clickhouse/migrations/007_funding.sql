-- market.funding and derived.funding. A derivative ticker says four things, each with its own venue time: each has its table,
-- and the same venue time is the same row however often a venue repeats it.

CREATE TABLE IF NOT EXISTS market_funding_others_in AS market_funding_in
ENGINE = Null
COMMENT 'What seldom comes in market.funding, on its way into the base tables';

CREATE TABLE IF NOT EXISTS funding_rates_log
(
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue' CODEC(ZSTD(1)),
    instrument LowCardinality(String) COMMENT 'venue:market:native symbol' CODEC(ZSTD(1)),
    rate Float64 COMMENT 'Running rate for next_settlement, fraction per interval' CODEC(Delta, ZSTD(1)),
    next_settlement Nullable(DateTime64(6, 'UTC')) COMMENT 'When it is settled; null: not said' CODEC(Delta, ZSTD(1)),
    channel LowCardinality(String) COMMENT 'The venue''s channel or call that said it' CODEC(ZSTD(1)),
    time DateTime64(6, 'UTC') COMMENT 'Venue time of the rate' CODEC(Delta, ZSTD(1)),
    received DateTime64(6, 'UTC') COMMENT 'When our feed had it' CODEC(Delta, ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of market.funding' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset in that partition' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(offset)
PARTITION BY toYYYYMM(time)
ORDER BY (asset, instrument, time)
COMMENT 'Running funding rates; read the view funding_rates';

CREATE TABLE IF NOT EXISTS mark_prices_log
(
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue' CODEC(ZSTD(1)),
    instrument LowCardinality(String) COMMENT 'venue:market:native symbol' CODEC(ZSTD(1)),
    mark Nullable(Float64) COMMENT 'Mark price, quote units for one base unit' CODEC(ZSTD(1)),
    index_price Nullable(Float64) COMMENT 'Index price, quote units for one base unit' CODEC(ZSTD(1)),
    channel LowCardinality(String) COMMENT 'The venue''s channel or call that said it' CODEC(ZSTD(1)),
    time DateTime64(6, 'UTC') COMMENT 'Venue time of mark and index' CODEC(Delta, ZSTD(1)),
    source LowCardinality(String) COMMENT 'live: of market.funding, or venue_history: read back, of market.history' CODEC(ZSTD(1)),
    received DateTime64(6, 'UTC') COMMENT 'When our feed had it' CODEC(Delta, ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of the source''s topic' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset in that partition' CODEC(Delta, ZSTD(1)),
    version UInt64 MATERIALIZED if(source = 'live', bitOr(offset, bitShiftLeft(toUInt64(1), 62)), offset) COMMENT 'What is live stands; of equals the last in the log' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMM(time)
ORDER BY (asset, instrument, time)
COMMENT 'Mark and index prices of perpetuals; read the view mark_prices';

CREATE TABLE IF NOT EXISTS premiums_log
(
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue' CODEC(ZSTD(1)),
    instrument LowCardinality(String) COMMENT 'venue:market:native symbol' CODEC(ZSTD(1)),
    premium Float64 COMMENT 'Premium index at the minute''s close, fraction' CODEC(ZSTD(1)),
    time DateTime64(6, 'UTC') COMMENT 'Start of the minute' CODEC(DoubleDelta, ZSTD(1)),
    received DateTime64(6, 'UTC') COMMENT 'When our feed had it' CODEC(Delta, ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of market.funding' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset in that partition' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(offset)
PARTITION BY toYYYYMM(time)
ORDER BY (asset, instrument, time)
COMMENT 'Premium index by minutes; read the view premiums';

CREATE TABLE IF NOT EXISTS open_interest_log
(
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue' CODEC(ZSTD(1)),
    instrument LowCardinality(String) COMMENT 'venue:market:native symbol' CODEC(ZSTD(1)),
    open_interest Float64 COMMENT 'Base units, one side only' CODEC(Delta, ZSTD(1)),
    channel LowCardinality(String) COMMENT 'The venue''s channel or call that said it' CODEC(ZSTD(1)),
    time DateTime64(6, 'UTC') COMMENT 'Venue time of the open interest' CODEC(Delta, ZSTD(1)),
    source LowCardinality(String) COMMENT 'live: of market.funding, or venue_history: read back, of market.history' CODEC(ZSTD(1)),
    received DateTime64(6, 'UTC') COMMENT 'When our feed had it' CODEC(Delta, ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of the source''s topic' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset in that partition' CODEC(Delta, ZSTD(1)),
    version UInt64 MATERIALIZED if(source = 'live', bitOr(offset, bitShiftLeft(toUInt64(1), 62)), offset) COMMENT 'What is live stands; of equals the last in the log' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMM(time)
ORDER BY (asset, instrument, time)
COMMENT 'Open interest of perpetuals; read the view open_interest';

CREATE TABLE IF NOT EXISTS funding_settlements_log
(
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue',
    instrument LowCardinality(String) COMMENT 'venue:market:native symbol',
    settled_rate Float64 COMMENT 'Fraction of the position that changed hands; positive: longs paid shorts',
    mark Nullable(Float64) COMMENT 'Mark price at the settlement, quote units; null: not said',
    time DateTime64(6, 'UTC') COMMENT 'Settlement time, rounded to its minute',
    source LowCardinality(String) COMMENT 'live: of market.funding, or venue_history: read back, of market.history',
    received DateTime64(6, 'UTC') COMMENT 'When our feed had it',
    partition UInt16 COMMENT 'Kafka partition of the source''s topic',
    offset UInt64 COMMENT 'Kafka offset in that partition',
    version UInt64 MATERIALIZED if(source = 'live', bitOr(offset, bitShiftLeft(toUInt64(1), 62)), offset) COMMENT 'What is live stands; of equals the last in the log'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (asset, instrument, time)
COMMENT 'Settled funding rates; read the view funding_settlements';

CREATE TABLE IF NOT EXISTS long_short_ratios_log
(
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue',
    instrument LowCardinality(String) COMMENT 'venue:market:native symbol',
    cohort LowCardinality(String) COMMENT 'Whose: top_traders, all, unknown',
    basis LowCardinality(String) COMMENT 'What is counted: positions, accounts, unknown',
    long_ratio Float64 COMMENT 'Long share, 0 to 1',
    short_ratio Float64 COMMENT 'Short share, 0 to 1; the two add up to 1',
    ls_ratio Float64 COMMENT 'Long over short',
    time DateTime64(6, 'UTC') COMMENT 'Start of the venue''s period',
    source LowCardinality(String) COMMENT 'live: of market.funding, or venue_history: read back, of market.history',
    received DateTime64(6, 'UTC') COMMENT 'When our feed had it',
    partition UInt16 COMMENT 'Kafka partition of the source''s topic',
    offset UInt64 COMMENT 'Kafka offset in that partition',
    version UInt64 MATERIALIZED if(source = 'live', bitOr(offset, bitShiftLeft(toUInt64(1), 62)), offset) COMMENT 'What is live stands; of equals the last in the log'
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMM(time)
ORDER BY (asset, instrument, cohort, basis, time)
COMMENT 'How traders are positioned; read the view long_short_ratios';

CREATE TABLE IF NOT EXISTS contract_terms_log
(
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue',
    instrument LowCardinality(String) COMMENT 'venue:market:native symbol',
    interval_hours Float64 COMMENT 'Hours between two settlements',
    rate_cap Nullable(Float64) COMMENT 'Highest rate of an interval, fraction',
    rate_floor Nullable(Float64) COMMENT 'Lowest rate of an interval, fraction',
    interest_daily Nullable(Float64) COMMENT 'Interest term, fraction per day',
    max_leverage Nullable(Float64) COMMENT 'Highest leverage that the venue allows',
    margin_tiers Array(Tuple(up_to Nullable(Float64), rate Float64, deduction Float64))
        COMMENT 'Maintenance margin: largest notional in quote units (null: no limit), rate as a fraction, amount taken off',
    received DateTime64(6, 'UTC') COMMENT 'When our feed had it',
    partition UInt16 COMMENT 'Kafka partition of market.funding',
    offset UInt64 COMMENT 'Kafka offset in that partition'
)
ENGINE = ReplacingMergeTree(offset)
ORDER BY (asset, instrument, received)
COMMENT 'Terms of perpetuals, each with when they were read; read the views contract_terms and latest_terms';

CREATE TABLE IF NOT EXISTS latest_funding_log
(
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue',
    exchanges Array(Tuple(
        exchange LowCardinality(String), instrument LowCardinality(String),
        rate Nullable(Float64), rate_time Nullable(DateTime64(6, 'UTC')), next_settlement Nullable(DateTime64(6, 'UTC')),
        interval_hours Float64,
        mark Nullable(Float64), index Nullable(Float64), mark_time Nullable(DateTime64(6, 'UTC')),
        premium Nullable(Float64), premium_time Nullable(DateTime64(6, 'UTC')),
        average_premium Nullable(Float64), samples UInt32, expected UInt32, predicted Nullable(Float64),
        settled_rate Nullable(Float64), settled_time Nullable(DateTime64(6, 'UTC')),
        open_interest Nullable(Float64), open_interest_time Nullable(DateTime64(6, 'UTC'))))
        COMMENT 'Venues that list the asset: rates and premiums as fractions, prices in quote units, open interest in base units of one side; minutes that the average rests on and that have passed',
    time DateTime64(6, 'UTC') COMMENT 'Partition time',
    v UInt64 COMMENT 'Version: generation times 2^44 plus the source offset it follows from',
    partition UInt16 COMMENT 'Kafka partition of derived.funding',
    offset UInt64 COMMENT 'Kafka offset in that partition'
)
ENGINE = ReplacingMergeTree(v)
ORDER BY asset
COMMENT 'Funding of each asset over its venues; read the view latest_funding';

CREATE TABLE IF NOT EXISTS funding_replay AS market_funding_in
ENGINE = ReplacingMergeTree
ORDER BY (log_partition, log_offset)
SETTINGS default_compression_codec = 'ZSTD(1)'
COMMENT 'Every record of market.funding in the order of its log; npm run backtest -- --source clickhouse';

CREATE MATERIALIZED VIEW IF NOT EXISTS market_funding_others TO market_funding_others_in AS
SELECT * FROM market_funding_in
WHERE log_error != '' OR (channel IS NULL AND writer IS NULL);

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_funding_replay TO funding_replay AS
SELECT *
FROM market_funding_in
WHERE log_error = '';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_latest_funding TO latest_funding_log AS
SELECT
    assumeNotNull(record.asset) AS asset,
    arrayMap(x -> (x.exchange, x.instrument, x.rate, fromUnixTimestamp64Micro(x.rate_time, 'UTC'), fromUnixTimestamp64Micro(x.next_settlement, 'UTC'), x.interval_hours, x.mark, x.index, fromUnixTimestamp64Micro(x.mark_time, 'UTC'), x.premium, fromUnixTimestamp64Micro(x.premium_time, 'UTC'), x.average_premium, toUInt32(x.samples), toUInt32(x.expected), x.predicted, x.settled_rate, fromUnixTimestamp64Micro(x.settled_time, 'UTC'), x.open_interest, fromUnixTimestamp64Micro(x.open_interest_time, 'UTC')), record.exchanges) AS exchanges,
    fromUnixTimestamp64Micro(record.time, 'UTC') AS time,
    v,
    log_partition AS partition,
    log_offset AS offset
FROM derived_funding_in AS record
WHERE log_error = '' AND record.asset IS NOT NULL;

CREATE OR REPLACE VIEW funding_rates AS
SELECT
    instrument,
    asset,
    splitByChar(':', instrument)[1] AS venue,
    splitByChar(':', instrument)[2] AS market,
    substring(instrument, length(venue) + length(market) + 3) AS symbol,
    * EXCEPT (instrument, asset)
FROM funding_rates_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Running funding rates, a fraction per interval. Filter by asset and time.';

CREATE OR REPLACE VIEW mark_prices AS
SELECT
    instrument,
    asset,
    splitByChar(':', instrument)[1] AS venue,
    splitByChar(':', instrument)[2] AS market,
    substring(instrument, length(venue) + length(market) + 3) AS symbol,
    * EXCEPT (instrument, asset)
FROM mark_prices_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Mark and index prices of perpetuals. Filter by asset and time.';

CREATE OR REPLACE VIEW premiums AS
SELECT
    instrument,
    asset,
    splitByChar(':', instrument)[1] AS venue,
    splitByChar(':', instrument)[2] AS market,
    substring(instrument, length(venue) + length(market) + 3) AS symbol,
    * EXCEPT (instrument, asset)
FROM premiums_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Premium index at the close of each minute, a fraction. Filter by asset and time.';

CREATE OR REPLACE VIEW open_interest AS
SELECT
    instrument,
    asset,
    splitByChar(':', instrument)[1] AS venue,
    splitByChar(':', instrument)[2] AS market,
    substring(instrument, length(venue) + length(market) + 3) AS symbol,
    * EXCEPT (instrument, asset)
FROM open_interest_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Open interest of perpetuals, base units of one side. Filter by asset and time.';

CREATE OR REPLACE VIEW funding_settlements AS
SELECT
    instrument,
    asset,
    splitByChar(':', instrument)[1] AS venue,
    splitByChar(':', instrument)[2] AS market,
    substring(instrument, length(venue) + length(market) + 3) AS symbol,
    * EXCEPT (instrument, asset)
FROM funding_settlements_log FINAL
COMMENT 'Settled funding rates: a fraction of the position; positive: longs paid shorts';

CREATE OR REPLACE VIEW long_short_ratios AS
SELECT
    instrument,
    asset,
    splitByChar(':', instrument)[1] AS venue,
    splitByChar(':', instrument)[2] AS market,
    substring(instrument, length(venue) + length(market) + 3) AS symbol,
    * EXCEPT (instrument, asset)
FROM long_short_ratios_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'How a cohort of a venue''s traders was positioned';

CREATE OR REPLACE VIEW contract_terms AS
SELECT
    instrument,
    asset,
    splitByChar(':', instrument)[1] AS venue,
    splitByChar(':', instrument)[2] AS market,
    substring(instrument, length(venue) + length(market) + 3) AS symbol,
    * EXCEPT (instrument, asset)
FROM contract_terms_log FINAL
COMMENT 'Terms of perpetuals, each with when they were read';

CREATE OR REPLACE VIEW latest_terms AS
SELECT *
FROM contract_terms
ORDER BY instrument, received DESC
LIMIT 1 BY instrument
COMMENT 'Newest terms of each perpetual';

CREATE OR REPLACE VIEW latest_funding AS
SELECT *
FROM latest_funding_log FINAL
COMMENT 'Funding of each asset over its venues, newest';

ALTER TABLE latest_funding
    COMMENT COLUMN exchanges 'Venues that list the asset: rates and premiums as fractions, prices in quote units, open interest in base units of one side; minutes that the average rests on and that have passed';

CREATE OR REPLACE VIEW open_interest_history AS
SELECT
    toDateTime64(slot * {seconds:UInt32} + 345600, 6, 'UTC') AS time,
    interest.venue AS venue,
    interest.said.1 AS open_interest,
    marks.price AS mark,
    open_interest * mark AS open_interest_usd,
    interest.said.2 AS source
FROM
(
    SELECT intDiv(toUnixTimestamp64Micro(time) - 345600000000, {seconds:UInt32} * 1000000) AS slot, venue,
        argMax((open_interest.open_interest, source), (source = 'live', time)) AS said
    FROM open_interest
    WHERE asset = {asset:String}
        AND time >= toDateTime64(intDiv(toUnixTimestamp64Micro({start:DateTime64(6, 'UTC')}) - 345600000000, {seconds:UInt32} * 1000000) * {seconds:UInt32} + 345600, 6, 'UTC')
        AND time < {end:DateTime64(6, 'UTC')}
    GROUP BY slot, venue
) AS interest
LEFT JOIN
(
    SELECT intDiv(toUnixTimestamp64Micro(time) - 345600000000, {seconds:UInt32} * 1000000) AS slot, venue,
        toNullable(argMax(assumeNotNull(mark), (source = 'live', time))) AS price
    FROM mark_prices
    WHERE asset = {asset:String} AND mark IS NOT NULL
        AND time >= toDateTime64(intDiv(toUnixTimestamp64Micro({start:DateTime64(6, 'UTC')}) - 345600000000, {seconds:UInt32} * 1000000) * {seconds:UInt32} + 345600, 6, 'UTC')
        AND time < {end:DateTime64(6, 'UTC')}
    GROUP BY slot, venue
) AS marks USING (slot, venue)
ORDER BY time, venue
COMMENT 'The last open interest that a venue said of an asset''s perpetual in an interval; none where it said nothing. Parameters: asset, seconds (length of the interval), start and end (UTC, end exclusive). Columns: time (start of the interval, UTC), venue, open_interest (base units of one side), mark (its last mark price of the interval, quote units; null: none), open_interest_usd (at that mark, USDT taken for USD), source (live, or where nothing is venue_history: what the venue told later)';

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
        AND time >= toDateTime64(intDiv(toUnixTimestamp64Micro({start:DateTime64(6, 'UTC')}) - 345600000000, {seconds:UInt32} * 1000000) * {seconds:UInt32} + 345600, 6, 'UTC')
        AND time < {end:DateTime64(6, 'UTC')}
    GROUP BY slot, venue
) AS marks
LEFT JOIN
(
    SELECT intDiv(toUnixTimestamp64Micro(time) - 345600000000, {seconds:UInt32} * 1000000) AS slot,
        toNullable(argMax(tickers.price, time)) AS price
    FROM tickers
    WHERE asset = {asset:String} AND startsWith(instrument, 'binance:spot:') AND quote = 'USDT'
        AND time >= toDateTime64(intDiv(toUnixTimestamp64Micro({start:DateTime64(6, 'UTC')}) - 345600000000, {seconds:UInt32} * 1000000) * {seconds:UInt32} + 345600, 6, 'UTC')
        AND time < {end:DateTime64(6, 'UTC')}
    GROUP BY slot
) AS spot USING (slot)
ORDER BY time, venue
COMMENT 'The last mark price of a venue''s perpetual in an interval against the last price of Binance''s USDT spot pair in it, or where there is none against the venue''s own index at that mark; none where the venue said nothing. Parameters: asset, seconds (length of the interval), start and end (UTC, end exclusive). Columns: time (start of the interval, UTC), venue, mark, spot (USDT; null: none), index_price (USDT; null: not said), against (spot, index; null: neither is known), basis_usd (mark minus that), basis_pct (percent of it), source (of mark and index: live, or venue_history, what the venue told later)';

CREATE OR REPLACE VIEW long_short_history AS
SELECT
    toDateTime64(slot * {seconds:UInt32} + 345600, 6, 'UTC') AS time,
    venue,
    said.1 AS long_ratio,
    said.2 AS short_ratio,
    said.3 AS ls_ratio,
    said.4 AS source
FROM
(
    SELECT intDiv(toUnixTimestamp64Micro(time) - 345600000000, {seconds:UInt32} * 1000000) AS slot, venue,
        argMax((long_ratio, short_ratio, ls_ratio, source), (source = 'live', time)) AS said
    FROM long_short_ratios
    WHERE asset = {asset:String} AND cohort = 'top_traders' AND basis = 'positions'
        AND time >= toDateTime64(intDiv(toUnixTimestamp64Micro({start:DateTime64(6, 'UTC')}) - 345600000000, {seconds:UInt32} * 1000000) * {seconds:UInt32} + 345600, 6, 'UTC')
        AND time < {end:DateTime64(6, 'UTC')}
    GROUP BY slot, venue
)
ORDER BY time, venue
COMMENT 'How a venue''s top traders were positioned in the last of its periods that begins in an interval; none where none does. Parameters: asset, seconds (length of the interval), start and end (UTC, end exclusive). Columns: time (start of the interval, UTC), venue, long_ratio, short_ratio (shares of positions, 0 to 1), ls_ratio (one over the other), source (live, or venue_history: what the venue told later)';
