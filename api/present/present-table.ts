import { setTimeout as delay } from 'node:timers/promises'
import type { RegistryCodec } from '../../infra/kafka/codec.ts'
import { Follower, positionsAt, type Followed } from '../../infra/kafka/follower.ts'
import type { Log, LogReader, LogRecord, Position } from '../../infra/kafka/seam.ts'
import { Fold } from '../../processors/kernel/fold.ts'
import { StateFold, type Found } from '../../processors/kernel/snapshot.ts'
import { isHeld, presentReads, presentRow, takeIn } from '../../processors/present/present.ts'
import { drop, emptyPresent, type PresentState } from '../../processors/present/state.ts'
import type { Message, RecordType, Snapshot } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { differsAt } from '../log/followed-log.ts'
import { LogConnection, type LogAccess } from '../log/log-connection.ts'
import type { Unread } from '../log/unread.ts'
import { Present } from './present.ts'

/** What answers are as new as; the other topics tell of venues, subscriptions and time, once a second. */
const prompt: ReadonlySet<TopicName> = new Set([
  'market.tickers',
  'market.liquidations',
  'derived.flow',
  'derived.funding',
  'derived.signals',
  'alerts.inputs',
])
const inputs: ReadonlySet<TopicName> = new Set(presentRow.inputs)
/** Beside what the present is made of: what is only told on. */
const reads: ReadonlySet<RecordType> = new Set<RecordType>([...presentReads, 'signal'])
/** Between two fetches, milliseconds: of what answers are as new as, of the other topics, and of all while nobody asks. */
const PROMPT_EVERY_MS = 20
const OTHERS_EVERY_MS = 500
const UNASKED_EVERY_MS = 2_000
/** Who asks twice within this time is one who asks, for as long again after the last question, milliseconds. */
const ASKED_MS = 5_000
/** A question waits this long at most for a fetch, milliseconds. */
const LOOK_MS = 100
/** Topics of one partition, held from their start: they have one record for each key, or change seldom. */
const common: readonly TopicName[] = ['market.tokens', 'market.instruments']
const GIVE_UP_MS = 5_000
const SNAPSHOTS = { maxWaitMs: 100, maxBytesPerPartition: 4 * 1024 * 1024 }
/** Before a partition is read again, milliseconds. */
const PAUSE_MS = 1_000

export interface TableOptions extends LogAccess {
  readonly clientId: string
  readonly partitions: number
  readonly unread: Unread
  /** Told of each record that has been folded in. */
  readonly listeners?: readonly RecordListener[]
  /** Between two fetches of any topic while somebody asks, milliseconds; left out: as this file has it for who answers. */
  readonly everyMs?: number | undefined
}

/** Who is told what has been folded into the present. */
export interface RecordListener {
  /** What the present does not need, from how long ago (milliseconds; `start`: all there is). */
  readonly further?: readonly { readonly topic: TopicName; readonly sinceMs: number | 'start' }[]
  /** From here on records are heard, anew where they were heard before. */
  begin(positions: readonly Position[]): void
  /** Without a message: a liquidation that was told before. */
  hear(position: Position, message?: Message): void
  /**
   * A record of any topic that is followed, read or not, where the log is followed closely since before it was written;
   * `time`: of the record, milliseconds.
   */
  seen?(topic: TopicName, time: number): void
  /** The tombstone of a key. */
  gone?(position: Position, key: string): void
}

/** Where the present comes from. */
export interface PresentSource {
  /** What is so now; undefined while it has not been read yet. */
  readonly now: Present | undefined
  /**
   * Somebody asks: while that goes on, the log is followed closely. Where it was not, resolves when `now` has what the log
   * has, or after a tenth of a second.
   */
  asked(): Promise<void> | undefined
}

/**
 * The present in memory: the newest values of the log, folded by the fold of the `present` processor. It begins with that
 * processor's last snapshot of each partition, and follows the topics from where that was taken.
 */
export class PresentTable implements PresentSource {
  readonly #options: TableOptions
  readonly #connection: LogConnection<{ close(): Promise<void> }>
  #held: Held | undefined
  #asked = -Infinity
  readonly #close = { from: Infinity, until: -Infinity }
  #looking: Promise<void> | undefined

  constructor(options: TableOptions) {
    this.#options = options
    const warning = 'the present cannot be read from the log; trying again'
    const connected = { ...options, giveUpMs: GIVE_UP_MS, warning }
    this.#connection = new LogConnection(connected, (kafka, codec) => this.#open(kafka, codec))
  }

  /** As in `PresentSource`. */
  get now(): Present | undefined {
    return this.#held?.present
  }

  /** As in `PresentSource`. */
  asked(): Promise<void> | undefined {
    const now = performance.now()
    const wasClose = now < this.#close.until
    if (now - this.#asked < ASKED_MS) {
      if (!wasClose) this.#close.from = Date.now()
      this.#close.until = now + ASKED_MS
    }
    this.#asked = now
    if (wasClose || this.#held === undefined) return undefined
    this.#looking ??= this.#look(this.#held).finally(() => (this.#looking = undefined))
    return this.#looking
  }

  async #look(held: Held): Promise<void> {
    const late = new AbortController()
    await Promise.race([held.look(), timeOut(LOOK_MS, late.signal)])
    late.abort()
  }

  /** Resolves when the log has been read, or after so many milliseconds. */
  async read(withinMs: number): Promise<void> {
    const late = new AbortController()
    await Promise.race([this.#connection.opened, timeOut(withinMs, late.signal)])
    late.abort()
  }

  /** Since when it is followed closely, milliseconds since the Unix epoch; undefined: it is not. */
  #closeSince(): number | undefined {
    return performance.now() < this.#close.until ? this.#close.from : undefined
  }

  async close(): Promise<void> {
    await this.#connection.close()
  }

  async #open(kafka: Log, codec: RegistryCodec): Promise<{ close(): Promise<void> }> {
    const held = new Held(kafka, codec, this.#options, () => this.#closeSince())
    await held.start()
    this.#held = held
    return { close: () => held.close().then(() => kafka.close()) }
  }
}

interface Snapshots {
  readonly partition: number
  readonly found: Found
}

/** The partitions' folds, and who follows the log for them. */
class Held {
  readonly #options: TableOptions
  readonly #codec: RegistryCodec
  readonly #asking: LogReader
  readonly #folds: Fold[]
  readonly #common = emptyPresent()
  readonly #position: ReadonlyMap<TopicName, number[]>
  readonly #prompt: Follower
  readonly #others: Follower
  readonly #closeSince: () => number | undefined
  readonly present: Present

  constructor(kafka: Log, codec: RegistryCodec, options: TableOptions, closeSince: () => number | undefined) {
    this.#options = options
    this.#closeSince = closeSince
    this.#codec = codec
    this.#asking = kafka.reader()
    this.#folds = Array.from({ length: options.partitions }, (_, partition) => Fold.empty(presentRow, partition))
    const nowhere = (partitions: number): number[] => Array.from({ length: partitions }, () => 0)
    this.#position = new Map([
      ...presentRow.inputs.map((topic) => [topic, nowhere(options.partitions)] as const),
      ...common.map((topic) => [topic, nowhere(1)] as const),
    ])
    this.present = new Present(() => this.#folds.map(stateOf), this.#common, this.#position)
    const every = (ms: number) => () => (closeSince() === undefined ? UNASKED_EVERY_MS : (options.everyMs ?? ms))
    this.#prompt = this.#follower(kafka, every(PROMPT_EVERY_MS))
    this.#others = this.#follower(kafka, every(OTHERS_EVERY_MS))
  }

  /** Resolves when it has what the log has. */
  async look(): Promise<void> {
    await Promise.all([this.#prompt.look(), this.#others.look()])
  }

  /** Resolves when all that was in the log at the call has been folded. */
  async start(): Promise<void> {
    const { partitions } = this.#options
    const positions = await this.#load([...Array(partitions).keys()])
    for (const topic of common) positions.push(...(await positionsAt(this.#asking, { topic, partitions: 1 }, 'start')))
    const ends: Position[] = []
    for (const topic of presentRow.inputs) ends.push(...(await positionsAt(this.#asking, { topic, partitions }, 'end')))
    for (const topic of common) ends.push(...(await positionsAt(this.#asking, { topic, partitions: 1 }, 'end')))
    positions.push(...(await this.#further()))
    this.#prompt.start(positions.filter(isPrompt))
    this.#others.start(positions.filter((position) => !isPrompt(position)))
    await Promise.all([
      this.#prompt.reach(ends.filter(isPrompt)),
      this.#others.reach(ends.filter((position) => !isPrompt(position))),
    ])
  }

  async close(): Promise<void> {
    await Promise.all([this.#prompt.close(), this.#others.close()])
  }

  get #listeners(): readonly RecordListener[] {
    return this.#options.listeners ?? []
  }

  /** Where what only listeners follow is read from; `topic`: that one, from its start. */
  async #further(topic?: TopicName): Promise<Position[]> {
    const { partitions } = this.#options
    const all = this.#listeners.flatMap(({ further = [] }) => further)
    const positions: Position[] = []
    for (const { topic: name, sinceMs } of all) {
      const isWhole = sinceMs === 'start' || topic !== undefined
      const at = isWhole ? 'start' : { time: Date.now() - sinceMs }
      if (topic === undefined || name === topic)
        positions.push(...(await positionsAt(this.#asking, { topic: name, partitions }, at)))
    }
    for (const listener of this.#listeners) listener.begin(positions)
    return positions
  }

  #follower(kafka: Log, everyMs: () => number): Follower {
    const { log } = this.#options
    return new Follower({
      reader: kafka.reader(),
      log,
      everyMs,
      take: (record, from) => this.#take(record, from),
      differsAt: differsAt(this.#asking),
      onMissed: (missed) => this.#again(missed),
    })
  }

  /** Takes the last snapshot of each of the partitions; gives where their topics are read on behind it. */
  async #load(partitions: readonly number[]): Promise<Position[]> {
    const snapshots = await this.#snapshots(partitions)
    const positions: Position[] = []
    for (const topic of presentRow.inputs) {
      const applied = ({ found }: Snapshots): number | undefined =>
        found.kind === 'state' ? found.position.applied[topic] : undefined
      const others = snapshots.filter((each) => applied(each) === undefined).map(({ partition }) => partition)
      const starts = others.length === 0 ? undefined : await this.#asking.offsets(topic, others, 'start')
      for (const each of snapshots) {
        const { partition } = each
        positions.push({ topic, partition, offset: (applied(each) ?? (starts?.get(partition) ?? 0) - 1) + 1 })
      }
    }
    for (const { partition, found } of snapshots)
      this.#folds[partition] =
        found.kind === 'none'
          ? Fold.empty(presentRow, partition)
          : new Fold(presentRow, partition, { ...found.position, state: presentRow.core.load(found.parts) })
    for (const { topic, partition, offset } of positions) this.#stand(topic, partition, offset)
    this.present.forget()
    for (const listener of this.#listeners) listener.begin(positions)
    return positions
  }

  /** From here on the present holds what lies before an offset. */
  #stand(topic: string, partition: number, offset: number): void {
    const offsets = this.#position.get(topic as TopicName) // of a topic that only listeners follow there are none
    if (offsets !== undefined) offsets[partition] = offset
  }

  async #snapshots(partitions: readonly number[]): Promise<Snapshots[]> {
    const topic = presentRow.state
    const next = await this.#asking.offsets(topic, partitions, 'start')
    const ends = await this.#asking.offsets(topic, partitions, 'end')
    const read = new Map(partitions.map((partition) => [partition, new StateFold((value) => this.#snapshot(value))]))
    const behind = (): Position[] =>
      [...next].flatMap(([partition, offset]) =>
        offset < (ends.get(partition) ?? 0) ? [{ topic, partition, offset }] : [],
      )
    for (let from = behind(); from.length > 0; from = behind())
      for (const { partition, records, next: to, start, error } of await this.#asking.fetch(from, SNAPSHOTS)) {
        if (error === 'moved') continue
        await read.get(partition)?.add(records)
        next.set(partition, error === 'out-of-range' ? start : to)
      }
    return [...read].map(([partition, fold]) => ({ partition, found: fold.found(presentRow) }))
  }

  async #snapshot(value: Buffer): Promise<Snapshot> {
    const message = await this.#codec.read(value)
    if (message.type === 'snapshot') return message.value
    throw new Error(`${presentRow.state} holds a ${message.type}`)
  }

  /** Something of it was missed: all of its partition is told again. */
  async #again({ topic, partition }: Followed): Promise<Position[]> {
    await delay(PAUSE_MS)
    if (common.includes(topic)) return positionsAt(this.#asking, { topic, partitions: 1 }, 'start')
    if (!inputs.has(topic)) return this.#further(topic)
    const positions = await this.#load([partition])
    const isOwn = prompt.has(topic)
    const other = isOwn ? this.#others : this.#prompt
    other.seek(positions.filter((position) => isPrompt(position) !== isOwn))
    return positions.filter((position) => isPrompt(position) === isOwn)
  }

  #take(record: LogRecord, from: Followed): Promise<void> | void {
    const { key, value, offset } = record
    if (record.time >= (this.#closeSince() ?? Infinity))
      for (const listener of this.#listeners) listener.seen?.(from.topic, record.time)
    if (value === null) {
      for (const listener of this.#listeners) listener.gone?.({ ...from, offset }, key?.toString() ?? '')
      if (from.topic === 'market.tokens' && key !== null) drop(this.#common, 'token', key.toString())
      this.#stand(from.topic, from.partition, offset + 1)
      return
    }
    const type = this.#codec.typeOf(value)
    if (type !== undefined && inputs.has(from.topic) && !reads.has(type)) return
    return this.#fold(record, from)
  }

  readonly #fold = async (record: LogRecord, from: Followed): Promise<void> => {
    const { topic, partition } = from
    const { log, unread } = this.#options
    const apply = async (): Promise<void> => {
      if (record.value === null) return
      const message = await this.#codec.read(record.value)
      const { offset } = record
      const fold = this.#folds[partition]
      if (common.includes(topic)) takeIn(this.#common, { topic, offset, message })
      else if (inputs.has(topic) && fold !== undefined) {
        fold.apply(topic, record, message, nothing)
        stateOf(fold).changed.clear() // nobody here writes it
      }
      this.#stand(topic, partition, offset + 1)
      const isNew =
        message.type !== 'liquidation' || (fold !== undefined && isHeld(stateOf(fold), message.value, offset))
      for (const listener of this.#listeners) listener.hear({ topic, partition, offset }, isNew ? message : undefined)
    }
    await unread.passing(topic, log, apply)(record, partition)
  }
}

function stateOf(fold: Fold): PresentState {
  return fold.state as PresentState // the row's own core made it
}

function isPrompt({ topic }: Position): boolean {
  return prompt.has(topic as TopicName)
}

/** Resolves after so many milliseconds, or when nobody waits for it any more. */
async function timeOut(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal, ref: false }).catch(() => undefined)
}

/** The core emits nothing. */
function nothing(): void {}
