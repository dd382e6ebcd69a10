import { pino } from 'pino'
import type { LogReader, LogRecord, Position, TopicPartition } from '../../infra/kafka/seam.ts'
import { Fold } from '../../processors/kernel/fold.ts'
import { presentReads, presentRow, takeIn } from '../../processors/present/present.ts'
import { drop, emptyPresent, type PresentState } from '../../processors/present/state.ts'
import type { Codec } from '../../schemas/codec.ts'
import type { RecordType } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { Present } from '../present/present.ts'
import { Unread } from '../log/unread.ts'
import { startHarness, type Harness, type HarnessOptions } from './harness.ts'

/** Reading up to a position takes no longer, milliseconds. */
const READ_MS = 60_000
const FETCH = { maxWaitMs: 500, maxBytesPerPartition: 1_000_000 }
const common: ReadonlySet<TopicName> = new Set<TopicName>(['market.tokens', 'market.instruments'])
const reads: ReadonlySet<RecordType> = new Set<RecordType>([...presentReads, 'token', 'instrument'])
const silent = pino({ level: 'silent' })

/** What an API has answered, and how far the log is in it. */
export interface Answer {
  /** Path and query of the route. */
  readonly target: string
  readonly text: string
  /** As the header `Log-Position` has it. */
  readonly position: string
}

interface ReplayOptions extends Pick<HarnessOptions, 'mode' | 'counted'> {
  /** Of its own: it waits. */
  readonly reader: LogReader
  readonly codec: Codec
  readonly partitions: number
}

/**
 * The routes of now over what the log alone gives: the same fold from its start, up to where an answer says that it was cut.
 * It reads on from answer to answer, so it can be asked about one that is no older than the one before.
 */
export class ReplayedApi {
  readonly #options: ReplayOptions
  readonly #folds: readonly Fold[]
  readonly #common = emptyPresent()
  /** By `topic/partition`, the offset behind the last record that was read. */
  readonly #next = new Map<string, number>()
  readonly #unread = new Unread()
  /** The log was cut before it was read. */
  #isCut = false
  #now = 0
  #api: Harness | undefined

  private constructor(options: ReplayOptions) {
    this.#options = options
    const numbers = Array.from({ length: options.partitions }, (_, partition) => partition)
    this.#folds = numbers.map((partition) => Fold.empty(presentRow, partition))
  }

  static async start(options: ReplayOptions): Promise<ReplayedApi> {
    const { mode = 'demo', counted } = options
    const replayed = new ReplayedApi(options)
    const states = (): PresentState[] => replayed.#folds.map(({ state }) => state as PresentState) // the row's own core made it
    const now = new Present(states, replayed.#common)
    const source = { now, asked: () => undefined }
    const clock = (): number => replayed.#now
    replayed.#api = await startHarness({ mode, source, now: clock, ...(counted !== undefined && { counted }) })
    return replayed
  }

  /** What the log gives in the place of an answer; undefined: it was read further already, is cut, or does not go so far now. */
  async of({ target, text, position }: Answer): Promise<string | undefined> {
    const ends = endsOf(position)
    if (ends.some((end) => end.offset < this.#nextOf(end))) return undefined
    await this.#readTo(ends)
    if (this.#isCut || ends.some((end) => end.offset > this.#nextOf(end))) return undefined
    this.#now = answeredAt(text)
    return (await fetch(`${this.#api?.url}${target}`)).text()
  }

  async stop(): Promise<void> {
    await this.#options.reader.close()
    await this.#api?.stop()
  }

  #nextOf({ topic, partition }: TopicPartition): number {
    return this.#next.get(`${topic}/${partition}`) ?? 0
  }

  async #readTo(ends: readonly Position[]): Promise<void> {
    const deadline = performance.now() + READ_MS
    const endOf = new Map(ends.map(({ topic, partition, offset }) => [`${topic}/${partition}`, offset]))
    const behind = (): Position[] =>
      ends.filter((end) => this.#nextOf(end) < end.offset).map((end) => ({ ...end, offset: this.#nextOf(end) }))
    for (let from = behind(); from.length > 0 && performance.now() < deadline; from = behind())
      for (const { topic, partition, records, next, error } of await this.#options.reader.fetch(from, FETCH)) {
        if (error === 'moved') continue
        const place = `${topic}/${partition}`
        const end = endOf.get(place) ?? 0
        for (const record of records) if (record.offset < end) await this.#take({ topic, partition }, record)
        if (error === 'out-of-range') this.#isCut = true
        this.#next.set(place, Math.min(end, error === undefined ? next : end))
      }
  }

  async #take({ topic: name, partition }: TopicPartition, record: LogRecord): Promise<void> {
    const { codec } = this.#options
    const topic = name as TopicName // positions are of topics of ours
    const { value, key, offset } = record
    if (value === null && topic === 'market.tokens') drop(this.#common, 'token', key?.toString() ?? '')
    const type = value === null ? undefined : codec.typeOf(value)
    if (value === null || (type !== undefined && !reads.has(type))) return
    const apply = (): void => {
      const message = codec.decode(value)
      if (common.has(topic)) takeIn(this.#common, { topic, offset, message })
      else this.#folds[partition]?.apply(topic, record, message, () => undefined)
      this.#folds[partition]?.forget()
    }
    await this.#unread.passing(topic, silent, apply)(record, partition)
  }
}

/** When it was answered by its own word, the last one in it, milliseconds. */
function answeredAt(text: string): number {
  const [, time = ''] = [...text.matchAll(/"timestamp":"([^"]+)"/g)].at(-1) ?? []
  return Date.parse(time)
}

function endsOf(position: string): Position[] {
  return position.split('; ').flatMap((part) => {
    const [topic = '', offsets = ''] = part.split('=')
    return offsets.split(',').map((offset, partition) => ({ topic, partition, offset: Number(offset) }))
  })
}
