import type { Micros } from '../../schemas/records.ts'
import { Heap } from '../kernel/heap.ts'

/**
 * What time alone does, in the order in which it is done where the times are equal: to alerts (an end comes before the end
 * of a pause, that before what has held long enough, and that before the end of a cooldown), and to what is remembered of creations (by idempotency hash), requests and
 * payments.
 */
const timerKinds = ['expires', 'resumed', 'held', 'cooled', 'purged', 'creation', 'request', 'payment'] as const
export type TimerKind = (typeof timerKinds)[number]

export interface Timer {
  readonly what: TimerKind
  readonly key: Micros
  readonly id: string
}

/** All timers of a partition. One that does not hold any more is recognised by its owner when it is due. */
export class Timers {
  readonly #heaps: Record<TimerKind, Heap> = {
    expires: new Heap(),
    resumed: new Heap(),
    held: new Heap(),
    cooled: new Heap(),
    purged: new Heap(),
    creation: new Heap(),
    request: new Heap(),
    payment: new Heap(),
  }

  set(what: TimerKind, key: Micros, id: string): void {
    this.#heaps[what].push(key, id)
  }

  /** Sets a timer while a state is loaded; `settle` has to follow. */
  append(what: TimerKind, key: Micros, id: string): void {
    this.#heaps[what].append(key, id)
  }

  settle(): void {
    for (const what of timerKinds) this.#heaps[what].settle()
  }

  /** When the next is due; Infinity: there is none. */
  get next(): Micros {
    return Math.min(...timerKinds.map((what) => this.#heaps[what].key ?? Infinity))
  }

  /** The next timer that is due by `time`, taken out. */
  due(time: Micros): Timer | undefined {
    let next: Omit<Timer, 'id'> | undefined
    for (const what of timerKinds) {
      const { key } = this.#heaps[what]
      if (key !== undefined && key <= time && key < (next?.key ?? Infinity)) next = { what, key }
    }
    const id = next === undefined ? undefined : this.#heaps[next.what].pop()
    return next === undefined || id === undefined ? undefined : { ...next, id }
  }

  /** The oldest timer of a kind, taken out, whenever it is due. */
  oldest(what: TimerKind): string | undefined {
    return this.#heaps[what].pop()
  }

  size(what: TimerKind): number {
    return this.#heaps[what].size
  }

  /** Throws out the timers of a kind that do not hold. */
  sweep(what: TimerKind, holds: (id: string, key: Micros) => boolean): void {
    this.#heaps[what].sweep(holds)
  }
}
