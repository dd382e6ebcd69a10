-- again: when the brokers, the registry or the namespace change
--
-- As 008, 018, 022, 026, 029 and 037, with the same groups, at another pace: each reading goes on where it was. A flush
-- costs a core 20 to 50 ms however little it brings: most topics have a mark a second in each partition, and are flushed
-- as often as those come. Trades and flow are waited for less long than before between two looks.

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
    kafka_flush_interval_ms = 1000,
    kafka_poll_timeout_ms = 500,
    kafka_consumer_reschedule_ms = 500;

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
    kafka_group_name = {{group:derived.flow.2}},
    kafka_format = 'AvroConfluent',
    format_avro_schema_registry_url = {{registry}},
    input_format_avro_allow_missing_fields = 1,
    kafka_handle_error_mode = 'stream',
    kafka_flush_interval_ms = 100,
    kafka_poll_timeout_ms = 50,
    kafka_consumer_reschedule_ms = 20;

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
    kafka_group_name = {{group:derived.signals.2}},
    kafka_format = 'AvroConfluent',
    format_avro_schema_registry_url = {{registry}},
    input_format_avro_allow_missing_fields = 1,
    kafka_handle_error_mode = 'stream',
    kafka_flush_interval_ms = 1000,
    kafka_poll_timeout_ms = 500,
    kafka_consumer_reschedule_ms = 500;

CREATE MATERIALIZED VIEW derived_signals_pump TO derived_signals_in AS
SELECT
    * EXCEPT (log_partition, log_offset, log_time, log_error, log_raw),
    _partition AS log_partition,
    _offset AS log_offset,
    assumeNotNull(_timestamp_ms) AS log_time,
    if(throwIf(_error LIKE '%while fetching schema id%' AND _error NOT LIKE '% 404 %', 'the schema registry does not answer') = 0, _error, '') AS log_error,
    if(_error = '', '', substring(_raw_message, 1, 4096)) AS log_raw
FROM derived_signals_queue;

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
    kafka_flush_interval_ms = 1000,
    kafka_poll_timeout_ms = 500,
    kafka_consumer_reschedule_ms = 500;

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
    kafka_flush_interval_ms = 1000,
    kafka_poll_timeout_ms = 500,
    kafka_consumer_reschedule_ms = 500;

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
    kafka_flush_interval_ms = 1000,
    kafka_poll_timeout_ms = 500,
    kafka_consumer_reschedule_ms = 500;

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
    kafka_flush_interval_ms = 1000,
    kafka_poll_timeout_ms = 500,
    kafka_consumer_reschedule_ms = 500;

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
    kafka_flush_interval_ms = 1000,
    kafka_poll_timeout_ms = 500,
    kafka_consumer_reschedule_ms = 500;

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
    kafka_flush_interval_ms = 1000,
    kafka_poll_timeout_ms = 500,
    kafka_consumer_reschedule_ms = 500;

CREATE MATERIALIZED VIEW webhooks_attempts_pump TO webhooks_attempts_in AS
SELECT
    * EXCEPT (log_partition, log_offset, log_time, log_error, log_raw),
    _partition AS log_partition,
    _offset AS log_offset,
    assumeNotNull(_timestamp_ms) AS log_time,
    if(throwIf(_error LIKE '%while fetching schema id%' AND _error NOT LIKE '% 404 %', 'the schema registry does not answer') = 0, _error, '') AS log_error,
    '' AS log_raw
FROM webhooks_attempts_queue;

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
    kafka_flush_interval_ms = 1000,
    kafka_poll_timeout_ms = 500,
    kafka_consumer_reschedule_ms = 500;

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
    kafka_flush_interval_ms = 1000,
    kafka_poll_timeout_ms = 500,
    kafka_consumer_reschedule_ms = 500;

CREATE MATERIALIZED VIEW payments_events_pump TO payments_events_in AS
SELECT
    * EXCEPT (log_partition, log_offset, log_time, log_error, log_raw),
    _partition AS log_partition,
    _offset AS log_offset,
    assumeNotNull(_timestamp_ms) AS log_time,
    if(throwIf(_error LIKE '%while fetching schema id%' AND _error NOT LIKE '% 404 %', 'the schema registry does not answer') = 0, _error, '') AS log_error,
    '' AS log_raw
FROM payments_events_queue;

