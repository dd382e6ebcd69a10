import type { LogRecord } from '../../../infra/kafka/seam.ts'
import { readBody, writeBody } from '../../../schemas/codec.ts'
import type { Message, Micros } from '../../../schemas/records.ts'
import type { RecordPosition } from '../../../schemas/record-id.ts'
import type { TopicName } from '../../../schemas/topics.ts'
import { RevertibleFold, type Emission } from '../../../processors/kernel/revertible-fold.ts'
import type { Cause } from '../../../processors/kernel/dead-letters.ts'
import { failureOf } from '../../../processors/kernel/errors.ts'
import { Failures } from '../../../processors/kernel/failures.ts'
import { Fold } from '../../../processors/kernel/fold.ts'
import type { JournaledGap } from '../../../processors/kernel/log-gaps.ts'
import { assertDeclared } from '../../../processors/kernel/outputs.ts'
import type { Output, ProcessorRow } from '../../../processors/kernel/processor.ts'

/** The topic in which commands, prices and risk meet. */
const MEETING: TopicName = 'alerts.inputs'

/** Grows when an output does not fit; most are under 300 bytes. */
const SCRATCH_BYTES = 64 * 1024
/** Records between two clearings of what states have noted as changed. */
const FORGET_EVERY = 50_000
/** In a search a record that fails costs at most so many to be folded again. */
const CHECKPOINT_EVERY = 1_000

/** One output of a replay, with the record of the tape that brought it about. */
export interface ReplayOutput {
  /** Name of the processor. */
  readonly row: string
  readonly output: Output
  /** The record's Avro body, made when it is asked for: its bytes are those of the next body after that. */
  readonly body: () => Buffer
  readonly cause: RecordPosition
  /** Partition time of the processor when it said so. */
  readonly partitionTime: Micros
}

export interface ReplayOptions {
  readonly partition: number
  readonly rows: readonly ProcessorRow[]
  /**
   * `tape`: what decides about alerts is on the tape, commands included. `replay`: prices and risk of this replay meet the
   * commands that are given to `command`, in the order in which they come about.
   */
  readonly alerts: 'tape' | 'replay'
  readonly sink: (happening: ReplayOutput) => void
  /** Whether all outputs are wanted; else what is not final may be told once, at the end. */
  readonly isEachWanted: boolean
  /** What the journal tells of this partition: gaps of the log, which the live processors met at the same places. */
  readonly gaps: readonly JournaledGap[]
  /** What the processors set aside, as a search has found it. `search`: find it; nothing is told meanwhile. */
  readonly aside: ReadonlyAside | 'search'
}

/** Records that a processor sets aside, by `asideName`, and why. */
export type Aside = Map<string, Cause>
export type ReadonlyAside = ReadonlyMap<string, Cause>

/** The cores of one partition over its tape: what enters are records in order, what leaves is what followed from each. */
export class PartitionReplay {
  readonly #options: ReplayOptions
  readonly #folds = new Map<TopicName, ReplayedProcessor[]>()
  readonly #meeting: ReplayedProcessor | undefined
  /** Offset of the next record of the meeting in memory. */
  #next = 0
  readonly #processors: ReplayedProcessor[] = []
  /** The record that is folded now: its topic and offset, its place once something follows, and its record time, milliseconds. */
  #topic: TopicName = MEETING
  #offset = -1
  #cause: RecordPosition | undefined
  #time = 0
  #applied = 0
  /** In a search: what it has found, and what was said to the meeting by the record that is folded now. */
  readonly found: Aside = new Map()
  #said: Message[] = []
  #scratch = Buffer.allocUnsafe(SCRATCH_BYTES)

  constructor(options: ReplayOptions) {
    this.#options = options
    const { partition, rows, alerts, aside, gaps, isEachWanted } = options
    for (const row of rows) {
      const meets = alerts === 'replay' && row.inputs.includes(MEETING)
      // what meets in memory is whole, and has offsets of its own
      const own = gaps.filter(({ gap }) => gap.reader === row.name && !(meets && gap.topic === MEETING))
      const fold = Fold.empty(row, partition, own, !isEachWanted)
      const revertible = aside === 'search' ? new RevertibleFold(fold, new Map(), new Failures()) : undefined
      const emit = (output: Output): void =>
        revertible === undefined ? this.#emit(fold, output) : this.#try(fold, output)
      const processor: ReplayedProcessor = { fold, emit, revertible, mark: () => this.#mark() }
      this.#processors.push(processor)
      if (meets) this.#meeting = processor
      else for (const topic of row.inputs) this.#folds.set(topic, [...(this.#folds.get(topic) ?? []), processor])
    }
  }

  /** The topics that it reads off the tape. */
  get topics(): TopicName[] {
    return [...this.#folds.keys()]
  }

  /** Folds one record of the tape into every processor that reads its topic. */
  apply(topic: TopicName, record: Pick<LogRecord, 'offset' | 'time'>, message: Message): void {
    this.#topic = topic
    this.#offset = record.offset
    this.#cause = undefined
    this.#time = record.time
    for (const processor of this.#folds.get(topic) ?? noProcessors) this.#fold(processor, topic, record, message)
    this.#applied += 1
    if (this.#options.aside === 'search') {
      if (this.#applied % CHECKPOINT_EVERY === 0) this.#checkpoint()
    } else if (this.#applied % FORGET_EVERY === 0) this.#forget()
  }

  /** Gives a command to the alerts, as the API would have at `time` (ms). */
  command(message: Message<'command'>, time: number): void {
    this.#topic = MEETING
    this.#offset = this.#next
    this.#cause = undefined
    this.#time = time
    this.#meet(message)
  }

  /** The tape has ended: what was held back comes out. */
  end(): void {
    for (const { fold, emit } of this.#processors) fold.flush(emit)
  }

  /** Throws `RecordFailure` where the core throws, unless it is known to. */
  #fold(processor: ReplayedProcessor, topic: TopicName, record: OffsetAndTime, message: Message): void {
    const { fold, emit, revertible } = processor
    const { aside } = this.#options
    if (aside !== 'search' && aside.size > 0 && aside.has(this.#nameOf(fold, topic, record))) return
    if (revertible === undefined) {
      try {
        fold.apply(topic, record, message, emit)
      } catch (error) {
        throw failureOf('apply', error)
      }
      return
    }
    const cause = revertible.apply({ topic, record, message }, processor)
    if (cause !== undefined) this.found.set(this.#nameOf(fold, topic, record), cause)
    this.#meetSaid()
  }

  #nameOf({ row }: Fold, topic: TopicName, { offset }: OffsetAndTime): string {
    return asideName(row.name, { topic, partition: this.#options.partition, offset })
  }

  /** What a record makes a core say reaches the alerts only when it is known that the record stays. */
  #meetSaid(): void {
    for (const message of this.#said.splice(0)) this.#meet(message)
  }

  #mark(): () => void {
    const { length } = this.#said
    return () => void (this.#said.length = length)
  }

  #checkpoint(): void {
    for (const processor of this.#processors) processor.revertible?.checkpoint(processor)
    this.#meetSaid()
  }

  /** Throws where the live host's writing would. */
  #try({ row }: Fold, output: Output): void {
    assertDeclared(row, output)
    if (output.message !== null) this.#encode(output.message)
    const met = this.#copyForMeeting(output)
    if (met !== undefined) this.#said.push(met)
  }

  /** A state remembers what changed since it was written last, which it never is here. What is held back comes out first. */
  #forget(): void {
    this.end()
    for (const { fold } of this.#processors) fold.forget()
  }

  #emit(fold: Fold, output: Output): void {
    const { message } = output
    const { partitionTime } = fold
    assertDeclared(fold.row, output)
    const cause = (this.#cause ??= { topic: this.#topic, partition: this.#options.partition, offset: this.#offset })
    const body = (): Buffer => this.#encode(message)
    const met = this.#copyForMeeting(output)
    this.#options.sink({ row: fold.row.name, output, body, cause, partitionTime })
    if (met !== undefined) this.#meet(met)
  }

  /** By way of its bytes, as in life: nothing that the alerts keep is shared with another core. */
  #copyForMeeting({ topic, message }: Output): Message | undefined {
    if (topic !== MEETING || this.#meeting === undefined || message === null) return undefined
    return { type: message.type, value: readBody(message.type, this.#encode(message)) } as Message
  }

  #encode(message: Message | null): Buffer {
    if (message === null) throw new Error('a tombstone has no body')
    const end = writeBody(message, this.#scratch, 0)
    if (end <= this.#scratch.length) return this.#scratch.subarray(0, end)
    this.#scratch = Buffer.allocUnsafe(end + SCRATCH_BYTES)
    return this.#encode(message)
  }

  #meet(message: Message): void {
    if (this.#meeting !== undefined)
      this.#fold(this.#meeting, MEETING, { offset: this.#next++, time: this.#time }, message)
  }
}

/** A processor's fold, and where it speaks to. */
interface ReplayedProcessor extends Emission {
  readonly fold: Fold
  /** In a search. */
  readonly revertible: RevertibleFold | undefined
}

type OffsetAndTime = Pick<LogRecord, 'offset' | 'time'>

/** What a record that was set aside is called. */
function asideName(processor: string, { topic, partition, offset }: RecordPosition): string {
  return [processor, topic, partition, offset].join('|')
}

const noProcessors: readonly ReplayedProcessor[] = []
