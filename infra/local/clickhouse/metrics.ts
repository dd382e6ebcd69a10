import type { ServerResponse } from 'node:http'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Admission } from './admission.ts'
import type { Disk } from './disk.ts'
import type { Sessions } from './sessions.ts'

export interface Metrics {
  /** Counts a finished statement. */
  done(outcome: 'ok' | 'error', ms: number): void
  answer(response: ServerResponse): void
}

export function createMetrics(admission: Admission, sessions: Sessions, disk: Disk): Metrics {
  const registry = new Registry()
  const registers = [registry]
  const seconds = new Histogram({
    name: 'mda_clickhouse_statement_seconds',
    help: 'Time of statements over HTTP',
    labelNames: ['outcome'],
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60],
    registers,
  })
  const errors = new Counter({ name: 'mda_clickhouse_errors_total', help: 'Statements that failed', registers })
  const gauge = (name: string, help: string, value: () => number): void => {
    registry.registerMetric(
      new Gauge({
        name,
        help,
        registers: [],
        collect() {
          this.set(value())
        },
      }),
    )
  }
  gauge('mda_clickhouse_running_statements', 'Statements that run now', () => admission.running)
  gauge('mda_clickhouse_waiting_statements', 'Statements that wait for a place', () => admission.waiting)
  gauge('mda_clickhouse_sessions', 'Sessions that are kept', () => sessions.size)
  gauge('mda_clickhouse_disk_free_bytes', 'Free space of the data folder', () => disk.freeBytes)
  gauge('mda_clickhouse_resident_bytes', 'Resident memory of the server with its engine', () =>
    process.memoryUsage.rss(),
  )
  return {
    done(outcome, ms) {
      seconds.observe({ outcome }, ms / 1000)
      if (outcome === 'error') errors.inc()
    },
    answer(response) {
      void registry.metrics().then((text) => response.setHeader('content-type', registry.contentType).end(text))
    },
  }
}
