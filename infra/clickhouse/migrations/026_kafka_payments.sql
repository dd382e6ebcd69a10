-- again: when the brokers, the registry or the namespace change
--
-- As 022, for the topics of 025. Of a record that cannot be read the bytes are not kept.

DROP VIEW IF EXISTS payments_intents_pump;
DROP TABLE IF EXISTS payments_intents_queue;

CREATE TABLE payments_intents_queue AS payments_intents_in
ENGINE = Kafka
SETTINGS
    kafka_broker_list = {{brokers}},
    kafka_topic_list = {{topic:payments.intents}},
    kafka_group_name = {{group:payments.intents}},
    kafka_format = 'AvroConfluent',
    format_avro_schema_registry_url = {{registry}},
    input_format_avro_allow_missing_fields = 1,
    kafka_handle_error_mode = 'stream',
    kafka_flush_interval_ms = 500,
    kafka_poll_timeout_ms = 250,
    kafka_consumer_reschedule_ms = 250;

CREATE MATERIALIZED VIEW payments_intents_pump TO payments_intents_in AS
SELECT
    * EXCEPT (log_partition, log_offset, log_time, log_error, log_raw),
    _partition AS log_partition,
    _offset AS log_offset,
    assumeNotNull(_timestamp_ms) AS log_time,
    if(throwIf(_error LIKE '%while fetching schema id%' AND _error NOT LIKE '% 404 %', 'the schema registry does not answer') = 0, _error, '') AS log_error,
    '' AS log_raw
FROM payments_intents_queue;

DROP VIEW IF EXISTS payments_events_pump;
DROP TABLE IF EXISTS payments_events_queue;

CREATE TABLE payments_events_queue AS payments_events_in
ENGINE = Kafka
SETTINGS
    kafka_broker_list = {{brokers}},
    kafka_topic_list = {{topic:payments.events}},
    kafka_group_name = {{group:payments.events}},
    kafka_format = 'AvroConfluent',
    format_avro_schema_registry_url = {{registry}},
    input_format_avro_allow_missing_fields = 1,
    kafka_handle_error_mode = 'stream',
    kafka_flush_interval_ms = 500,
    kafka_poll_timeout_ms = 250,
    kafka_consumer_reschedule_ms = 250;

CREATE MATERIALIZED VIEW payments_events_pump TO payments_events_in AS
SELECT
    * EXCEPT (log_partition, log_offset, log_time, log_error, log_raw),
    _partition AS log_partition,
    _offset AS log_offset,
    assumeNotNull(_timestamp_ms) AS log_time,
    if(throwIf(_error LIKE '%while fetching schema id%' AND _error NOT LIKE '% 404 %', 'the schema registry does not answer') = 0, _error, '') AS log_error,
    '' AS log_raw
FROM payments_events_queue;
