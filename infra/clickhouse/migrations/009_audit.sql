-- market.candles and derived.audit: the venues' own minutes, and ours beside them. The worst difference is that of minutes
-- that differ: those that are equal but for rounding do not count.

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
    time DateTime64(6, 'UTC') COMMENT 'When the minute had closed or the candle was received, whichever is later' CODEC(Delta, ZSTD(1)),
    v UInt64 COMMENT 'Version: generation times 2^44 plus the source offset it follows from' CODEC(Delta, ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of derived.audit' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset in that partition' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(v)
PARTITION BY toYYYYMM(minute)
ORDER BY (asset, instrument, minute)
COMMENT 'Our minutes beside the venues'' candles; read the views audits and audit_worst';

CREATE OR REPLACE VIEW candles AS
SELECT
    instrument,
    asset,
    splitByChar(':', instrument)[1] AS venue,
    splitByChar(':', instrument)[2] AS market,
    substring(instrument, length(venue) + length(market) + 3) AS symbol,
    * EXCEPT (instrument, asset)
FROM candles_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'The venues'' own one-minute candles, volumes in base units; ours are in ohlcv';
