-- As 013 and 014, into the tables of 027. The old consumers are taken away first: 029 makes them anew, behind the views,
-- since a consumer that runs already may hand a first block to the views that stood before.

DROP VIEW IF EXISTS market_tickers_pump;
DROP TABLE IF EXISTS market_tickers_queue;
DROP VIEW IF EXISTS market_funding_pump;
DROP TABLE IF EXISTS market_funding_queue;

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_tickers_replay TO tickers_replay AS
SELECT *
FROM market_tickers_in
WHERE log_error = '';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_funding_replay TO funding_replay AS
SELECT *
FROM market_funding_in
WHERE log_error = '';
