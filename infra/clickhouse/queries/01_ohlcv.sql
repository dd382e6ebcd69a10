-- Question: what did the market look like, candle by candle, at one venue or (venue = all) at all of them together?
-- A row: one interval in which something traded.
-- Units: prices in quote units (taken for USD), volumes in base units, trades in records; time is the interval's start, UTC.
-- Parameters: asset, venue, seconds, start, end
SELECT time, open, high, low, close, volume, buy_volume, sell_volume, trades
FROM ohlcv(asset = {asset:String}, venue = {venue:String}, seconds = {seconds:UInt32},
           start = {start:DateTime64(6, 'UTC')}, end = {end:DateTime64(6, 'UTC')})
