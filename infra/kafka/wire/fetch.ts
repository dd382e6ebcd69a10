import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../../log.ts'
import { codeText, verdictOf } from './codes.ts'
import { askEpochEnd, askOffsets, fetchRequest, LATEST, readAnswer, type Part } from './fetch-wire.ts'
import { apis, isMissingTopic, isTransient, type Link } from './internals.ts'
import { decodeBatches } from './record-batch.ts'
import { again, Backoff, retrying } from './retry.ts'
import { LogError, type FetchOptions, type LogReader, type LogRecord, type Position, type Slice } from '../seam.ts'

const OFFSETS_MS = 30_000
/** A topic that is said to be missing for this long is missing; one that was just made may only seem so. */
const MISSING_MS = 2_000
/** Reading to the end must come forward within this time. */
const STALL_MS = 60_000
const TO_END_WAIT_MS = 500
const TO_END_BYTES = 2 * 1024 * 1024
const ANSWER_MS = 10_000
const MOVED_PAUSE_MS = 50
const EARLIEST = -2

type Where = 'start' | 'end' | { readonly time: number }

/** Reads partitions without a consumer group, over connections of its own. */
export class Reader implements LogReader {
  readonly #link: Link
  readonly #namespace: string
  readonly #log: Logger | undefined
  readonly #told = new Set<string>()
  /** Since when a topic is said to be missing, by its full name. */
  readonly #missing = new Map<string, number>()
  readonly #ends = new Map<string, number>()
  readonly #backoff = new Backoff()
  #stale = false
  #closed = false

  constructor(link: Link, namespace: string, log?: Logger) {
    this.#link = link
    this.#namespace = namespace
    this.#log = log
  }

  async offsets(topic: string, partitions: readonly number[], at: Where): Promise<Map<number, number>> {
    if (at === 'start') return this.#listOffsets(topic, partitions, EARLIEST)
    // The ends first: what is appended between the two questions must not be passed over.
    const offsets = await this.#listOffsets(topic, partitions, LATEST)
    if (at === 'end') return offsets
    const found = await this.#listOffsets(topic, partitions, at.time)
    for (const [partition, offset] of found) if (offset >= 0) offsets.set(partition, offset)
    return offsets
  }

  async fetch(from: readonly Position[], options: FetchOptions): Promise<Slice[]> {
    this.#assertOpen()
    try {
      await this.#prepare(from)
      const slices = await this.#fetchAll(from, options)
      this.#stale = slices.some(({ topic, error }) => error === 'moved' && this.#link.knows(this.#namespace + topic))
      if (!slices.every(({ error }) => error === 'moved')) this.#backoff.reset()
      else if (slices.length > 0) await delay(Math.min(options.maxWaitMs, MOVED_PAUSE_MS))
      return slices
    } catch (error) {
      if (this.#closed || !isTransient(error)) throw error
      this.#stale = true
      await this.#backoff.wait()
      return from.map((position) => this.#moved(position))
    }
  }

  async endOfEpoch(topic: string, partition: number, epoch: number): Promise<number | undefined> {
    const end = await this.#ask(topic, 'epoch', (name) => askEpochEnd(this.#link, name, partition, epoch))
    return end < 0 ? undefined : end
  }

  toEnd(topic: string, partition: number, from?: number): AsyncIterable<readonly LogRecord[]> {
    const bounds = Promise.all([
      this.offsets(topic, [partition], 'end'),
      from === undefined ? this.offsets(topic, [partition], 'start') : new Map([[partition, from]]),
    ])
    bounds.catch(() => undefined) // told to whoever reads
    return this.#readToEnd(topic, partition, bounds)
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#link.close()
  }

  async *#readToEnd(
    topic: string,
    partition: number,
    bounds: Promise<readonly [ReadonlyMap<number, number>, ReadonlyMap<number, number>]>,
  ): AsyncIterable<readonly LogRecord[]> {
    const [ends, starts] = await bounds
    const end = ends.get(partition) ?? 0
    let offset = starts.get(partition) ?? 0
    let deadline = performance.now() + STALL_MS
    while (offset < end) {
      const [slice] = await this.fetch([{ topic, partition, offset }], {
        maxWaitMs: TO_END_WAIT_MS,
        maxBytesPerPartition: TO_END_BYTES,
      })
      const next = slice?.error === 'out-of-range' ? Math.max(slice.start, offset) : (slice?.next ?? offset)
      if (next > offset) deadline = performance.now() + STALL_MS
      if (performance.now() > deadline)
        throw new LogError('unavailable', `${topic}/${partition}: stuck at ${offset} of ${end}`)
      offset = next
      const records = slice?.records ?? []
      const wanted = next > end ? records.filter((record) => record.offset < end) : records
      if (wanted.length > 0) yield wanted
    }
  }

  async #prepare(from: readonly Position[]): Promise<void> {
    const topics = [...new Set(from.map(({ topic }) => this.#namespace + topic))]
    if (this.#stale && topics.some((topic) => this.#link.knows(topic))) await this.#link.refresh()
    await this.#know(topics)
  }

  /** What is known of the others does not depend on a topic that was deleted. */
  async #know(topics: readonly string[]): Promise<void> {
    try {
      await this.#link.know(topics)
    } catch (error) {
      if (!isMissingTopic(error)) throw error
      const [topic, ...others] = topics
      if (others.length > 0) for (const each of topics) await this.#know([each])
      else if (topic !== undefined) this.#miss(topic)
    }
  }

  #miss(topic: string): void {
    const since = this.#missing.get(topic) ?? performance.now()
    this.#missing.set(topic, since)
    if (performance.now() - since > MISSING_MS)
      this.#tell(`topic ${topic} does not exist; npx node infra/prepare.ts makes it`)
  }

  async #fetchAll(from: readonly Position[], options: FetchOptions): Promise<Slice[]> {
    const byLeader = Map.groupBy(from, ({ topic, partition }) =>
      this.#link.leaderOf(this.#namespace + topic, partition),
    )
    const answers = await Promise.all(
      [...byLeader].map(([node, positions]) =>
        node === undefined
          ? Promise.resolve(positions.map((position) => this.#moved(position)))
          : this.#fetchFrom(node, positions, options),
      ),
    )
    const slices = answers.flat()
    for (const { topic, partition, end, error } of slices) {
      if (error === undefined) this.#ends.set(`${topic}/${partition}`, end)
    }
    return Promise.all(slices.map((slice) => this.#withBounds(slice)))
  }

  async #fetchFrom(node: number, positions: readonly Position[], options: FetchOptions): Promise<Slice[]> {
    const answer = await this.#link.call(node, {
      key: apis.fetch,
      version: 11,
      name: 'Fetch',
      body: fetchRequest(positions, options, this.#namespace),
      withinMs: options.maxWaitMs + ANSWER_MS,
    })
    const wanted = new Map(
      positions.map((position) => [`${this.#namespace}${position.topic}/${position.partition}`, position]),
    )
    return readAnswer(answer).flatMap((part) => {
      const position = wanted.get(`${part.topic}/${part.partition}`)
      return position === undefined ? [] : [this.#slice(part, position)]
    })
  }

  #slice({ code, start, end, bytes }: Part, position: Position): Slice {
    const { topic, partition, offset } = position
    switch (verdictOf(code)) {
      case 'ok': {
        const records: LogRecord[] = []
        const next = decodeBatches(bytes, offset, records)
        return { topic, partition, from: offset, records, next, end, start }
      }
      case 'out-of-range':
        return { ...nowhere(position), end: offset, error: 'out-of-range' }
      case 'retry':
      case 'stale':
      case 'no-topic':
        return this.#moved(position)
      case 'fenced':
      case 'lost-sequence':
      case 'refused':
        this.#tell(`the broker does not give ${topic}/${partition}: ${codeText(code)}`)
        return this.#moved(position)
    }
  }

  /** Asked for again and again, told once. */
  #tell(what: string): void {
    if (!this.#told.has(what)) this.#log?.error(what)
    this.#told.add(what)
  }

  #moved(position: Position): Slice {
    const { topic, partition, offset } = position
    return { ...nowhere(position), end: this.#ends.get(`${topic}/${partition}`) ?? offset, error: 'moved' }
  }

  /** The broker does not say the bounds of a partition together with "out of range". */
  async #withBounds(slice: Slice): Promise<Slice> {
    if (slice.error !== 'out-of-range') return slice
    const { topic, partition } = slice
    const [starts, ends] = await Promise.all([
      this.offsets(topic, [partition], 'start'),
      this.offsets(topic, [partition], 'end'),
    ])
    return { ...slice, start: starts.get(partition) ?? slice.start, end: ends.get(partition) ?? slice.end }
  }

  #listOffsets(topic: string, partitions: readonly number[], time: number): Promise<Map<number, number>> {
    return this.#ask(topic, 'offsets', async (name) => {
      const found = await askOffsets(this.#link, name, partitions, time)
      return found && new Map([...found].map(([partition, { offset }]) => [partition, offset]))
    })
  }

  /** Asks about a topic, by its full name, until there is an answer. */
  #ask<Answer extends object | number>(
    topic: string,
    what: string,
    question: (name: string) => Promise<Answer | undefined>,
  ): Promise<Answer> {
    const name = this.#namespace + topic
    const asked = performance.now()
    let stale = false
    return retrying(`${what} of ${topic}`, OFFSETS_MS, async () => {
      this.#assertOpen()
      if (stale && this.#link.knows(name)) await this.#link.refresh()
      stale = true
      await this.#link.know([name]).catch((error: unknown) => {
        if (!isMissingTopic(error) || performance.now() - asked < MISSING_MS) throw error
        throw new LogError('no-topic', `topic ${name} does not exist`, { cause: error })
      })
      return (await question(name)) ?? again
    })
  }

  #assertOpen(): void {
    if (this.#closed) throw new LogError('closed', 'the reader is closed')
  }
}

/** Nothing was read. */
function nowhere({ topic, partition, offset }: Position): Omit<Slice, 'end' | 'error'> {
  return { topic, partition, from: offset, records: [], next: offset, start: offset }
}
