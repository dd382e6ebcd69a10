-- What each column of the views of 011 is, with its unit: shown by DESCRIBE and by the tools that analysts use. Whoever makes one of
-- these views again says it again.

ALTER TABLE tickers
    COMMENT COLUMN instrument 'venue:market:native symbol',
    COMMENT COLUMN asset 'Asset id of the catalogue',
    COMMENT COLUMN venue 'Venue name, the first part of the instrument',
    COMMENT COLUMN market 'perp or spot, the second part of the instrument',
    COMMENT COLUMN symbol 'The venue''s own symbol, the third part of the instrument',
    COMMENT COLUMN bid 'Best bid, quote units; null: the channel has none',
    COMMENT COLUMN ask 'Best ask, quote units; null: the channel has none',
    COMMENT COLUMN last 'Price of the last trade, quote units',
    COMMENT COLUMN price 'Middle of bid and ask, or the last price, quote units',
    COMMENT COLUMN low 'Lowest price since the previous record of the instrument, quote units',
    COMMENT COLUMN high 'Highest price since the previous record of the instrument, quote units',
    COMMENT COLUMN change_24h 'Change of the last price over 24 h, percent',
    COMMENT COLUMN volume_24h 'Volume of 24 h, base units',
    COMMENT COLUMN quote_volume_24h 'Volume of 24 h, quote units',
    COMMENT COLUMN quote 'Ticker of the quote currency',
    COMMENT COLUMN quote_usd 'What a unit of the quote is worth in USD',
    COMMENT COLUMN time 'The venue''s time, or ours where it says none',
    COMMENT COLUMN received 'When our feed had it',
    COMMENT COLUMN partition 'Kafka partition of market.tickers',
    COMMENT COLUMN offset 'Kafka offset in that partition';

ALTER TABLE latest_tickers
    COMMENT COLUMN instrument 'venue:market:native symbol',
    COMMENT COLUMN asset 'Asset id of the catalogue',
    COMMENT COLUMN venue 'Venue name, the first part of the instrument',
    COMMENT COLUMN market 'perp or spot, the second part of the instrument',
    COMMENT COLUMN symbol 'The venue''s own symbol, the third part of the instrument',
    COMMENT COLUMN bid 'Best bid, quote units; null: the channel has none',
    COMMENT COLUMN ask 'Best ask, quote units; null: the channel has none',
    COMMENT COLUMN last 'Price of the last trade, quote units',
    COMMENT COLUMN price 'Middle of bid and ask, or the last price, quote units',
    COMMENT COLUMN change_24h 'Change of the last price over 24 h, percent',
    COMMENT COLUMN volume_24h 'Volume of 24 h, base units',
    COMMENT COLUMN quote_volume_24h 'Volume of 24 h, quote units',
    COMMENT COLUMN quote 'Ticker of the quote currency',
    COMMENT COLUMN quote_usd 'What a unit of the quote is worth in USD',
    COMMENT COLUMN time 'The venue''s time, or ours where it says none',
    COMMENT COLUMN received 'When our feed had it';

ALTER TABLE price_ranges
    COMMENT COLUMN instrument 'venue:market:native symbol',
    COMMENT COLUMN asset 'Asset id of the catalogue',
    COMMENT COLUMN venue 'Venue name, the first part of the instrument',
    COMMENT COLUMN market 'perp or spot, the second part of the instrument',
    COMMENT COLUMN symbol 'The venue''s own symbol, the third part of the instrument',
    COMMENT COLUMN `from` 'Start of the time without tickers',
    COMMENT COLUMN `to` 'Its end, exclusive',
    COMMENT COLUMN low 'Lowest price, quote units',
    COMMENT COLUMN high 'Highest price, quote units',
    COMMENT COLUMN quote 'Ticker of the quote currency',
    COMMENT COLUMN quote_usd 'What a unit of the quote is worth in USD',
    COMMENT COLUMN received 'When our feed had it',
    COMMENT COLUMN partition 'Kafka partition of market.tickers',
    COMMENT COLUMN offset 'Kafka offset in that partition';

ALTER TABLE funding_rates
    COMMENT COLUMN instrument 'venue:market:native symbol',
    COMMENT COLUMN asset 'Asset id of the catalogue',
    COMMENT COLUMN venue 'Venue name, the first part of the instrument',
    COMMENT COLUMN market 'perp or spot, the second part of the instrument',
    COMMENT COLUMN symbol 'The venue''s own symbol, the third part of the instrument',
    COMMENT COLUMN rate 'Running rate for next_settlement, fraction per interval',
    COMMENT COLUMN next_settlement 'When it is settled; null: not said',
    COMMENT COLUMN channel 'The venue''s channel or call that said it',
    COMMENT COLUMN time 'Venue time of the rate',
    COMMENT COLUMN received 'When our feed had it',
    COMMENT COLUMN partition 'Kafka partition of market.funding',
    COMMENT COLUMN offset 'Kafka offset in that partition';

ALTER TABLE mark_prices
    COMMENT COLUMN instrument 'venue:market:native symbol',
    COMMENT COLUMN asset 'Asset id of the catalogue',
    COMMENT COLUMN venue 'Venue name, the first part of the instrument',
    COMMENT COLUMN market 'perp or spot, the second part of the instrument',
    COMMENT COLUMN symbol 'The venue''s own symbol, the third part of the instrument',
    COMMENT COLUMN mark 'Mark price, quote units for one base unit',
    COMMENT COLUMN index_price 'Index price, quote units for one base unit',
    COMMENT COLUMN channel 'The venue''s channel or call that said it',
    COMMENT COLUMN time 'Venue time of mark and index',
    COMMENT COLUMN received 'When our feed had it',
    COMMENT COLUMN partition 'Kafka partition of market.funding',
    COMMENT COLUMN offset 'Kafka offset in that partition';

ALTER TABLE premiums
    COMMENT COLUMN instrument 'venue:market:native symbol',
    COMMENT COLUMN asset 'Asset id of the catalogue',
    COMMENT COLUMN venue 'Venue name, the first part of the instrument',
    COMMENT COLUMN market 'perp or spot, the second part of the instrument',
    COMMENT COLUMN symbol 'The venue''s own symbol, the third part of the instrument',
    COMMENT COLUMN premium 'Premium index at the minute''s close, fraction',
    COMMENT COLUMN time 'Start of the minute',
    COMMENT COLUMN received 'When our feed had it',
    COMMENT COLUMN partition 'Kafka partition of market.funding',
    COMMENT COLUMN offset 'Kafka offset in that partition';

ALTER TABLE open_interest
    COMMENT COLUMN instrument 'venue:market:native symbol',
    COMMENT COLUMN asset 'Asset id of the catalogue',
    COMMENT COLUMN venue 'Venue name, the first part of the instrument',
    COMMENT COLUMN market 'perp or spot, the second part of the instrument',
    COMMENT COLUMN symbol 'The venue''s own symbol, the third part of the instrument',
    COMMENT COLUMN open_interest 'Base units, one side only',
    COMMENT COLUMN channel 'The venue''s channel or call that said it',
    COMMENT COLUMN time 'Venue time of the open interest',
    COMMENT COLUMN received 'When our feed had it',
    COMMENT COLUMN partition 'Kafka partition of market.funding',
    COMMENT COLUMN offset 'Kafka offset in that partition';

ALTER TABLE funding_settlements
    COMMENT COLUMN instrument 'venue:market:native symbol',
    COMMENT COLUMN asset 'Asset id of the catalogue',
    COMMENT COLUMN venue 'Venue name, the first part of the instrument',
    COMMENT COLUMN market 'perp or spot, the second part of the instrument',
    COMMENT COLUMN symbol 'The venue''s own symbol, the third part of the instrument',
    COMMENT COLUMN settled_rate 'Fraction of the position that changed hands; positive: longs paid shorts',
    COMMENT COLUMN mark 'Mark price at the settlement, quote units; null: not said',
    COMMENT COLUMN time 'Settlement time, rounded to its minute',
    COMMENT COLUMN received 'When our feed had it',
    COMMENT COLUMN partition 'Kafka partition of market.funding',
    COMMENT COLUMN offset 'Kafka offset in that partition';

ALTER TABLE long_short_ratios
    COMMENT COLUMN instrument 'venue:market:native symbol',
    COMMENT COLUMN asset 'Asset id of the catalogue',
    COMMENT COLUMN venue 'Venue name, the first part of the instrument',
    COMMENT COLUMN market 'perp or spot, the second part of the instrument',
    COMMENT COLUMN symbol 'The venue''s own symbol, the third part of the instrument',
    COMMENT COLUMN cohort 'Whose: top_traders, all, unknown',
    COMMENT COLUMN basis 'What is counted: positions, accounts, unknown',
    COMMENT COLUMN long_ratio 'Long share, 0 to 1',
    COMMENT COLUMN short_ratio 'Short share, 0 to 1; the two add up to 1',
    COMMENT COLUMN ls_ratio 'Long over short',
    COMMENT COLUMN time 'Start of the venue''s period',
    COMMENT COLUMN received 'When our feed had it',
    COMMENT COLUMN partition 'Kafka partition of market.funding',
    COMMENT COLUMN offset 'Kafka offset in that partition';

ALTER TABLE latest_ratios
    COMMENT COLUMN instrument 'venue:market:native symbol',
    COMMENT COLUMN asset 'Asset id of the catalogue',
    COMMENT COLUMN venue 'Venue name, the first part of the instrument',
    COMMENT COLUMN market 'perp or spot, the second part of the instrument',
    COMMENT COLUMN symbol 'The venue''s own symbol, the third part of the instrument',
    COMMENT COLUMN cohort 'Whose: top_traders, all, unknown',
    COMMENT COLUMN basis 'What is counted: positions, accounts, unknown',
    COMMENT COLUMN long_ratio 'Long share, 0 to 1',
    COMMENT COLUMN short_ratio 'Short share, 0 to 1; the two add up to 1',
    COMMENT COLUMN ls_ratio 'Long over short',
    COMMENT COLUMN time 'Start of the venue''s period',
    COMMENT COLUMN received 'When our feed had it';

ALTER TABLE contract_terms
    COMMENT COLUMN instrument 'venue:market:native symbol',
    COMMENT COLUMN asset 'Asset id of the catalogue',
    COMMENT COLUMN venue 'Venue name, the first part of the instrument',
    COMMENT COLUMN market 'perp or spot, the second part of the instrument',
    COMMENT COLUMN symbol 'The venue''s own symbol, the third part of the instrument',
    COMMENT COLUMN interval_hours 'Hours between two settlements',
    COMMENT COLUMN rate_cap 'Highest rate of an interval, fraction',
    COMMENT COLUMN rate_floor 'Lowest rate of an interval, fraction',
    COMMENT COLUMN interest_daily 'Interest term, fraction per day',
    COMMENT COLUMN max_leverage 'Highest leverage that the venue allows',
    COMMENT COLUMN margin_tiers 'Maintenance margin: largest notional in quote units (null: no limit), rate as a fraction, amount taken off',
    COMMENT COLUMN received 'When our feed had it',
    COMMENT COLUMN partition 'Kafka partition of market.funding',
    COMMENT COLUMN offset 'Kafka offset in that partition';

ALTER TABLE latest_terms
    COMMENT COLUMN instrument 'venue:market:native symbol',
    COMMENT COLUMN asset 'Asset id of the catalogue',
    COMMENT COLUMN venue 'Venue name, the first part of the instrument',
    COMMENT COLUMN market 'perp or spot, the second part of the instrument',
    COMMENT COLUMN symbol 'The venue''s own symbol, the third part of the instrument',
    COMMENT COLUMN interval_hours 'Hours between two settlements',
    COMMENT COLUMN rate_cap 'Highest rate of an interval, fraction',
    COMMENT COLUMN rate_floor 'Lowest rate of an interval, fraction',
    COMMENT COLUMN interest_daily 'Interest term, fraction per day',
    COMMENT COLUMN max_leverage 'Highest leverage that the venue allows',
    COMMENT COLUMN margin_tiers 'Maintenance margin: largest notional in quote units (null: no limit), rate as a fraction, amount taken off',
    COMMENT COLUMN received 'When our feed had it',
    COMMENT COLUMN partition 'Kafka partition of market.funding',
    COMMENT COLUMN offset 'Kafka offset in that partition';

ALTER TABLE liquidations
    COMMENT COLUMN instrument 'venue:market:native symbol',
    COMMENT COLUMN asset 'Asset id of the catalogue',
    COMMENT COLUMN venue 'Venue name, the first part of the instrument',
    COMMENT COLUMN market 'perp or spot, the second part of the instrument',
    COMMENT COLUMN symbol 'The venue''s own symbol, the third part of the instrument',
    COMMENT COLUMN id 'Identity within the instrument',
    COMMENT COLUMN side 'The position that was liquidated: long, short, unknown',
    COMMENT COLUMN size 'Base units',
    COMMENT COLUMN price 'Quote units for one base unit',
    COMMENT COLUMN price_kind 'What the price is: bankruptcy, order, average_fill, unknown',
    COMMENT COLUMN value 'price times size, quote units, taken for USD',
    COMMENT COLUMN completeness 'all: the venue sends every one; sampled: a lower bound',
    COMMENT COLUMN time 'Venue time',
    COMMENT COLUMN received 'When our feed had it',
    COMMENT COLUMN partition 'Kafka partition of market.liquidations',
    COMMENT COLUMN offset 'Kafka offset in that partition';

ALTER TABLE candles
    COMMENT COLUMN instrument 'venue:market:native symbol',
    COMMENT COLUMN asset 'Asset id of the catalogue',
    COMMENT COLUMN venue 'Venue name, the first part of the instrument',
    COMMENT COLUMN market 'perp or spot, the second part of the instrument',
    COMMENT COLUMN symbol 'The venue''s own symbol, the third part of the instrument',
    COMMENT COLUMN minute 'Start of the minute',
    COMMENT COLUMN open 'Quote units',
    COMMENT COLUMN high 'Quote units',
    COMMENT COLUMN low 'Quote units',
    COMMENT COLUMN close 'Quote units',
    COMMENT COLUMN volume 'Base units',
    COMMENT COLUMN taker_buy 'What takers bought of it, base units; null: the venue does not say',
    COMMENT COLUMN trades 'Fills; null: the venue does not say',
    COMMENT COLUMN received 'When our feed had it',
    COMMENT COLUMN partition 'Kafka partition of market.candles',
    COMMENT COLUMN offset 'Kafka offset in that partition';

ALTER TABLE tokens
    COMMENT COLUMN id 'Registry id: bitcoin, avalanche-2',
    COMMENT COLUMN asset 'Asset id of the catalogue; null: none of ours',
    COMMENT COLUMN symbol 'Lower-case ticker',
    COMMENT COLUMN name 'Display name',
    COMMENT COLUMN price 'USD',
    COMMENT COLUMN change_24h 'Percent',
    COMMENT COLUMN change_7d 'Percent',
    COMMENT COLUMN change_30d 'Percent',
    COMMENT COLUMN volume_24h 'USD',
    COMMENT COLUMN market_cap 'USD',
    COMMENT COLUMN market_cap_rank '1 is the largest',
    COMMENT COLUMN circulating_supply 'Tokens',
    COMMENT COLUMN total_supply 'Tokens; null: not limited or not known',
    COMMENT COLUMN ath 'Highest price ever, USD',
    COMMENT COLUMN ath_date 'When that was',
    COMMENT COLUMN atl 'Lowest price ever, USD',
    COMMENT COLUMN atl_date 'When that was',
    COMMENT COLUMN last_updated 'The registry''s own time',
    COMMENT COLUMN received 'When our feed had it';

ALTER TABLE subscription_changes
    COMMENT COLUMN instrument 'venue:market:native symbol',
    COMMENT COLUMN asset 'Asset id of the catalogue',
    COMMENT COLUMN venue 'Venue name, the first part of the instrument',
    COMMENT COLUMN state 'acknowledged, ended, refused, unlisted, unknown',
    COMMENT COLUMN writer 'The feed process',
    COMMENT COLUMN run 'When that feed process started',
    COMMENT COLUMN time 'When it came to be so';

ALTER TABLE channel_states
    COMMENT COLUMN topic 'Topic without its namespace',
    COMMENT COLUMN writer 'The feed process',
    COMMENT COLUMN run 'When that feed process started',
    COMMENT COLUMN venue 'Venue name',
    COMMENT COLUMN state 'off, connecting, live, down, unavailable (the venue refuses us), unknown',
    COMMENT COLUMN sockets 'Open WebSocket connections',
    COMMENT COLUMN since 'When the state began',
    COMMENT COLUMN time 'Of the mark that says so';
