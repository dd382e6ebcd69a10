-- Which signals there are depends on the rules, so a row of an older generation has none of the newer to be replaced by: of
-- each asset and kind the newest generation stands.

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
    COMMENT COLUMN asset 'Asset id of the catalogue',
    COMMENT COLUMN kind 'What it is a signal of: cvd, funding, cascade_risk, sentiment',
    COMMENT COLUMN period 'The window it looks at: 1h, 4h, 24h, 7d; empty: none',
    COMMENT COLUMN exchange 'Venue that it is about; null: all of them',
    COMMENT COLUMN `from` 'The class it had',
    COMMENT COLUMN `to` 'The class it has; insufficient_data: nothing traded, or less than a quarter of the window is covered',
    COMMENT COLUMN value 'What was classified; for cvd: period delta over period volume, a fraction',
    COMMENT COLUMN evidence 'The figures behind the value',
    COMMENT COLUMN time 'End of the window that was looked at',
    COMMENT COLUMN v 'Version: generation times 2^44 plus the source offset it follows from',
    COMMENT COLUMN partition 'Kafka partition of derived.signals',
    COMMENT COLUMN offset 'Kafka offset in that partition';
