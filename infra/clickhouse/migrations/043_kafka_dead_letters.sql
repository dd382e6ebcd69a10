-- again: when the brokers, the registry or the namespace change
--
-- As 039, for the topic of 042. Of a record that cannot be read the bytes are not kept.

DROP VIEW IF EXISTS control_dead_letters_pump;
DROP TABLE IF EXISTS control_dead_letters_queue;

CREATE TABLE control_dead_letters_queue AS control_dead_letters_in
ENGINE = Kafka
SETTINGS
    kafka_broker_list = {{brokers}},
    kafka_topic_list = {{topic:control.dead_letters}},
    kafka_group_name = {{group:control.dead_letters}},
    kafka_format = 'AvroConfluent',
    format_avro_schema_registry_url = {{registry}},
    input_format_avro_allow_missing_fields = 1,
    kafka_handle_error_mode = 'stream',
    kafka_flush_interval_ms = 1000,
    kafka_poll_timeout_ms = 500,
    kafka_consumer_reschedule_ms = 500;

CREATE MATERIALIZED VIEW control_dead_letters_pump TO control_dead_letters_in AS
SELECT
    * EXCEPT (log_partition, log_offset, log_time, log_error, log_raw),
    _partition AS log_partition,
    _offset AS log_offset,
    assumeNotNull(_timestamp_ms) AS log_time,
    if(throwIf(_error LIKE '%while fetching schema id%' AND _error NOT LIKE '% 404 %', 'the schema registry does not answer') = 0, _error, '') AS log_error,
    '' AS log_raw
FROM control_dead_letters_queue;
