-- again: when the brokers, the registry or the namespace change
--
-- As 039, with the same groups, for the topics that feeds mark: their records have what 050 added. Each reading goes on
-- where it was.

DROP VIEW IF EXISTS market_trades_pump;
DROP TABLE IF EXISTS market_trades_queue;

CREATE TABLE market_trades_queue AS market_trades_in
ENGINE = Kafka
SETTINGS
    kafka_broker_list = {{brokers}},
    kafka_topic_list = {{topic:market.trades}},
    kafka_group_name = {{group:market.trades}},
    kafka_format = 'AvroConfluent',
    format_avro_schema_registry_url = {{registry}},
    input_format_avro_allow_missing_fields = 1,
    kafka_handle_error_mode = 'stream',
    kafka_flush_interval_ms = 100,
    kafka_poll_timeout_ms = 50,
    kafka_consumer_reschedule_ms = 20;

CREATE MATERIALIZED VIEW market_trades_pump TO market_trades_in AS
SELECT
    * EXCEPT (log_partition, log_offset, log_time, log_error, log_raw),
    _partition AS log_partition,
    _offset AS log_offset,
    assumeNotNull(_timestamp_ms) AS log_time,
    if(throwIf(_error LIKE '%while fetching schema id%' AND _error NOT LIKE '% 404 %', 'the schema registry does not answer') = 0, _error, '') AS log_error,
    if(_error = '', '', substring(_raw_message, 1, 4096)) AS log_raw
FROM market_trades_queue;

DROP VIEW IF EXISTS market_tickers_pump;
DROP TABLE IF EXISTS market_tickers_queue;

CREATE TABLE market_tickers_queue AS market_tickers_in
ENGINE = Kafka
SETTINGS
    kafka_broker_list = {{brokers}},
    kafka_topic_list = {{topic:market.tickers}},
    kafka_group_name = {{group:market.tickers.2}},
    kafka_format = 'AvroConfluent',
    format_avro_schema_registry_url = {{registry}},
    input_format_avro_allow_missing_fields = 1,
    kafka_handle_error_mode = 'stream',
    kafka_flush_interval_ms = 1000,
    kafka_poll_timeout_ms = 500,
    kafka_consumer_reschedule_ms = 500;

CREATE MATERIALIZED VIEW market_tickers_pump TO market_tickers_in AS
SELECT
    * EXCEPT (log_partition, log_offset, log_time, log_error, log_raw),
    _partition AS log_partition,
    _offset AS log_offset,
    assumeNotNull(_timestamp_ms) AS log_time,
    if(throwIf(_error LIKE '%while fetching schema id%' AND _error NOT LIKE '% 404 %', 'the schema registry does not answer') = 0, _error, '') AS log_error,
    if(_error = '', '', substring(_raw_message, 1, 4096)) AS log_raw
FROM market_tickers_queue;

DROP VIEW IF EXISTS market_funding_pump;
DROP TABLE IF EXISTS market_funding_queue;

CREATE TABLE market_funding_queue AS market_funding_in
ENGINE = Kafka
SETTINGS
    kafka_broker_list = {{brokers}},
    kafka_topic_list = {{topic:market.funding}},
    kafka_group_name = {{group:market.funding.2}},
    kafka_format = 'AvroConfluent',
    format_avro_schema_registry_url = {{registry}},
    input_format_avro_allow_missing_fields = 1,
    kafka_handle_error_mode = 'stream',
    kafka_flush_interval_ms = 1000,
    kafka_poll_timeout_ms = 500,
    kafka_consumer_reschedule_ms = 500;

CREATE MATERIALIZED VIEW market_funding_pump TO market_funding_in AS
SELECT
    * EXCEPT (log_partition, log_offset, log_time, log_error, log_raw),
    _partition AS log_partition,
    _offset AS log_offset,
    assumeNotNull(_timestamp_ms) AS log_time,
    if(throwIf(_error LIKE '%while fetching schema id%' AND _error NOT LIKE '% 404 %', 'the schema registry does not answer') = 0, _error, '') AS log_error,
    if(_error = '', '', substring(_raw_message, 1, 4096)) AS log_raw
FROM market_funding_queue;

DROP VIEW IF EXISTS market_liquidations_pump;
DROP TABLE IF EXISTS market_liquidations_queue;

CREATE TABLE market_liquidations_queue AS market_liquidations_in
ENGINE = Kafka
SETTINGS
    kafka_broker_list = {{brokers}},
    kafka_topic_list = {{topic:market.liquidations}},
    kafka_group_name = {{group:market.liquidations}},
    kafka_format = 'AvroConfluent',
    format_avro_schema_registry_url = {{registry}},
    input_format_avro_allow_missing_fields = 1,
    kafka_handle_error_mode = 'stream',
    kafka_flush_interval_ms = 1000,
    kafka_poll_timeout_ms = 500,
    kafka_consumer_reschedule_ms = 500;

CREATE MATERIALIZED VIEW market_liquidations_pump TO market_liquidations_in AS
SELECT
    * EXCEPT (log_partition, log_offset, log_time, log_error, log_raw),
    _partition AS log_partition,
    _offset AS log_offset,
    assumeNotNull(_timestamp_ms) AS log_time,
    if(throwIf(_error LIKE '%while fetching schema id%' AND _error NOT LIKE '% 404 %', 'the schema registry does not answer') = 0, _error, '') AS log_error,
    if(_error = '', '', substring(_raw_message, 1, 4096)) AS log_raw
FROM market_liquidations_queue;

DROP VIEW IF EXISTS market_candles_pump;
DROP TABLE IF EXISTS market_candles_queue;

CREATE TABLE market_candles_queue AS market_candles_in
ENGINE = Kafka
SETTINGS
    kafka_broker_list = {{brokers}},
    kafka_topic_list = {{topic:market.candles}},
    kafka_group_name = {{group:market.candles}},
    kafka_format = 'AvroConfluent',
    format_avro_schema_registry_url = {{registry}},
    input_format_avro_allow_missing_fields = 1,
    kafka_handle_error_mode = 'stream',
    kafka_flush_interval_ms = 1000,
    kafka_poll_timeout_ms = 500,
    kafka_consumer_reschedule_ms = 500;

CREATE MATERIALIZED VIEW market_candles_pump TO market_candles_in AS
SELECT
    * EXCEPT (log_partition, log_offset, log_time, log_error, log_raw),
    _partition AS log_partition,
    _offset AS log_offset,
    assumeNotNull(_timestamp_ms) AS log_time,
    if(throwIf(_error LIKE '%while fetching schema id%' AND _error NOT LIKE '% 404 %', 'the schema registry does not answer') = 0, _error, '') AS log_error,
    if(_error = '', '', substring(_raw_message, 1, 4096)) AS log_raw
FROM market_candles_queue;
