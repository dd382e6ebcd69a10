-- alerts.inputs: composite prices, estimates of liquidation levels, derived figures, and commands. What could tell a webhook's address or who
-- asked for it (URL, sealed or not, receiver, wallets, payment, Idempotency-Key) is read into no table, here and in 011: such
-- a field is no column and is skipped as it is read. What could not be read is told without its bytes, which may hold it.

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
    late Bool COMMENT 'It tells of a time that has passed: low and high are from candles of a gap, time is where they end' CODEC(ZSTD(1)),
    bounds_from DateTime64(6, 'UTC') COMMENT 'Of a late one: since when low and high are; 1970: not told' CODEC(Delta, ZSTD(1)),
    v UInt64 COMMENT 'Version: generation times 2^44 plus the source offset it follows from' CODEC(Delta, ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of alerts.inputs' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset in that partition' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(v)
PARTITION BY toYYYYMM(time)
ORDER BY (asset, time, bitAnd(v, 17592186044415))
SETTINGS index_granularity = 1024
COMMENT 'Composite prices; read the view prices';

CREATE TABLE IF NOT EXISTS price_minutes
(
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue' CODEC(ZSTD(1)),
    minute DateTime('UTC') COMMENT 'Start of the minute' CODEC(DoubleDelta, ZSTD(1)),
    first SimpleAggregateFunction(min, DateTime64(6, 'UTC')) COMMENT 'Time of its first price that is not late; the year 2200: none' CODEC(Delta, ZSTD(1)),
    newest SimpleAggregateFunction(max, Tuple(DateTime64(6, 'UTC'), Float64)) COMMENT 'Its newest price that is not late, and its time; 1970: none' CODEC(ZSTD(1)),
    low SimpleAggregateFunction(min, Float64) COMMENT 'Lowest low of its prices, USD' CODEC(Delta, ZSTD(1)),
    high SimpleAggregateFunction(max, Float64) COMMENT 'Highest high of its prices, USD' CODEC(Delta, ZSTD(1)),
    late SimpleAggregateFunction(max, UInt8) COMMENT '1: one of them is late, it tells of a time that has passed' CODEC(ZSTD(1))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(minute)
ORDER BY (asset, minute)
COMMENT 'Bounds of the composite prices of a minute, late ones too; group by asset and minute, with min and max.';

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

CREATE TABLE IF NOT EXISTS metrics_log
(
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue' CODEC(ZSTD(1)),
    core LowCardinality(String) COMMENT 'The processor that tells it: cvd, funding or liquidated' CODEC(ZSTD(1)),
    time DateTime64(6, 'UTC') COMMENT 'Partition time at which the figures were so' CODEC(Delta, ZSTD(1)),
    figures Array(Tuple(figure LowCardinality(String), exchange LowCardinality(Nullable(String)), value Float64))
        COMMENT 'What it is, the venue that it is of (null: of the asset), and the figure in its unit' CODEC(ZSTD(1)),
    v UInt64 COMMENT 'Version: generation times 2^44 plus the source offset it follows from' CODEC(Delta, ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of alerts.inputs' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset in that partition' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(v)
PARTITION BY toYYYYMM(time)
ORDER BY (asset, time, core)
COMMENT 'Derived figures that decide about alerts; read the view metrics';

CREATE TABLE IF NOT EXISTS alert_commands_log
(
    alert_id String COMMENT 'The alert that it is about' CODEC(ZSTD(1)),
    request_id String COMMENT 'Of the API; the event that follows from it repeats it' CODEC(ZSTD(1)),
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue' CODEC(ZSTD(1)),
    action LowCardinality(String) COMMENT 'create, extend, cancel, test, resend, edit, pause, resume, warm' CODEC(ZSTD(1)),
    add_hours Nullable(Int32) COMMENT 'For extend: hours' CODEC(ZSTD(1)),
    created DateTime64(6, 'UTC') COMMENT 'Clock of the API' CODEC(Delta, ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of alerts.inputs' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset in that partition' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(created)
ORDER BY (alert_id, request_id)
COMMENT 'What was asked of alerts; read the view alert_commands';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_price TO prices_log AS
SELECT
    asset,
    fromUnixTimestamp64Micro(record.time, 'UTC') AS time,
    price,
    assumeNotNull(record.low) AS low,
    high,
    change_24h,
    arrayMap(x -> (x.exchange, x.instrument, x.price, x.low, x.high, fromUnixTimestamp64Micro(x.time, 'UTC')), record.sources) AS sources,
    quality,
    late,
    fromUnixTimestamp64Micro(assumeNotNull(record.bounds_from), 'UTC') AS bounds_from,
    v,
    log_partition AS partition,
    log_offset AS offset
FROM alerts_inputs_in AS record
WHERE log_error = '' AND record.low IS NOT NULL;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_price_minute TO price_minutes AS
SELECT
    seen.asset AS asset,
    toStartOfMinute(seen.time) AS minute,
    min(if(seen.late, toDateTime64('2200-01-01 00:00:00', 6, 'UTC'), seen.time)) AS first,
    max(if(seen.late, (toDateTime64(0, 6, 'UTC'), 0.), (seen.time, seen.price))) AS newest,
    min(seen.low) AS low,
    max(seen.high) AS high,
    max(toUInt8(seen.late)) AS late
FROM prices_log AS seen
GROUP BY asset, minute;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_risk TO liquidation_risk_log AS
SELECT
    asset,
    fromUnixTimestamp64Micro(record.time, 'UTC') AS time,
    price,
    assumeNotNull(record.open_interest_usd) AS open_interest_usd,
    arrayMap(x -> (x.exchange, x.open_interest_usd, x.mark, fromUnixTimestamp64Micro(x.time, 'UTC')), record.exchanges) AS exchanges,
    levels,
    arrayMap(x -> (toUInt16(x.leverage), x.side, x.price, x.usd), record.clusters) AS clusters,
    at_risk_5_usd,
    at_risk_5_pct,
    at_risk_10_usd,
    at_risk_10_pct,
    cascade_risk,
    swept_long_usd,
    swept_short_usd,
    fromUnixTimestamp64Micro(record.since, 'UTC') AS since,
    v,
    log_partition AS partition,
    log_offset AS offset
FROM alerts_inputs_in AS record
WHERE log_error = '' AND record.open_interest_usd IS NOT NULL;

CREATE OR REPLACE VIEW prices AS
SELECT
    asset,
    price,
    low,
    high,
    change_24h,
    sources,
    quality,
    late,
    bounds_from,
    time,
    v,
    partition,
    offset
FROM prices_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Composite prices, USD. Filter by asset and time.';

CREATE OR REPLACE VIEW metrics AS
SELECT
    asset,
    core,
    time,
    figures,
    v,
    partition,
    offset
FROM metrics_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Derived figures that decide about alerts, as their processors told them. Filter by asset and time.';

CREATE OR REPLACE VIEW liquidation_risk AS
SELECT
    asset,
    price,
    open_interest_usd,
    exchanges,
    levels,
    clusters,
    at_risk_5_usd,
    at_risk_5_pct,
    at_risk_10_usd,
    at_risk_10_pct,
    cascade_risk,
    swept_long_usd,
    swept_short_usd,
    since,
    time,
    v,
    partition,
    offset
FROM liquidation_risk_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Estimated liquidation levels, USD. Filter by asset and time.';

CREATE OR REPLACE VIEW alert_commands AS
SELECT
    alert_id,
    request_id,
    asset,
    action,
    add_hours,
    created,
    partition,
    offset
FROM alert_commands_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'What was asked of alerts';
