import type { LogReader, Membership, Slice } from '../../infra/kafka/seam.ts'
import { Decoder } from './decoder.ts'
import type { Ports, SnapshotPolicy } from './ports.ts'
import type { ProcessorRow } from './processor.ts'
import { Slot } from './slot.ts'
import { Watch, type StopReason } from './watch.ts'

/** Longest wait of a fetch for a first record. With `minBytes` 1 it delays nothing; it bounds the idle cost. */
const FETCH_WAIT_MS = 100
/** While a partition is busy or opening its turn must come soon after, so the fetch for the others is a short one. */
const FETCH_WAIT_BUSY_MS = 5
/** How long a round waits for its slowest partition before the idle ones are fetched for again. */
const ROUND_MS = 20
const FETCH_RETRY_MS = 100
const FETCH_BYTES_PER_PARTITION = 512 * 1024

export interface RunOptions {
  /** The processors of this host, each with who decides which partitions it has here. */
  readonly rows: readonly { readonly row: ProcessorRow; readonly membership: Membership }[]
  readonly ports: Ports
  readonly snapshots: SnapshotPolicy
  /** A membership that gave no sign of life for this long plus 5 s ends the process. */
  readonly sessionMs: number
}

export interface RunHealth {
  readonly ok: boolean
  /** Partitions by processor: running, and not running (opening or after a failure). */
  readonly processors: Readonly<Record<string, { running: number; waiting: number }>>
}

/** Hosts processors: one fetch for all their idle partitions, then each partition's task by itself. */
export class Runner {
  readonly #options: RunOptions
  readonly #reader: LogReader
  readonly #decoder: Decoder
  readonly #slots = new Map<string, Slot>()
  readonly #watch: Watch
  #stopping = false
  #wake: () => void = () => undefined
  #fail: (reason: StopReason) => void = () => undefined
  /** Resolves when the process must end: why, and with which exit code. Never on a clean stop. */
  readonly failed: Promise<StopReason>
  readonly #loop: Promise<void>

  constructor(options: RunOptions) {
    this.#options = options
    this.#reader = options.ports.log.reader()
    this.#decoder = new Decoder(options.ports.codec, (id) => options.ports.lookUp(id))
    this.failed = new Promise((resolve) => {
      this.#fail = resolve
    })
    this.#watch = new Watch(options, options.ports.clock.now())
    for (const { row, membership } of options.rows) {
      membership.onChange((partitions) => this.#assign(row, partitions))
    }
    this.#loop = this.#run()
  }

  /** A clean end: fetching stops, tasks finish and write their state, the memberships are left. */
  async stop(): Promise<void> {
    this.#stopping = true
    this.#wake()
    await this.#loop
    await this.#reader.close()
    await Promise.all([...this.#slots.values()].map((slot) => slot.stop()))
    this.#slots.clear()
    await Promise.all(this.#options.rows.map(({ membership }) => membership.leave()))
  }

  health(): RunHealth {
    const processors = Object.fromEntries(
      this.#options.rows.map(({ row }) => {
        const slots = [...this.#slots.values()].filter((slot) => slot.row === row)
        const running = slots.filter((slot) => slot.state === 'idle' || slot.state === 'busy').length
        return [row.name, { running, waiting: slots.length - running }]
      }),
    )
    const now = this.#options.ports.clock.now()
    return { ok: this.#watch.isWell(this.#slots.values(), now), processors }
  }

  /** Records not yet applied, of each input of each partition that is here. */
  lags(): { processor: string; topic: string; partition: number; records: number }[] {
    return [...this.#slots.values()].flatMap(({ row, partition, lag }) =>
      [...lag].map(([topic, records]) => ({ processor: row.name, topic, partition, records })),
    )
  }

  /** The processors' own counts, summed over this host's partitions. */
  counts(): Map<string, Map<string, number>> {
    const sums = new Map<string, Map<string, number>>()
    for (const { row, task } of this.#slots.values()) {
      const sum = sums.get(row.name) ?? new Map<string, number>()
      sums.set(row.name, sum)
      for (const [name, count] of Object.entries(task?.counts() ?? {})) sum.set(name, (sum.get(name) ?? 0) + count)
    }
    return sums
  }

  #assign(row: ProcessorRow, partitions: readonly number[]): void {
    if (this.#stopping) return
    const assigned = new Set(partitions)
    for (const [id, slot] of this.#slots) {
      if (slot.row !== row || assigned.has(slot.partition)) continue
      slot.drop()
      this.#slots.delete(id)
    }
    for (const partition of assigned) {
      const id = `${row.name}-${partition}`
      if (!this.#slots.has(id)) this.#slots.set(id, this.#slot(row, partition))
    }
    this.#options.ports.report.info({ processor: row.name, partitions: [...assigned] }, 'partitions assigned')
  }

  #slot(row: ProcessorRow, partition: number): Slot {
    const { ports, snapshots } = this.#options
    return new Slot(row, partition, {
      ports,
      snapshots,
      decoder: this.#decoder,
      onIdle: () => this.#wake(),
      onFatal: (error) => this.#fail({ exitCode: 4, code: error.code, message: error.message }),
    })
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      const idle = [...this.#slots.values()].filter((slot) => slot.idleTask !== undefined)
      if (idle.length === 0) await this.#idleFor(FETCH_WAIT_MS)
      else await this.#round(idle)
      const reason = this.#watch.check(this.#slots.values(), this.#options.ports.clock.now())
      if (reason !== undefined) this.#fail(reason)
    }
  }

  /** Waits until a task is ready, at most `ms`. */
  #idleFor(ms: number): Promise<void> {
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    return Promise.race([woken, this.#options.ports.clock.delay(ms)])
  }

  async #round(idle: readonly Slot[]): Promise<void> {
    const slices = await this.#fetch(idle)
    if (slices === undefined) return
    const working = idle.map((slot) => this.#hand(slot, slices))
    await Promise.race([Promise.all(working), this.#options.ports.clock.delay(ROUND_MS)])
  }

  /** What the log has for these partitions; undefined after an error, which is waited out. */
  async #fetch(idle: readonly Slot[]): Promise<Slice[] | undefined> {
    const { clock, report } = this.#options.ports
    const maxWaitMs = idle.length < this.#slots.size ? FETCH_WAIT_BUSY_MS : FETCH_WAIT_MS
    const positions = idle.flatMap((slot) => slot.idleTask?.positions() ?? [])
    try {
      const options = { maxWaitMs, maxBytesPerPartition: FETCH_BYTES_PER_PARTITION }
      const slices = await this.#reader.fetch(positions, options)
      const isAway = slices.some((slice) => slice.error === 'moved')
      if (isAway) await clock.delay(FETCH_RETRY_MS)
      if (slices.some((slice) => slice.error !== 'moved')) this.#watch.fetched(clock.now())
      else if (this.#watch.isFirstFailure()) report.warn({}, 'no broker answers; trying again')
      return slices
    } catch (error) {
      if (this.#watch.isFirstFailure()) report.warn({ err: error }, 'fetch failed; trying again')
      await clock.delay(FETCH_RETRY_MS)
      return undefined
    }
  }

  /** Gives a partition its slices: of all its inputs at once. */
  async #hand(slot: Slot, slices: readonly Slice[]): Promise<void> {
    const { row, partition } = slot
    const own = slices.filter(
      (slice) => slice.partition === partition && row.inputs.some((topic) => topic === slice.topic),
    )
    await slot.work(own)
    const now = this.#options.ports.clock.now()
    for (const { topic, offset } of slot.task?.positions() ?? []) {
      const slice = own.find((candidate) => candidate.topic === topic)
      if (slice === undefined) continue
      slot.lag.set(topic, Math.max(0, slice.end - offset))
      this.#watch.at(`${row.name} ${topic}-${partition}`, offset, slice.end, now)
    }
  }
}
