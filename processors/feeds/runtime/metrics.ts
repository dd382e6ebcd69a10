import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

/** Everything that a feed process counts; labels are few and bounded: venues, channels, topics, kinds, reasons. */
export function feedMetrics(registry: Registry) {
  const registers = [registry]
  const counter = (name: string, help: string, labelNames: string[] = []): Counter =>
    new Counter({ name: `mda_feed_${name}`, help, labelNames, registers })
  const gauge = (name: string, help: string, labelNames: string[]): Gauge =>
    new Gauge({ name: `mda_feed_${name}`, help, labelNames, registers })
  return {
    frames: counter('frames_total', 'Text frames received', ['venue', 'channel']),
    trades: counter('trades_total', 'Trades written to the log', ['venue', 'origin']),
    duplicates: counter('duplicates_total', 'Trades that had come before', ['venue']),
    facts: counter('facts_total', 'Facts beside trades, by what became of them', ['venue', 'kind', 'verdict']),
    records: counter('records_total', 'Records beside trades written to the log, by type', ['record']),
    refusals: counter('refusals_total', 'Frames and rows that say nothing for us, by reason', [
      'venue',
      'channel',
      'reason',
    ]),
    clamped: counter('clamped_total', 'Trades and facts whose venue time was too far ahead and was cut', ['venue']),
    gaps: counter('gaps_total', 'Gap records written, by state', ['venue', 'state']),
    pendingGaps: gauge('gaps_pending', 'Gaps being repaired', ['venue']),
    calls: counter('poll_calls_total', 'Polls answered or not, by outcome', ['venue', 'poll', 'outcome']),
    subjects: gauge('poll_subjects', 'Subjects that a poll asks for', ['venue', 'poll']),
    overdue: gauge('poll_overdue_seconds', 'How long the most overdue subject of a poll has waited', ['venue', 'poll']),
    age: gauge('poll_age_seconds', 'Time since the newest answer of a poll', ['venue', 'poll']),
    givenUp: gauge('poll_given_up', 'Subjects of a poll that were given up after failures', ['venue', 'poll']),
    past: counter('past_rows_total', 'Rows of the past written to the log', ['venue']),
    pastMissing: gauge('past_rows_missing', 'Rows of the past that are wanted and not in the log yet', ['venue']),
    sockets: gauge('open_sockets', 'Open WebSocket connections to venues', ['venue', 'channel']),
    live: gauge('channel_live', '1: the venue lives for the topic', ['venue', 'topic']),
    restUnits: gauge('rest_units', 'Units of a host’s REST budget used since the start', ['venue', 'host']),
    waiting: gauge('rest_waiting', 'Calls that wait for their share of a host’s budget', ['venue', 'host']),
    unavailable: gauge('rest_unavailable', '1: the host refuses us and is left alone', ['venue', 'host']),
    buffered: gauge('buffered_records', 'Records that the broker does not have yet', ['topic']),
    framesDropped: counter(
      'frames_dropped_total',
      'Raw frames that were not kept because the disk was too slow or failed',
    ),
    lag: new Histogram({
      name: 'mda_feed_event_lag_seconds',
      help: 'From the venue’s trade time to our receipt',
      labelNames: ['venue'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60],
      registers,
    }),
  }
}

export type FeedMetrics = ReturnType<typeof feedMetrics>
