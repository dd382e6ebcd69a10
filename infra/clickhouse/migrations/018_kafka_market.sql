-- again: when the brokers, the registry or the namespace change
--
-- As 008, for the topics of 013 to 017; none of them is waited for as trades are: about 0.5 s pass from the log to a
-- table. derived.signals has a new group (017).

DROP VIEW IF EXISTS market_tickers_pump;
DROP TABLE IF EXISTS market_tickers_queue;

CREATE TABLE market_tickers_queue AS market_tickers_in
ENGINE = Kafka
SETTINGS
    kafka_broker_list = {{brokers}},
    kafka_topic_list = {{topic:market.tickers}},
    kafka_group_name = {{group:market.tickers}},
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
    kafka_group_name = {{group:market.funding}},
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
    kafka_flush_interval_ms = 500,
    kafka_poll_timeout_ms = 250,
    kafka_consumer_reschedule_ms = 250;

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
    kafka_flush_interval_ms = 500,
    kafka_poll_timeout_ms = 250,
    kafka_consumer_reschedule_ms = 250;

CREATE MATERIALIZED VIEW market_candles_pump TO market_candles_in AS
SELECT
    * EXCEPT (log_partition, log_offset, log_time, log_error, log_raw),
    _partition AS log_partition,
    _offset AS log_offset,
    assumeNotNull(_timestamp_ms) AS log_time,
    if(throwIf(_error LIKE '%while fetching schema id%' AND _error NOT LIKE '% 404 %', 'the schema registry does not answer') = 0, _error, '') AS log_error,
    if(_error = '', '', substring(_raw_message, 1, 4096)) AS log_raw
FROM market_candles_queue;

DROP VIEW IF EXISTS market_tokens_pump;
DROP TABLE IF EXISTS market_tokens_queue;

CREATE TABLE market_tokens_queue AS market_tokens_in
ENGINE = Kafka
SETTINGS
    kafka_broker_list = {{brokers}},
    kafka_topic_list = {{topic:market.tokens}},
    kafka_group_name = {{group:market.tokens}},
    kafka_format = 'AvroConfluent',
    format_avro_schema_registry_url = {{registry}},
    input_format_avro_allow_missing_fields = 1,
    kafka_handle_error_mode = 'stream',
    kafka_flush_interval_ms = 500,
    kafka_poll_timeout_ms = 250,
    kafka_consumer_reschedule_ms = 250;

CREATE MATERIALIZED VIEW market_tokens_pump TO market_tokens_in AS
SELECT
    * EXCEPT (log_partition, log_offset, log_time, log_error, log_raw),
    _partition AS log_partition,
    _offset AS log_offset,
    assumeNotNull(_timestamp_ms) AS log_time,
    if(throwIf(_error LIKE '%while fetching schema id%' AND _error NOT LIKE '% 404 %', 'the schema registry does not answer') = 0, _error, '') AS log_error,
    if(_error = '', '', substring(_raw_message, 1, 4096)) AS log_raw
FROM market_tokens_queue;

DROP VIEW IF EXISTS derived_funding_pump;
DROP TABLE IF EXISTS derived_funding_queue;

CREATE TABLE derived_funding_queue AS derived_funding_in
ENGINE = Kafka
SETTINGS
    kafka_broker_list = {{brokers}},
    kafka_topic_list = {{topic:derived.funding}},
    kafka_group_name = {{group:derived.funding}},
    kafka_format = 'AvroConfluent',
    format_avro_schema_registry_url = {{registry}},
    input_format_avro_allow_missing_fields = 1,
    kafka_handle_error_mode = 'stream',
    kafka_flush_interval_ms = 500,
    kafka_poll_timeout_ms = 250,
    kafka_consumer_reschedule_ms = 250;

CREATE MATERIALIZED VIEW derived_funding_pump TO derived_funding_in AS
SELECT
    * EXCEPT (log_partition, log_offset, log_time, log_error, log_raw),
    _partition AS log_partition,
    _offset AS log_offset,
    assumeNotNull(_timestamp_ms) AS log_time,
    if(throwIf(_error LIKE '%while fetching schema id%' AND _error NOT LIKE '% 404 %', 'the schema registry does not answer') = 0, _error, '') AS log_error,
    if(_error = '', '', substring(_raw_message, 1, 4096)) AS log_raw
FROM derived_funding_queue;

DROP VIEW IF EXISTS derived_audit_pump;
DROP TABLE IF EXISTS derived_audit_queue;

CREATE TABLE derived_audit_queue AS derived_audit_in
ENGINE = Kafka
SETTINGS
    kafka_broker_list = {{brokers}},
    kafka_topic_list = {{topic:derived.audit}},
    kafka_group_name = {{group:derived.audit}},
    kafka_format = 'AvroConfluent',
    format_avro_schema_registry_url = {{registry}},
    input_format_avro_allow_missing_fields = 1,
    kafka_handle_error_mode = 'stream',
    kafka_flush_interval_ms = 500,
    kafka_poll_timeout_ms = 250,
    kafka_consumer_reschedule_ms = 250;

CREATE MATERIALIZED VIEW derived_audit_pump TO derived_audit_in AS
SELECT
    * EXCEPT (log_partition, log_offset, log_time, log_error, log_raw),
    _partition AS log_partition,
    _offset AS log_offset,
    assumeNotNull(_timestamp_ms) AS log_time,
    if(throwIf(_error LIKE '%while fetching schema id%' AND _error NOT LIKE '% 404 %', 'the schema registry does not answer') = 0, _error, '') AS log_error,
    if(_error = '', '', substring(_raw_message, 1, 4096)) AS log_raw
FROM derived_audit_queue;

DROP VIEW IF EXISTS alerts_inputs_pump;
DROP TABLE IF EXISTS alerts_inputs_queue;

CREATE TABLE alerts_inputs_queue AS alerts_inputs_in
ENGINE = Kafka
SETTINGS
    kafka_broker_list = {{brokers}},
    kafka_topic_list = {{topic:alerts.inputs}},
    kafka_group_name = {{group:alerts.inputs}},
    kafka_format = 'AvroConfluent',
    format_avro_schema_registry_url = {{registry}},
    input_format_avro_allow_missing_fields = 1,
    kafka_handle_error_mode = 'stream',
    kafka_flush_interval_ms = 500,
    kafka_poll_timeout_ms = 250,
    kafka_consumer_reschedule_ms = 250;

CREATE MATERIALIZED VIEW alerts_inputs_pump TO alerts_inputs_in AS
SELECT
    * EXCEPT (log_partition, log_offset, log_time, log_error, log_raw),
    _partition AS log_partition,
    _offset AS log_offset,
    assumeNotNull(_timestamp_ms) AS log_time,
    if(throwIf(_error LIKE '%while fetching schema id%' AND _error NOT LIKE '% 404 %', 'the schema registry does not answer') = 0, _error, '') AS log_error,
    if(_error = '', '', substring(_raw_message, 1, 4096)) AS log_raw
FROM alerts_inputs_queue;

DROP VIEW IF EXISTS derived_signals_pump;
DROP TABLE IF EXISTS derived_signals_queue;

CREATE TABLE derived_signals_queue AS derived_signals_in
ENGINE = Kafka
SETTINGS
    kafka_broker_list = {{brokers}},
    kafka_topic_list = {{topic:derived.signals}},
    kafka_group_name = {{group:derived.signals.2}},
    kafka_format = 'AvroConfluent',
    format_avro_schema_registry_url = {{registry}},
    input_format_avro_allow_missing_fields = 1,
    kafka_handle_error_mode = 'stream',
    kafka_flush_interval_ms = 500,
    kafka_poll_timeout_ms = 250,
    kafka_consumer_reschedule_ms = 250;

CREATE MATERIALIZED VIEW derived_signals_pump TO derived_signals_in AS
SELECT
    * EXCEPT (log_partition, log_offset, log_time, log_error, log_raw),
    _partition AS log_partition,
    _offset AS log_offset,
    assumeNotNull(_timestamp_ms) AS log_time,
    if(throwIf(_error LIKE '%while fetching schema id%' AND _error NOT LIKE '% 404 %', 'the schema registry does not answer') = 0, _error, '') AS log_error,
    if(_error = '', '', substring(_raw_message, 1, 4096)) AS log_raw
FROM derived_signals_queue;
