-- As 013 and 014, into the tables of 027.

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_tickers_replay TO tickers_replay AS
SELECT *
FROM market_tickers_in
WHERE log_error = '';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest_funding_replay TO funding_replay AS
SELECT *
FROM market_funding_in
WHERE log_error = '';
