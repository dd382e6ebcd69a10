import { Counter, Histogram, type Registry } from 'prom-client'
import { gaugesOf } from '../infra/http/ops.ts'
import type { DeadLetter } from '../schemas/records.ts'
import type { Meter } from './kernel/ports.ts'
import type { Runner } from './kernel/run.ts'
import type { Task } from './kernel/task.ts'

/** From a fast batch to one that holds up its partition, seconds. */
const BATCH_SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 5]

/** The records that this process has set aside. */
export class Tally {
  #count = 0
  #newest: object | null = null

  add({ processor, topic, partition, offset, time, reason, code, at }: DeadLetter): void {
    this.#count += 1
    this.#newest = { processor, topic, partition, offset, time: time / 1_000, reason, code, at }
  }

  /** For `/healthz`: how many since the start, and the newest; its record time in milliseconds. */
  get report(): { readonly count: number; readonly newest: object | null } {
    return { count: this.#count, newest: this.#newest }
  }
}

/** Counts the records that are set aside. */
export function createLetterMeter(registry: Registry, tally: Tally): Pick<Meter, 'deadLetter'> {
  const deadLetters = new Counter({
    name: 'mda_processor_dead_letters_total',
    help: 'Input records that were set aside, into control.dead_letters',
    labelNames: ['processor', 'topic', 'reason'],
    registers: [registry],
  })
  return {
    deadLetter(letter) {
      const { processor, topic, reason } = letter
      deadLetters.inc({ processor, topic, reason })
      tally.add(letter)
    },
  }
}

/** The kernel's figures as Prometheus metrics. */
export function createMeter(registry: Registry, tally: Tally = new Tally()): Meter {
  const counter = (name: string, help: string, ...labels: string[]): Counter =>
    new Counter({ name, help, labelNames: ['processor', ...labels], registers: [registry] })
  const seconds = (name: string, help: string): Histogram =>
    new Histogram({ name, help, labelNames: ['processor'], buckets: BATCH_SECONDS, registers: [registry] })
  const applied = counter('mda_processor_applied_records_total', 'Input records applied')
  const batches = seconds('mda_processor_batch_seconds', 'Time from a batch to its acknowledged outputs')
  const outputs = counter('mda_processor_output_records_total', 'Output records acknowledged', 'topic')
  const restores = seconds('mda_processor_restore_seconds', 'Time to claim a partition and read its state')
  const snapshots = counter('mda_processor_snapshots_total', 'Snapshots written')
  const snapshotBytes = counter('mda_processor_snapshot_bytes_total', 'Size of the snapshots written')
  const refused = counter('mda_processor_refused_marks_total', 'Marks of feeds that nothing confirms')
  const skipped = counter(
    'mda_processor_lost_records_total',
    'Offsets that the log lost before they were read',
    'topic',
  )
  const gaps = counter('mda_processor_log_gaps_total', 'Gaps of the log that were recorded', 'topic', 'reason')
  const fenced = counter('mda_processor_fenced_total', 'Tasks given up because another instance has claimed')
  const failed = counter('mda_processor_failed_total', 'Tasks given up after any other failure')
  return {
    applied(processor, records, ms) {
      applied.inc({ processor }, records)
      batches.observe({ processor }, ms / 1000)
    },
    outputs: (processor, topic, records) => outputs.inc({ processor, topic }, records),
    restored: (processor, ms) => restores.observe({ processor }, ms / 1000),
    snapshot(processor, bytes) {
      snapshots.inc({ processor })
      snapshotBytes.inc({ processor }, bytes)
    },
    ...createLetterMeter(registry, tally),
    refusedMarks: (processor, marks) => refused.inc({ processor }, marks),
    skipped: (processor, topic, records) => skipped.inc({ processor, topic }, records),
    gap: (processor, topic, reason) => gaps.inc({ processor, topic, reason }),
    fenced: (processor) => fenced.inc({ processor }),
    failed: (processor) => failed.inc({ processor }),
  }
}

/** What the runner and the processors' states say when they are asked. */
export function exposeRunner(registry: Registry, runner: Runner<Task>): void {
  const gauge = gaugesOf(registry, 'processor')
  gauge('mda_processor_partitions', 'Partitions assigned to this host, by state', ['state'], (set) => {
    for (const [processor, { running, waiting }] of Object.entries(runner.partitions())) {
      set.set({ processor, state: 'running' }, running)
      set.set({ processor, state: 'waiting' }, waiting)
    }
  })
  gauge('mda_processor_lag_records', 'Input records not yet applied', ['topic', 'partition'], (set) => {
    for (const { processor, topic, partition, records } of runner.lags())
      set.set({ processor, topic, partition }, records)
  })
  gauge('mda_processor_state_count', 'Counts that a processor keeps in its state', ['what'], (set) => {
    for (const [processor, counts] of runner.counts()) {
      for (const [what, count] of counts) set.set({ processor, what }, count)
    }
  })
}
