-- Public views over 010, as in 011.

CREATE OR REPLACE VIEW prices AS
SELECT
    asset,
    price,
    low,
    high,
    change_24h,
    sources,
    quality,
    late,
    time,
    v,
    partition,
    offset
FROM prices_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Composite prices, USD. Filter by asset and time.';

CREATE OR REPLACE VIEW latest_prices AS
SELECT
    asset,
    price,
    low,
    high,
    change_24h,
    sources,
    quality,
    late,
    time,
    partition,
    offset
FROM latest_prices_log FINAL
COMMENT 'Newest composite price of each asset, USD';

CREATE OR REPLACE VIEW liquidation_risk AS
SELECT
    asset,
    price,
    open_interest_usd,
    exchanges,
    levels,
    clusters,
    at_risk_5_usd,
    at_risk_5_pct,
    at_risk_10_usd,
    at_risk_10_pct,
    cascade_risk,
    swept_long_usd,
    swept_short_usd,
    since,
    time,
    v,
    partition,
    offset
FROM liquidation_risk_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Estimated liquidation levels, USD. Filter by asset and time.';

CREATE OR REPLACE VIEW latest_risk AS
SELECT
    asset,
    price,
    open_interest_usd,
    exchanges,
    levels,
    clusters,
    at_risk_5_usd,
    at_risk_5_pct,
    at_risk_10_usd,
    at_risk_10_pct,
    cascade_risk,
    swept_long_usd,
    swept_short_usd,
    since,
    time,
    v,
    partition,
    offset
FROM latest_risk_log FINAL
COMMENT 'Newest estimated liquidation levels of each asset, USD';

CREATE OR REPLACE VIEW latest_funding AS
SELECT
    asset,
    exchanges,
    time,
    v,
    partition,
    offset
FROM latest_funding_log FINAL
COMMENT 'Funding of each asset over its venues, newest';

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
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Changes of a signal''s class; exchange is null where it is about all venues';

CREATE OR REPLACE VIEW audits AS
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
    change.state != 'acknowledged' OR change.time > audit.minute - INTERVAL 1 SECOND AS not_subscribed,
    toBool(in_gap OR not_subscribed) AS explained,
    audit.time AS time,
    v,
    partition,
    offset
FROM (SELECT *, minute + INTERVAL 1 MINUTE AS minute_end FROM audits_log FINAL) AS audit
ASOF LEFT JOIN subscription_changes AS change
    ON audit.instrument = change.instrument AND audit.minute_end > change.time
COMMENT 'Our minutes beside the venues'' candles; explained: a recorded gap touches the minute, or we were not subscribed for all of it';

CREATE OR REPLACE VIEW audit_worst AS
SELECT
    venue,
    count() AS compared,
    countIf(state = 'different') AS different,
    countIf(state = 'different' AND NOT explained) AS unexplained,
    argMaxOrNullIf(volume_difference, abs(volume_difference), NOT explained) AS worst_volume_difference,
    argMaxOrNullIf(delta_difference, abs(delta_difference), NOT explained) AS worst_delta_difference,
    argMaxOrNullIf(instrument, weight, weight > 0) AS worst_instrument,
    argMaxOrNullIf(minute, weight, weight > 0) AS worst_minute
FROM
(
    SELECT *, if(explained, 0, greatest(abs(volume_difference), abs(ifNull(delta_difference, 0)))) AS weight
    FROM audits
    WHERE minute >= now() - INTERVAL 24 HOUR
)
GROUP BY venue
ORDER BY venue
COMMENT 'The audit of the last 24 h by venue: minutes compared, different, and different without a recorded reason; the worst of those that nothing explains';
