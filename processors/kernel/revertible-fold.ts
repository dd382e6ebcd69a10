import type { LogRecord } from '../../infra/kafka/seam.ts'
import type { Message } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import type { Cause } from './dead-letters.ts'
import { causeOfFailure, heldCause, laneOf, type Failures } from './failures.ts'
import type { Fold, Moment } from './fold.ts'
import type { Output } from './processor.ts'
import type { PartChange } from './snapshot.ts'

/** A record that fails alike so often in a row is the cause itself. */
const ATTEMPTS_MAX = 3
/** One that fails each time in another way is given up as well. */
const TRIES_MAX = 6
/** After so many records without a failure there is no more reason for care. */
export const REVERTIBLE_RECORDS = 10_000

/** Where outputs go, and how they are taken back. */
export interface Emission {
  readonly emit: (output: Output) => void
  /** Notes where the outputs are; what is called takes back all that was emitted since. */
  mark(): () => void
}

interface Applied {
  readonly topic: TopicName
  readonly record: Pick<LogRecord, 'offset' | 'time'>
  readonly message: Message
}

/**
 * A fold that can take a record back. The parts of its state are kept as they would be written: when the core throws, the
 * state is made of them again and what came behind them is folded once more, as after a crash. So a record that fails is
 * as if it had never been there, whatever it had changed before it threw.
 */
export class RevertibleFold {
  readonly failures: Failures
  readonly #fold: Fold
  /** The state as of the checkpoint. */
  readonly #parts: Map<string, Buffer>
  #moment: Moment
  /** Parts that changed since the state was last written. */
  readonly #changed = new Set<string>()
  /** What was folded since the checkpoint. */
  #since: Applied[] = []
  /** Each record is written out by itself, since what fails is the writing. */
  readonly #isStepwise: boolean
  readonly #known = new Set<string>()
  #calm = 0

  /** `parts`: the state that the fold begins with. */
  constructor(fold: Fold, parts: ReadonlyMap<string, Buffer>, failures: Failures, isStepwise = false) {
    this.#fold = fold
    this.#parts = new Map(parts)
    this.#moment = fold.moment()
    this.failures = failures
    this.#isStepwise = isStepwise
  }

  /** Nothing has failed for long, and nothing is held back. */
  get isOver(): boolean {
    return this.#calm >= REVERTIBLE_RECORDS && this.failures.isEmpty
  }

  /** Keeps the state as it is now. */
  checkpoint({ emit }: Emission): void {
    this.#fold.flush(emit)
    const changes = [...this.#fold.row.core.save(this.#fold.state)]
    for (const [key, part] of changes) {
      this.#changed.add(key)
      if (part === null) this.#parts.delete(key)
      else this.#parts.set(key, part)
    }
    this.#moment = this.#fold.moment()
    this.#since = []
  }

  /** The parts that changed since the last call, as a core's `save` gives them. */
  save(emission: Emission): PartChange[] {
    this.checkpoint(emission)
    const changes = [...this.#changed].map((key): PartChange => [key, this.#parts.get(key) ?? null])
    this.#changed.clear()
    return changes
  }

  /** Folds one record in; gives why where it is to be set aside, and then nothing of it has remained. */
  apply(applied: Applied, emission: Emission): Cause | undefined {
    const { topic, record, message } = applied
    const lane = laneOf(topic, message)
    this.failures.forget(record.time)
    this.#calm += 1
    const cause = this.failures.isHeld(lane, record.time) ? heldCause(lane) : this.#try(applied, emission)
    if (cause === undefined) return undefined
    this.#calm = 0
    if (cause.reason === 'failed') this.failures.add(lane, record.time)
    return cause
  }

  #try(applied: Applied, emission: Emission): Cause | undefined {
    let inRow = 0
    let last = ''
    for (let tries = 1; ; tries += 1) {
      const error = this.#attempt(applied, emission)
      if (error === undefined) return undefined
      const cause = causeOfFailure(error.thrown, tries)
      const way = `${cause.code} ${cause.at ?? ''}`
      inRow = way === last ? inRow + 1 : 1
      last = way
      if (!this.#known.has(way) && inRow < ATTEMPTS_MAX && tries < TRIES_MAX) continue
      this.#known.add(way)
      return cause
    }
  }

  /** What was thrown; then the state and the outputs are again what they were. */
  #attempt({ topic, record, message }: Applied, emission: Emission): { readonly thrown: unknown } | undefined {
    const undo = emission.mark()
    try {
      this.#fold.apply(topic, record, message, emission.emit)
      if (this.#isStepwise) this.checkpoint(emission)
      else this.#since.push({ topic, record, message })
      return undefined
    } catch (thrown) {
      undo()
      this.#rewind(emission)
      return { thrown }
    }
  }

  #rewind(emission: Emission): void {
    this.#fold.restore(this.#fold.row.core.load(this.#parts), this.#moment)
    if (this.#since.length === 0) return
    for (const { topic, record, message } of this.#since) this.#fold.apply(topic, record, message, ignore)
    this.checkpoint(emission) // so that the next failure has less to fold again
  }
}

const ignore = (): void => undefined
