-- market.liquidations: positions that venues closed by force.

CREATE TABLE IF NOT EXISTS liquidations_log
(
    instrument LowCardinality(String) COMMENT 'venue:market:native symbol' CODEC(ZSTD(1)),
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue' CODEC(ZSTD(1)),
    id String COMMENT 'Identity within the instrument' CODEC(ZSTD(1)),
    side LowCardinality(String) COMMENT 'The position that was liquidated: long, short, unknown' CODEC(ZSTD(1)),
    size Float64 COMMENT 'Base units' CODEC(ZSTD(1)),
    price Float64 COMMENT 'Quote units for one base unit' CODEC(ZSTD(1)),
    price_kind LowCardinality(String) COMMENT 'What the price is: bankruptcy, order, average_fill, unknown' CODEC(ZSTD(1)),
    value Float64 COMMENT 'price times size, quote units, taken for USD' CODEC(ZSTD(1)),
    completeness LowCardinality(String) COMMENT 'all: the venue sends every one; sampled: a lower bound' CODEC(ZSTD(1)),
    time DateTime64(6, 'UTC') COMMENT 'Venue time' CODEC(Delta, ZSTD(1)),
    received DateTime64(6, 'UTC') COMMENT 'When our feed had it' CODEC(Delta, ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of market.liquidations' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset in that partition' CODEC(Delta, ZSTD(1)),
    version UInt64 MATERIALIZED bitNot(offset) COMMENT 'Falls with the offset: of equal ones the first in the log stands' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMM(time)
ORDER BY (time, instrument, id)
COMMENT 'Positions that venues closed by force; read the view liquidations';

CREATE OR REPLACE VIEW liquidations AS
SELECT
    instrument,
    asset,
    splitByChar(':', instrument)[1] AS venue,
    splitByChar(':', instrument)[2] AS market,
    substring(instrument, length(venue) + length(market) + 3) AS symbol,
    * EXCEPT (instrument, asset)
FROM liquidations_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Positions that venues closed by force: sizes in base units, value in USD. Filter by time.';

CREATE OR REPLACE VIEW liquidation_history AS
SELECT
    toDateTime64(slot * {seconds:UInt32} + 345600, 6, 'UTC') AS time,
    venue,
    sumIf(value, side = 'long') AS long_usd,
    sumIf(value, side = 'short') AS short_usd,
    countIf(side = 'long') AS long_count,
    countIf(side = 'short') AS short_count
FROM
(
    SELECT intDiv(toUnixTimestamp64Micro(time) - 345600000000, {seconds:UInt32} * 1000000) AS slot, venue, side, value
    FROM liquidations
    WHERE asset = {asset:String}
        AND time >= toDateTime64(intDiv(toUnixTimestamp64Micro({start:DateTime64(6, 'UTC')}) - 345600000000, {seconds:UInt32} * 1000000) * {seconds:UInt32} + 345600, 6, 'UTC')
        AND time < {end:DateTime64(6, 'UTC')}
)
GROUP BY slot, venue
ORDER BY time, venue
COMMENT 'What a venue reported as liquidated of an asset in an interval, by side; none where nothing was. Parameters: asset, seconds (length of the interval), start and end (UTC, end exclusive). Columns: time (start of the interval, UTC), venue, long_usd, short_usd (value, USD; a lower bound where completeness is sampled), long_count, short_count (positions)';
