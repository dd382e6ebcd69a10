import type { LogReader, LogRecord, Slice } from '../../infra/kafka/seam.ts'
import type { Message, Micros, Snapshot } from '../../schemas/records.ts'
import { topicOf, type TopicName } from '../../schemas/topics.ts'
import { DeadLetters } from './dead-letters.ts'
import type { Decoder } from './decoder.ts'
import { guarded } from './errors.ts'
import { Failures } from './failures.ts'
import { Fold, isOpen } from './fold.ts'
import { readGaps } from './log-gaps.ts'
import type { CaughtUp, Opened } from './open-state.ts'
import { Outputs } from './outputs.ts'
import type { Ports } from './ports.ts'
import { recordBefore, stoodNowhere, stoodOn, wholeSince } from './position-check.ts'
import type { Output, ProcessorRow } from './processor.ts'
import { isWhole, POSITION_KEY, writerGeneration } from './snapshot.ts'
import { generationOf, offsetOf } from './version.ts'

/** So much record time before the end is left to be told by whoever takes the place: none of it is told by nobody. */
const LEFT_MS = 60_000
/** What both generations told of so long before is compared. */
const COMPARED_MS = 300_000
const COMPARED_MAX = 50_000
const FETCH = { maxWaitMs: 500, maxBytesPerPartition: 512 * 1024 }
/** Behind a state lie only marks of claims, a few. */
const BEHIND_MAX = 128
/** It gives up where nothing could be read for so long. */
const STUCK_MS_MAX = 120_000

export interface BesideOptions {
  readonly ports: Ports
  readonly decoder: Decoder
  readonly partitions: number
}

/** How what both generations told of the same records differs. */
export interface Compared {
  readonly same: number
  readonly other: number
  /** Topic, type, key and place of one that differs. */
  readonly first: string | undefined
}

/** What was read of an input; a message is undefined where there is nothing to fold. */
interface Read {
  readonly topic: TopicName
  readonly from: number
  readonly next: number
  readonly entries: readonly { readonly record: LogRecord; readonly message: Message | undefined }[]
}

/**
 * A generation of a processor that catches up beside an older one, whose host goes on meanwhile: it folds one partition from
 * the log's start, in memory and without a claim. It stays a minute behind the older state, so that whoever takes the place
 * tells all that the other may not have told. What it tells of the past is written as it goes, where it is a table of past
 * times (`retold`); of the last minutes it is compared with what the other has told.
 */
export class Beside implements CaughtUp {
  readonly row: ProcessorRow
  readonly partition: number
  /** What it could not read: written by whoever takes the place. */
  readonly letters: DeadLetters
  readonly #options: BesideOptions
  readonly #older: Snapshot
  readonly #reader: LogReader
  readonly #outputs: Outputs
  readonly #next = new Map<TopicName, number>()
  readonly #last = new Map<TopicName, LogRecord>()
  readonly #parts = new Map<string, Buffer>()
  /** By identity, what it told of records from `#comparedFrom` on, milliseconds. */
  readonly #told = new Map<string, string>()
  #comparedFrom = 0
  #fold: Fold | undefined
  #left = Infinity
  #isSpent = false

  /** Undefined: the state is no older generation's. */
  static async find(row: ProcessorRow, partition: number, options: BesideOptions): Promise<Beside | undefined> {
    const older = await lastPosition(row, partition, options)
    if (older === undefined || older.generation >= row.generation || !isWhole(older)) return undefined
    return new Beside(row, partition, options, older)
  }

  private constructor(row: ProcessorRow, partition: number, options: BesideOptions, older: Snapshot) {
    const { ports, partitions } = options
    this.row = row
    this.partition = partition
    this.letters = new DeadLetters(row.name, partition, ports)
    this.#options = options
    this.#older = older
    this.#reader = ports.log.reader()
    this.#outputs = new Outputs(ports.codec, row, { own: partition, partitions })
  }

  /** For `/healthz`: records that lie before where it ends, as of the last look; null: it has not begun. */
  get report(): { readonly processor: string; readonly partition: number; readonly records: number | null } {
    const records = Number.isFinite(this.#left) ? this.#left : null
    return { processor: this.row.name, partition: this.partition, records }
  }

  /** It failed while it folded or wrote: what it holds is neither of before nor of behind that, and it cannot go on. */
  get isSpent(): boolean {
    return this.#isSpent
  }

  /**
   * Folds on up to a minute before the older state; whoever calls again goes on, unless it is spent. Rejects where a record
   * cannot be folded.
   */
  async catchUp(): Promise<void> {
    const { clock, log, report } = this.#options.ports
    const fold = (this.#fold ??= await this.#begin())
    await this.#meetGaps(fold)
    const to = await this.#ends()
    const since = Math.max(0, ...[...this.#last.values()].map(({ time }) => time))
    this.#comparedFrom = Math.max(since + 1, clock.now() - LEFT_MS - COMPARED_MS)
    this.#told.clear()
    const writer = log.writer()
    try {
      for (let at = clock.steady(); this.#isBehind(to); await clock.turn()) {
        const read = await this.#readOn(to)
        if (read.some(({ from, next }) => next > from)) at = clock.steady()
        else if (clock.steady() - at > STUCK_MS_MAX)
          throw new Error(`nothing could be read of ${this.row.inputs.join(', ')}`)
        this.#isSpent = true // where it fails before all of this is folded and written
        this.#foldIn(fold, read)
        for (const { topic, partition, sends } of this.#outputs.take())
          for (const records of sends) await writer.send(topic, partition, records)
        this.#isSpent = false
      }
    } finally {
      await writer.close()
    }
    const { partition, row } = this
    const position = { processor: row.name, partition, from: this.#older.generation, to: row.generation }
    const compared = await this.#compare()
    const text = 'a higher generation has caught up beside the older one'
    if (compared.other > 0) report.warn({ ...position, ...compared }, `${text}; they differ`)
    else report.info({ ...position, ...compared }, text)
  }

  opened(): Opened {
    if (this.#fold === undefined) throw new Error('nothing was folded yet')
    const fold = this.#fold
    this.#isSpent = true
    for (const [key, part] of guarded('flush', () => [...this.row.core.save(fold.state)])) {
      if (part === null) this.#parts.delete(key)
      else this.#parts.set(key, part)
    }
    this.#isSpent = false
    const now = this.#options.ports.clock.now()
    const stood = this.row.inputs.map((topic) => {
      const last = this.#last.get(topic)
      return [`${topic}/${this.partition}`, last === undefined ? stoodNowhere(now) : stoodOn(last)]
    })
    return {
      ...fold.moment(),
      state: fold.state,
      next: this.#next,
      stood: Object.fromEntries(stood),
      parts: this.#parts,
      failures: new Failures(),
    }
  }

  close(): Promise<void> {
    return this.#reader.close()
  }

  async #begin(): Promise<Fold> {
    const { partition, row } = this
    for (const topic of row.inputs)
      this.#next.set(topic, (await this.#reader.offsets(topic, [partition], 'start')).get(partition) ?? 0)
    const fold = Fold.empty(row, partition)
    fold.tellSince(await this.#wholeSince())
    return fold
  }

  #wholeSince(): Promise<Micros> {
    return wholeSince(this.#reader, this.row, this.partition, this.#options.ports.clock)
  }

  async #meetGaps(fold: Fold): Promise<void> {
    const { decoder } = this.#options
    const gaps = await readGaps(this.#reader, decoder, this.row.name, this.partition, this.letters)
    for (const told of gaps) fold.meet(told)
  }

  /** Where it ends, by input: what the older state has applied has been told. */
  async #ends(): Promise<ReadonlyMap<TopicName, number>> {
    const older = (await lastPosition(this.row, this.partition, this.#options)) ?? this.#older
    const time = this.#options.ports.clock.now() - LEFT_MS
    const ends = new Map<TopicName, number>()
    for (const topic of this.row.inputs) {
      const applied = older.generation < this.row.generation && isWhole(older) ? older.applied : this.#older.applied
      const early = (await this.#reader.offsets(topic, [this.partition], { time })).get(this.partition) ?? 0
      ends.set(topic, Math.min(early, (applied[topic] ?? -1) + 1))
    }
    return ends
  }

  #isBehind(to: ReadonlyMap<TopicName, number>): boolean {
    this.#left = 0
    for (const [topic, end] of to) this.#left += Math.max(0, end - (this.#next.get(topic) ?? 0))
    return this.#left > 0
  }

  /** What one fetch brings, decoded; nothing of it is folded yet. */
  async #readOn(to: ReadonlyMap<TopicName, number>): Promise<Read[]> {
    const wanted = [...this.#next].filter(([topic, next]) => next < (to.get(topic) ?? 0))
    const positions = wanted.map(([topic, offset]) => ({ topic, partition: this.partition, offset }))
    const read: Read[] = []
    for (const slice of await this.#reader.fetch(positions, FETCH)) {
      const topic = slice.topic as TopicName // of those that were asked for
      if (slice.error !== 'moved') read.push(await this.#decode(slice, { topic, end: to.get(topic) ?? 0 }))
    }
    return read
  }

  async #decode(
    { records, next, start, error }: Slice,
    { topic, end }: { readonly topic: TopicName; readonly end: number },
  ): Promise<Read> {
    const from = this.#next.get(topic) ?? 0
    const isCut = error === 'out-of-range' // retention has passed what lies before
    if (isCut) this.#fold?.tellSince(await this.#wholeSince())
    const reached = isCut ? start : next
    const entries: Read['entries'][number][] = []
    for (const record of records)
      if (record.offset >= from && record.offset < end)
        entries.push({ record, message: await this.#read(topic, record) })
    return { topic, from, next: Math.max(from, Math.min(reached, Math.max(end, start))), entries }
  }

  #foldIn(fold: Fold, read: readonly Read[]): void {
    for (const { topic, next, entries } of read) {
      for (const { record, message } of entries) {
        this.#outputs.time = record.time
        if (message !== undefined) guarded('apply', () => fold.apply(topic, record, message, this.#emit))
        this.#last.set(topic, record)
      }
      this.#next.set(topic, next)
    }
    guarded('flush', () => fold.flush(this.#emit))
  }

  async #read(topic: TopicName, record: LogRecord): Promise<Message | undefined> {
    const { decoder } = this.#options
    if (record.value === null || decoder.skips(record.value, this.row.reads)) return undefined
    try {
      const message = decoder.decode(record.value)
      if (message !== undefined) return message
    } catch (error) {
      return this.letters.setAside(topic, record, error)
    }
    return this.letters.read(decoder, topic, record)
  }

  readonly #emit = (output: Output): void => {
    const { message, topic } = output
    if (message === null) return
    // whoever takes the place tells what is open
    if (!isOpen(message) && this.row.retold?.(message) !== undefined) this.#outputs.emit(output)
    const id = identityOf(topic, output.key, message)
    if (id === undefined || this.#outputs.time < this.#comparedFrom || this.#told.size >= COMPARED_MAX) return
    this.#told.set(id, this.#saidBy(topic, message))
  }

  /** Of what both have told: the same record of the same key, that follows from the same place. */
  async #compare(): Promise<Compared> {
    const both = await this.#toldByOlder()
    const differing = [...both].filter(([id, value]) => this.#told.get(id) !== value)
    return { same: both.size - differing.length, other: differing.length, first: differing[0]?.[0] }
  }

  /** What the older one told last of each identity that this one has told as well. */
  async #toldByOlder(): Promise<Map<string, string>> {
    const { decoder } = this.#options
    const found = new Map<string, string>()
    for (const topic of this.row.outputs.filter((each) => topicOf(each).partitions !== 'receiver')) {
      const at = (await this.#reader.offsets(topic, [this.partition], { time: this.#comparedFrom })).get(this.partition)
      for await (const records of this.#reader.toEnd(topic, this.partition, at))
        for (const { key, value } of records) {
          if (value === null || key === null) continue
          const message = await decoder.decodeOrAsk(value)
          const id = this.#isOlder(message) ? identityOf(topic, String(key), message) : undefined
          if (id !== undefined && this.#told.has(id)) found.set(id, this.#saidBy(topic, message))
        }
    }
    return found
  }

  /** What a record says but for its version, as it is written. */
  #saidBy(topic: TopicName, { type, value }: Message): string {
    return this.#options.ports.codec.encode(topic, type, { ...value, v: 0 }).toString('latin1')
  }

  #isOlder({ value }: Message): boolean {
    return 'v' in value && generationOf(value.v) < this.row.generation
  }
}

/** Undefined for what has no version. */
function identityOf(topic: TopicName, key: string, { type, value }: Message): string | undefined {
  return 'v' in value ? `${topic} ${type} ${key} ${offsetOf(value.v)}` : undefined
}

/** What a state says of where it is, which is the last that is written of it; undefined: there is none, or it is far away. */
async function lastPosition(
  row: ProcessorRow,
  partition: number,
  { ports, decoder }: BesideOptions,
): Promise<Snapshot | undefined> {
  const { reader, clock } = ports
  const end = (await reader.offsets(row.state, [partition], 'end')).get(partition) ?? 0
  const position = { topic: row.state, partition, offset: end }
  let last: LogRecord | undefined
  for (let behind = 1; behind <= BEHIND_MAX && last === undefined; behind *= 2)
    last = await recordBefore(reader, position, (ms) => clock.delay(ms), behind)
  if (last?.key?.toString() !== POSITION_KEY || last.value === null) return undefined
  const message = await decoder.decodeOrAsk(last.value)
  if (message.type !== 'snapshot') return undefined
  return { ...message.value, generation: writerGeneration(message.value) }
}

/** Of each partition whose state is of an older generation of the processor: what is to take its place. */
export async function findBesides(
  row: ProcessorRow,
  partitions: readonly number[],
  options: BesideOptions,
): Promise<Map<number, Beside>> {
  const besides = new Map<number, Beside>()
  for (const partition of partitions) {
    const beside = await Beside.find(row, partition, options)
    if (beside !== undefined) besides.set(partition, beside)
  }
  return besides
}

/** Lets them catch up, one after the other. One that cannot is left out: its partition is then built again as it is owned. */
export async function catchUpAll(besides: Map<number, Beside>, report: Ports['report']): Promise<void> {
  for (const [partition, beside] of besides) {
    try {
      await beside.catchUp()
    } catch (error) {
      const position = { processor: beside.row.name, partition, err: error }
      report.warn(position, 'a higher generation could not catch up beside the older one; it is built when it is owned')
      besides.delete(partition)
      await beside.close()
    }
  }
}
