-- Base tables of what processors derive beside flow. signal_changes_log takes the place of signals_log, whose identity
-- did not know the venue; 018 fills it from the log's start.

CREATE TABLE IF NOT EXISTS signal_changes_log
(
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue',
    kind LowCardinality(String) COMMENT 'What it is a signal of: cvd, funding, cascade_risk, sentiment',
    period LowCardinality(String) COMMENT 'The window it looks at: 1h, 4h, 24h, 7d; empty: none',
    exchange LowCardinality(String) COMMENT 'Venue that it is about; empty: all of them',
    time DateTime64(6, 'UTC') COMMENT 'End of the window that was looked at',
    from LowCardinality(String) COMMENT 'The class it had',
    to LowCardinality(String) COMMENT 'The class it has',
    value Float64 COMMENT 'What was classified; for cvd: period delta over period volume, a fraction',
    evidence Map(String, Float64) COMMENT 'The figures behind the value',
    v UInt64 COMMENT 'Version: generation times 2^44 plus the source offset it follows from',
    partition UInt16 COMMENT 'Kafka partition of derived.signals',
    offset UInt64 COMMENT 'Kafka offset in that partition'
)
ENGINE = ReplacingMergeTree(v)
PARTITION BY toYYYYMM(time)
ORDER BY (asset, kind, period, exchange, time)
COMMENT 'Changes of a signal''s class; read the view signals';

CREATE TABLE IF NOT EXISTS prices_log
(
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue' CODEC(ZSTD(1)),
    time DateTime64(6, 'UTC') COMMENT 'When the price was so: receive time of the newest input' CODEC(Delta, ZSTD(1)),
    price Float64 COMMENT 'Median of the sources, USD' CODEC(Delta, ZSTD(1)),
    low Float64 COMMENT 'Median of the sources'' lows since the previous record, USD' CODEC(Delta, ZSTD(1)),
    high Float64 COMMENT 'Median of the sources'' highs since the previous record, USD' CODEC(Delta, ZSTD(1)),
    change_24h Nullable(Float64) COMMENT 'Median of the sources'' own changes over 24 h, percent' CODEC(ZSTD(1)),
    sources Array(Tuple(exchange LowCardinality(String), instrument LowCardinality(String), price Float64, low Float64, high Float64, time DateTime64(6, 'UTC')))
        COMMENT 'Venues that count, in the chain''s order: prices in USD, venue time of the ticker' CODEC(ZSTD(1)),
    quality LowCardinality(String) COMMENT 'good; degraded: one source only, or sources more than 1 % apart' CODEC(ZSTD(1)),
    late Bool COMMENT 'It tells of a time that has passed: low and high are from candles of a gap' CODEC(ZSTD(1)),
    v UInt64 COMMENT 'Version: generation times 2^44 plus the source offset it follows from' CODEC(Delta, ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of alerts.inputs' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset in that partition' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(v)
PARTITION BY toYYYYMM(time)
ORDER BY (asset, time, bitAnd(v, 17592186044415))
COMMENT 'Composite prices; read the view prices';

CREATE TABLE IF NOT EXISTS latest_prices_log
(
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue',
    price Float64 COMMENT 'Median of the sources, USD',
    low Float64 COMMENT 'Median of the sources'' lows since the previous record, USD',
    high Float64 COMMENT 'Median of the sources'' highs since the previous record, USD',
    change_24h Nullable(Float64) COMMENT 'Median of the sources'' own changes over 24 h, percent',
    sources Array(Tuple(exchange LowCardinality(String), instrument LowCardinality(String), price Float64, low Float64, high Float64, time DateTime64(6, 'UTC')))
        COMMENT 'Venues that count, in the chain''s order: prices in USD, venue time of the ticker',
    quality LowCardinality(String) COMMENT 'good; degraded: one source only, or sources more than 1 % apart',
    late Bool COMMENT 'It tells of a time that has passed: low and high are from candles of a gap',
    time DateTime64(6, 'UTC') COMMENT 'When the price was so: receive time of the newest input',
    partition UInt16 COMMENT 'Kafka partition of alerts.inputs',
    offset UInt64 COMMENT 'Kafka offset in that partition'
)
ENGINE = ReplacingMergeTree(time)
ORDER BY asset
COMMENT 'Newest composite price of each asset; read the view latest_prices';

CREATE TABLE IF NOT EXISTS liquidation_risk_log
(
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue' CODEC(ZSTD(1)),
    time DateTime64(6, 'UTC') COMMENT 'Partition time' CODEC(Delta, ZSTD(1)),
    price Float64 COMMENT 'Median of the marks, USD' CODEC(Delta, ZSTD(1)),
    open_interest_usd Float64 COMMENT 'Sum over the venues, USD, one side' CODEC(Delta, ZSTD(1)),
    exchanges Array(Tuple(exchange LowCardinality(String), open_interest_usd Float64, mark Float64, time DateTime64(6, 'UTC')))
        COMMENT 'Each venue''s part: USD of one side, mark price in USD, venue time of the older of the two' CODEC(ZSTD(1)),
    levels Array(Tuple(price Float64, long_usd Float64, short_usd Float64))
        COMMENT 'Liquidations expected by bucket of price: its middle and the two sides, USD; nearest first' CODEC(ZSTD(3)),
    clusters Array(Tuple(leverage UInt16, side LowCardinality(String), price Float64, usd Float64))
        COMMENT 'Live levels of one leverage tier and side: mean price and sum, USD; nearest first' CODEC(ZSTD(1)),
    at_risk_5_usd Float64 COMMENT 'Sum of levels within 5 % of the price, USD' CODEC(ZSTD(1)),
    at_risk_5_pct Float64 COMMENT 'The same, percent of the open interest' CODEC(ZSTD(1)),
    at_risk_10_usd Float64 COMMENT 'Sum of levels within 10 % of the price, USD' CODEC(ZSTD(1)),
    at_risk_10_pct Float64 COMMENT 'The same, percent of the open interest' CODEC(ZSTD(1)),
    cascade_risk LowCardinality(String) COMMENT 'low, medium, high, unknown' CODEC(ZSTD(1)),
    swept_long_usd Float64 COMMENT 'Long levels that the price has crossed since `since`, USD' CODEC(ZSTD(1)),
    swept_short_usd Float64 COMMENT 'Short levels that the price has crossed since `since`, USD' CODEC(ZSTD(1)),
    since DateTime64(6, 'UTC') COMMENT 'Since when the model counts' CODEC(ZSTD(1)),
    v UInt64 COMMENT 'Version: generation times 2^44 plus the source offset it follows from' CODEC(Delta, ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of alerts.inputs' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset in that partition' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(v)
PARTITION BY toYYYYMM(time)
ORDER BY (asset, time)
COMMENT 'Estimated liquidation levels; read the view liquidation_risk';

CREATE TABLE IF NOT EXISTS latest_risk_log AS liquidation_risk_log
ENGINE = ReplacingMergeTree(v)
ORDER BY asset
COMMENT 'Newest liquidation levels of each asset; read the view latest_risk';

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

CREATE TABLE IF NOT EXISTS audits_log
(
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue' CODEC(ZSTD(1)),
    instrument LowCardinality(String) COMMENT 'venue:market:native symbol' CODEC(ZSTD(1)),
    minute DateTime64(6, 'UTC') COMMENT 'Start of the minute' CODEC(DoubleDelta, ZSTD(1)),
    ours_volume Float64 COMMENT 'Base units, from derived.flow' CODEC(ZSTD(1)),
    theirs_volume Float64 COMMENT 'Base units, from the venue''s candle' CODEC(ZSTD(1)),
    volume_difference Float64 COMMENT '(ours - theirs) / theirs, fraction; 1 where theirs is 0 and ours is not' CODEC(ZSTD(1)),
    ours_delta Float64 COMMENT 'Taker buys minus taker sells, base units' CODEC(ZSTD(1)),
    theirs_delta Nullable(Float64) COMMENT 'The same by the venue, base units; null: it does not publish it' CODEC(ZSTD(1)),
    delta_difference Nullable(Float64) COMMENT '(ours - theirs) / their volume, fraction; null where theirs is' CODEC(ZSTD(1)),
    ours_trades UInt64 COMMENT 'Trade records' CODEC(ZSTD(1)),
    theirs_trades Nullable(UInt64) COMMENT 'Fills by the venue''s count; null: not said' CODEC(ZSTD(1)),
    state LowCardinality(String) COMMENT 'equal: within a billionth of the volume; different; unknown' CODEC(ZSTD(1)),
    time DateTime64(6, 'UTC') COMMENT 'Partition time of the comparison' CODEC(Delta, ZSTD(1)),
    v UInt64 COMMENT 'Version: generation times 2^44 plus the source offset it follows from' CODEC(Delta, ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of derived.audit' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset in that partition' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(v)
PARTITION BY toYYYYMM(minute)
ORDER BY (asset, instrument, minute)
COMMENT 'Our minutes beside the venues'' candles; read the views audits and audit_worst';
