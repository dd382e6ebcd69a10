-- Public views over 009 and 010, as in 002: deduplicated, venue, market and symbol read off the instrument. Those named
-- latest_ read small tables of their own, one row a key: their cost does not grow with the history.

CREATE OR REPLACE VIEW tickers AS
SELECT
    instrument,
    asset,
    splitByChar(':', instrument)[1] AS venue,
    splitByChar(':', instrument)[2] AS market,
    substring(instrument, length(venue) + length(market) + 3) AS symbol,
    bid,
    ask,
    last,
    price,
    low,
    high,
    change_24h,
    volume_24h,
    quote_volume_24h,
    quote,
    quote_usd,
    time,
    received,
    partition,
    offset
FROM tickers_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Spot tickers of the chain venues, at most one a second a market. Filter by asset and time.';

CREATE OR REPLACE VIEW latest_tickers AS
SELECT
    instrument,
    asset,
    splitByChar(':', instrument)[1] AS venue,
    splitByChar(':', instrument)[2] AS market,
    substring(instrument, length(venue) + length(market) + 3) AS symbol,
    bid,
    ask,
    last,
    price,
    change_24h,
    volume_24h,
    quote_volume_24h,
    quote,
    quote_usd,
    time,
    received
FROM latest_tickers_log FINAL
COMMENT 'Newest ticker of each spot market';

CREATE OR REPLACE VIEW price_ranges AS
SELECT
    instrument,
    asset,
    splitByChar(':', instrument)[1] AS venue,
    splitByChar(':', instrument)[2] AS market,
    substring(instrument, length(venue) + length(market) + 3) AS symbol,
    from,
    to,
    low,
    high,
    quote,
    quote_usd,
    received,
    partition,
    offset
FROM price_ranges_log FINAL
COMMENT 'Lowest and highest price of a market in times without tickers, from the venue''s candles';

CREATE OR REPLACE VIEW funding_rates AS
SELECT
    instrument,
    asset,
    splitByChar(':', instrument)[1] AS venue,
    splitByChar(':', instrument)[2] AS market,
    substring(instrument, length(venue) + length(market) + 3) AS symbol,
    rate,
    next_settlement,
    channel,
    time,
    received,
    partition,
    offset
FROM funding_rates_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Running funding rates, a fraction per interval. Filter by asset and time.';

CREATE OR REPLACE VIEW mark_prices AS
SELECT
    instrument,
    asset,
    splitByChar(':', instrument)[1] AS venue,
    splitByChar(':', instrument)[2] AS market,
    substring(instrument, length(venue) + length(market) + 3) AS symbol,
    mark,
    index_price,
    channel,
    time,
    received,
    partition,
    offset
FROM mark_prices_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Mark and index prices of perpetuals. Filter by asset and time.';

CREATE OR REPLACE VIEW premiums AS
SELECT
    instrument,
    asset,
    splitByChar(':', instrument)[1] AS venue,
    splitByChar(':', instrument)[2] AS market,
    substring(instrument, length(venue) + length(market) + 3) AS symbol,
    premium,
    time,
    received,
    partition,
    offset
FROM premiums_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Premium index at the close of each minute, a fraction. Filter by asset and time.';

CREATE OR REPLACE VIEW open_interest AS
SELECT
    instrument,
    asset,
    splitByChar(':', instrument)[1] AS venue,
    splitByChar(':', instrument)[2] AS market,
    substring(instrument, length(venue) + length(market) + 3) AS symbol,
    open_interest,
    channel,
    time,
    received,
    partition,
    offset
FROM open_interest_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Open interest of perpetuals, base units of one side. Filter by asset and time.';

CREATE OR REPLACE VIEW funding_settlements AS
SELECT
    instrument,
    asset,
    splitByChar(':', instrument)[1] AS venue,
    splitByChar(':', instrument)[2] AS market,
    substring(instrument, length(venue) + length(market) + 3) AS symbol,
    settled_rate,
    mark,
    time,
    received,
    partition,
    offset
FROM funding_settlements_log FINAL
COMMENT 'Settled funding rates: a fraction of the position; positive: longs paid shorts';

CREATE OR REPLACE VIEW long_short_ratios AS
SELECT
    instrument,
    asset,
    splitByChar(':', instrument)[1] AS venue,
    splitByChar(':', instrument)[2] AS market,
    substring(instrument, length(venue) + length(market) + 3) AS symbol,
    cohort,
    basis,
    long_ratio,
    short_ratio,
    ls_ratio,
    time,
    received,
    partition,
    offset
FROM long_short_ratios_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'How a cohort of a venue''s traders was positioned';

CREATE OR REPLACE VIEW latest_ratios AS
SELECT
    instrument,
    asset,
    splitByChar(':', instrument)[1] AS venue,
    splitByChar(':', instrument)[2] AS market,
    substring(instrument, length(venue) + length(market) + 3) AS symbol,
    cohort,
    basis,
    long_ratio,
    short_ratio,
    ls_ratio,
    time,
    received
FROM latest_ratios_log FINAL
COMMENT 'Newest ratio of each instrument, cohort and basis';

CREATE OR REPLACE VIEW contract_terms AS
SELECT
    instrument,
    asset,
    splitByChar(':', instrument)[1] AS venue,
    splitByChar(':', instrument)[2] AS market,
    substring(instrument, length(venue) + length(market) + 3) AS symbol,
    interval_hours,
    rate_cap,
    rate_floor,
    interest_daily,
    max_leverage,
    margin_tiers,
    received,
    partition,
    offset
FROM contract_terms_log FINAL
COMMENT 'Terms of perpetuals, each with when they were read';

CREATE OR REPLACE VIEW latest_terms AS
SELECT *
FROM contract_terms
ORDER BY instrument, received DESC
LIMIT 1 BY instrument
COMMENT 'Newest terms of each perpetual';

CREATE OR REPLACE VIEW liquidations AS
SELECT
    instrument,
    asset,
    splitByChar(':', instrument)[1] AS venue,
    splitByChar(':', instrument)[2] AS market,
    substring(instrument, length(venue) + length(market) + 3) AS symbol,
    id,
    side,
    size,
    price,
    price_kind,
    value,
    completeness,
    time,
    received,
    partition,
    offset
FROM liquidations_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Positions that venues closed by force: sizes in base units, value in USD. Filter by time.';

CREATE OR REPLACE VIEW candles AS
SELECT
    instrument,
    asset,
    splitByChar(':', instrument)[1] AS venue,
    splitByChar(':', instrument)[2] AS market,
    substring(instrument, length(venue) + length(market) + 3) AS symbol,
    minute,
    open,
    high,
    low,
    close,
    volume,
    taker_buy,
    trades,
    received,
    partition,
    offset
FROM candles_log FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'The venues'' own one-minute candles, volumes in base units; ours are in ohlcv';

CREATE OR REPLACE VIEW tokens AS
SELECT
    id,
    asset,
    symbol,
    name,
    price,
    change_24h,
    change_7d,
    change_30d,
    volume_24h,
    market_cap,
    market_cap_rank,
    circulating_supply,
    total_supply,
    ath,
    ath_date,
    atl,
    atl_date,
    last_updated,
    received
FROM tokens_log FINAL
COMMENT 'What the token registry says of each token, USD';

CREATE OR REPLACE VIEW subscription_changes AS
SELECT
    instrument,
    asset,
    splitByChar(':', instrument)[1] AS venue,
    state,
    writer,
    run,
    time
FROM subscription_changes_log FINAL
COMMENT 'Every change of a subscription to trades: acknowledged, ended, refused, unlisted';

CREATE OR REPLACE VIEW channel_states AS
SELECT
    topic,
    writer,
    run,
    venue,
    state,
    sockets,
    since,
    time
FROM channel_states_log FINAL
WHERE (topic, writer, run) IN (SELECT topic, writer, max(run) FROM channel_states_log GROUP BY topic, writer)
UNION ALL
SELECT
    'market.trades' AS topic,
    writer,
    run,
    venue,
    state,
    sockets,
    since,
    time
FROM venue_states
COMMENT 'State of each venue''s channels and polls for a topic, as of each feed process''s newest mark';
