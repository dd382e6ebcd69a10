import type { LogRecord } from '../../infra/kafka/seam.ts'
import { avroType } from '../../schemas/codec.ts'
import type { Message, Micros } from '../../schemas/records.ts'
import type { RecordPlace } from '../../schemas/record-id.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { Fold } from '../kernel/fold.ts'
import type { Output, ProcessorRow } from '../kernel/processor.ts'

/** The topic in which commands, prices and risk meet. */
const MEETING: TopicName = 'alerts.inputs'

/** One output of a replay, with the record of the tape that brought it about. */
export interface Happening {
  /** Name of the processor. */
  readonly row: string
  readonly output: Output
  /** The record's Avro body; null: a tombstone. */
  readonly body: Buffer | null
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
  readonly #folds = new Map<TopicName, Fold[]>()
  readonly #meeting: Fold | undefined
  /** Offset of the next record of the meeting in memory. */
  #next = 0
  #cause: RecordPlace
  readonly #emits = new Map<Fold, (output: Output) => void>()

  constructor(options: ReplayOptions) {
    this.#options = options
    const { partition, rows, alerts } = options
    this.#cause = { topic: MEETING, partition, offset: -1 }
    for (const row of rows) {
      const fold = Fold.empty(row, partition)
      this.#emits.set(fold, (output) => this.#emit(fold, output))
      const meets = alerts === 'replay' && row.inputs.includes(MEETING)
      if (meets) this.#meeting = fold
      else for (const topic of row.inputs) this.#folds.set(topic, [...(this.#folds.get(topic) ?? []), fold])
    }
  }

  /** The topics that it reads off the tape. */
  get topics(): TopicName[] {
    return [...this.#folds.keys()]
  }

  /** Folds one record of the tape into every processor that reads its topic. */
  apply(topic: TopicName, record: Pick<LogRecord, 'offset' | 'time'>, message: Message): void {
    this.#cause = { topic, partition: this.#options.partition, offset: record.offset }
    this.#time = record.time
    for (const fold of this.#folds.get(topic) ?? []) fold.apply(topic, record, message, this.#emitOf(fold))
  }

  /** Gives a command to the alerts, as the API would have at `time` (ms). */
  command(message: Message<'command'>, time: number): void {
    this.#cause = { topic: MEETING, partition: this.#options.partition, offset: this.#next }
    this.#time = time
    this.#meet(message)
  }

  /** The tape has ended: what was held back comes out. */
  end(): void {
    for (const [fold, emit] of this.#emits) fold.flush(emit)
  }

  /** Record time of what is folded now, milliseconds. */
  #time = 0

  #emit(fold: Fold, output: Output): void {
    const { message } = output
    const body = message === null ? null : avroType(message.type).toBuffer(message.value)
    const { partitionTime } = fold
    this.#options.sink({ row: fold.row.name, output, body, cause: this.#cause, partitionTime })
    if (output.topic !== MEETING || this.#meeting === undefined || body === null || message === null) return
    // By way of its bytes, as in life: nothing that the alerts keep is shared with another core.
    this.#meet({ type: message.type, value: avroType(message.type).fromBuffer(body) } as Message)
  }

  #meet(message: Message): void {
    const fold = this.#meeting
    if (fold === undefined) return
    fold.apply(MEETING, { offset: this.#next++, time: this.#time }, message, this.#emitOf(fold))
  }

  #emitOf(fold: Fold): (output: Output) => void {
    return this.#emits.get(fold) ?? (() => undefined)
  }
}
