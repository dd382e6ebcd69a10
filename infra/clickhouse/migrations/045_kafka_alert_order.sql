-- again: when the brokers, the registry or the namespace change
--
-- As 039, for alerts.events, which is read on with the column of 044.

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
    kafka_flush_interval_ms = 1000,
    kafka_poll_timeout_ms = 500,
    kafka_consumer_reschedule_ms = 500;

CREATE MATERIALIZED VIEW alerts_events_pump TO alerts_events_in AS
SELECT
    * EXCEPT (log_partition, log_offset, log_time, log_error, log_raw),
    _partition AS log_partition,
    _offset AS log_offset,
    assumeNotNull(_timestamp_ms) AS log_time,
    if(throwIf(_error LIKE '%while fetching schema id%' AND _error NOT LIKE '% 404 %', 'the schema registry does not answer') = 0, _error, '') AS log_error,
    '' AS log_raw
FROM alerts_events_queue;
