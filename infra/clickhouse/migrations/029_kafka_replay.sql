-- again: when the brokers, the registry or the namespace change
--
-- As 018, for the two topics of 027, each with a new group: it reads the topic from its start, so that the tables for
-- replays have all that Kafka still holds. What the other tables have already is replaced by itself.

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
    kafka_flush_interval_ms = 500,
    kafka_poll_timeout_ms = 250,
    kafka_consumer_reschedule_ms = 250;

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
    kafka_flush_interval_ms = 500,
    kafka_poll_timeout_ms = 250,
    kafka_consumer_reschedule_ms = 250;

CREATE MATERIALIZED VIEW market_funding_pump TO market_funding_in AS
SELECT
    * EXCEPT (log_partition, log_offset, log_time, log_error, log_raw),
    _partition AS log_partition,
    _offset AS log_offset,
    assumeNotNull(_timestamp_ms) AS log_time,
    if(throwIf(_error LIKE '%while fetching schema id%' AND _error NOT LIKE '% 404 %', 'the schema registry does not answer') = 0, _error, '') AS log_error,
    if(_error = '', '', substring(_raw_message, 1, 4096)) AS log_raw
FROM market_funding_queue;
