-- control.dead_letters and control.gaps: records that readers have set aside, and what they could not read or found to be lost
-- of what they wrote. Bytes and keys of the former stay in the topic: of an alert or a payment they may hold what no table
-- may, and so may the text of an error that quotes them.

CREATE TABLE IF NOT EXISTS dead_letters_log
(
    processor LowCardinality(String) COMMENT 'Who set it aside: a processor, webhooks or payments' CODEC(ZSTD(1)),
    topic LowCardinality(String) COMMENT 'Topic of the record, without its namespace' CODEC(ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of the record' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset of the record in that partition' CODEC(Delta, ZSTD(1)),
    time DateTime64(6, 'UTC') COMMENT 'Kafka time of the record' CODEC(Delta, ZSTD(1)),
    reason LowCardinality(String) COMMENT 'undecodable: its bytes are no record; unknown_schema: the registry did not know its schema id; failed: the processor''s code threw at it; held: not tried, too many of its asset and type had failed within 10 s' CODEC(ZSTD(1)),
    code LowCardinality(String) COMMENT 'not-wire-format, bad-body, unknown-schema, or the code or the class of the error that was thrown' CODEC(ZSTD(1)),
    message String COMMENT 'Text of the error, at most 1000 characters; empty for topics of alerts, webhooks and payments' CODEC(ZSTD(1)),
    at LowCardinality(Nullable(String)) COMMENT 'Line of code that threw, file:line:column; null where it is not known' CODEC(ZSTD(1)),
    attempts UInt16 COMMENT 'How often it was tried before it was set aside' CODEC(ZSTD(1)),
    size UInt32 COMMENT 'Bytes of its value' CODEC(ZSTD(1)),
    letter_partition UInt16 COMMENT 'Kafka partition of the letter in control.dead_letters, which holds the value' CODEC(ZSTD(1)),
    letter_offset UInt64 COMMENT 'Kafka offset of the letter in that partition' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(time)
ORDER BY (processor, topic, partition, offset)
SETTINGS index_granularity = 1024
COMMENT 'Records that readers have set aside; read the view dead_letters';

CREATE TABLE IF NOT EXISTS log_gaps_log
(
    reader LowCardinality(String) COMMENT 'Processor or service that could not read it, or had written it' CODEC(ZSTD(1)),
    topic LowCardinality(String) COMMENT 'Topic that it is about, without its namespace' CODEC(ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of that topic' CODEC(ZSTD(1)),
    reason LowCardinality(String) COMMENT 'retention: deleted before it was read; cut: the log lost its tail, which had been read; replaced: it is another log; output_cut: the log lost the tail of what the reader had written' CODEC(ZSTD(1)),
    position UInt64 COMMENT 'Kafka offset that it would have read, or written, next' CODEC(ZSTD(1)),
    next UInt64 COMMENT 'Kafka offset at which it went on' CODEC(ZSTD(1)),
    missing Nullable(UInt64) COMMENT 'Offsets that were never read, or of an output, lost; null: not known' CODEC(ZSTD(1)),
    from_time DateTime64(6, 'UTC') COMMENT 'Kafka time of the last record before it, of retention a minute earlier' CODEC(Delta, ZSTD(1)),
    to_time DateTime64(6, 'UTC') COMMENT 'Kafka time of the first record after it, or when it was found; of the last that was read of it, where that is later' CODEC(Delta, ZSTD(1)),
    shift UInt64 COMMENT 'Added to offsets from next on where a version is made of one' CODEC(ZSTD(1)),
    time DateTime64(6, 'UTC') COMMENT 'When it was found, by the reader''s clock' CODEC(Delta, ZSTD(1)),
    told_partition UInt16 COMMENT 'Kafka partition of this record in control.gaps' CODEC(ZSTD(1)),
    told_offset UInt64 COMMENT 'Kafka offset of this record in that partition' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree
ORDER BY (told_partition, told_offset)
SETTINGS index_granularity = 1024
COMMENT 'What readers of the log could not read; read the view log_gaps';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_dead_letter TO dead_letters_log AS
SELECT
    processor,
    topic,
    record.partition AS partition,
    record.offset AS offset,
    fromUnixTimestamp64Micro(record.time, 'UTC') AS time,
    reason,
    code,
    if(startsWith(record.topic, 'market.') OR startsWith(record.topic, 'derived.'), record.message, '') AS message,
    at,
    attempts,
    size,
    log_partition AS letter_partition,
    log_offset AS letter_offset
FROM control_dead_letters_in AS record
WHERE log_error = '';

CREATE OR REPLACE VIEW dead_letters AS
SELECT
    processor,
    topic,
    partition,
    offset,
    time,
    reason,
    code,
    message,
    at,
    attempts,
    size,
    letter_partition,
    letter_offset
FROM dead_letters_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Records that a reader has set aside, with their place and why: they had no effect there, and what came behind them went on';

CREATE OR REPLACE VIEW log_gaps AS
SELECT
    reader,
    topic,
    partition,
    reason,
    position,
    next,
    missing,
    from_time,
    to_time,
    shift,
    time,
    told_partition,
    told_offset
FROM log_gaps_log FINAL
COMMENT 'What a reader of the log could not read, or found to be lost of what it wrote, and between which times';
