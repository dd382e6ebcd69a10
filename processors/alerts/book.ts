import type { AlertState } from '../../schemas/alerts.ts'
import { Heap, type Entry } from './heap.ts'

/**
 * What an alert waits for.
 * - `above`, `below`: a price beyond its target; `back-above`, `back-below`: one that is not (on it counts);
 * - `risk`: a share of open interest beyond its threshold, or one that is not (`calm`).
 */
export type Wait = 'above' | 'below' | 'back-above' | 'back-below' | 'risk' | 'calm'

/** The next thing that matters to an alert; undefined: no price does. */
export function waitOf(alert: AlertState): Wait | undefined {
  const { status, condition, armed } = alert
  if (alert.ended_at > 0) return undefined
  const isCrossing = condition === 'crosses_above' || condition === 'crosses_below'
  const rises = condition === 'above' || condition === 'crosses_above'
  if (status === 'active') {
    if (alert.kind === 'liquidation') return 'risk'
    if (isCrossing && !armed) return rises ? 'back-below' : 'back-above'
    return rises ? 'above' : 'below'
  }
  if (status !== 'triggered' || isCrossing || armed) return undefined
  if (alert.kind === 'liquidation') return 'calm'
  return rises ? 'back-below' : 'back-above'
}

interface Waiting extends Entry {
  readonly wait: Wait
}

/** Stale entries are thrown out when there are this many and they are the larger part. */
const SWEEP_MIN = 1_000

/**
 * The alerts of one asset, sorted by what they wait for, so that a price costs the logarithm of their number and what it
 * really moves. An alert may have entries of waits that are over: they are recognised when they come up.
 */
export class Book {
  readonly #heaps: Record<Wait, Heap<Waiting>> = {
    above: new Heap(),
    below: new Heap(),
    'back-above': new Heap(),
    'back-below': new Heap(),
    risk: new Heap(),
    calm: new Heap(),
  }
  readonly #find: (id: string) => AlertState | undefined
  /** What each alert waits for now. */
  readonly #waits = new Map<string, Wait>()

  constructor(find: (id: string) => AlertState | undefined) {
    this.#find = find
  }

  /** Alerts that wait for something. */
  get size(): number {
    return this.#waits.size
  }

  /** Puts an alert where it waits now; out of the book where it waits for nothing. */
  place(alert: AlertState): void {
    const { alert_id: id } = alert
    const wait = waitOf(alert)
    if (this.#waits.get(id) === wait) return
    if (wait === undefined) {
      this.#waits.delete(id)
      return
    }
    this.#waits.set(id, wait)
    const heap = this.#heaps[wait]
    heap.push({ key: keyOf(alert, wait), id, wait })
    if (heap.size > SWEEP_MIN && heap.size > 2 * this.#waits.size) this.#sweep(heap)
  }

  /** Takes out the alerts whose `wait` ends at `value`, in the order of their targets; each has to be placed again. */
  take(wait: Wait, value: number): AlertState[] {
    const heap = this.#heaps[wait]
    const taken: AlertState[] = []
    for (let top = heap.peek(); top !== undefined && isOver(wait, top.key, value); top = heap.peek()) {
      heap.pop()
      if (this.#waits.get(top.id) !== wait) continue
      this.#waits.delete(top.id)
      const alert = this.#find(top.id)
      if (alert !== undefined) taken.push(alert)
    }
    return taken
  }

  #sweep(heap: Heap<Waiting>): void {
    const seen = new Set<string>()
    heap.sweep(({ id, wait }) => {
      if (seen.has(id) || this.#waits.get(id) !== wait) return false
      seen.add(id)
      return true
    })
  }
}

/** Keys rise in the order in which their waits end: those for falling prices have their targets negated. */
function keyOf({ target_price: target, threshold_pct: threshold }: AlertState, wait: Wait): number {
  switch (wait) {
    case 'above':
    case 'back-above':
      return target ?? Infinity
    case 'below':
    case 'back-below':
      return -(target ?? -Infinity)
    case 'risk':
      return threshold ?? Infinity
    case 'calm':
      return 0 // two figures decide: each update looks at all of the few that ring
  }
}

function isOver(wait: Wait, key: number, value: number): boolean {
  switch (wait) {
    case 'above':
    case 'risk':
      return value > key
    case 'back-above':
      return value >= key
    case 'below':
      return -value > key
    case 'back-below':
      return -value >= key
    case 'calm':
      return true
  }
}
