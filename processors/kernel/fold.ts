import type { LogRecord } from '../../infra/kafka/seam.ts'
import type { LogGap, Message, Micros } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { InputGaps, type JournaledGap } from './log-gaps.ts'
import { noTime, PartitionClock, type PartitionTime } from './partition-clock.ts'
import type { Output, ProcessorRow } from './processor.ts'
import { versionOf } from './version.ts'

/** No row of a past time is of more. */
const WIDEST: Micros = 3_600_000_000

/** What a fold knows beside the state. */
export interface Moment extends PartitionTime {
  readonly told: number
  /** Rows of past times that begin before it are not told: the log that the state was built from begins too late; 0: all are. */
  readonly since: Micros
  /** Else it takes an older generation's place, and rows of past times are told once final: retention may take their trades. */
  readonly built: boolean
}

type Emit = (output: Output) => void

/** What a fold goes on from; `told`: offset in `control.gaps` of the last gap that the state has taken in, -1: none. */
export interface Folded extends Moment {
  readonly state: unknown
}

/**
 * The middle of a task, without the log around it: one processor over one partition, record by record. Versions and
 * partition time are made here and nowhere else, and gaps of the log taken in, so that a replay gives what the live host
 * gave.
 */
export class Fold {
  readonly row: ProcessorRow
  #state: unknown
  #clock: PartitionClock
  #refusedMarks = 0
  readonly #context: { partition: number; v: number; partitionTime: Micros; isUnread: boolean }
  readonly #gaps = new Map<TopicName, InputGaps>()
  #told: number
  #since: Micros
  #built: boolean
  /** No gap waits to be taken in, which is nearly always. */
  #isWhole = true

  /** `gaps`: those that the journal tells of this processor in this partition. `isUnread`: as a core's context has it. */
  constructor(
    row: ProcessorRow,
    partition: number,
    { state, told, since, built, ...time }: Folded,
    gaps: readonly JournaledGap[] = [],
    isUnread = false,
  ) {
    this.row = row
    this.#state = state
    this.#told = told
    this.#since = since
    this.#built = built
    this.#clock = new PartitionClock(time)
    this.#context = { partition, v: 0, partitionTime: time.time, isUnread }
    for (const gap of gaps) this.meet(gap)
  }

  /** A fold that has seen nothing. */
  static empty(row: ProcessorRow, partition: number, gaps: readonly JournaledGap[] = [], isUnread = false): Fold {
    const nothing = { ...noTime, told: -1, since: 0, built: true }
    return new Fold(row, partition, { state: row.core.empty(), ...nothing }, gaps, isUnread)
  }

  get state(): unknown {
    return this.#state
  }

  /** Largest mark that was followed, 0 before the first. */
  get partitionTime(): Micros {
    return this.#clock.time
  }

  /** Marks that were not followed, once more each time that they are folded again. */
  get refusedMarks(): number {
    return this.#refusedMarks
  }

  /** What it knows beside the state: `restore` goes back to it. */
  moment(): Moment {
    return { ...this.#clock.save(), told: this.#told, since: this.#since, built: this.#built }
  }

  /** Goes on from another state, and from what was known when it was there. */
  restore(state: unknown, { told, since, built, ...time }: Moment): void {
    this.#state = state
    this.#context.partitionTime = time.time
    this.#clock = new PartitionClock(time)
    this.#told = told
    this.#built = built
    this.tellSince(since)
  }

  get built(): boolean {
    return this.#built
  }

  /** Tells rows of past times that are not final as well. */
  endBuilding(): void {
    this.#built = true
  }

  /** Leaves rows of past times that begin before `since` as they are. */
  tellSince(since: Micros): void {
    this.#since = Math.max(this.#since, since)
  }

  /** The time that lacks what is told to be filled here, since its rows are left as they are; undefined: none is. */
  leftOut({ type, value }: Message): Pick<LogGap, 'from_time' | 'to_time'> | undefined {
    if (this.#since === 0 || type !== 'gap' || value.state !== 'filled') return undefined
    const { from_time } = value
    if (from_time - (from_time % WIDEST) >= this.#since) return undefined
    return { from_time, to_time: Math.max(from_time, this.#since - 1) }
  }

  /** A gap that the journal tells of; it is taken in before the first record behind it. */
  meet(told: JournaledGap): void {
    const { topic, reason } = told.gap
    if (reason === 'output_cut' || !this.row.inputs.includes(topic as TopicName)) return
    this.gapsOf(topic as TopicName).add(told)
    this.#isWhole = false
  }

  gapsOf(topic: TopicName): InputGaps {
    const gaps = this.#gaps.get(topic) ?? new InputGaps()
    this.#gaps.set(topic, gaps)
    return gaps
  }

  /** Folds one record of one of the row's inputs in; but a mark that is not followed, which the core never sees. */
  apply(topic: TopicName, { offset, time }: Pick<LogRecord, 'offset' | 'time'>, message: Message, emit: Emit): void {
    const tell = this.#telling(emit)
    const shift = this.#isWhole ? 0 : this.#pass(topic, { offset, time }, tell)
    if (shift === undefined) return
    if (message.type === 'mark' && !this.#clock.follow(topic, message.value)) {
      this.#refusedMarks += 1
      return
    }
    const context = this.#context
    context.v = versionOf(this.row.generation, offset + shift)
    context.partitionTime = this.#clock.time
    this.row.core.apply(this.#state, { topic, offset, time, message }, context, tell)
  }

  /** Says once more what the state knows of what it wrote to an output; `next`: where the first input goes on. */
  restate(output: TopicName, next: number, emit: Emit): void {
    const [input] = this.row.inputs
    if (input === undefined) return
    const last = Math.max(0, next - 1)
    this.#context.v = versionOf(this.row.generation, last + this.gapsOf(input).shiftAt(next))
    this.row.core.restate?.(this.#state, output, this.#context, this.#telling(emit))
  }

  /** Ends a batch: what was held back comes out. */
  flush(emit: Emit): void {
    this.row.core.flush?.(this.#state, this.#telling(emit))
  }

  /** Lets go of what the state remembers to write: for those who never write it. */
  forget(): void {
    const { core } = this.row
    if (core.forget !== undefined) core.forget(this.#state)
    else for (const part of core.save(this.#state)) void part
  }

  #telling(emit: Emit): Emit {
    const [since, built] = [this.#since, this.#built]
    if (since === 0 && built) return emit
    return (output) => {
      const { message } = output
      const time = message === null ? undefined : this.row.retold?.(message)
      if (message === null || time === undefined || (time >= since && (built || !isOpen(message)))) emit(output)
    }
  }

  /** Takes gaps in that lie before a record; gives the shift of its version, undefined where it was never read. */
  #pass(topic: TopicName, { offset, time }: Pick<LogRecord, 'offset' | 'time'>, emit: Emit): number | undefined {
    const gaps = this.gapsOf(topic)
    if (gaps.skips(offset)) return undefined
    for (const told of gaps.before(offset, this.#told)) {
      const { next, shift } = told.gap
      this.#context.v = versionOf(this.row.generation, Math.max(0, next - 1 + shift))
      const message = { type: 'log_gap', value: told.gap } as const
      this.row.core.apply(this.#state, { topic, offset: next, time, message }, this.#context, emit)
      this.#told = told.offset
    }
    return gaps.shiftAt(offset)
  }
}

/** A row that is not final: it may never be whole. */
export function isOpen({ value }: Message): boolean {
  return 'final' in value && !value.final
}
