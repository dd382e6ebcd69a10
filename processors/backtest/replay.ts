import type { LogRecord } from '../../infra/kafka/seam.ts'
import { avroType } from '../../schemas/codec.ts'
import type { Message, Micros } from '../../schemas/records.ts'
import type { RecordPlace } from '../../schemas/record-id.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { Fold } from '../kernel/fold.ts'
import type { Output, ProcessorRow } from '../kernel/processor.ts'

/** The topic in which commands, prices and risk meet. */
const MEETING: TopicName = 'alerts.inputs'

/** Grows when an output does not fit; most are under 300 bytes. */
const SCRATCH_BYTES = 64 * 1024
/** Records between two clearings of what states have noted as changed. */
const FORGET_EVERY = 50_000

/** One output of a replay, with the record of the tape that brought it about. */
export interface Happening {
  /** Name of the processor. */
  readonly row: string
  readonly output: Output
  /** The record's Avro body, made when it is asked for: its bytes are those of the next body after that. */
  readonly body: () => Buffer
  readonly cause: RecordPlace
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
  readonly sink: (happening: Happening) => void
}

/** The cores of one partition over its tape: what enters are records in order, what leaves is what followed from each. */
export class PartitionReplay {
  readonly #options: ReplayOptions
  readonly #folds = new Map<TopicName, Voice[]>()
  readonly #meeting: Voice | undefined
  /** Offset of the next record of the meeting in memory. */
  #next = 0
  readonly #voices: Voice[] = []
  /** The record that is folded now: its topic and offset, and its record time, milliseconds. */
  #topic: TopicName = MEETING
  #offset = -1
  #time = 0
  #applied = 0
  #scratch = Buffer.allocUnsafe(SCRATCH_BYTES)

  constructor(options: ReplayOptions) {
    this.#options = options
    const { partition, rows, alerts } = options
    for (const row of rows) {
      const fold = Fold.empty(row, partition)
      const voice: Voice = { fold, emit: (output) => this.#emit(fold, output) }
      this.#voices.push(voice)
      const meets = alerts === 'replay' && row.inputs.includes(MEETING)
      if (meets) this.#meeting = voice
      else for (const topic of row.inputs) this.#folds.set(topic, [...(this.#folds.get(topic) ?? []), voice])
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
    this.#time = record.time
    for (const { fold, emit } of this.#folds.get(topic) ?? nobody) fold.apply(topic, record, message, emit)
    this.#applied += 1
    if (this.#applied % FORGET_EVERY === 0) this.#forget()
  }

  /** Gives a command to the alerts, as the API would have at `time` (ms). */
  command(message: Message<'command'>, time: number): void {
    this.#topic = MEETING
    this.#offset = this.#next
    this.#time = time
    this.#meet(message)
  }

  /** The tape has ended: what was held back comes out. */
  end(): void {
    for (const { fold, emit } of this.#voices) fold.flush(emit)
  }

  /** A state remembers what changed since it was written last, which it never is here. What is held back comes out first. */
  #forget(): void {
    this.end()
    for (const { fold } of this.#voices) fold.forget()
  }

  #emit(fold: Fold, output: Output): void {
    const { message } = output
    const { partitionTime } = fold
    const cause = { topic: this.#topic, partition: this.#options.partition, offset: this.#offset }
    const body = (): Buffer => this.#encode(message)
    const met = this.#copyForMeeting(output)
    this.#options.sink({ row: fold.row.name, output, body, cause, partitionTime })
    if (met !== undefined) this.#meet(met)
  }

  /** By way of its bytes, as in life: nothing that the alerts keep is shared with another core. */
  #copyForMeeting({ topic, message }: Output): Message | undefined {
    if (topic !== MEETING || this.#meeting === undefined || message === null) return undefined
    return { type: message.type, value: avroType(message.type).fromBuffer(this.#encode(message)) } as Message
  }

  #encode(message: Message | null): Buffer {
    if (message === null) throw new Error('a tombstone has no body')
    const end = avroType(message.type).encode(message.value, this.#scratch, 0)
    if (end >= 0) return this.#scratch.subarray(0, end)
    this.#scratch = Buffer.allocUnsafe(this.#scratch.length - end + SCRATCH_BYTES)
    return this.#encode(message)
  }

  #meet(message: Message): void {
    this.#meeting?.fold.apply(MEETING, { offset: this.#next++, time: this.#time }, message, this.#meeting.emit)
  }
}

/** A processor's fold, and where it speaks to. */
interface Voice {
  readonly fold: Fold
  readonly emit: (output: Output) => void
}

const nobody: readonly Voice[] = []
