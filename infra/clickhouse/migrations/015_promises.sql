-- control.answers, and what is promised to users beside what was kept, by minute: of everything, nothing is left out.

CREATE TABLE IF NOT EXISTS answer_counts_log
(
    instance LowCardinality(String) COMMENT 'Host name and port of the API instance' CODEC(ZSTD(1)),
    from_time DateTime64(6, 'UTC') COMMENT 'From when on it counts' CODEC(Delta, ZSTD(1)),
    to_time DateTime64(6, 'UTC') COMMENT 'Until when it counts' CODEC(Delta, ZSTD(1)),
    answers UInt64 COMMENT 'Answers given, health checks and scrapes included' CODEC(ZSTD(1)),
    failed UInt64 COMMENT 'Of them with a status from 500 on' CODEC(ZSTD(1)),
    slow UInt64 COMMENT 'Of them after more than 1 s, where they are paid for after more than 5 s' CODEC(ZSTD(1)),
    offset UInt64 COMMENT 'Kafka offset in control.answers' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(from_time)
ORDER BY (from_time, offset)
SETTINGS index_granularity = 1024
COMMENT 'What API instances answered; read the view answer_counts';

CREATE OR REPLACE VIEW answer_counts AS
SELECT *
FROM answer_counts_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'What API instances answered, every ten seconds';

CREATE OR REPLACE VIEW promise_minutes AS
SELECT 'answered' AS promise, toStartOfMinute(from_time) AS minute, toUInt64(sum(answers) - sum(failed)) AS kept, sum(answers) AS total
FROM answer_counts
WHERE from_time >= now64(6) - INTERVAL 30 DAY
GROUP BY minute
UNION ALL
SELECT 'prompt' AS promise, toStartOfMinute(from_time) AS minute, toUInt64(sum(answers) - sum(slow)) AS kept, sum(answers) AS total
FROM answer_counts
WHERE from_time >= now64(6) - INTERVAL 30 DAY
GROUP BY minute
UNION ALL
SELECT 'there' AS promise, toStartOfMinute(toDateTime64(slot * 10, 6, 'UTC')) AS minute, toUInt64(sum(is_there)) AS kept, count() AS total
FROM
(
    -- Every ten seconds since the first word of an API, those of the last half minute aside: their word may be under way.
    -- It has a bound of its own: where a view is made the inner query counts as 0.
    SELECT arrayJoin(range(
        toUInt32(greatest(intDiv(toUnixTimestamp(now()), 10) - 30 * 8640, ifNull(
            (
                SELECT intDiv(toUnixTimestamp(min(from_time)), 10)
                FROM answer_counts
                WHERE from_time >= now64(6) - INTERVAL 30 DAY
                HAVING count() > 0
            ),
            intDiv(toUnixTimestamp(now()), 10)))),
        toUInt32(intDiv(toUnixTimestamp(now()), 10) - 3))) AS slot
) AS slots
LEFT JOIN
(
    SELECT DISTINCT
        arrayJoin(range(
            toUInt32(intDiv(toUnixTimestamp(from_time), 10)),
            toUInt32(least(intDiv(toUnixTimestamp64Micro(to_time) + 9999999, 10000000), intDiv(toUnixTimestamp(from_time), 10) + 8640)))) AS slot,
        1 AS is_there
    FROM answer_counts
    WHERE from_time >= now64(6) - INTERVAL 31 DAY
) AS told USING (slot)
GROUP BY minute
UNION ALL
SELECT 'delivered' AS promise, toStartOfMinute(time) AS minute, countIf(done > toDateTime64(0, 6, 'UTC') AND done <= time + INTERVAL 30 SECOND) AS kept, count() AS total
FROM triggers
LEFT JOIN
(
    SELECT trigger_id, min(finished) AS done
    FROM webhook_attempts
    WHERE outcome IN ('delivered', 'digested') AND triggered >= now64(6) - INTERVAL 30 DAY
        AND started >= now64(6) - INTERVAL 30 DAY -- every such attempt: by it the table is partitioned
    GROUP BY trigger_id
) AS deliveries USING (trigger_id)
WHERE time >= now64(6) - INTERVAL 30 DAY AND time < now64(6) - INTERVAL 40 SECOND
GROUP BY minute
UNION ALL
SELECT 'complete' AS promise, toDateTime(minute, 'UTC') AS minute, countIf(state = 'equal') AS kept, count() AS total
FROM
(
    SELECT minute, state
    FROM audits_log FINAL
    WHERE minute >= now64(6) - INTERVAL 30 DAY
    SETTINGS do_not_merge_across_partitions_select_final = 1
)
GROUP BY minute
COMMENT 'What was promised to users and what was kept, by promise and minute of the last 30 days; of everything, nothing is left out';

ALTER TABLE promise_minutes
    COMMENT COLUMN promise 'answered: not with a status from 500 on; prompt: within 1 s, where paid within 5 s; there: ten seconds in which an API was up; delivered: 30 s after the condition was met its webhook was taken, or waits for a digest; complete: a minute of an instrument equal to the venue''s candle',
    COMMENT COLUMN kept 'How many kept the promise',
    COMMENT COLUMN total 'How many there were';
