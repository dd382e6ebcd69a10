-- Question: how much of the time asked for is without a gap of the instrument's own, instrument by instrument?
-- A row: an instrument with a gap in the range, the least complete first; one that is not here has none. What the log itself
-- lost (log_gaps, by partition) and time in which nobody was subscribed (subscription_changes) are no such gaps: the API's
-- coverage counts them as well.
-- Units: seconds of gaps that were not filled, cut to the range; overlapping gaps count once; missing in records where the venue's ids tell (null: they do
-- not); complete is the share of the range without such a gap, 0 to 1.
-- Parameters: asset, start, end
SELECT
    instrument,
    count() AS gaps,
    countIf(state = 'filled') AS filled,
    sumOrNullIf(missing, state != 'filled') AS missing_records,
    arraySum(span -> toFloat64(dateDiff('microsecond', span.1, span.2)) / 1e6,
        arrayFold((merged, span) -> if(notEmpty(merged) AND span.1 <= merged[-1].2,
                arrayPushBack(arrayPopBack(merged), (merged[-1].1, greatest(merged[-1].2, span.2))),
                arrayPushBack(merged, span)),
            arraySort(groupArrayIf((from_cut, to_cut), state != 'filled')),
            CAST([], 'Array(Tuple(DateTime64(6, \'UTC\'), DateTime64(6, \'UTC\')))'))) AS lost_s,
    1 - lost_s / (dateDiff('microsecond', {start:DateTime64(6, 'UTC')}, {end:DateTime64(6, 'UTC')}) / 1e6) AS complete
FROM
(
    SELECT
        instrument, state, missing,
        greatest(from_time, {start:DateTime64(6, 'UTC')}) AS from_cut,
        least(to_time, {end:DateTime64(6, 'UTC')}) AS to_cut
    FROM gaps
    WHERE asset = {asset:String} AND to_time >= {start:DateTime64(6, 'UTC')} AND from_time < {end:DateTime64(6, 'UTC')}
)
GROUP BY instrument
ORDER BY complete, instrument
