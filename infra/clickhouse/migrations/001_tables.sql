-- Base tables: what Kafka brought, each row with the partition and offset of its record. Of the rows of one key the one
-- with the highest version stands: so when parts merge, and so in the views of 002 at every read. A record that Kafka
-- delivers twice is the same row twice. Codecs: measured on 70,000 recorded trades of 2024-08-08 (README).

CREATE TABLE IF NOT EXISTS trades_log
(
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue' CODEC(ZSTD(1)),
    instrument LowCardinality(String) COMMENT 'venue:market:native symbol' CODEC(ZSTD(1)),
    time DateTime64(6, 'UTC') COMMENT 'The venue''s trade time' CODEC(Delta, ZSTD(1)),
    first_id UInt64 COMMENT 'First venue id that the record covers' CODEC(DoubleDelta, ZSTD(1)),
    span UInt64 COMMENT 'last_id - first_id' CODEC(ZSTD(1)),
    last_id UInt64 ALIAS first_id + span COMMENT 'Last venue id that the record covers',
    count UInt32 COMMENT 'Fills that the venue merged into the record' CODEC(ZSTD(1)),
    sequence Nullable(UInt64) COMMENT 'The venue''s ordering number beside the id; null: not said' CODEC(DoubleDelta, ZSTD(1)),
    price Float64 COMMENT 'Quote units for one base unit' CODEC(Delta, ZSTD(1)),
    size Float64 COMMENT 'Base units' CODEC(ZSTD(1)),
    quote Float64 COMMENT 'price times size, quote units' CODEC(ZSTD(1)),
    size_factor Float64 COMMENT 'Base units in one unit of the venue''s size field' CODEC(ZSTD(1)),
    price_factor Float64 COMMENT 'Base units that the venue''s price field is for' CODEC(ZSTD(1)),
    taker LowCardinality(String) COMMENT 'The aggressor''s side: buy, sell, unknown' CODEC(ZSTD(1)),
    received DateTime64(6, 'UTC') COMMENT 'When our feed had the message' CODEC(Delta, ZSTD(1)),
    origin LowCardinality(String) COMMENT 'How it came: stream, backfill, import, unknown' CODEC(ZSTD(1)),
    gap_id Nullable(UInt64) COMMENT 'The gap that a backfilled trade belongs to; null otherwise' CODEC(ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of market.trades' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset in that partition' CODEC(DoubleDelta, ZSTD(1)),
    version UInt64 MATERIALIZED bitNot(offset) COMMENT 'Falls with the offset: of equal trades the first in the log stands' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMM(time)
ORDER BY (asset, instrument, time, first_id)
COMMENT 'Trades of market.trades, one row per record; read the view trades';

CREATE TABLE IF NOT EXISTS gaps_log
(
    instrument LowCardinality(String) COMMENT 'venue:market:native symbol',
    gap_id UInt64 COMMENT 'Identity within the instrument: first missing id, or from_time where ids are not contiguous',
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue',
    state LowCardinality(String) COMMENT 'opened, filled, unfillable, unknown',
    reason LowCardinality(String) COMMENT 'Why it opened or could not be filled, as a code',
    from_id Nullable(UInt64) COMMENT 'First missing id; null where ids are not contiguous',
    to_id Nullable(UInt64) COMMENT 'Last missing id; null where ids are not contiguous',
    from_time DateTime64(6, 'UTC') COMMENT 'Venue time of the last trade before the gap',
    to_time DateTime64(6, 'UTC') COMMENT 'Venue time of the first trade after the gap',
    missing Nullable(UInt64) COMMENT 'Records still missing, where ids tell; null: not known',
    feed LowCardinality(String) COMMENT 'The feed process that says so',
    time DateTime64(6, 'UTC') COMMENT 'When it says so, feed''s clock',
    partition UInt16 COMMENT 'Kafka partition of market.trades',
    offset UInt64 COMMENT 'Kafka offset in that partition'
)
ENGINE = ReplacingMergeTree(offset)
ORDER BY (instrument, gap_id, time)
COMMENT 'What feeds said of trades that did not come by the stream; read the view gaps';

CREATE TABLE IF NOT EXISTS feed_marks_log
(
    writer LowCardinality(String) COMMENT 'The feed process that wrote the mark' CODEC(ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of market.trades' CODEC(ZSTD(1)),
    time DateTime64(6, 'UTC') COMMENT 'Partition time: the writer''s clock, on a tape the tape''s' CODEC(DoubleDelta, ZSTD(1)),
    run DateTime64(6, 'UTC') COMMENT 'When that feed process started' CODEC(ZSTD(1)),
    venues Array(Tuple(venue String, state String, sockets UInt32, since DateTime64(6, 'UTC')))
        COMMENT 'All venues of the feed process: state, open WebSocket connections, since when' CODEC(ZSTD(1)),
    changes Array(Tuple(instrument String, asset String, state String, time DateTime64(6, 'UTC')))
        COMMENT 'Subscriptions that were acknowledged, ended or refused since the writer''s previous mark' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset in that partition' CODEC(DoubleDelta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(offset)
PARTITION BY toYYYYMM(time)
ORDER BY (writer, partition, time)
COMMENT 'Marks of the feeds, one a second to each partition; read the view feed_marks';

CREATE TABLE IF NOT EXISTS venue_states_log
(
    writer LowCardinality(String) COMMENT 'The feed process',
    venue LowCardinality(String) COMMENT 'Venue name',
    run DateTime64(6, 'UTC') COMMENT 'When that feed process started',
    state LowCardinality(String) COMMENT 'off, connecting, live, down, unavailable (the venue refuses us), unknown',
    sockets UInt32 COMMENT 'Open WebSocket connections',
    since DateTime64(6, 'UTC') COMMENT 'When the state began',
    time DateTime64(6, 'UTC') COMMENT 'Of the mark that says so'
)
ENGINE = ReplacingMergeTree(time)
ORDER BY (writer, run, venue)
COMMENT 'State of each venue at each feed process; read the view venue_states';

CREATE TABLE IF NOT EXISTS subscriptions_log
(
    writer LowCardinality(String) COMMENT 'The feed process',
    run DateTime64(6, 'UTC') COMMENT 'When that feed process started',
    instrument LowCardinality(String) COMMENT 'venue:market:native symbol; for unlisted, venue:market: and the asset id',
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue',
    state LowCardinality(String) COMMENT 'acknowledged, ended, refused, unlisted, unknown',
    since DateTime64(6, 'UTC') COMMENT 'When it came to be so'
)
ENGINE = ReplacingMergeTree(since)
ORDER BY (writer, run, instrument)
COMMENT 'What became of each subscription; read the view subscriptions';

CREATE TABLE IF NOT EXISTS partition_times_log
(
    topic LowCardinality(String) COMMENT 'Topic without its namespace',
    partition UInt16 COMMENT 'Kafka partition',
    time DateTime64(6, 'UTC') COMMENT 'Time of the newest mark'
)
ENGINE = ReplacingMergeTree(time)
ORDER BY (topic, partition)
COMMENT 'Marks of all topics; read the view partition_times';

CREATE TABLE IF NOT EXISTS instruments_log
(
    instrument String COMMENT 'venue:market:native symbol',
    valid_from DateTime64(6, 'UTC') COMMENT 'When we learned it',
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue',
    venue LowCardinality(String) COMMENT 'Venue name',
    market LowCardinality(String) COMMENT 'perp or spot',
    symbol String COMMENT 'The venue''s own symbol',
    base LowCardinality(String) COMMENT 'Base currency as the venue names it, without a multiplier',
    quote LowCardinality(String) COMMENT 'Quote currency',
    settle LowCardinality(String) COMMENT 'Settlement currency; the quote currency for spot',
    size_factor Float64 COMMENT 'Base units in one unit of the venue''s size field',
    price_factor Float64 COMMENT 'Base units that the venue''s price field is for',
    tick Nullable(Float64) COMMENT 'Smallest price step in the venue''s own price units; null: not said',
    status LowCardinality(String) COMMENT 'live, closed, unknown',
    source LowCardinality(String) COMMENT 'venue: its instrument list; seed: our checked-in table',
    partition UInt16 COMMENT 'Kafka partition of market.instruments',
    offset UInt64 COMMENT 'Kafka offset in that partition'
)
ENGINE = ReplacingMergeTree(offset)
ORDER BY (instrument, valid_from)
COMMENT 'What each venue listed and when; read the views instruments and instrument_versions';

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
COMMENT 'Taker flow per instrument, 10 s bucket and part; read the view flow_10s';

CREATE TABLE IF NOT EXISTS signals_log
(
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue',
    kind LowCardinality(String) COMMENT 'What it is a signal of: cvd',
    period LowCardinality(String) COMMENT 'The window it looks at: 1h, 4h, 24h, 7d',
    time DateTime64(6, 'UTC') COMMENT 'End of the window that was looked at',
    from LowCardinality(String) COMMENT 'The class it had',
    to LowCardinality(String) COMMENT 'The class it has',
    value Float64 COMMENT 'What was classified; for cvd: period delta over period volume, a fraction',
    evidence Map(String, Float64) COMMENT 'The figures behind the value; for cvd: buy and sell of the period, base units',
    v UInt64 COMMENT 'Version: generation times 2^44 plus the source offset it follows from',
    partition UInt16 COMMENT 'Kafka partition of derived.signals',
    offset UInt64 COMMENT 'Kafka offset in that partition'
)
ENGINE = ReplacingMergeTree(v)
PARTITION BY toYYYYMM(time)
ORDER BY (asset, kind, period, time)
COMMENT 'Changes of a signal''s class; read the view signals';

CREATE TABLE IF NOT EXISTS ingest_errors_log
(
    topic LowCardinality(String) COMMENT 'Topic without its namespace',
    partition UInt16 COMMENT 'Kafka partition',
    offset UInt64 COMMENT 'Kafka offset in that partition',
    time DateTime64(3, 'UTC') COMMENT 'Kafka record time',
    error String COMMENT 'Why the record could not be read',
    raw String COMMENT 'The record''s first 4096 bytes'
)
ENGINE = ReplacingMergeTree
ORDER BY (topic, partition, offset)
COMMENT 'Records that ClickHouse could not read; read the view ingest_errors';
