-- Records that readers have set aside. Their bytes and keys stay in control.dead_letters: of an alert or a payment they may
-- hold what no table may, and so may the text of an error that quotes them.

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
