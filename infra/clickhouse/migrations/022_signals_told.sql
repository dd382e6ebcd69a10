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
