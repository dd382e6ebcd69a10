import type { LogReader, Membership, Position, Slice, TopicPartition } from '../../infra/kafka/seam.ts'
import { Decoder } from './decoder.ts'
import type { Ports, SnapshotPolicy } from './ports.ts'
import type { ProcessorRow } from './processor.ts'
import { Slot } from './slot.ts'
import { Watch, type StopReason } from './watch.ts'

/** Longest wait of a fetch for a first record. With `minBytes` 1 it delays nothing; it bounds the idle cost. */
const FETCH_WAIT_MS = 100
/** While a partition cannot take records its turn must come soon after, so the fetch for the others is a short one. */
const FETCH_WAIT_BUSY_MS = 5
const FETCH_RETRY_MS = 100
const FETCH_BYTES_PER_PARTITION = 512 * 1024
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
}

export interface RunHealth {
  readonly ok: boolean
  /** Partitions by processor: running, and not running (opening or after a failure). */
  readonly processors: Readonly<Record<string, { running: number; waiting: number }>>
}

export interface Lag {
  readonly processor: string
  readonly topic: string
  readonly partition: number
  readonly records: number
}

/** Hosts processors: one fetch for all partitions that can take records, then each by itself. */
export class Runner {
  readonly #options: RunOptions
  readonly #reader: LogReader
  readonly #decoder: Decoder
  readonly #slots = new Map<string, Slot>()
  readonly #lags = new Map<string, Lag>()
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

  /** Records not yet applied, of each input of each partition that is here, as of the last fetch. */
  lags(): Lag[] {
    return [...this.#lags.values()].filter(({ processor, partition }) => this.#slots.has(`${processor}-${partition}`))
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
    const { ports, snapshots, partitions } = this.#options
    return new Slot(row, partition, {
      ports,
      snapshots,
      partitions,
      decoder: this.#decoder,
      onWant: () => this.#wake(),
      onWorked: (slices, positions) => this.#measure(row, slices, positions),
      onFatal: (error) => this.#fail({ exitCode: 4, code: error.code, message: error.message }),
    })
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      const asking = [...this.#slots.values()].flatMap((slot) => {
        const wanted = slot.wants()
        return wanted === undefined ? [] : [{ slot, wanted }]
      })
      const rounds = roundsOf(asking)
      if (asking.length === 0) await this.#waitFor(FETCH_WAIT_MS)
      // Whoever is behind another has records to read: none of the fetches may wait for new ones.
      for (const round of rounds) await this.#round(round, rounds.length > 1 || asking.length < this.#slots.size)
      const reason = this.#watch.check(this.#slots.values(), this.#options.ports.clock.now())
      if (reason !== undefined) this.#fail(reason)
    }
  }

  /** Waits until a partition wants records, at most `ms`. */
  #waitFor(ms: number): Promise<void> {
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    return Promise.race([woken, this.#options.ports.clock.delay(ms)])
  }

  /** One fetch for all that ask; each works on its own slices while the next fetch is under way. */
  async #round(asking: readonly Asking[], isHurried: boolean): Promise<void> {
    const positions = new Map(asking.flatMap(({ wanted }) => wanted.map((position) => [nameOf(position), position])))
    const slices = await this.#fetch([...positions.values()], isHurried)
    if (slices === undefined) return
    const found = new Map(slices.map((slice) => [nameOf(slice), slice]))
    for (const { slot, wanted } of asking) {
      const own = wanted.flatMap((position) => found.get(nameOf(position)) ?? [])
      if (own.length === wanted.length) slot.offer(wanted, own)
    }
  }

  /** What the log has there; undefined after an error, which is waited out. */
  async #fetch(positions: readonly Position[], isHurried: boolean): Promise<Slice[] | undefined> {
    const { clock, report } = this.#options.ports
    const maxWaitMs = isHurried ? FETCH_WAIT_BUSY_MS : FETCH_WAIT_MS
    try {
      const options = { maxWaitMs, maxBytesPerPartition: FETCH_BYTES_PER_PARTITION }
      const slices = await this.#reader.fetch(positions, options)
      const there = slices.filter((slice) => slice.error !== 'moved')
      if (there.length < slices.length) await clock.delay(FETCH_RETRY_MS)
      if (there.length > 0) this.#watch.fetched(clock.now())
      else if (this.#watch.isFirstFailure()) report.warn({}, 'no broker answers; trying again')
      return there
    } catch (error) {
      if (this.#watch.isFirstFailure()) report.warn({ err: error }, 'fetch failed; trying again')
      await clock.delay(FETCH_RETRY_MS)
      return undefined
    }
  }

  #measure(row: ProcessorRow, slices: readonly Slice[], positions: readonly Position[]): void {
    const now = this.#options.ports.clock.now()
    for (const { topic, partition, offset } of positions) {
      const end = slices.find((slice) => slice.topic === topic)?.end ?? offset
      const input = `${row.name} ${topic}-${partition}`
      this.#lags.set(input, { processor: row.name, topic, partition, records: Math.max(0, end - offset) })
      this.#watch.at(input, offset, end, now)
    }
  }
}

interface Asking {
  readonly slot: Slot
  readonly wanted: readonly Position[]
}

/**
 * Those who ask, in as few fetches as there may be: a fetch asks each partition of a topic from one offset, and of two
 * processors that read the same topic one may be ahead. What is read for it would be a hole for the other.
 */
function roundsOf(asking: readonly Asking[]): Asking[][] {
  const rounds: { readonly from: Map<string, number>; readonly asking: Asking[] }[] = []
  for (const one of asking) {
    const fits = (from: ReadonlyMap<string, number>): boolean =>
      one.wanted.every((position) => (from.get(nameOf(position)) ?? position.offset) === position.offset)
    let round = rounds.find(({ from }) => fits(from))
    if (round === undefined) {
      round = { from: new Map(), asking: [] }
      rounds.push(round)
    }
    for (const position of one.wanted) round.from.set(nameOf(position), position.offset)
    round.asking.push(one)
  }
  return rounds.map((round) => round.asking)
}

function nameOf({ topic, partition }: TopicPartition): string {
  return `${topic}-${partition}`
}
