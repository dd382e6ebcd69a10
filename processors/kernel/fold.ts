import type { LogRecord } from '../../infra/kafka/seam.ts'
import type { Message, Micros } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import type { Output, ProcessorRow } from './processor.ts'
import { versionOf } from './version.ts'

export interface Moment {
  readonly time: Micros
}

type Emit = (output: Output) => void

/**
 * The middle of a task, without the log around it: one processor over one partition, record by record. Versions and
 * partition time are made here and nowhere else, so that a replay gives what the live host gave.
 */
export class Fold {
  readonly row: ProcessorRow
  #state: unknown
  readonly #context: { partition: number; v: number; partitionTime: Micros }

  constructor(row: ProcessorRow, partition: number, { state, time }: { state: unknown; time: Micros }) {
    this.row = row
    this.#state = state
    this.#context = { partition, v: 0, partitionTime: time }
  }

  /** A fold that has seen nothing. */
  static empty(row: ProcessorRow, partition: number): Fold {
    return new Fold(row, partition, { state: row.core.empty(), time: 0 })
  }

  get state(): unknown {
    return this.#state
  }

  /** Largest mark seen, 0 before the first. */
  get partitionTime(): Micros {
    return this.#context.partitionTime
  }

  /** What it knows beside the state: `restore` goes back to it. */
  moment(): Moment {
    return { time: this.partitionTime }
  }

  /** Goes on from another state, and from what was known when it was there. */
  restore(state: unknown, { time }: Moment): void {
    this.#state = state
    this.#context.partitionTime = time
  }

  /** Folds one record of one of the row's inputs in. */
  apply(topic: TopicName, { offset, time }: Pick<LogRecord, 'offset' | 'time'>, message: Message, emit: Emit): void {
    const context = this.#context
    context.v = versionOf(this.row.generation, offset)
    if (message.type === 'mark') context.partitionTime = Math.max(context.partitionTime, message.value.time)
    this.row.core.apply(this.#state, { topic, offset, time, message }, context, emit)
  }

  /** Ends a batch: what was held back comes out. */
  flush(emit: Emit): void {
    this.row.core.flush?.(this.#state, emit)
  }

  /** Lets go of what the state remembers to write: for those who never write it. */
  forget(): void {
    const { core } = this.row
    if (core.forget !== undefined) core.forget(this.#state)
    else for (const part of core.save(this.#state)) void part
  }
}
