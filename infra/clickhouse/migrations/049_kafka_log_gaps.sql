-- again: when the brokers, the registry or the namespace change
--
-- As 039, for the topic of 048.

DROP VIEW IF EXISTS control_gaps_pump;
DROP TABLE IF EXISTS control_gaps_queue;

CREATE TABLE control_gaps_queue AS control_gaps_in
ENGINE = Kafka
SETTINGS
    kafka_broker_list = {{brokers}},
    kafka_topic_list = {{topic:control.gaps}},
    kafka_group_name = {{group:control.gaps}},
    kafka_format = 'AvroConfluent',
    format_avro_schema_registry_url = {{registry}},
    input_format_avro_allow_missing_fields = 1,
    kafka_handle_error_mode = 'stream',
    kafka_flush_interval_ms = 1000,
    kafka_poll_timeout_ms = 500,
    kafka_consumer_reschedule_ms = 500;

CREATE MATERIALIZED VIEW control_gaps_pump TO control_gaps_in AS
SELECT
    * EXCEPT (log_partition, log_offset, log_time, log_error, log_raw),
    _partition AS log_partition,
    _offset AS log_offset,
    assumeNotNull(_timestamp_ms) AS log_time,
    if(throwIf(_error LIKE '%while fetching schema id%' AND _error NOT LIKE '% 404 %', 'the schema registry does not answer') = 0, _error, '') AS log_error,
    if(_error = '', '', substring(_raw_message, 1, 4096)) AS log_raw
FROM control_gaps_queue;
