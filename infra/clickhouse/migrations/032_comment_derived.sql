-- What each column of the views of 012 is, with its unit: shown by DESCRIBE and by the tools that analysts use. Whoever makes one of
-- these views again says it again.

ALTER TABLE prices
    COMMENT COLUMN asset 'Asset id of the catalogue',
    COMMENT COLUMN price 'Median of the sources, USD',
    COMMENT COLUMN low 'Median of the sources'' lows since the previous record, USD',
    COMMENT COLUMN high 'Median of the sources'' highs since the previous record, USD',
    COMMENT COLUMN change_24h 'Median of the sources'' own changes over 24 h, percent',
    COMMENT COLUMN sources 'Venues that count, in the chain''s order: prices in USD, venue time of the ticker',
    COMMENT COLUMN quality 'good; degraded: one source only, or sources more than 1 % apart',
    COMMENT COLUMN late 'It tells of a time that has passed: low and high are from candles of a gap',
    COMMENT COLUMN time 'When the price was so: receive time of the newest input',
    COMMENT COLUMN v 'Version: generation times 2^44 plus the source offset it follows from',
    COMMENT COLUMN partition 'Kafka partition of alerts.inputs',
    COMMENT COLUMN offset 'Kafka offset in that partition';

ALTER TABLE latest_prices
    COMMENT COLUMN asset 'Asset id of the catalogue',
    COMMENT COLUMN price 'Median of the sources, USD',
    COMMENT COLUMN low 'Median of the sources'' lows since the previous record, USD',
    COMMENT COLUMN high 'Median of the sources'' highs since the previous record, USD',
    COMMENT COLUMN change_24h 'Median of the sources'' own changes over 24 h, percent',
    COMMENT COLUMN sources 'Venues that count, in the chain''s order: prices in USD, venue time of the ticker',
    COMMENT COLUMN quality 'good; degraded: one source only, or sources more than 1 % apart',
    COMMENT COLUMN late 'It tells of a time that has passed: low and high are from candles of a gap',
    COMMENT COLUMN time 'When the price was so: receive time of the newest input',
    COMMENT COLUMN partition 'Kafka partition of alerts.inputs',
    COMMENT COLUMN offset 'Kafka offset in that partition';

ALTER TABLE liquidation_risk
    COMMENT COLUMN asset 'Asset id of the catalogue',
    COMMENT COLUMN price 'Median of the marks, USD',
    COMMENT COLUMN open_interest_usd 'Sum over the venues, USD, one side',
    COMMENT COLUMN exchanges 'Each venue''s part: USD of one side, mark price in USD, venue time of the older of the two',
    COMMENT COLUMN levels 'Liquidations expected by bucket of price: its middle and the two sides, USD; nearest first',
    COMMENT COLUMN clusters 'Live levels of one leverage tier and side: mean price and sum, USD; nearest first',
    COMMENT COLUMN at_risk_5_usd 'Sum of levels within 5 % of the price, USD',
    COMMENT COLUMN at_risk_5_pct 'The same, percent of the open interest',
    COMMENT COLUMN at_risk_10_usd 'Sum of levels within 10 % of the price, USD',
    COMMENT COLUMN at_risk_10_pct 'The same, percent of the open interest',
    COMMENT COLUMN cascade_risk 'low, medium, high, unknown',
    COMMENT COLUMN swept_long_usd 'Long levels that the price has crossed since `since`, USD',
    COMMENT COLUMN swept_short_usd 'Short levels that the price has crossed since `since`, USD',
    COMMENT COLUMN since 'Since when the model counts',
    COMMENT COLUMN time 'Partition time',
    COMMENT COLUMN v 'Version: generation times 2^44 plus the source offset it follows from',
    COMMENT COLUMN partition 'Kafka partition of alerts.inputs',
    COMMENT COLUMN offset 'Kafka offset in that partition';

ALTER TABLE latest_risk
    COMMENT COLUMN asset 'Asset id of the catalogue',
    COMMENT COLUMN price 'Median of the marks, USD',
    COMMENT COLUMN open_interest_usd 'Sum over the venues, USD, one side',
    COMMENT COLUMN exchanges 'Each venue''s part: USD of one side, mark price in USD, venue time of the older of the two',
    COMMENT COLUMN levels 'Liquidations expected by bucket of price: its middle and the two sides, USD; nearest first',
    COMMENT COLUMN clusters 'Live levels of one leverage tier and side: mean price and sum, USD; nearest first',
    COMMENT COLUMN at_risk_5_usd 'Sum of levels within 5 % of the price, USD',
    COMMENT COLUMN at_risk_5_pct 'The same, percent of the open interest',
    COMMENT COLUMN at_risk_10_usd 'Sum of levels within 10 % of the price, USD',
    COMMENT COLUMN at_risk_10_pct 'The same, percent of the open interest',
    COMMENT COLUMN cascade_risk 'low, medium, high, unknown',
    COMMENT COLUMN swept_long_usd 'Long levels that the price has crossed since `since`, USD',
    COMMENT COLUMN swept_short_usd 'Short levels that the price has crossed since `since`, USD',
    COMMENT COLUMN since 'Since when the model counts',
    COMMENT COLUMN time 'Partition time',
    COMMENT COLUMN v 'Version: generation times 2^44 plus the source offset it follows from',
    COMMENT COLUMN partition 'Kafka partition of alerts.inputs',
    COMMENT COLUMN offset 'Kafka offset in that partition';

ALTER TABLE latest_funding
    COMMENT COLUMN asset 'Asset id of the catalogue',
    COMMENT COLUMN exchanges 'Venues that list the asset: rates and premiums as fractions, prices in quote units, open interest in base units of one side; minutes that the average rests on and that have passed',
    COMMENT COLUMN time 'Partition time',
    COMMENT COLUMN v 'Version: generation times 2^44 plus the source offset it follows from',
    COMMENT COLUMN partition 'Kafka partition of derived.funding',
    COMMENT COLUMN offset 'Kafka offset in that partition';

ALTER TABLE signals
    COMMENT COLUMN asset 'Asset id of the catalogue',
    COMMENT COLUMN kind 'What it is a signal of: cvd, funding, cascade_risk, sentiment',
    COMMENT COLUMN period 'The window it looks at: 1h, 4h, 24h, 7d; empty: none',
    COMMENT COLUMN exchange 'Venue that it is about; null: all of them',
    COMMENT COLUMN `from` 'The class it had',
    COMMENT COLUMN `to` 'The class it has',
    COMMENT COLUMN value 'What was classified; for cvd: period delta over period volume, a fraction',
    COMMENT COLUMN evidence 'The figures behind the value',
    COMMENT COLUMN time 'End of the window that was looked at',
    COMMENT COLUMN v 'Version: generation times 2^44 plus the source offset it follows from',
    COMMENT COLUMN partition 'Kafka partition of derived.signals',
    COMMENT COLUMN offset 'Kafka offset in that partition';

ALTER TABLE audits
    COMMENT COLUMN instrument 'venue:market:native symbol',
    COMMENT COLUMN asset 'Asset id of the catalogue',
    COMMENT COLUMN venue 'Venue name, the first part of the instrument',
    COMMENT COLUMN market 'perp or spot, the second part of the instrument',
    COMMENT COLUMN symbol 'The venue''s own symbol, the third part of the instrument',
    COMMENT COLUMN minute 'Start of the minute',
    COMMENT COLUMN ours_volume 'Base units, from derived.flow',
    COMMENT COLUMN theirs_volume 'Base units, from the venue''s candle',
    COMMENT COLUMN volume_difference '(ours - theirs) / theirs, fraction; 1 where theirs is 0 and ours is not',
    COMMENT COLUMN ours_delta 'Taker buys minus taker sells, base units',
    COMMENT COLUMN theirs_delta 'The same by the venue, base units; null: it does not publish it',
    COMMENT COLUMN delta_difference '(ours - theirs) / their volume, fraction; null where theirs is',
    COMMENT COLUMN ours_trades 'Trade records',
    COMMENT COLUMN theirs_trades 'Fills by the venue''s count; null: not said',
    COMMENT COLUMN state 'equal: within a billionth of the volume; different; unknown',
    COMMENT COLUMN in_gap '1: a recorded gap touches the minute',
    COMMENT COLUMN not_subscribed '1: we were not subscribed for all of the minute',
    COMMENT COLUMN explained 'in_gap or not_subscribed: a difference is no surprise',
    COMMENT COLUMN time 'Partition time of the comparison',
    COMMENT COLUMN v 'Version: generation times 2^44 plus the source offset it follows from',
    COMMENT COLUMN partition 'Kafka partition of derived.audit',
    COMMENT COLUMN offset 'Kafka offset in that partition';

ALTER TABLE audit_worst
    COMMENT COLUMN venue 'Venue name',
    COMMENT COLUMN compared 'Minutes of the last 24 h that were compared',
    COMMENT COLUMN different 'Those of them that differ',
    COMMENT COLUMN unexplained 'Those that differ without a recorded reason',
    COMMENT COLUMN worst_volume_difference 'Largest unexplained (ours - theirs) / theirs, fraction; null: none',
    COMMENT COLUMN worst_delta_difference 'Largest unexplained difference of the delta over their volume, fraction; null: none',
    COMMENT COLUMN worst_instrument 'Where the largest of both is; null: all are equal',
    COMMENT COLUMN worst_minute 'Start of that minute, UTC; null: all are equal';
