-- market.tickers and market.funding record by record, as the log has them: a backtest reads the processors' inputs from
-- here when Kafka holds them no longer. The tables of 009 keep one row for each fact, and not the feeds' marks, by which
-- partition time advances. Trades need none of this: trades_log, gaps_log and feed_marks_log say all of them.

CREATE TABLE IF NOT EXISTS tickers_replay AS market_tickers_in
ENGINE = ReplacingMergeTree
ORDER BY (log_partition, log_offset)
COMMENT 'Every record of market.tickers in the order of its log; npm run backtest -- --source clickhouse';

CREATE TABLE IF NOT EXISTS funding_replay AS market_funding_in
ENGINE = ReplacingMergeTree
ORDER BY (log_partition, log_offset)
COMMENT 'Every record of market.funding in the order of its log; npm run backtest -- --source clickhouse';
