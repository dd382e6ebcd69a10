-- derived.signals. Which signals there are depends on the rules, so a row of an older generation has none of the newer to be
-- replaced by: of each asset and kind the newest generation stands.

CREATE TABLE IF NOT EXISTS derived_signals_in
(
    asset String,
    kind Nullable(String),
    period String,
    from String,
    to String,
    value Float64,
    evidence Map(String, Float64),
    v Int64,
    exchange Nullable(String),
    writer Nullable(String),
    run Int64,
    time Int64,
    venues Array(Tuple(venue String, state String, sockets Int32, since Int64)),
    changes Array(Tuple(instrument String, asset String, state String, time Int64)),
    venue_time Nullable(Int64),
    log_partition UInt16,
    log_offset UInt64,
    log_time DateTime64(3, 'UTC'),
    log_error String,
    log_raw String
)
ENGINE = Null
COMMENT 'Records of derived.signals on their way into the base tables';

CREATE TABLE IF NOT EXISTS signal_changes_log
(
    asset LowCardinality(String) COMMENT 'Asset id of the catalogue',
    kind LowCardinality(String) COMMENT 'What it is a signal of: cvd, funding, cascade_risk, sentiment',
    period LowCardinality(String) COMMENT 'The window it looks at: 1h, 4h, 24h, 7d; empty: none',
    exchange LowCardinality(String) COMMENT 'Venue that it is about; empty: all of them',
    time DateTime64(6, 'UTC') COMMENT 'End of the window that was looked at',
    from LowCardinality(String) COMMENT 'The class it had',
    to LowCardinality(String) COMMENT 'The class it has',
    value Float64 COMMENT 'What was classified; for cvd: period delta over period volume, a fraction',
    evidence Map(String, Float64) COMMENT 'The figures behind the value',
    v UInt64 COMMENT 'Version: generation times 2^44 plus the source offset it follows from',
    partition UInt16 COMMENT 'Kafka partition of derived.signals',
    offset UInt64 COMMENT 'Kafka offset in that partition'
)
ENGINE = ReplacingMergeTree(v)
PARTITION BY toYYYYMM(time)
ORDER BY (asset, kind, period, exchange, time)
COMMENT 'Changes of a signal''s class; read the view signals';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_signal TO signal_changes_log AS
SELECT
    asset,
    assumeNotNull(record.kind) AS kind,
    period,
    ifNull(record.exchange, '') AS exchange,
    fromUnixTimestamp64Micro(record.time, 'UTC') AS time,
    record.from AS from,
    record.to AS to,
    value,
    evidence,
    v,
    log_partition AS partition,
    log_offset AS offset
FROM derived_signals_in AS record
WHERE log_error = '' AND record.kind IS NOT NULL;

CREATE OR REPLACE VIEW signals AS
SELECT
    asset,
    kind,
    period,
    nullIf(toString(signal_changes_log.exchange), '') AS exchange,
    from,
    to,
    value,
    evidence,
    time,
    v,
    partition,
    offset
FROM signal_changes_log FINAL
WHERE (asset, kind, bitShiftRight(v, 44)) IN (SELECT asset, kind, bitShiftRight(max(v), 44) FROM signal_changes_log GROUP BY asset, kind)
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Changes of a signal''s class, by the newest rules; exchange is null where it is about all venues';

ALTER TABLE signals
    COMMENT COLUMN exchange 'Venue that it is about; null: all of them',
    COMMENT COLUMN to 'The class it has; insufficient_data: nothing traded, or less than a quarter of the window is covered';
