-- again: when the brokers, the registry or the namespace change
--
-- As 008, for derived.flow with its hours, with a new group: it reads the topic from its start.

DROP VIEW IF EXISTS derived_flow_pump;
DROP TABLE IF EXISTS derived_flow_queue;

CREATE TABLE derived_flow_queue AS derived_flow_in
ENGINE = Kafka
SETTINGS
    kafka_broker_list = {{brokers}},
    kafka_topic_list = {{topic:derived.flow}},
    kafka_group_name = {{group:derived.flow.2}},
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
