-- Question: where do our volumes differ from the venues' own candles, for no recorded reason?
-- A row: a minute of an instrument, the worst first; empty is what one hopes for.
-- Units: volumes in base units, difference as a fraction of theirs.
-- Parameters: start, end
SELECT instrument, minute, ours_volume, theirs_volume, volume_difference, delta_difference
FROM audits
WHERE minute >= {start:DateTime64(6, 'UTC')} AND minute < {end:DateTime64(6, 'UTC')} AND state = 'different' AND NOT explained
ORDER BY greatest(abs(volume_difference), abs(ifNull(delta_difference, 0))) DESC
LIMIT 100
