-- What readers of the log could not read, or found to be lost of what they wrote.

CREATE TABLE IF NOT EXISTS log_gaps_log
(
    reader LowCardinality(String) COMMENT 'Processor or service that could not read it, or had written it' CODEC(ZSTD(1)),
    topic LowCardinality(String) COMMENT 'Topic that it is about, without its namespace' CODEC(ZSTD(1)),
    partition UInt16 COMMENT 'Kafka partition of that topic' CODEC(ZSTD(1)),
    reason LowCardinality(String) COMMENT 'retention: deleted before it was read; cut: the log lost its tail, which had been read; replaced: it is another log; output_cut: the log lost the tail of what the reader had written' CODEC(ZSTD(1)),
    position UInt64 COMMENT 'Kafka offset that it would have read, or written, next' CODEC(ZSTD(1)),
    next UInt64 COMMENT 'Kafka offset at which it went on' CODEC(ZSTD(1)),
    missing Nullable(UInt64) COMMENT 'Offsets that were never read, or of an output, lost; null: not known' CODEC(ZSTD(1)),
    from_time DateTime64(6, 'UTC') COMMENT 'Kafka time of the last record before it' CODEC(Delta, ZSTD(1)),
    to_time DateTime64(6, 'UTC') COMMENT 'Kafka time of the first record after it, or when it was found' CODEC(Delta, ZSTD(1)),
    shift UInt64 COMMENT 'Added to offsets from next on where a version is made of one' CODEC(ZSTD(1)),
    time DateTime64(6, 'UTC') COMMENT 'When it was found, by the reader''s clock' CODEC(Delta, ZSTD(1)),
    told_partition UInt16 COMMENT 'Kafka partition of this record in control.gaps' CODEC(ZSTD(1)),
    told_offset UInt64 COMMENT 'Kafka offset of this record in that partition' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree
ORDER BY (told_partition, told_offset)
SETTINGS index_granularity = 1024
COMMENT 'What readers of the log could not read; read the view log_gaps';

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
