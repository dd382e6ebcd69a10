-- Base tables of the market beside trades, in the manner of 001. A derivative ticker says four things, each with its own
-- venue time: each has its table, and the same venue time is the same row however often a venue repeats it.

CREATE TABLE IF NOT EXISTS tickers_log
(
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue' CODEC(ZSTD(1)),
    instrument LowCardinality(String) COMMENT 'venue:market:native symbol' CODEC(ZSTD(1)),
    time DateTime64(6, 'UTC') COMMENT 'The venue''s time, or ours where it says none' CODEC(Delta, ZSTD(1)),
    received DateTime64(6, 'UTC') COMMENT 'When our feed had it' CODEC(Delta, ZSTD(1)),
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
    partition UInt16 COMMENT 'Kafka partition of market.tickers' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset in that partition' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(offset)
PARTITION BY toYYYYMM(time)
ORDER BY (asset, instrument, time, received)
COMMENT 'Spot tickers of the chain venues; read the view tickers';

CREATE TABLE IF NOT EXISTS latest_tickers_log
(
    instrument LowCardinality(String) COMMENT 'venue:market:native symbol',
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue',
    bid Nullable(Float64) COMMENT 'Best bid, quote units; null: the channel has none',
    ask Nullable(Float64) COMMENT 'Best ask, quote units; null: the channel has none',
    last Float64 COMMENT 'Price of the last trade, quote units',
    price Float64 COMMENT 'Middle of bid and ask, or the last price, quote units',
    change_24h Nullable(Float64) COMMENT 'Change of the last price over 24 h, percent',
    volume_24h Nullable(Float64) COMMENT 'Volume of 24 h, base units',
    quote_volume_24h Nullable(Float64) COMMENT 'Volume of 24 h, quote units',
    quote LowCardinality(String) COMMENT 'Ticker of the quote currency',
    quote_usd Float64 COMMENT 'What a unit of the quote is worth in USD',
    time DateTime64(6, 'UTC') COMMENT 'The venue''s time, or ours where it says none',
    received DateTime64(6, 'UTC') COMMENT 'When our feed had it'
)
ENGINE = ReplacingMergeTree(received)
ORDER BY instrument
COMMENT 'Newest ticker of each spot market; read the view latest_tickers';

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
    partition UInt16 COMMENT 'Kafka partition of market.tickers',
    offset UInt64 COMMENT 'Kafka offset in that partition'
)
ENGINE = ReplacingMergeTree(offset)
ORDER BY (asset, instrument, from, to)
COMMENT 'Bounds of the price in times without tickers; read the view price_ranges';

CREATE TABLE IF NOT EXISTS funding_rates_log
(
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue' CODEC(ZSTD(1)),
    instrument LowCardinality(String) COMMENT 'venue:market:native symbol' CODEC(ZSTD(1)),
    time DateTime64(6, 'UTC') COMMENT 'Venue time of the rate' CODEC(Delta, ZSTD(1)),
    rate Float64 COMMENT 'Running rate for next_settlement, fraction per interval' CODEC(Delta, ZSTD(1)),
    next_settlement Nullable(DateTime64(6, 'UTC')) COMMENT 'When it is settled; null: not said' CODEC(Delta, ZSTD(1)),
    channel LowCardinality(String) COMMENT 'The venue''s channel or call that said it' CODEC(ZSTD(1)),
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
    time DateTime64(6, 'UTC') COMMENT 'Venue time of mark and index' CODEC(Delta, ZSTD(1)),
    mark Nullable(Float64) COMMENT 'Mark price, quote units for one base unit' CODEC(ZSTD(1)),
    index_price Nullable(Float64) COMMENT 'Index price, quote units for one base unit' CODEC(ZSTD(1)),
    channel LowCardinality(String) COMMENT 'The venue''s channel or call that said it' CODEC(ZSTD(1)),
    received DateTime64(6, 'UTC') COMMENT 'When our feed had it' CODEC(Delta, ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of market.funding' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset in that partition' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(offset)
PARTITION BY toYYYYMM(time)
ORDER BY (asset, instrument, time, channel)
COMMENT 'Mark and index prices of perpetuals; read the view mark_prices';

CREATE TABLE IF NOT EXISTS premiums_log
(
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue' CODEC(ZSTD(1)),
    instrument LowCardinality(String) COMMENT 'venue:market:native symbol' CODEC(ZSTD(1)),
    time DateTime64(6, 'UTC') COMMENT 'Start of the minute' CODEC(DoubleDelta, ZSTD(1)),
    premium Float64 COMMENT 'Premium index at the minute''s close, fraction' CODEC(ZSTD(1)),
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
    time DateTime64(6, 'UTC') COMMENT 'Venue time of the open interest' CODEC(Delta, ZSTD(1)),
    open_interest Float64 COMMENT 'Base units, one side only' CODEC(Delta, ZSTD(1)),
    channel LowCardinality(String) COMMENT 'The venue''s channel or call that said it' CODEC(ZSTD(1)),
    received DateTime64(6, 'UTC') COMMENT 'When our feed had it' CODEC(Delta, ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of market.funding' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset in that partition' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(offset)
PARTITION BY toYYYYMM(time)
ORDER BY (asset, instrument, time)
COMMENT 'Open interest of perpetuals; read the view open_interest';

CREATE TABLE IF NOT EXISTS funding_settlements_log
(
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue',
    instrument LowCardinality(String) COMMENT 'venue:market:native symbol',
    time DateTime64(6, 'UTC') COMMENT 'Settlement time, rounded to its minute',
    settled_rate Float64 COMMENT 'Fraction of the position that changed hands; positive: longs paid shorts',
    mark Nullable(Float64) COMMENT 'Mark price at the settlement, quote units; null: not said',
    received DateTime64(6, 'UTC') COMMENT 'When our feed had it',
    partition UInt16 COMMENT 'Kafka partition of market.funding',
    offset UInt64 COMMENT 'Kafka offset in that partition'
)
ENGINE = ReplacingMergeTree(offset)
ORDER BY (asset, instrument, time)
COMMENT 'Settled funding rates; read the view funding_settlements';

CREATE TABLE IF NOT EXISTS long_short_ratios_log
(
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue',
    instrument LowCardinality(String) COMMENT 'venue:market:native symbol',
    cohort LowCardinality(String) COMMENT 'Whose: top_traders, all, unknown',
    basis LowCardinality(String) COMMENT 'What is counted: positions, accounts, unknown',
    time DateTime64(6, 'UTC') COMMENT 'Start of the venue''s period',
    long_ratio Float64 COMMENT 'Long share, 0 to 1',
    short_ratio Float64 COMMENT 'Short share, 0 to 1; the two add up to 1',
    ls_ratio Float64 COMMENT 'Long over short',
    received DateTime64(6, 'UTC') COMMENT 'When our feed had it',
    partition UInt16 COMMENT 'Kafka partition of market.funding',
    offset UInt64 COMMENT 'Kafka offset in that partition'
)
ENGINE = ReplacingMergeTree(offset)
PARTITION BY toYYYYMM(time)
ORDER BY (asset, instrument, cohort, basis, time)
COMMENT 'How traders are positioned; read the view long_short_ratios';

CREATE TABLE IF NOT EXISTS latest_ratios_log
(
    instrument LowCardinality(String) COMMENT 'venue:market:native symbol',
    cohort LowCardinality(String) COMMENT 'Whose: top_traders, all, unknown',
    basis LowCardinality(String) COMMENT 'What is counted: positions, accounts, unknown',
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue',
    long_ratio Float64 COMMENT 'Long share, 0 to 1',
    short_ratio Float64 COMMENT 'Short share, 0 to 1; the two add up to 1',
    ls_ratio Float64 COMMENT 'Long over short',
    time DateTime64(6, 'UTC') COMMENT 'Start of the venue''s period',
    received DateTime64(6, 'UTC') COMMENT 'When our feed had it'
)
ENGINE = ReplacingMergeTree(time)
ORDER BY (instrument, cohort, basis)
COMMENT 'Newest ratio of each cohort; read the view latest_ratios';

CREATE TABLE IF NOT EXISTS contract_terms_log
(
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue',
    instrument LowCardinality(String) COMMENT 'venue:market:native symbol',
    received DateTime64(6, 'UTC') COMMENT 'When our feed had it',
    interval_hours Float64 COMMENT 'Hours between two settlements',
    rate_cap Nullable(Float64) COMMENT 'Highest rate of an interval, fraction',
    rate_floor Nullable(Float64) COMMENT 'Lowest rate of an interval, fraction',
    interest_daily Nullable(Float64) COMMENT 'Interest term, fraction per day',
    max_leverage Nullable(Float64) COMMENT 'Highest leverage that the venue allows',
    margin_tiers Array(Tuple(up_to Nullable(Float64), rate Float64, deduction Float64))
        COMMENT 'Maintenance margin: largest notional in quote units (null: no limit), rate as a fraction, amount taken off',
    partition UInt16 COMMENT 'Kafka partition of market.funding',
    offset UInt64 COMMENT 'Kafka offset in that partition'
)
ENGINE = ReplacingMergeTree(offset)
ORDER BY (asset, instrument, received)
COMMENT 'Terms of perpetuals, each with when they were read; read the views contract_terms and latest_terms';

CREATE TABLE IF NOT EXISTS liquidations_log
(
    time DateTime64(6, 'UTC') COMMENT 'Venue time' CODEC(Delta, ZSTD(1)),
    instrument LowCardinality(String) COMMENT 'venue:market:native symbol' CODEC(ZSTD(1)),
    id String COMMENT 'Identity within the instrument' CODEC(ZSTD(1)),
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue' CODEC(ZSTD(1)),
    side LowCardinality(String) COMMENT 'The position that was liquidated: long, short, unknown' CODEC(ZSTD(1)),
    size Float64 COMMENT 'Base units' CODEC(ZSTD(1)),
    price Float64 COMMENT 'Quote units for one base unit' CODEC(ZSTD(1)),
    price_kind LowCardinality(String) COMMENT 'What the price is: bankruptcy, order, average_fill, unknown' CODEC(ZSTD(1)),
    value Float64 COMMENT 'price times size, quote units, taken for USD' CODEC(ZSTD(1)),
    completeness LowCardinality(String) COMMENT 'all: the venue sends every one; sampled: a lower bound' CODEC(ZSTD(1)),
    received DateTime64(6, 'UTC') COMMENT 'When our feed had it' CODEC(Delta, ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of market.liquidations' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset in that partition' CODEC(Delta, ZSTD(1)),
    version UInt64 MATERIALIZED bitNot(offset) COMMENT 'Falls with the offset: of equal ones the first in the log stands' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMM(time)
ORDER BY (time, instrument, id)
COMMENT 'Positions that venues closed by force; read the view liquidations';

CREATE TABLE IF NOT EXISTS candles_log
(
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue' CODEC(ZSTD(1)),
    instrument LowCardinality(String) COMMENT 'venue:market:native symbol' CODEC(ZSTD(1)),
    minute DateTime64(6, 'UTC') COMMENT 'Start of the minute' CODEC(DoubleDelta, ZSTD(1)),
    open Float64 COMMENT 'Quote units' CODEC(Delta, ZSTD(1)),
    high Float64 COMMENT 'Quote units' CODEC(Delta, ZSTD(1)),
    low Float64 COMMENT 'Quote units' CODEC(Delta, ZSTD(1)),
    close Float64 COMMENT 'Quote units' CODEC(Delta, ZSTD(1)),
    volume Float64 COMMENT 'Base units' CODEC(ZSTD(1)),
    taker_buy Nullable(Float64) COMMENT 'What takers bought of it, base units; null: the venue does not say' CODEC(ZSTD(1)),
    trades Nullable(UInt64) COMMENT 'Fills; null: the venue does not say' CODEC(ZSTD(1)),
    received DateTime64(6, 'UTC') COMMENT 'When our feed had it' CODEC(Delta, ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of market.candles' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset in that partition' CODEC(Delta, ZSTD(1)),
    version UInt64 MATERIALIZED bitNot(offset) COMMENT 'Falls with the offset: the first in the log stands, as in the audit' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMM(minute)
ORDER BY (asset, instrument, minute)
COMMENT 'The venues'' own closed one-minute candles; read the view candles';

CREATE TABLE IF NOT EXISTS tokens_log
(
    id String COMMENT 'Registry id: bitcoin, avalanche-2',
    asset LowCardinality(Nullable(String)) COMMENT 'Asset id of the catalogue; null: none of ours',
    symbol String COMMENT 'Lower-case ticker',
    name String COMMENT 'Display name',
    price Nullable(Float64) COMMENT 'USD',
    change_24h Nullable(Float64) COMMENT 'Percent',
    change_7d Nullable(Float64) COMMENT 'Percent',
    change_30d Nullable(Float64) COMMENT 'Percent',
    volume_24h Nullable(Float64) COMMENT 'USD',
    market_cap Nullable(Float64) COMMENT 'USD',
    market_cap_rank Nullable(UInt32) COMMENT '1 is the largest',
    circulating_supply Nullable(Float64) COMMENT 'Tokens',
    total_supply Nullable(Float64) COMMENT 'Tokens; null: not limited or not known',
    ath Nullable(Float64) COMMENT 'Highest price ever, USD',
    ath_date Nullable(DateTime64(6, 'UTC')) COMMENT 'When that was',
    atl Nullable(Float64) COMMENT 'Lowest price ever, USD',
    atl_date Nullable(DateTime64(6, 'UTC')) COMMENT 'When that was',
    last_updated DateTime64(6, 'UTC') COMMENT 'The registry''s own time',
    received DateTime64(6, 'UTC') COMMENT 'When our feed had it',
    offset UInt64 COMMENT 'Kafka offset in market.tokens'
)
ENGINE = ReplacingMergeTree(offset)
ORDER BY id
COMMENT 'What the token registry says, the newest of each token; read the view tokens';

CREATE TABLE IF NOT EXISTS channel_states_log
(
    topic LowCardinality(String) COMMENT 'Topic without its namespace',
    writer LowCardinality(String) COMMENT 'The feed process',
    venue LowCardinality(String) COMMENT 'Venue name',
    run DateTime64(6, 'UTC') COMMENT 'When that feed process started',
    state LowCardinality(String) COMMENT 'off, connecting, live, down, unavailable (the venue refuses us), unknown',
    sockets UInt32 COMMENT 'Open WebSocket connections',
    since DateTime64(6, 'UTC') COMMENT 'When the state began',
    time DateTime64(6, 'UTC') COMMENT 'Of the mark that says so'
)
ENGINE = ReplacingMergeTree(time)
ORDER BY (topic, writer, run, venue)
COMMENT 'State of each venue''s channels and polls for a topic; read the view channel_states';

CREATE TABLE IF NOT EXISTS subscription_changes_log
(
    instrument LowCardinality(String) COMMENT 'venue:market:native symbol',
    time DateTime64(6, 'UTC') COMMENT 'When it came to be so',
    writer LowCardinality(String) COMMENT 'The feed process',
    run DateTime64(6, 'UTC') COMMENT 'When that feed process started',
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue',
    state LowCardinality(String) COMMENT 'acknowledged, ended, refused, unlisted, unknown'
)
ENGINE = ReplacingMergeTree
ORDER BY (instrument, time, writer, run)
COMMENT 'Every change of a subscription to trades; read the view subscription_changes';
