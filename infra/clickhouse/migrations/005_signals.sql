-- derived.signals. Which signals there are depends on the rules, so a row of an older generation has none of the newer to be
-- replaced by: of each asset and kind the newest generation stands.

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

-- Of each asset and kind what a generation told stands up to where a newer one tells of the log that both follow: what catches up
-- beside an older one tells from its place on, what is folded again from the log's start replaces all that was told. A kind
-- follows from one topic, an asset from one of its partitions, so that offsets compare.
CREATE OR REPLACE VIEW signals AS
SELECT
    asset,
    kind,
    period,
    nullIf(toString(told.exchange), '') AS exchange,
    from,
    to,
    value,
    evidence,
    time,
    v,
    partition,
    offset
FROM (SELECT *, bitShiftRight(v, 44) AS generation FROM signal_changes_log FINAL) AS told
INNER JOIN
(
    SELECT asset, kind, generation, min(begin) OVER
        (PARTITION BY asset, kind ORDER BY generation DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS newer,
        row_number() OVER (PARTITION BY asset, kind ORDER BY generation DESC) = 1 AS is_newest
    FROM
    (
        SELECT asset, kind, bitShiftRight(v, 44) AS generation, min(bitAnd(v, 17592186044415)) AS begin
        FROM signal_changes_log
        GROUP BY asset, kind, generation
    )
) AS generations USING (asset, kind, generation)
WHERE is_newest OR bitAnd(v, 17592186044415) < newer
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Changes of a signal''s class, each by the newest rules that told of its time; exchange is null where it is about all venues';

ALTER TABLE signals
    COMMENT COLUMN exchange 'Venue that it is about; null: all of them',
    COMMENT COLUMN `to` 'The class it has; insufficient_data: nothing traded, or less than a quarter of the window is covered';
