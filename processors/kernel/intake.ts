import type { LogReader, Membership, Position, Slice, TopicPartition } from '../../infra/kafka/seam.ts'
import type { Ports } from './ports.ts'
import type { ProcessorRow } from './processor.ts'
import { Slot, type SlotOptions } from './slot.ts'
import type { Watch } from './watch.ts'

/** Longest wait of a fetch for a first record. With `minBytes` 1 it delays nothing; it bounds the idle cost. */
const FETCH_WAIT_MS = 100
/** While a partition cannot take records its turn must come soon after, so the fetch for the others is a short one. */
const FETCH_WAIT_BUSY_MS = 3
const FETCH_RETRY_MS = 100
const FETCH_BYTES_PER_PARTITION = 512 * 1024

export interface IntakeOptions {
  readonly row: ProcessorRow
  readonly membership: Membership
  readonly ports: Ports
  readonly watch: Watch
  /** Of each partition's slot; the intake adds what concerns itself. */
  readonly slots: Omit<SlotOptions, 'onWant' | 'onWorked'>
  /** Called after each fetch. */
  readonly onRound: () => void
}

/** How far an input of a partition is behind its end, records. */
export interface InputLag {
  readonly topic: string
  readonly partition: number
  readonly records: number
}

/**
 * Reads for one processor: one fetch for all its partitions here that can take records, then each works by itself. It has
 * a connection of its own, so that a processor with little to do does not wait for one with much.
 */
export class Intake {
  readonly row: ProcessorRow
  readonly #options: IntakeOptions
  readonly #reader: LogReader
  readonly #slots = new Map<number, Slot>()
  readonly #lags = new Map<string, InputLag>()
  #isStopping = false
  /** The last fetch left something of a partition for the next. */
  #isBehind = false
  #wake: () => void = () => undefined
  #stop: () => void = () => undefined
  readonly #stopped = new Promise<void>((resolve) => {
    this.#stop = resolve
  })
  readonly #loop: Promise<void>

  constructor(options: IntakeOptions) {
    this.row = options.row
    this.#options = options
    this.#reader = options.ports.log.reader()
    options.membership.onChange((partitions) => this.#assign(partitions))
    this.#loop = this.#run()
  }

  slots(): Iterable<Slot> {
    return this.#slots.values()
  }

  /** Records not yet applied, of each input of each partition that is here, as of the last fetch. */
  lags(): InputLag[] {
    return [...this.#lags.values()].filter(({ partition }) => this.#slots.has(partition))
  }

  /** A clean end: fetching stops, tasks finish and write their state. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#wake()
    this.#stop()
    await this.#loop
    await this.#reader.close()
    await Promise.all([...this.#slots.values()].map((slot) => slot.stop()))
    this.#slots.clear()
  }

  #assign(partitions: readonly number[]): void {
    if (this.#isStopping) return
    const assigned = new Set(partitions)
    for (const [partition, slot] of this.#slots) {
      if (assigned.has(partition)) continue
      slot.drop()
      this.#slots.delete(partition)
    }
    for (const partition of assigned) {
      if (!this.#slots.has(partition)) this.#slots.set(partition, this.#slot(partition))
    }
    this.#options.ports.report.info({ processor: this.row.name, partitions: [...assigned] }, 'partitions assigned')
  }

  #slot(partition: number): Slot {
    return new Slot(this.row, partition, {
      ...this.#options.slots,
      onWant: () => this.#wake(),
      onWorked: (slices, positions) => this.#measure(slices, positions),
    })
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      const asking = [...this.#slots.values()].flatMap((slot) => {
        const wanted = slot.wants()
        return wanted === undefined ? [] : [{ slot, wanted }]
      })
      await (asking.length === 0 ? this.#waitFor(FETCH_WAIT_MS) : this.#round(asking))
      this.#options.onRound()
      await this.#pace()
    }
  }

  /** A processor that nobody waits for takes its records in larger batches; while it is behind it goes on at once. */
  async #pace(): Promise<void> {
    const { paceMs } = this.row
    if (paceMs === undefined || this.#isBehind || this.#isStopping) return
    await Promise.race([this.#stopped, this.#options.ports.clock.delay(paceMs)])
  }

  /** Waits until a partition wants records, at most `ms`. */
  #waitFor(ms: number): Promise<void> {
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    return Promise.race([woken, this.#options.ports.clock.delay(ms)])
  }

  /** One fetch for all that ask; each works on its own slices while the next fetch is under way. */
  async #round(asking: readonly Asking[]): Promise<void> {
    const isHurried = asking.length < this.#slots.size
    const slices = await this.#fetch(
      asking.flatMap(({ wanted }) => wanted),
      isHurried,
    )
    this.#isBehind = slices?.some(({ next, end }) => next < end) ?? false
    if (slices === undefined) return
    const found = new Map(slices.map((slice) => [nameOf(slice), slice]))
    for (const { slot, wanted } of asking) {
      const own = wanted.flatMap((position) => found.get(nameOf(position)) ?? [])
      if (own.length === wanted.length) slot.offer(wanted, own)
    }
  }

  /** What the log has there; undefined after an error, which is waited out. */
  async #fetch(positions: readonly Position[], isHurried: boolean): Promise<Slice[] | undefined> {
    const { ports, watch } = this.#options
    const { clock, report } = ports
    const maxWaitMs = isHurried ? FETCH_WAIT_BUSY_MS : FETCH_WAIT_MS
    try {
      const options = { maxWaitMs, maxBytesPerPartition: FETCH_BYTES_PER_PARTITION }
      const slices = await this.#reader.fetch(positions, options)
      const there = slices.filter((slice) => slice.error !== 'moved')
      if (there.length < slices.length) await clock.delay(FETCH_RETRY_MS)
      if (there.length > 0) watch.fetched(this.row.name, clock.now())
      else if (watch.isFirstFailure(this.row.name)) report.warn({}, 'no broker answers; trying again')
      return there
    } catch (error) {
      if (watch.isFirstFailure(this.row.name)) report.warn({ err: error }, 'fetch failed; trying again')
      await clock.delay(FETCH_RETRY_MS)
      return undefined
    }
  }

  #measure(slices: readonly Slice[], positions: readonly Position[]): void {
    const { ports, watch } = this.#options
    const now = ports.clock.now()
    for (const { topic, partition, offset } of positions) {
      const end = slices.find((slice) => slice.topic === topic)?.end ?? offset
      const input = `${this.row.name} ${topic}-${partition}`
      this.#lags.set(input, { topic, partition, records: Math.max(0, end - offset) })
      watch.at(input, offset, end, now)
    }
  }
}

interface Asking {
  readonly slot: Slot
  readonly wanted: readonly Position[]
}

function nameOf({ topic, partition }: TopicPartition): string {
  return `${topic}-${partition}`
}
