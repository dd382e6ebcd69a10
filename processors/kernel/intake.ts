import type { LogReader, Position, Slice, TopicPartition } from '../../infra/kafka/seam.ts'
import { PartitionOwner, type OwnerOptions, type PartitionWork } from './partition-owner.ts'
import type { Ports } from './ports.ts'
import type { Watch } from './watch.ts'

/** Longest wait of a fetch for a first record. With `minBytes` 1 it delays nothing; it bounds the idle cost. */
const FETCH_WAIT_MS = 500
/** While a partition cannot take records its turn must come soon after, so the fetch for the others is a short one. */
const FETCH_WAIT_BUSY_MS = 3
const FETCH_RETRY_MS = 100
const FETCH_BYTES_PER_PARTITION = 512 * 1024

/** A processor or service, whose partitions a host has that its membership says. */
export interface Hosted<Work> extends Pick<OwnerOptions<Work>, 'name' | 'membership' | 'open'> {
  /** Least time between two fetches, milliseconds, where nobody waits for what it makes. Left out: none. */
  readonly paceMs?: number | undefined
  /**
   * Longest wait of the next fetch for a first record, milliseconds: what time brings is looked at after each. Left out, or
   * undefined: 500.
   */
  readonly waitMs?: () => number | undefined
  /** Called after each fetch. */
  readonly onRound?: () => void
}

export interface IntakeOptions<Work> extends Pick<OwnerOptions<Work>, 'onFatal'> {
  readonly hosted: Hosted<Work>
  readonly ports: Pick<Ports, 'log' | 'clock' | 'meter' | 'report'>
  readonly watch: Watch
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
 * Reads for one processor or service: one fetch for all its partitions here that can take records, then each works by
 * itself. It has a connection of its own, so that a processor with little to do does not wait for one with much.
 */
export class Intake<Work extends PartitionWork> {
  readonly name: string
  readonly #options: IntakeOptions<Work>
  readonly #reader: LogReader
  readonly #owners = new Map<number, PartitionOwner<Work>>()
  readonly #lags = new Map<string, InputLag>()
  #isStopping = false
  /** The last fetch left something of a partition for the next. */
  #isBehind = false
  #wake: () => void = () => undefined
  #endPause: () => void = () => undefined
  readonly #loop: Promise<void>

  constructor(options: IntakeOptions<Work>) {
    this.name = options.hosted.name
    this.#options = options
    this.#reader = options.ports.log.reader()
    options.hosted.membership.onChange((partitions) => this.#assign(partitions))
    this.#loop = this.#run()
  }

  owners(): Iterable<PartitionOwner<Work>> {
    return this.#owners.values()
  }

  /** Records not yet applied, of each input of each partition that is here, as of the last fetch. */
  lags(): InputLag[] {
    return [...this.#lags.values()].filter(({ partition }) => this.#owners.has(partition))
  }

  /** A clean end: fetching stops, what is running finishes and is written. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#wake()
    this.#endPause()
    await this.#loop
    await this.#reader.close()
    await Promise.all([...this.#owners.values()].map((owner) => owner.stop()))
    this.#owners.clear()
  }

  #assign(partitions: readonly number[]): void {
    if (this.#isStopping) return
    const assigned = new Set(partitions)
    for (const [partition, owner] of this.#owners) {
      if (assigned.has(partition)) continue
      owner.drop()
      this.#owners.delete(partition)
    }
    for (const partition of assigned) {
      if (!this.#owners.has(partition)) this.#owners.set(partition, this.#owner(partition))
    }
    this.#options.ports.report.info({ processor: this.name, partitions: [...assigned] }, 'partitions assigned')
  }

  #owner(partition: number): PartitionOwner<Work> {
    const { hosted, ports, onFatal } = this.#options
    return new PartitionOwner(partition, {
      ...hosted,
      ports,
      onFatal,
      onWant: () => this.#wake(),
      onWorked: (slices, positions) => this.#measure(slices, positions),
    })
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      const asking = [...this.#owners.values()].flatMap((owner) => {
        const wanted = owner.wants()
        return wanted === undefined ? [] : [{ owner, wanted }]
      })
      await (asking.length === 0 ? this.#waitFor(FETCH_WAIT_MS) : this.#round(asking))
      for (const { work } of this.#owners.values()) work?.tick?.()
      this.#options.hosted.onRound?.()
      this.#options.onRound()
      await this.#pace()
    }
  }

  /** A processor that nobody waits for takes its records in larger batches; while it is behind it goes on at once. */
  async #pace(): Promise<void> {
    const { paceMs } = this.#options.hosted
    if (paceMs === undefined || this.#isBehind || this.#isStopping) return
    // One of its own each time: a promise that outlives races keeps something of each.
    const ended = new Promise<void>((resolve) => {
      this.#endPause = resolve
    })
    await Promise.race([ended, this.#options.ports.clock.delay(paceMs)])
  }

  /** Waits until a partition wants records, at most `ms`. */
  #waitFor(ms: number): Promise<void> {
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    return Promise.race([woken, this.#options.ports.clock.delay(ms)])
  }

  /** One fetch for all that ask; each works on its own slices while the next fetch is under way. */
  async #round(asking: readonly Asking<Work>[]): Promise<void> {
    const isHurried = asking.length < this.#owners.size
    const slices = await this.#fetch(
      asking.flatMap(({ wanted }) => wanted),
      isHurried,
    )
    this.#isBehind = slices.some(({ next, end }) => next < end)
    const found = new Map(slices.map((slice) => [nameOf(slice), slice]))
    for (const { owner, wanted } of asking) {
      const own = wanted.flatMap((position) => found.get(nameOf(position)) ?? [])
      if (own.length === wanted.length) owner.offer(wanted, own)
    }
  }

  /** What the log has there; nothing of what could not be asked, which is waited out. */
  async #fetch(positions: readonly Position[], isHurried: boolean): Promise<Slice[]> {
    const { hosted, ports, watch } = this.#options
    const { report } = ports
    const maxWaitMs = isHurried ? FETCH_WAIT_BUSY_MS : (hosted.waitMs?.() ?? FETCH_WAIT_MS)
    try {
      const options = { maxWaitMs, maxBytesPerPartition: FETCH_BYTES_PER_PARTITION }
      const slices = await this.#reader.fetch(positions, options)
      const there = slices.filter((slice) => slice.error !== 'moved')
      if (there.length < slices.length) await this.#interrupted()
      if (there.length > 0) this.#note(slices)
      else if (watch.isFirstFailure(this.name)) report.warn({}, 'no broker answers; trying again')
      return there
    } catch (error) {
      if (watch.isFirstFailure(this.name)) report.warn({ err: error }, 'fetch failed; trying again')
      await this.#interrupted()
      return []
    }
  }

  /** Some partition was read; one without a leader would be hidden by it. */
  #note(slices: readonly Slice[]): void {
    const { watch, ports } = this.#options
    const now = ports.clock.steady()
    watch.fetched(this.name, now)
    for (const { topic, partition, error } of slices) {
      const input = this.#inputOf({ topic, partition })
      if (error !== 'moved') watch.found(input)
      else if (watch.isMissing(input, now))
        ports.report.error({ processor: this.name, topic, partition }, 'a partition cannot be read: has it a leader?')
    }
  }

  /** A broker was away: also those that were not asked for check what they have read, when it is back. */
  #interrupted(): Promise<void> {
    for (const owner of this.#owners.values()) owner.interrupted()
    return this.#options.ports.clock.delay(FETCH_RETRY_MS)
  }

  #measure(slices: readonly Slice[], positions: readonly Position[]): void {
    const { ports, watch } = this.#options
    const now = ports.clock.steady()
    for (const { topic, partition, offset } of positions) {
      const end = slices.find((slice) => slice.topic === topic)?.end ?? offset
      const input = this.#inputOf({ topic, partition })
      this.#lags.set(input, { topic, partition, records: Math.max(0, end - offset) })
      watch.at(input, offset, end, now)
    }
  }

  #inputOf(place: TopicPartition): string {
    return `${this.name} ${nameOf(place)}`
  }
}

interface Asking<Work extends PartitionWork> {
  readonly owner: PartitionOwner<Work>
  readonly wanted: readonly Position[]
}

function nameOf({ topic, partition }: TopicPartition): string {
  return `${topic}-${partition}`
}
