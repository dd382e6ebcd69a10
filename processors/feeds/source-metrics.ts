import { Counter, Gauge, type Registry } from 'prom-client'

/** What is counted of sources; labels are few and bounded: venues, channels, kinds, reasons. */
export function sourceMetrics(registry: Registry) {
  const registers = [registry]
  const counter = (name: string, help: string, labelNames: string[]): Counter =>
    new Counter({ name: `mda_source_${name}`, help, labelNames, registers })
  const gauge = (name: string, help: string, labelNames: string[]): Gauge =>
    new Gauge({ name: `mda_source_${name}`, help, labelNames, registers })
  return {
    facts: counter('facts_total', 'Facts received, by what became of them', ['venue', 'kind', 'verdict']),
    refusals: counter('refusals_total', 'Frames and rows that are no fact, by reason', ['venue', 'channel', 'reason']),
    clamped: counter('clamped_total', 'Facts whose venue time was too far ahead and was cut', ['venue']),
    records: counter('records_total', 'Records written, by type', ['record']),
    calls: counter('poll_calls_total', 'Polls answered or not, by outcome', ['venue', 'poll', 'outcome']),
    subjects: gauge('poll_subjects', 'Subjects that a poll asks for', ['venue', 'poll']),
    overdue: gauge('poll_overdue_seconds', 'How long the most overdue subject of a poll has waited', ['venue', 'poll']),
    age: gauge('poll_age_seconds', 'Time since the newest answer of a poll', ['venue', 'poll']),
    givenUp: gauge('poll_given_up', 'Subjects of a poll that were given up after failures', ['venue', 'poll']),
    streams: gauge('stream_sockets', 'Open connections of a channel', ['venue', 'channel']),
    live: gauge('channel_live', '1: the venue lives for the topic', ['venue', 'topic']),
    budget: gauge('rest_units', 'Units of a host’s REST budget used since the start', ['venue', 'host']),
    waiting: gauge('rest_waiting', 'Calls that wait for their share of a host’s budget', ['venue', 'host']),
    refused: gauge('rest_unavailable', '1: the host refuses us and is left alone', ['venue', 'host']),
    buffered: gauge('buffered_records', 'Records that the broker does not have yet', ['topic']),
  }
}

export type SourceMetrics = ReturnType<typeof sourceMetrics>
