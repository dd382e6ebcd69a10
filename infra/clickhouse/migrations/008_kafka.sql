-- again: when the brokers, the registry or the namespace change
--
-- One Kafka table per topic, with the columns of all its record types; a field that a record does not have is left at
-- its default. What cannot be read comes with log_error and goes to ingest_errors_log, and ingestion goes on. At most
-- about 0.15 s pass from the log to a table: a flush every 100 ms, a look for new records every 50 ms.
--
-- A schema id that the registry does not know (404) is such an error. A registry that does not answer is none: then the
-- view throws, nothing of the block is kept, the group's offsets stay, and the block is read again until it answers.

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
    kafka_consumer_reschedule_ms = 50;

CREATE MATERIALIZED VIEW market_trades_pump TO market_trades_in AS
SELECT
    * EXCEPT (log_partition, log_offset, log_time, log_error, log_raw),
    _partition AS log_partition,
    _offset AS log_offset,
    assumeNotNull(_timestamp_ms) AS log_time,
    if(throwIf(_error LIKE '%while fetching schema id%' AND _error NOT LIKE '% 404 %', 'the schema registry does not answer') = 0, _error, '') AS log_error,
    if(_error = '', '', substring(_raw_message, 1, 4096)) AS log_raw
FROM market_trades_queue;

DROP VIEW IF EXISTS market_instruments_pump;
DROP TABLE IF EXISTS market_instruments_queue;

CREATE TABLE market_instruments_queue AS market_instruments_in
ENGINE = Kafka
SETTINGS
    kafka_broker_list = {{brokers}},
    kafka_topic_list = {{topic:market.instruments}},
    kafka_group_name = {{group:market.instruments}},
    kafka_format = 'AvroConfluent',
    format_avro_schema_registry_url = {{registry}},
    input_format_avro_allow_missing_fields = 1,
    kafka_handle_error_mode = 'stream',
    kafka_flush_interval_ms = 100,
    kafka_poll_timeout_ms = 50,
    kafka_consumer_reschedule_ms = 50;

CREATE MATERIALIZED VIEW market_instruments_pump TO market_instruments_in AS
SELECT
    * EXCEPT (log_partition, log_offset, log_time, log_error, log_raw),
    _partition AS log_partition,
    _offset AS log_offset,
    assumeNotNull(_timestamp_ms) AS log_time,
    if(throwIf(_error LIKE '%while fetching schema id%' AND _error NOT LIKE '% 404 %', 'the schema registry does not answer') = 0, _error, '') AS log_error,
    if(_error = '', '', substring(_raw_message, 1, 4096)) AS log_raw
FROM market_instruments_queue;

DROP VIEW IF EXISTS derived_flow_pump;
DROP TABLE IF EXISTS derived_flow_queue;

CREATE TABLE derived_flow_queue AS derived_flow_in
ENGINE = Kafka
SETTINGS
    kafka_broker_list = {{brokers}},
    kafka_topic_list = {{topic:derived.flow}},
    kafka_group_name = {{group:derived.flow}},
    kafka_format = 'AvroConfluent',
    format_avro_schema_registry_url = {{registry}},
    input_format_avro_allow_missing_fields = 1,
    kafka_handle_error_mode = 'stream',
    kafka_flush_interval_ms = 100,
    kafka_poll_timeout_ms = 50,
    kafka_consumer_reschedule_ms = 50;

CREATE MATERIALIZED VIEW derived_flow_pump TO derived_flow_in AS
SELECT
    * EXCEPT (log_partition, log_offset, log_time, log_error, log_raw),
    _partition AS log_partition,
    _offset AS log_offset,
    assumeNotNull(_timestamp_ms) AS log_time,
    if(throwIf(_error LIKE '%while fetching schema id%' AND _error NOT LIKE '% 404 %', 'the schema registry does not answer') = 0, _error, '') AS log_error,
    if(_error = '', '', substring(_raw_message, 1, 4096)) AS log_raw
FROM derived_flow_queue;

DROP VIEW IF EXISTS derived_signals_pump;
DROP TABLE IF EXISTS derived_signals_queue;

CREATE TABLE derived_signals_queue AS derived_signals_in
ENGINE = Kafka
SETTINGS
    kafka_broker_list = {{brokers}},
    kafka_topic_list = {{topic:derived.signals}},
    kafka_group_name = {{group:derived.signals}},
    kafka_format = 'AvroConfluent',
    format_avro_schema_registry_url = {{registry}},
    input_format_avro_allow_missing_fields = 1,
    kafka_handle_error_mode = 'stream',
    kafka_flush_interval_ms = 100,
    kafka_poll_timeout_ms = 50,
    kafka_consumer_reschedule_ms = 50;

CREATE MATERIALIZED VIEW derived_signals_pump TO derived_signals_in AS
SELECT
    * EXCEPT (log_partition, log_offset, log_time, log_error, log_raw),
    _partition AS log_partition,
    _offset AS log_offset,
    assumeNotNull(_timestamp_ms) AS log_time,
    if(throwIf(_error LIKE '%while fetching schema id%' AND _error NOT LIKE '% 404 %', 'the schema registry does not answer') = 0, _error, '') AS log_error,
    if(_error = '', '', substring(_raw_message, 1, 4096)) AS log_raw
FROM derived_signals_queue;
