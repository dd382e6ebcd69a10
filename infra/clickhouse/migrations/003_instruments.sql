-- market.instruments and market.tokens: what venues list, and what the token registry says.

CREATE TABLE IF NOT EXISTS instruments_log
(
    instrument String COMMENT 'venue:market:native symbol',
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
    valid_from DateTime64(6, 'UTC') COMMENT 'When we learned it',
    partition UInt16 COMMENT 'Kafka partition of market.instruments',
    offset UInt64 COMMENT 'Kafka offset in that partition'
)
ENGINE = ReplacingMergeTree(offset)
ORDER BY (instrument, valid_from)
COMMENT 'What each venue listed and when; read the views instruments and instrument_versions';

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

CREATE OR REPLACE VIEW instrument_versions AS
SELECT *
FROM instruments_log FINAL
COMMENT 'What each venue listed, each with the time from which it holds';

CREATE OR REPLACE VIEW instruments AS
SELECT *
FROM instrument_versions
ORDER BY instrument, valid_from DESC
LIMIT 1 BY instrument
COMMENT 'What each venue lists: the newest version of each instrument';

CREATE OR REPLACE VIEW tokens AS
SELECT * EXCEPT (offset)
FROM tokens_log FINAL
COMMENT 'What the token registry says of each token, USD';
