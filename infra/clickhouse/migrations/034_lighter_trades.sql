-- What a trade takes on disk was to two fifths its quote amount, which every feed makes as price times size. Kept are the
-- bits in which it differs, so any other amount is kept as exactly; the column is worked out as it is read. Rows from before
-- this have no such bits: theirs is price times size, as the feeds made it. Codecs of size and offset: measured (README).

ALTER TABLE trades_log
    ADD COLUMN IF NOT EXISTS quote_bits UInt64 COMMENT 'Bits in which quote differs from the double price times size; 0: in none' CODEC(ZSTD(1)) AFTER size;

ALTER TABLE ingest_trade MODIFY QUERY
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

ALTER TABLE trades_log DROP COLUMN IF EXISTS quote;

ALTER TABLE trades_log
    ADD COLUMN IF NOT EXISTS quote Float64 ALIAS reinterpretAsFloat64(bitXor(quote_bits, reinterpretAsUInt64(price * size))) COMMENT 'price times size, quote units' AFTER quote_bits;

ALTER TABLE trades_log MODIFY COLUMN size CODEC(ZSTD(3));

ALTER TABLE trades_log MODIFY COLUMN offset CODEC(Delta, ZSTD(1));
