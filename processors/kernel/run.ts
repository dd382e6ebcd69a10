import type { Beside } from './beside.ts'
import { Decoder } from './decoder.ts'
import { Intake, type Hosted, type InputLag } from './intake.ts'
import type { Membership } from '../../infra/kafka/seam.ts'
import type { RecordFailure } from './errors.ts'
import type { PartitionOwner, PartitionWork } from './partition-owner.ts'
import type { Ports } from './ports.ts'
import type { ProcessorRow } from './processor.ts'
import { Task, type TaskOptions } from './task.ts'
import { Watch, type StopReason } from './watch.ts'

/** A good number for a snapshot: it bounds what a restart repeats, and a snapshot's size, at small cost. */
export const SNAPSHOT_RECORDS = 25_000

export interface RunOptions<Work> {
  /** What this host runs, each with who decides which partitions it has here. */
  readonly hosted: readonly Hosted<Work>[]
  readonly ports: Pick<Ports, 'log' | 'clock' | 'meter' | 'report'>
  /** A membership that gave no sign of life for this long plus 5 s ends the process. */
  readonly sessionMs: number
}

/** Partitions that run, and those that do not (opening or after a failure). */
export interface Partitions {
  running: number
  waiting: number
}

export interface Lag extends InputLag {
  readonly processor: string
}

/** Hosts processors or a service, each with an intake of its own. */
export class Runner<Work extends PartitionWork> {
  readonly #options: RunOptions<Work>
  readonly #intakes: readonly Intake<Work>[]
  readonly #watch: Watch
  #isStopping = false
  #fail: (reason: StopReason) => void = () => undefined
  /** Resolves when the process must end: why, and with which exit code. Never on a clean stop. */
  readonly failed: Promise<StopReason>

  constructor(options: RunOptions<Work>) {
    const { hosted, ports, sessionMs } = options
    this.#options = options
    this.failed = new Promise((resolve) => {
      this.#fail = resolve
    })
    const memberships = hosted.map(({ membership }) => membership)
    this.#watch = new Watch(sessionMs, memberships, ports.clock.steady())
    this.#intakes = hosted.map(
      (each) =>
        new Intake({
          hosted: each,
          ports,
          watch: this.#watch,
          onFatal: ({ code, message }) => this.#fail({ exitCode: 4, code, message }),
          onRound: () => this.#check(),
        }),
    )
  }

  /** A clean end: fetching stops, what is running finishes and is written, the memberships are left. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await Promise.all(this.#intakes.map((intake) => intake.stop()))
    await Promise.all(this.#options.hosted.map(({ membership }) => membership.leave()))
  }

  get isWell(): boolean {
    return this.#watch.isWell(this.owners(), this.#options.ports.clock.steady())
  }

  /** Of each that is hosted here, by name. */
  partitions(): Readonly<Record<string, Partitions>> {
    return Object.fromEntries(
      this.#intakes.map((intake) => {
        const owners = [...intake.owners()]
        const running = owners.filter(({ state }) => state === 'idle' || state === 'busy').length
        return [intake.name, { running, waiting: owners.length - running }]
      }),
    )
  }

  /** Every partition that is here. */
  owners(): PartitionOwner<Work>[] {
    return this.#intakes.flatMap((intake) => [...intake.owners()])
  }

  /** Records not yet applied, of each input of each partition that is here, as of the last fetch. */
  lags(): Lag[] {
    return this.#intakes.flatMap((intake) => intake.lags().map((lag) => ({ processor: intake.name, ...lag })))
  }

  /** Their own counts, summed over this host's partitions. */
  counts(): Map<string, Map<string, number>> {
    const sums = new Map<string, Map<string, number>>()
    for (const { name: owner, work } of this.owners()) {
      const sum = sums.get(owner) ?? new Map<string, number>()
      sums.set(owner, sum)
      for (const [name, count] of Object.entries(work?.counts?.() ?? {})) sum.set(name, (sum.get(name) ?? 0) + count)
    }
    return sums
  }

  #check(): void {
    if (this.#isStopping) return
    const reason = this.#watch.check(this.owners(), this.#options.ports.clock.steady())
    if (reason !== undefined) this.#fail(reason)
  }
}

interface HostedRow {
  readonly row: ProcessorRow
  readonly membership: Membership
  /** By partition: what caught up beside the state of an older generation before this host became a member. */
  readonly besides?: Map<number, Beside> | undefined
}

type OwnTaskOptions = 'decoder' | 'after' | 'beside'

export interface ProcessorsOptions extends Omit<TaskOptions, OwnTaskOptions>, Pick<RunOptions<Task>, 'sessionMs'> {
  readonly rows: readonly HostedRow[]
}

/** Hosts processors. */
export function runProcessors({ rows, sessionMs, ...options }: ProcessorsOptions): Runner<Task> {
  const { ports } = options
  const decoder = new Decoder(ports.codec, (id) => ports.lookUp(id))
  const hosted = rows.map(({ row, membership, besides }): Hosted<Task> => {
    const { name, paceMs } = row
    const open = async (at: number, after: RecordFailure | undefined): Promise<Task> => {
      if (besides?.get(at)?.isSpent === true) await drop(besides, at) // it is built again, without the record that failed
      const task = await Task.open(row, at, { ...options, decoder, after, beside: besides?.get(at) })
      await drop(besides, at)
      return task
    }
    return { name, membership, paceMs, open }
  })
  return new Runner({ hosted, ports, sessionMs })
}

async function drop(besides: HostedRow['besides'], partition: number): Promise<void> {
  const beside = besides?.get(partition)
  besides?.delete(partition)
  await beside?.close()
}
