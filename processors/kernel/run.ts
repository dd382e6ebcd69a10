import type { Membership } from '../../infra/kafka/seam.ts'
import { Decoder } from './decoder.ts'
import { Intake, type InputLag } from './intake.ts'
import type { LostLogPolicy, Ports, SnapshotPolicy } from './ports.ts'
import type { ProcessorRow } from './processor.ts'
import type { Slot } from './slot.ts'
import { Watch, type StopReason } from './watch.ts'

/** A good number for a snapshot: it bounds what a restart repeats, and a snapshot's size, at small cost. */
export const SNAPSHOT_RECORDS = 25_000

export interface RunOptions {
  /** The processors of this host, each with who decides which partitions it has here. */
  readonly rows: readonly { readonly row: ProcessorRow; readonly membership: Membership }[]
  readonly ports: Ports
  readonly snapshots: SnapshotPolicy
  /** Of every topic that is partitioned alike. */
  readonly partitions: number
  /** A membership that gave no sign of life for this long plus 5 s ends the process. */
  readonly sessionMs: number
  readonly onLostLog: LostLogPolicy
  /** Limit of an input that its reader cuts, over all its partitions, bytes. */
  readonly retentionBytes: number
}

export interface RunHealth {
  readonly ok: boolean
  /** Partitions by processor: running, and not running (opening or after a failure). */
  readonly processors: Readonly<Record<string, { running: number; waiting: number }>>
}

export interface Lag extends InputLag {
  readonly processor: string
}

/** Hosts processors, each with an intake of its own. */
export class Runner {
  readonly #options: RunOptions
  readonly #intakes: readonly Intake[]
  readonly #watch: Watch
  #isStopping = false
  #fail: (reason: StopReason) => void = () => undefined
  /** Resolves when the process must end: why, and with which exit code. Never on a clean stop. */
  readonly failed: Promise<StopReason>

  constructor(options: RunOptions) {
    this.#options = options
    this.failed = new Promise((resolve) => {
      this.#fail = resolve
    })
    this.#watch = new Watch(options, options.ports.clock.now())
    const decoder = new Decoder(options.ports.codec, (id) => options.ports.lookUp(id))
    this.#intakes = options.rows.map((hosted) => this.#intake(hosted, decoder))
  }

  /** A clean end: fetching stops, tasks finish and write their state, the memberships are left. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await Promise.all(this.#intakes.map((intake) => intake.stop()))
    await Promise.all(this.#options.rows.map(({ membership }) => membership.leave()))
  }

  health(): RunHealth {
    const processors = Object.fromEntries(
      this.#intakes.map((intake) => {
        const slots = [...intake.slots()]
        const running = slots.filter((slot) => slot.state === 'idle' || slot.state === 'busy').length
        return [intake.row.name, { running, waiting: slots.length - running }]
      }),
    )
    const now = this.#options.ports.clock.now()
    return { ok: this.#watch.isWell(this.#slots(), now), processors }
  }

  /** Records not yet applied, of each input of each partition that is here, as of the last fetch. */
  lags(): Lag[] {
    return this.#intakes.flatMap((intake) => intake.lags().map((lag) => ({ processor: intake.row.name, ...lag })))
  }

  /** The processors' own counts, summed over this host's partitions. */
  counts(): Map<string, Map<string, number>> {
    const sums = new Map<string, Map<string, number>>()
    for (const { row, task } of this.#slots()) {
      const sum = sums.get(row.name) ?? new Map<string, number>()
      sums.set(row.name, sum)
      for (const [name, count] of Object.entries(task?.counts() ?? {})) sum.set(name, (sum.get(name) ?? 0) + count)
    }
    return sums
  }

  /** Marks of feeds that time did not follow, over this host's partitions. */
  refusedMarks(): number {
    return this.#slots().reduce((sum, { task }) => sum + (task?.refusedMarks ?? 0), 0)
  }

  #intake({ row, membership }: RunOptions['rows'][number], decoder: Decoder): Intake {
    const { ports, snapshots, partitions, onLostLog, retentionBytes } = this.#options
    return new Intake({
      row,
      membership,
      ports,
      watch: this.#watch,
      slots: {
        ports,
        snapshots,
        partitions,
        decoder,
        onLostLog,
        retentionBytes,
        onFatal: (error) => this.#fail({ exitCode: 4, code: error.code, message: error.message }),
      },
      onRound: () => this.#check(),
    })
  }

  #check(): void {
    if (this.#isStopping) return
    const reason = this.#watch.check(this.#slots(), this.#options.ports.clock.now())
    if (reason !== undefined) this.#fail(reason)
  }

  #slots(): Slot[] {
    return this.#intakes.flatMap((intake) => [...intake.slots()])
  }
}
