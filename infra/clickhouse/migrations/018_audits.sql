-- What explains a minute that differs. A minute is subscribed to where one feed process at least is for all of it: that another
-- one ends, or is not answered by its venue, changes nothing. A process that was killed is taken for subscribed until one of any
-- name says something of the instrument: what was traded meanwhile is to be repaired. And what the log lost before it was
-- counted explains a minute too.
CREATE OR REPLACE VIEW audits AS
WITH
    told AS
    (
        SELECT instrument, writer, run, state, time, leadInFrame(time, 1, toDateTime64('2200-01-01 00:00:00', 6, 'UTC')) OVER
            (PARTITION BY instrument, writer ORDER BY time, run ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS next
        FROM subscription_changes
    ),
    lives AS
    (
        SELECT writer, run, max(time) AS heard FROM marks WHERE topic = 'market.trades' GROUP BY writer, run
    ),
    acknowledged AS
    (
        SELECT told.instrument AS instrument, told.time AS since, next, greatest(told.time, lives.heard) AS heard
        FROM told
        LEFT JOIN lives ON told.writer = lives.writer AND told.run = lives.run
        WHERE told.state = 'acknowledged'
    ),
    streamed AS
    (
        SELECT acknowledged.instrument AS instrument, since,
            max(if(other.time > heard, least(next, other.time), next)) OVER (PARTITION BY instrument ORDER BY since) AS until
        FROM acknowledged
        ASOF LEFT JOIN subscription_changes AS other
            ON acknowledged.instrument = other.instrument AND acknowledged.heard < other.time
    )
SELECT
    instrument,
    asset,
    splitByChar(':', instrument)[1] AS venue,
    splitByChar(':', instrument)[2] AS market,
    substring(instrument, length(venue) + length(market) + 3) AS symbol,
    minute,
    ours_volume,
    theirs_volume,
    volume_difference,
    ours_delta,
    theirs_delta,
    delta_difference,
    ours_trades,
    theirs_trades,
    state,
    (instrument, minute) IN
    (
        SELECT instrument, toDateTime64(arrayJoin(range(
            intDiv(toUnixTimestamp(from_time), 60) * 60,
            least(toUnixTimestamp(to_time), toUnixTimestamp(from_time) + 8640000) + 1,
            60)), 6, 'UTC')
        FROM gaps
    ) AS in_gap,
    (partition, minute) IN
    (
        SELECT partition, toDateTime64(arrayJoin(range(
            intDiv(toUnixTimestamp(from_time), 60) * 60,
            least(toUnixTimestamp(to_time), toUnixTimestamp(from_time) + 8640000) + 1,
            60)), 6, 'UTC')
        FROM log_gaps
        WHERE reader = 'cvd' AND topic = 'market.trades' AND reason != 'output_cut'
    ) AS in_log_gap,
    streamed.until < audit.minute_end AS not_subscribed,
    streamed.since = toDateTime64(0, 6, 'UTC') AS not_yet_subscribed,
    toBool(in_gap OR in_log_gap OR not_subscribed) AS explained,
    audit.time AS time,
    v,
    partition,
    offset
FROM
(
    SELECT *, minute - INTERVAL 1 SECOND AS before, minute + INTERVAL 1 MINUTE AS minute_end
    FROM audits_log FINAL
) AS audit
ASOF LEFT JOIN streamed
    ON audit.instrument = streamed.instrument AND audit.before >= streamed.since
COMMENT 'Our minutes beside the venues'' candles; explained: a recorded gap touches the minute, or no feed process was subscribed for all of it';

ALTER TABLE audits
    COMMENT COLUMN state 'equal: within a billionth of the volume; different; unknown',
    COMMENT COLUMN in_gap '1: a recorded gap touches the minute',
    COMMENT COLUMN in_log_gap '1: the log lost trades of its partition before they were counted, at a time that touches the minute',
    COMMENT COLUMN not_subscribed '1: no feed process was subscribed for all of the minute',
    COMMENT COLUMN not_yet_subscribed '1: it began before the instrument was subscribed for the first time',
    COMMENT COLUMN explained 'in_gap, in_log_gap or not_subscribed: a difference is no surprise',
    COMMENT COLUMN time 'When the minute had closed or the candle was received, whichever is later',
    COMMENT COLUMN partition 'Kafka partition of derived.audit';

CREATE OR REPLACE VIEW audit_worst AS
SELECT
    venue,
    countIf(NOT not_yet_subscribed) AS compared,
    countIf(state = 'different' AND NOT not_yet_subscribed) AS different,
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
COMMENT 'The audit of the last 24 h by venue, of minutes since an instrument was first subscribed: how many were compared, differ, and differ without a recorded reason; the worst of those that nothing explains';

ALTER TABLE audit_worst
    COMMENT COLUMN venue 'Venue name',
    COMMENT COLUMN compared 'Minutes of the last 24 h that were compared',
    COMMENT COLUMN different 'Those of them that differ, by more than a billionth of the volume',
    COMMENT COLUMN unexplained 'Those that differ without a recorded reason',
    COMMENT COLUMN worst_volume_difference 'Largest (ours - theirs) / theirs of the unexplained ones, fraction; null: there is none',
    COMMENT COLUMN worst_delta_difference 'Largest difference of the delta over their volume of the unexplained ones, fraction; null: there is none, or the venue does not publish it',
    COMMENT COLUMN worst_instrument 'Where the largest of both is; null: there is none',
    COMMENT COLUMN worst_minute 'Start of that minute, UTC; null: there is none';
