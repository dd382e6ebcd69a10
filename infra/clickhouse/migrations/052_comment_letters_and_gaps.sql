-- What each column of the views of 041 and 047 is, with its unit. Whoever makes one of these views again says it again.

ALTER TABLE dead_letters
    COMMENT COLUMN processor 'Who set it aside: a processor, webhooks or payments',
    COMMENT COLUMN topic 'Topic of the record, without its namespace',
    COMMENT COLUMN partition 'Kafka partition of the record',
    COMMENT COLUMN offset 'Kafka offset of the record in that partition',
    COMMENT COLUMN time 'Kafka time of the record',
    COMMENT COLUMN reason 'undecodable: its bytes are no record; unknown_schema: the registry did not know its schema id; failed: the processor''s code threw at it; held: not tried, too many of its asset and type had failed within 10 s',
    COMMENT COLUMN code 'not-wire-format, bad-body, unknown-schema, or the code or the class of the error that was thrown',
    COMMENT COLUMN message 'Text of the error, at most 1000 characters; empty for topics of alerts, webhooks and payments',
    COMMENT COLUMN at 'Line of code that threw, file:line:column; null where it is not known',
    COMMENT COLUMN attempts 'How often it was tried before it was set aside',
    COMMENT COLUMN size 'Bytes of its value',
    COMMENT COLUMN letter_partition 'Kafka partition of the letter in control.dead_letters, which holds the value',
    COMMENT COLUMN letter_offset 'Kafka offset of the letter in that partition';

ALTER TABLE log_gaps
    COMMENT COLUMN reader 'Processor or service that could not read it, or had written it',
    COMMENT COLUMN topic 'Topic that it is about, without its namespace',
    COMMENT COLUMN partition 'Kafka partition of that topic',
    COMMENT COLUMN reason 'retention: deleted before it was read; cut: the log lost its tail, which had been read; replaced: it is another log; output_cut: the log lost the tail of what the reader had written',
    COMMENT COLUMN position 'Kafka offset that it would have read, or written, next',
    COMMENT COLUMN next 'Kafka offset at which it went on',
    COMMENT COLUMN missing 'Offsets that were never read, or of an output, lost; null: not known',
    COMMENT COLUMN from_time 'Kafka time of the last record before it',
    COMMENT COLUMN to_time 'Kafka time of the first record after it, or when it was found',
    COMMENT COLUMN shift 'Added to offsets from next on where a version is made of one',
    COMMENT COLUMN time 'When it was found, by the reader''s clock',
    COMMENT COLUMN told_partition 'Kafka partition of this record in control.gaps',
    COMMENT COLUMN told_offset 'Kafka offset of this record in that partition';
