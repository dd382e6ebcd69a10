-- What each column of the views of 002 is, with its unit: shown by DESCRIBE and by the tools that analysts use. Whoever makes one of
-- these views again says it again.

ALTER TABLE trades
    COMMENT COLUMN instrument 'venue:market:native symbol',
    COMMENT COLUMN asset 'Asset id of the catalogue',
    COMMENT COLUMN venue 'Venue name, the first part of the instrument',
    COMMENT COLUMN market 'perp or spot, the second part of the instrument',
    COMMENT COLUMN symbol 'The venue''s own symbol, the third part of the instrument',
    COMMENT COLUMN first_id 'First venue id that the record covers',
    COMMENT COLUMN last_id 'Last venue id that the record covers',
    COMMENT COLUMN count 'Fills that the venue merged into the record',
    COMMENT COLUMN sequence 'The venue''s ordering number beside the id; null: not said',
    COMMENT COLUMN price 'Quote units for one base unit',
    COMMENT COLUMN size 'Base units',
    COMMENT COLUMN quote 'price times size, quote units',
    COMMENT COLUMN size_factor 'Base units in one unit of the venue''s size field',
    COMMENT COLUMN price_factor 'Base units that the venue''s price field is for',
    COMMENT COLUMN taker 'The aggressor''s side: buy, sell, unknown',
    COMMENT COLUMN time 'The venue''s trade time',
    COMMENT COLUMN received 'When our feed had the message',
    COMMENT COLUMN origin 'How it came: stream, backfill, import, unknown',
    COMMENT COLUMN gap_id 'The gap that a backfilled trade belongs to; null otherwise',
    COMMENT COLUMN partition 'Kafka partition of market.trades',
    COMMENT COLUMN offset 'Kafka offset in that partition';

ALTER TABLE gaps
    COMMENT COLUMN instrument 'venue:market:native symbol',
    COMMENT COLUMN gap_id 'Identity within the instrument: first missing id, or from_time where ids are not contiguous',
    COMMENT COLUMN asset 'Asset id of the catalogue',
    COMMENT COLUMN venue 'Venue name, the first part of the instrument',
    COMMENT COLUMN market 'perp or spot, the second part of the instrument',
    COMMENT COLUMN state 'opened, filled, unfillable, unknown',
    COMMENT COLUMN reason 'Why it opened or could not be filled, as a code',
    COMMENT COLUMN from_id 'First missing id; null where ids are not contiguous',
    COMMENT COLUMN to_id 'Last missing id; null where ids are not contiguous',
    COMMENT COLUMN from_time 'Venue time of the last trade before the gap',
    COMMENT COLUMN to_time 'Venue time of the first trade after the gap',
    COMMENT COLUMN missing 'Records still missing, where ids tell; null: not known',
    COMMENT COLUMN feed 'The feed process that says so',
    COMMENT COLUMN time 'When it says so, feed''s clock',
    COMMENT COLUMN partition 'Kafka partition of market.trades',
    COMMENT COLUMN offset 'Kafka offset in that partition';

ALTER TABLE feed_marks
    COMMENT COLUMN writer 'The feed process that wrote the mark',
    COMMENT COLUMN run 'When that feed process started',
    COMMENT COLUMN time 'Partition time: the writer''s clock, on a tape the tape''s',
    COMMENT COLUMN venues 'All venues of the feed process: state, open WebSocket connections, since when',
    COMMENT COLUMN changes 'Subscriptions that were acknowledged, ended or refused since the writer''s previous mark',
    COMMENT COLUMN partition 'Kafka partition of market.trades',
    COMMENT COLUMN offset 'Kafka offset in that partition';

ALTER TABLE venue_states
    COMMENT COLUMN writer 'The feed process',
    COMMENT COLUMN run 'When that feed process started',
    COMMENT COLUMN venue 'Venue name',
    COMMENT COLUMN state 'off, connecting, live, down, unavailable (the venue refuses us), unknown',
    COMMENT COLUMN sockets 'Open WebSocket connections',
    COMMENT COLUMN since 'When the state began',
    COMMENT COLUMN time 'Of the mark that says so';

ALTER TABLE subscriptions
    COMMENT COLUMN writer 'The feed process',
    COMMENT COLUMN instrument 'venue:market:native symbol; for unlisted, venue:market: and the asset id',
    COMMENT COLUMN asset 'Asset id of the catalogue',
    COMMENT COLUMN venue 'Venue name, the first part of the instrument',
    COMMENT COLUMN state 'acknowledged, ended, refused, unlisted, unknown',
    COMMENT COLUMN since 'When it came to be so';

ALTER TABLE partition_times
    COMMENT COLUMN topic 'Topic without its namespace',
    COMMENT COLUMN partition 'Kafka partition',
    COMMENT COLUMN time 'Time of the newest mark';

ALTER TABLE instrument_versions
    COMMENT COLUMN instrument 'venue:market:native symbol',
    COMMENT COLUMN asset 'Asset id of the catalogue',
    COMMENT COLUMN venue 'Venue name',
    COMMENT COLUMN market 'perp or spot',
    COMMENT COLUMN symbol 'The venue''s own symbol',
    COMMENT COLUMN base 'Base currency as the venue names it, without a multiplier',
    COMMENT COLUMN quote 'Quote currency',
    COMMENT COLUMN settle 'Settlement currency; the quote currency for spot',
    COMMENT COLUMN size_factor 'Base units in one unit of the venue''s size field',
    COMMENT COLUMN price_factor 'Base units that the venue''s price field is for',
    COMMENT COLUMN tick 'Smallest price step in the venue''s own price units; null: not said',
    COMMENT COLUMN status 'live, closed, unknown',
    COMMENT COLUMN source 'venue: its instrument list; seed: our checked-in table',
    COMMENT COLUMN valid_from 'When we learned it',
    COMMENT COLUMN partition 'Kafka partition of market.instruments',
    COMMENT COLUMN offset 'Kafka offset in that partition';

ALTER TABLE instruments
    COMMENT COLUMN instrument 'venue:market:native symbol',
    COMMENT COLUMN asset 'Asset id of the catalogue',
    COMMENT COLUMN venue 'Venue name',
    COMMENT COLUMN market 'perp or spot',
    COMMENT COLUMN symbol 'The venue''s own symbol',
    COMMENT COLUMN base 'Base currency as the venue names it, without a multiplier',
    COMMENT COLUMN quote 'Quote currency',
    COMMENT COLUMN settle 'Settlement currency; the quote currency for spot',
    COMMENT COLUMN size_factor 'Base units in one unit of the venue''s size field',
    COMMENT COLUMN price_factor 'Base units that the venue''s price field is for',
    COMMENT COLUMN tick 'Smallest price step in the venue''s own price units; null: not said',
    COMMENT COLUMN status 'live, closed, unknown',
    COMMENT COLUMN source 'venue: its instrument list; seed: our checked-in table',
    COMMENT COLUMN valid_from 'When we learned it',
    COMMENT COLUMN partition 'Kafka partition of market.instruments',
    COMMENT COLUMN offset 'Kafka offset in that partition';

ALTER TABLE flow_10s
    COMMENT COLUMN asset 'Asset id of the catalogue',
    COMMENT COLUMN instrument 'venue:market:native symbol',
    COMMENT COLUMN venue 'Venue name, the first part of the instrument',
    COMMENT COLUMN market 'perp or spot, the second part of the instrument',
    COMMENT COLUMN bucket 'Start of the 10 s bucket by venue time, half open',
    COMMENT COLUMN part '0: the stream; over 0: the backfill of the gap with this id; below 0: one late trade',
    COMMENT COLUMN buy 'Taker buys, base units',
    COMMENT COLUMN sell 'Taker sells, base units',
    COMMENT COLUMN buy_quote 'Taker buys, quote units',
    COMMENT COLUMN sell_quote 'Taker sells, quote units',
    COMMENT COLUMN buy_count 'Trade records with a buying taker',
    COMMENT COLUMN sell_count 'Trade records with a selling taker',
    COMMENT COLUMN open 'Price of the first trade by venue time',
    COMMENT COLUMN high 'Highest price',
    COMMENT COLUMN low 'Lowest price',
    COMMENT COLUMN close 'Price of the last trade by venue time',
    COMMENT COLUMN open_time 'Venue time of the open',
    COMMENT COLUMN close_time 'Venue time of the close',
    COMMENT COLUMN first_id 'Lowest venue id in the part',
    COMMENT COLUMN last_id 'Highest venue id in the part',
    COMMENT COLUMN final 'The bucket''s window has closed',
    COMMENT COLUMN v 'Version: generation times 2^44 plus the source offset it follows from',
    COMMENT COLUMN partition 'Kafka partition of derived.flow',
    COMMENT COLUMN offset 'Kafka offset in that partition';

ALTER TABLE ingest_errors
    COMMENT COLUMN topic 'Topic without its namespace',
    COMMENT COLUMN partition 'Kafka partition',
    COMMENT COLUMN offset 'Kafka offset in that partition',
    COMMENT COLUMN time 'Kafka record time',
    COMMENT COLUMN error 'Why the record could not be read',
    COMMENT COLUMN raw 'The record''s first 4096 bytes';

ALTER TABLE ohlcv
    MODIFY COMMENT 'Candles of one asset at one venue, or of all merged (venue = all): absent where nothing traded. Parameters: asset, venue, seconds (length of the interval), start and end (UTC, end exclusive). Columns: time (start of the interval, UTC), open, high, low, close (quote units), volume, buy_volume, sell_volume (base units, by the taker), trades (records)';

ALTER TABLE cvd
    MODIFY COMMENT 'Taker flow of one asset per venue and interval. Parameters: asset, seconds (length of the interval), start and end (UTC, end exclusive). Columns: time (start of the interval, UTC), venue, market (perp, spot), delta (buys minus sells, base units), cvd (sum of delta since the first trade in the log, base units), buy_volume, sell_volume (base units), delta_usd, buy_usd, sell_usd (quote units, taken for USD), trades (records)';
