import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

/** Everything that a feed process counts; labels are few and bounded (venues, reasons, states). */
// rule: size - one table of every figure
export function feedMetrics(registry: Registry) {
  const registers = [registry]
  return {
    frames: new Counter({
      name: 'mda_feed_frames_total',
      help: 'Text frames received',
      labelNames: ['venue'],
      registers,
    }),
    trades: new Counter({
      name: 'mda_feed_trades_total',
      help: 'Trades written to the log',
      labelNames: ['venue', 'origin'],
      registers,
    }),
    duplicates: new Counter({
      name: 'mda_feed_duplicates_total',
      help: 'Trades that had come before',
      labelNames: ['venue'],
      registers,
    }),
    refusals: new Counter({
      name: 'mda_feed_refusals_total',
      help: 'Frames and rows that are no trade, by reason',
      labelNames: ['venue', 'reason'],
      registers,
    }),
    clamped: new Counter({
      name: 'mda_feed_clamped_total',
      help: 'Trades whose venue time was too far ahead and was cut',
      labelNames: ['venue'],
      registers,
    }),
    gaps: new Counter({
      name: 'mda_feed_gaps_total',
      help: 'Gap records written, by state',
      labelNames: ['venue', 'state'],
      registers,
    }),
    pendingGaps: new Gauge({
      name: 'mda_feed_gaps_pending',
      help: 'Gaps being repaired',
      labelNames: ['venue'],
      registers,
    }),
    restUnits: new Gauge({
      name: 'mda_feed_rest_units',
      help: 'Units of the venue’s REST budget used since the start',
      labelNames: ['venue'],
      registers,
    }),
    sockets: new Gauge({
      name: 'mda_feed_open_sockets',
      help: 'Open WebSocket connections to venues',
      labelNames: ['venue'],
      registers,
    }),
    buffered: new Gauge({
      name: 'mda_feed_buffered_records',
      help: 'Records that the broker does not have yet',
      registers,
    }),
    framesDropped: new Counter({
      name: 'mda_feed_frames_dropped_total',
      help: 'Raw frames that were not kept because the disk was too slow or failed',
      registers,
    }),
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
