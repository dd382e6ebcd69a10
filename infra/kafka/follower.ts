import { setTimeout as delay } from 'node:timers/promises'
import { isCompacted, type TopicName } from '../../schemas/topics.ts'
import type { Logger } from '../log.ts'
import { readHostClocks, Lease, type ClockReading } from './wire/lease.ts'
import type { LogReader, LogRecord, Position, Slice } from './seam.ts'
import { FOLLOWED_WITHIN_MS } from './topic-settings.ts'

const FETCH = { maxWaitMs: 500, maxBytesPerPartition: 1024 * 1024 }
/** After a fetch that failed beyond what the reader mends by itself, milliseconds. */
const PAUSE_MS = 1_000

/** A partition of a topic of ours. */
export interface Followed {
  readonly topic: TopicName
  readonly partition: number
}

export interface FollowerOptions {
  /** A reader of its own: its fetches wait long. */
  readonly reader: LogReader
  readonly log: Logger
  /** Least time from a fetch to the next, milliseconds (default 0: as soon as there is something). Fewer are cheaper. */
  readonly everyMs?: () => number
  readonly take: (record: LogRecord, from: Followed) => Promise<void> | void
  /**
   * Where the log goes on that is not the one that was read up to a position; undefined: it is the same. `last`: what was
   * read of it last.
   */
  readonly differsAt?: (position: Position, last: LogRecord) => Promise<number | undefined>
  /**
   * Called when something was missed of a partition: a compacted topic's end was not seen for so long that tombstones may
   * have gone, what lies at the position was deleted, or the log is another one than was read. What was told of it is void;
   * gives from where it, and whatever else was told with it, is told again. Left out: it goes on where the log differs.
   */
  readonly onMissed?: (missed: Followed) => Promise<readonly Position[]>
  /** The host's clocks. */
  readonly moment?: () => ClockReading
}

interface FollowedPartition {
  readonly topic: TopicName
  readonly partition: number
  offset: number
  last: LogRecord | undefined
  /** Since its end was last seen. */
  readonly lease: Lease
  isAtEnd: boolean
  /** Begun anew, so that ends from before may not be there any more; until it has seen the end. */
  isAnew: boolean
}

interface Waiting {
  readonly ends: readonly Position[]
  readonly done: () => void
}

/** Follows partitions of topics by one fetch for all of them, and tells each record once, in the order of its partition. */
export class Follower {
  readonly #options: FollowerOptions
  readonly #places = new Map<string, FollowedPartition>()
  readonly #waiting = new Set<Waiting>()
  readonly #looking = new Set<() => void>()
  readonly #moment: () => ClockReading
  #pause = new AbortController()
  #closed = false
  #running: Promise<void> = Promise.resolve()

  constructor(options: FollowerOptions) {
    this.#options = options
    this.#moment = options.moment ?? readHostClocks
  }

  /** Starts at these positions. */
  start(from: readonly Position[]): void {
    this.#begin(from)
    this.#running = this.#run()
  }

  /** Goes on at these positions instead: what was told of their partitions is void. */
  seek(to: readonly Position[]): void {
    this.#begin(to, true)
  }

  /** Resolves when every record before `ends` was told. `Catching` waits once at a time, whatever its callers do. */
  reach(ends: readonly Position[]): Promise<void> {
    if (this.#has(ends)) return Promise.resolve()
    this.#pause.abort()
    return new Promise((resolve) => this.#waiting.add({ ends, done: resolve }))
  }

  /** Fetches at once, however lately it did; resolves when that is over. */
  look(): Promise<void> {
    this.#pause.abort()
    return new Promise((resolve) => this.#looking.add(resolve))
  }

  /** Where it reads on, of each partition, and whether its last fetch saw the end. */
  get positions(): readonly (Position & { readonly isAtEnd: boolean })[] {
    return [...this.#places.values()].map(({ topic, partition, offset, isAtEnd }) => ({
      topic,
      partition,
      offset,
      isAtEnd,
    }))
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#pause.abort()
    await this.#options.reader.close()
    await this.#running
  }

  #begin(from: readonly Position[], isAnew = false): void {
    const moment = this.#moment()
    for (const { topic, partition, offset } of from)
      this.#places.set(nameOf({ topic, partition }), {
        topic: topic as TopicName, // positions are of topics of ours
        partition,
        offset,
        last: undefined,
        lease: new Lease(FOLLOWED_WITHIN_MS, moment, this.#moment),
        isAtEnd: false,
        isAnew,
      })
  }

  async #run(): Promise<void> {
    const { reader, log, everyMs = () => 0 } = this.#options
    while (!this.#closed) {
      const next = performance.now() + everyMs()
      this.#pause = new AbortController()
      try {
        const asked = this.#moment()
        const from = [...this.#places.values()].map(({ topic, partition, offset }) => ({ topic, partition, offset }))
        const slices = await reader.fetch(from, FETCH)
        const missed = this.#expired()
        if (missed !== undefined) await this.#beginAnew(missed)
        else for (const slice of slices) await this.#take(slice, asked)
      } catch (error) {
        if (this.#closed) return
        log.warn({ err: error }, 'the log cannot be followed just now')
        await delay(PAUSE_MS)
      }
      this.#tellReached()
      await this.#pauseUntil(next)
    }
    this.#tellLooked()
  }

  /** Until that time of the process, or until somebody wants it to look; not while somebody waits for a position. */
  async #pauseUntil(next: number): Promise<void> {
    this.#tellLooked()
    const early = next - performance.now()
    if (early > 0 && this.#waiting.size === 0)
      await delay(early, undefined, { signal: this.#pause.signal }).catch(() => undefined)
  }

  #tellLooked(): void {
    for (const done of this.#looking) done()
    this.#looking.clear()
  }

  /** A partition of a compacted topic of which tombstones may have been missed. */
  #expired(): FollowedPartition | undefined {
    if (this.#options.onMissed === undefined) return undefined
    return [...this.#places.values()].find(({ topic, lease }) => isCompacted(topic) && !lease.holds)
  }

  async #beginAnew({ topic, partition }: Followed): Promise<void> {
    this.#options.log.warn({ topic, partition }, 'something of a topic was missed; reading it again')
    this.#begin((await this.#options.onMissed?.({ topic, partition })) ?? [], true)
  }

  async #take(slice: Slice, asked: ClockReading): Promise<void> {
    const { records, next, end, error } = slice
    const followed = this.#places.get(nameOf(slice))
    if (followed === undefined || followed.offset !== slice.from || error === 'moved') return
    const differs = await this.#differsAt(followed, slice)
    if (differs !== undefined) return this.#miss(followed, differs)
    for (const record of records) {
      await this.#options.take(record, followed)
      followed.offset = record.offset + 1
      followed.last = record
    }
    if (records.length > 0 && followed.last !== undefined) followed.last = unshared(followed.last)
    followed.offset = next
    followed.isAtEnd = error === undefined && next >= end
    if (followed.isAtEnd) followed.lease.renewed(asked)
  }

  /** Where it goes on if what was told of it is not what the log says any more. */
  async #differsAt({ topic, partition, offset, last }: FollowedPartition, slice: Slice): Promise<number | undefined> {
    const { differsAt } = this.#options
    const { records, error, start } = slice
    const isOut = error === 'out-of-range'
    const isNewEpoch = last?.epoch !== undefined && records[0]?.epoch !== undefined && records[0].epoch !== last.epoch
    if (!isOut && !isNewEpoch) return undefined
    const next = last === undefined ? undefined : await differsAt?.({ topic, partition, offset }, last)
    return next ?? (isOut ? start : undefined)
  }

  /** Something of a partition is gone: what was told of it is void, or it goes on at `next`. */
  async #miss(followed: FollowedPartition, next: number): Promise<void> {
    if (this.#options.onMissed !== undefined) return this.#beginAnew(followed)
    const { topic, partition, offset } = followed
    this.#options.log.warn({ topic, partition, offset, next }, 'the log is not what was read of it; going on at `next`')
    this.#begin([{ topic, partition, offset: next }], true)
  }

  #tellReached(): void {
    for (const waiting of this.#waiting) {
      if (!this.#has(waiting.ends)) continue
      this.#waiting.delete(waiting)
      waiting.done()
    }
    for (const followed of this.#places.values()) if (followed.isAtEnd) followed.isAnew = false
  }

  #has(ends: readonly Position[]): boolean {
    return ends.every((end) => {
      const followed = this.#places.get(nameOf(end))
      return followed !== undefined && (followed.offset >= end.offset || (followed.isAnew && followed.isAtEnd))
    })
  }
}

/** The record in memory of its own: its bytes are a part of a whole answer of the broker, which would be kept for it. */
function unshared(record: LogRecord): LogRecord {
  const { key, value } = record
  return { ...record, key: key && Buffer.from(key), value: value && Buffer.from(value) }
}

/** Positions of all partitions of a topic: at its start, its end, or the first record at or after a time (milliseconds). */
export async function positionsAt(
  reader: LogReader,
  { topic, partitions }: { readonly topic: TopicName; readonly partitions: number },
  at: Parameters<LogReader['offsets']>[2],
): Promise<Position[]> {
  const offsets = await reader.offsets(topic, [...Array(partitions).keys()], at)
  return [...offsets].map(([partition, offset]) => ({ topic, partition, offset }))
}

function nameOf({ topic, partition }: { readonly topic: string; readonly partition: number }): string {
  return `${topic}/${partition}`
}
