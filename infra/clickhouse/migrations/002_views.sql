-- Public views: deduplicated, without the reader needing FINAL. Where the partition key follows from the sorting key,
-- rows of one key never lie in two partitions, so partitions are read each for itself.

CREATE OR REPLACE VIEW trades AS
SELECT
    instrument,
    asset,
    splitByChar(':', instrument)[1] AS venue,
    splitByChar(':', instrument)[2] AS market,
    substring(instrument, length(venue) + length(market) + 3) AS symbol,
    first_id,
    first_id + span AS last_id,
    count,
    sequence,
    price,
    size,
    quote,
    size_factor,
    price_factor,
    taker,
    time,
    received,
    origin,
    gap_id,
    partition,
    offset
FROM trades_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Trades of all venues, duplicates removed: of equal trades the first in the log stands. Filter by asset and time.';

CREATE OR REPLACE VIEW gaps AS
SELECT
    instrument,
    gap_id,
    asset,
    splitByChar(':', instrument)[1] AS venue,
    splitByChar(':', instrument)[2] AS market,
    state,
    reason,
    from_id,
    to_id,
    from_time,
    to_time,
    missing,
    feed,
    time,
    partition,
    offset
FROM gaps_log FINAL
ORDER BY instrument, gap_id, time DESC, offset DESC
LIMIT 1 BY instrument, gap_id
COMMENT 'Trades that did not come by the stream: the latest state of each gap';

CREATE OR REPLACE VIEW feed_marks AS
SELECT
    writer,
    run,
    time,
    venues,
    changes,
    partition,
    offset
FROM feed_marks_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Marks of the feed processes: one a second in each partition of market.trades';

CREATE OR REPLACE VIEW venue_states AS
SELECT
    writer,
    run,
    venue,
    state,
    sockets,
    since,
    time
FROM venue_states_log FINAL
WHERE (writer, run) IN (SELECT writer, max(run) FROM venue_states_log GROUP BY writer)
COMMENT 'State of each venue as of each feed process''s newest mark; a mark that is old says that the process is gone';

CREATE OR REPLACE VIEW subscriptions AS
SELECT
    writer,
    instrument,
    asset,
    splitByChar(':', instrument)[1] AS venue,
    state,
    since
FROM subscriptions_log FINAL
WHERE (writer, run) IN (SELECT writer, max(run) FROM venue_states_log GROUP BY writer)
COMMENT 'Latest state of each feed process''s subscriptions; an earlier run of the process no longer counts';

CREATE OR REPLACE VIEW partition_times AS
SELECT
    topic,
    partition,
    max(time) AS time
FROM partition_times_log
GROUP BY topic, partition
COMMENT 'Partition time: the newest mark of each partition';

CREATE OR REPLACE VIEW instrument_versions AS
SELECT
    instrument,
    asset,
    venue,
    market,
    symbol,
    base,
    quote,
    settle,
    size_factor,
    price_factor,
    tick,
    status,
    source,
    valid_from,
    partition,
    offset
FROM instruments_log FINAL
COMMENT 'What each venue listed, each with the time from which it holds';

CREATE OR REPLACE VIEW instruments AS
SELECT *
FROM instrument_versions
ORDER BY instrument, valid_from DESC
LIMIT 1 BY instrument
COMMENT 'What each venue lists: the newest version of each instrument';

CREATE OR REPLACE VIEW flow_10s AS
SELECT
    asset,
    instrument,
    splitByChar(':', instrument)[1] AS venue,
    splitByChar(':', instrument)[2] AS market,
    bucket,
    part,
    buy,
    sell,
    buy_quote,
    sell_quote,
    buy_count,
    sell_count,
    open,
    high,
    low,
    close,
    open_time,
    close_time,
    first_id,
    last_id,
    final,
    v,
    partition,
    offset
FROM flow_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Taker flow per instrument, 10 s bucket and part; sum the parts of a bucket. Filter by asset and bucket.';

CREATE OR REPLACE VIEW signals AS
SELECT
    asset,
    kind,
    period,
    from,
    to,
    value,
    evidence,
    time,
    v,
    partition,
    offset
FROM signals_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Changes of a signal''s class';

CREATE OR REPLACE VIEW ingest_errors AS
SELECT
    topic,
    partition,
    offset,
    time,
    error,
    raw
FROM ingest_errors_log FINAL
COMMENT 'Records that ClickHouse could not read, with why';
