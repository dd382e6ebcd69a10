-- market.trades: trades, gaps, and the feeds' marks with what they say of venues and subscriptions. Codecs: measured on
-- 70,000 recorded trades of 2024-08-08 (README). What a trade takes on disk would be to two fifths its quote amount, which
-- every feed makes as price times size: kept are the bits in which it differs, so any amount is kept exactly.
--
-- Nearly all that comes is trades and marks. Each view over what comes is planned anew for each block of it, 1 to 3 ms of a
-- core: what is neither, or a mark that says more than the time, goes by a table of its own, whose views have nothing to do
-- in most flushes.
--
-- A mark that its own venues contradict is no time of its partition and no news of its venues: the processors do not follow
-- it either. feed_marks_log keeps it as it is.

CREATE TABLE IF NOT EXISTS market_trades_others_in AS market_trades_in
ENGINE = Null
COMMENT 'What seldom comes in market.trades, on its way into the base tables';

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
    size Float64 COMMENT 'Base units' CODEC(ZSTD(3)),
    quote_bits UInt64 COMMENT 'Bits in which quote differs from the double price times size; 0: in none' CODEC(ZSTD(1)),
    quote Float64 ALIAS reinterpretAsFloat64(bitXor(quote_bits, reinterpretAsUInt64(price * size))) COMMENT 'price times size, quote units',
    size_factor Float64 COMMENT 'Base units in one unit of the venue''s size field' CODEC(ZSTD(1)),
    price_factor Float64 COMMENT 'Base units that the venue''s price field is for' CODEC(ZSTD(1)),
    taker LowCardinality(String) COMMENT 'The aggressor''s side: buy, sell, unknown' CODEC(ZSTD(1)),
    received DateTime64(6, 'UTC') COMMENT 'When our feed had the message' CODEC(Delta, ZSTD(1)),
    origin LowCardinality(String) COMMENT 'How it came: stream, backfill, import, unknown' CODEC(ZSTD(1)),
    gap_id Nullable(UInt64) COMMENT 'The gap that a backfilled trade belongs to; null otherwise' CODEC(ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of market.trades' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset in that partition' CODEC(Delta, ZSTD(1)),
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
    run DateTime64(6, 'UTC') COMMENT 'When that feed process started' CODEC(ZSTD(1)),
    time DateTime64(6, 'UTC') COMMENT 'Partition time: the writer''s clock, on a tape the tape''s' CODEC(DoubleDelta, ZSTD(1)),
    venue_time Nullable(DateTime64(6, 'UTC')) COMMENT 'What the time is by the venues'' times, as the feed process has them; null: it cannot tell' CODEC(ZSTD(1)),
    venues Array(Tuple(venue String, state String, sockets UInt32, since DateTime64(6, 'UTC')))
        COMMENT 'All venues of the feed process: state, open WebSocket connections, since when' CODEC(ZSTD(1)),
    changes Array(Tuple(instrument String, asset String, state String, time DateTime64(6, 'UTC')))
        COMMENT 'Subscriptions that were acknowledged, ended or refused since the writer''s previous mark' CODEC(ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of market.trades' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset in that partition' CODEC(DoubleDelta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(offset)
PARTITION BY toYYYYMM(time)
ORDER BY (writer, partition, time)
COMMENT 'Marks of the feeds, one a second to each partition; read the view feed_marks';

CREATE TABLE IF NOT EXISTS subscription_changes_log
(
    instrument LowCardinality(String) COMMENT 'venue:market:native symbol; for unlisted, venue:market: and the asset id',
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue',
    state LowCardinality(String) COMMENT 'acknowledged, ended, refused, unlisted, asked, unknown',
    writer LowCardinality(String) COMMENT 'The feed process',
    run DateTime64(6, 'UTC') COMMENT 'When that feed process started',
    time DateTime64(6, 'UTC') COMMENT 'When it came to be so'
)
ENGINE = ReplacingMergeTree
ORDER BY (instrument, time, writer, run)
COMMENT 'Every change of a subscription to trades; read the views subscriptions and subscription_changes';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_trade TO trades_log AS
SELECT
    asset,
    instrument,
    fromUnixTimestamp64Micro(record.time, 'UTC') AS time,
    toUInt64(record.first_id) AS first_id,
    toUInt64(record.last_id - record.first_id) AS span,
    toUInt32(record.count) AS count,
    sequence,
    assumeNotNull(record.price) AS price,
    size,
    bitXor(reinterpretAsUInt64(record.quote), reinterpretAsUInt64(assumeNotNull(record.price) * size)) AS quote_bits,
    size_factor,
    price_factor,
    taker,
    fromUnixTimestamp64Micro(record.received, 'UTC') AS received,
    origin,
    gap_id,
    log_partition AS partition,
    log_offset AS offset
FROM market_trades_in AS record
WHERE log_error = '' AND record.price IS NOT NULL;

CREATE MATERIALIZED VIEW IF NOT EXISTS market_trades_others TO market_trades_others_in AS
SELECT * FROM market_trades_in
WHERE log_error != '' OR reason IS NOT NULL OR notEmpty(changes);

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_mark TO feed_marks_log AS
SELECT
    assumeNotNull(record.writer) AS writer,
    log_partition AS partition,
    fromUnixTimestamp64Micro(record.time, 'UTC') AS time,
    fromUnixTimestamp64Micro(record.run, 'UTC') AS run,
    arrayMap(x -> (x.venue, x.state, toUInt32(x.sockets), fromUnixTimestamp64Micro(x.since, 'UTC')), record.venues) AS venues,
    arrayMap(x -> (x.instrument, x.asset, x.state, fromUnixTimestamp64Micro(x.time, 'UTC')), record.changes) AS changes,
    fromUnixTimestamp64Micro(record.venue_time, 'UTC') AS venue_time,
    log_offset AS offset
FROM market_trades_in AS record
WHERE log_error = '' AND record.writer IS NOT NULL;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_subscription_change TO subscription_changes_log AS
SELECT
    entry.instrument AS instrument,
    fromUnixTimestamp64Micro(entry.time, 'UTC') AS time,
    assumeNotNull(record.writer) AS writer,
    fromUnixTimestamp64Micro(record.run, 'UTC') AS run,
    entry.asset AS asset,
    entry.state AS state
FROM market_trades_others_in AS record
ARRAY JOIN record.changes AS entry
WHERE log_error = '' AND record.writer IS NOT NULL;

CREATE OR REPLACE VIEW trades AS
SELECT
    instrument,
    asset,
    splitByChar(':', instrument)[1] AS venue,
    splitByChar(':', instrument)[2] AS market,
    substring(instrument, length(venue) + length(market) + 3) AS symbol,
    first_id,
    first_id + span AS last_id,
    count,
    sequence,
    price,
    size,
    quote,
    size_factor,
    price_factor,
    taker,
    time,
    received,
    origin,
    gap_id,
    partition,
    offset
FROM trades_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Trades of all venues, duplicates removed: of equal trades the first in the log stands. Filter by asset and time.';

CREATE OR REPLACE VIEW gaps AS
SELECT
    instrument,
    gap_id,
    asset,
    splitByChar(':', instrument)[1] AS venue,
    splitByChar(':', instrument)[2] AS market,
    * EXCEPT (instrument, gap_id, asset)
FROM gaps_log FINAL
ORDER BY instrument, gap_id, time DESC, offset DESC
LIMIT 1 BY instrument, gap_id
COMMENT 'Trades that did not come by the stream: the latest state of each gap';

CREATE OR REPLACE VIEW feed_marks AS
SELECT *
FROM feed_marks_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Marks of the feed processes: one a second in each partition of market.trades';

CREATE OR REPLACE VIEW channel_states AS
SELECT
    topic,
    writer,
    run,
    entry.venue AS venue,
    entry.state AS state,
    entry.sockets AS sockets,
    entry.since AS since,
    newest AS time
FROM
(
    SELECT
        topic,
        writer,
        run,
        max(time) AS newest,
        argMax(venues, time) AS told
    FROM marks
    GROUP BY topic, writer, run
    ORDER BY run DESC
    LIMIT 1 BY topic, writer
)
ARRAY JOIN told AS entry
COMMENT 'State of each venue''s channels and polls for a topic, as of each feed process''s newest mark';

ALTER TABLE channel_states
    COMMENT COLUMN writer 'The feed process',
    COMMENT COLUMN venue 'Venue name',
    COMMENT COLUMN state 'off, connecting, live, down, unavailable (the venue refuses us), unknown',
    COMMENT COLUMN sockets 'Open WebSocket connections',
    COMMENT COLUMN since 'When the state began',
    COMMENT COLUMN time 'Of the mark that says so';

CREATE OR REPLACE VIEW venue_states AS
SELECT
    writer,
    run,
    venue,
    state,
    sockets,
    since,
    time
FROM channel_states
WHERE topic = 'market.trades'
COMMENT 'State of each venue as of each feed process''s newest mark; a mark that is old says that the process is gone';

CREATE OR REPLACE VIEW subscriptions AS
SELECT
    writer,
    instrument,
    asset,
    splitByChar(':', instrument)[1] AS venue,
    state,
    time AS since
FROM subscription_changes_log FINAL
WHERE (writer, run) IN (SELECT writer, max(run) FROM marks WHERE topic = 'market.trades' GROUP BY writer)
ORDER BY time DESC
LIMIT 1 BY writer, instrument
COMMENT 'Latest state of each feed process''s subscriptions; an earlier run of the process no longer counts';

ALTER TABLE subscriptions
    COMMENT COLUMN since 'When it came to be so';

CREATE OR REPLACE VIEW subscription_changes AS
SELECT
    instrument,
    asset,
    splitByChar(':', instrument)[1] AS venue,
    * EXCEPT (instrument, asset)
FROM subscription_changes_log FINAL
COMMENT 'Every change of a subscription to trades: asked, acknowledged, ended, refused, unlisted';

ALTER TABLE subscription_changes
    COMMENT COLUMN instrument 'venue:market:native symbol';
