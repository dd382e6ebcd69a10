-- again: when the brokers, the registry or the namespace change
--
-- As 018, for the topics of 021; alerts.inputs is read anew, from where its group was, with the columns of the commands.
-- Of a record that cannot be read the bytes are not kept (021).

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
    '' AS log_raw
FROM alerts_inputs_queue;

DROP VIEW IF EXISTS alerts_events_pump;
DROP TABLE IF EXISTS alerts_events_queue;

CREATE TABLE alerts_events_queue AS alerts_events_in
ENGINE = Kafka
SETTINGS
    kafka_broker_list = {{brokers}},
    kafka_topic_list = {{topic:alerts.events}},
    kafka_group_name = {{group:alerts.events}},
    kafka_format = 'AvroConfluent',
    format_avro_schema_registry_url = {{registry}},
    input_format_avro_allow_missing_fields = 1,
    kafka_handle_error_mode = 'stream',
    kafka_flush_interval_ms = 500,
    kafka_poll_timeout_ms = 250,
    kafka_consumer_reschedule_ms = 250;

CREATE MATERIALIZED VIEW alerts_events_pump TO alerts_events_in AS
SELECT
    * EXCEPT (log_partition, log_offset, log_time, log_error, log_raw),
    _partition AS log_partition,
    _offset AS log_offset,
    assumeNotNull(_timestamp_ms) AS log_time,
    if(throwIf(_error LIKE '%while fetching schema id%' AND _error NOT LIKE '% 404 %', 'the schema registry does not answer') = 0, _error, '') AS log_error,
    '' AS log_raw
FROM alerts_events_queue;

DROP VIEW IF EXISTS alerts_triggers_pump;
DROP TABLE IF EXISTS alerts_triggers_queue;

CREATE TABLE alerts_triggers_queue AS alerts_triggers_in
ENGINE = Kafka
SETTINGS
    kafka_broker_list = {{brokers}},
    kafka_topic_list = {{topic:alerts.triggers}},
    kafka_group_name = {{group:alerts.triggers}},
    kafka_format = 'AvroConfluent',
    format_avro_schema_registry_url = {{registry}},
    input_format_avro_allow_missing_fields = 1,
    kafka_handle_error_mode = 'stream',
    kafka_flush_interval_ms = 500,
    kafka_poll_timeout_ms = 250,
    kafka_consumer_reschedule_ms = 250;

CREATE MATERIALIZED VIEW alerts_triggers_pump TO alerts_triggers_in AS
SELECT
    * EXCEPT (log_partition, log_offset, log_time, log_error, log_raw),
    _partition AS log_partition,
    _offset AS log_offset,
    assumeNotNull(_timestamp_ms) AS log_time,
    if(throwIf(_error LIKE '%while fetching schema id%' AND _error NOT LIKE '% 404 %', 'the schema registry does not answer') = 0, _error, '') AS log_error,
    '' AS log_raw
FROM alerts_triggers_queue;

DROP VIEW IF EXISTS webhooks_attempts_pump;
DROP TABLE IF EXISTS webhooks_attempts_queue;

CREATE TABLE webhooks_attempts_queue AS webhooks_attempts_in
ENGINE = Kafka
SETTINGS
    kafka_broker_list = {{brokers}},
    kafka_topic_list = {{topic:webhooks.attempts}},
    kafka_group_name = {{group:webhooks.attempts}},
    kafka_format = 'AvroConfluent',
    format_avro_schema_registry_url = {{registry}},
    input_format_avro_allow_missing_fields = 1,
    kafka_handle_error_mode = 'stream',
    kafka_flush_interval_ms = 500,
    kafka_poll_timeout_ms = 250,
    kafka_consumer_reschedule_ms = 250;

CREATE MATERIALIZED VIEW webhooks_attempts_pump TO webhooks_attempts_in AS
SELECT
    * EXCEPT (log_partition, log_offset, log_time, log_error, log_raw),
    _partition AS log_partition,
    _offset AS log_offset,
    assumeNotNull(_timestamp_ms) AS log_time,
    if(throwIf(_error LIKE '%while fetching schema id%' AND _error NOT LIKE '% 404 %', 'the schema registry does not answer') = 0, _error, '') AS log_error,
    '' AS log_raw
FROM webhooks_attempts_queue;
