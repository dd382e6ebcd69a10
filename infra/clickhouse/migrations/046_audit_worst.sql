-- 012 took the worst difference of all minutes that nothing explains, those that are equal but for rounding too: beside
-- minutes that differ for a known reason stood a worst of -7e-16. It is that of the minutes that differ.

CREATE OR REPLACE VIEW audit_worst AS
SELECT
    venue,
    count() AS compared,
    countIf(state = 'different') AS different,
    countIf(is_unexplained) AS unexplained,
    argMaxOrNullIf(volume_difference, abs(volume_difference), is_unexplained) AS worst_volume_difference,
    argMaxOrNullIf(delta_difference, abs(delta_difference), is_unexplained) AS worst_delta_difference,
    argMaxOrNullIf(instrument, weight, is_unexplained) AS worst_instrument,
    argMaxOrNullIf(minute, weight, is_unexplained) AS worst_minute
FROM
(
    SELECT
        *,
        state = 'different' AND NOT explained AS is_unexplained,
        greatest(abs(volume_difference), abs(ifNull(delta_difference, 0))) AS weight
    FROM audits
    WHERE minute >= now() - INTERVAL 24 HOUR
)
GROUP BY venue
ORDER BY venue
COMMENT 'The audit of the last 24 h by venue: minutes compared, different, and different without a recorded reason; the worst of those that nothing explains';

ALTER TABLE audit_worst
    COMMENT COLUMN venue 'Venue name',
    COMMENT COLUMN compared 'Minutes of the last 24 h that were compared',
    COMMENT COLUMN different 'Those of them that differ, by more than a billionth of the volume',
    COMMENT COLUMN unexplained 'Those that differ without a recorded reason',
    COMMENT COLUMN worst_volume_difference 'Largest (ours - theirs) / theirs of the unexplained ones, fraction; null: there is none',
    COMMENT COLUMN worst_delta_difference 'Largest difference of the delta over their volume of the unexplained ones, fraction; null: there is none, or the venue does not publish it',
    COMMENT COLUMN worst_instrument 'Where the largest of both is; null: there is none',
    COMMENT COLUMN worst_minute 'Start of that minute, UTC; null: there is none';
