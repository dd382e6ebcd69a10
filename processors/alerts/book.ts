import type { AlertState } from '../../schemas/alerts.ts'
import { Heap } from './heap.ts'
import { isCrossing, isRising, type Held } from './held.ts'

/**
 * What an alert waits for.
 * - `above`, `below`: a price beyond its target; `back-above`, `back-below`: one that is not (on it counts);
 * - `risk`: open interest at risk beyond its threshold and its least value; `calm`: not both any more.
 */
export type Wait = 'above' | 'below' | 'back-above' | 'back-below' | 'risk' | 'calm'
export type PriceWait = Exclude<Wait, 'risk' | 'calm'>

/** The next thing that matters to an alert; undefined: no price does. */
export function waitOf(alert: AlertState): Wait | undefined {
  const { status, condition, armed, kind, ended_at: ended } = alert
  if (ended > 0) return undefined
  const crosses = isCrossing(condition)
  const back = isRising(condition) ? 'back-below' : 'back-above'
  if (status === 'active') {
    if (kind === 'liquidation') return 'risk'
    if (crosses && !armed) return back
    return isRising(condition) ? 'above' : 'below'
  }
  if (status !== 'triggered' || crosses || armed) return undefined
  return kind === 'liquidation' ? 'calm' : back
}

/** Entries that no longer hold are thrown out when there are this many and they are the larger part. */
const SWEEP_MIN = 1_000

/** `pct` and `usd`: alerts that wait for risk, by the one of their two figures that is known to be short. */
type HeapName = PriceWait | 'pct' | 'usd'

/**
 * The alerts of one asset, sorted by what they wait for, so that a price costs the logarithm of their number and what it
 * really moves. An alert may have entries of waits that are over: they are recognised when they come up.
 */
export class Book {
  readonly #heaps: Record<HeapName, Heap> = {
    above: new Heap(),
    below: new Heap(),
    'back-above': new Heap(),
    'back-below': new Heap(),
    pct: new Heap(),
    usd: new Heap(),
  }
  /** Liquidation alerts that rang: both of their figures have to be looked at each time. */
  readonly #ringing = new Set<string>()
  readonly #find: (id: string) => Held | undefined
  #size = 0

  constructor(find: (id: string) => Held | undefined) {
    this.#find = find
  }

  /** Alerts that wait for something. */
  get size(): number {
    return this.#size
  }

  /** An alert has changed: where it waits for something else now, it stands there. */
  move(before: Held | undefined, alert: Held): void {
    const from = before === undefined ? undefined : waitOf(before)
    const to = waitOf(alert)
    if (from === to) return
    this.#size += Number(to !== undefined) - Number(from !== undefined)
    if (from === 'calm') this.#ringing.delete(alert.alert_id)
    if (to !== undefined) this.#stand(alert, to)
  }

  /** Puts an alert that was taken, and has not changed, back. `isShort`: its value is, rather than its share. */
  restore(alert: Held, isShort = false): void {
    const wait = waitOf(alert)
    if (wait === undefined || wait === 'calm') return
    if (isShort) this.#push('usd', alert)
    else this.#stand(alert, wait)
  }

  /** Puts in an alert of a loaded state; `settle` has to follow. */
  append(alert: Held): void {
    const wait = waitOf(alert)
    if (wait === undefined) return
    this.#size += 1
    if (wait === 'calm') this.#ringing.add(alert.alert_id)
    else this.#heaps[heapOf(wait)].append(keyOf(alert, heapOf(wait)), alert.alert_id)
  }

  settle(): void {
    for (const heap of Object.values(this.#heaps)) heap.settle()
  }

  /** Takes out the alerts whose `wait` a price of `value` ends, in the order of their targets. */
  take(wait: PriceWait, value: number): Held[] {
    return this.#takeFrom(wait, value, wait)
  }

  /** Takes out the alerts that may be at risk by these figures, by id: each is to be put back or changed. */
  takeRisk(pct: number, usd: number): Held[] {
    const taken = [...this.#takeFrom('pct', pct, 'risk'), ...this.#takeFrom('usd', usd, 'risk')]
    return [...new Set(taken)].sort(byId)
  }

  /** The alerts that wait for calm, by id. */
  ringing(): Held[] {
    return [...this.#ringing].flatMap((id) => this.#find(id) ?? []).sort(byId)
  }

  #takeFrom(name: HeapName, value: number, wait: Wait): Held[] {
    const heap = this.#heaps[name]
    const taken: Held[] = []
    const seen = new Set<string>()
    for (let { key } = heap; key !== undefined && isOver(name, key, value); key = heap.key) {
      const id = heap.pop()
      const alert = id === undefined ? undefined : this.#find(id)
      if (alert === undefined || seen.has(alert.alert_id) || waitOf(alert) !== wait) continue
      seen.add(alert.alert_id)
      taken.push(alert)
    }
    return taken
  }

  #stand(alert: Held, wait: Wait): void {
    if (wait === 'calm') this.#ringing.add(alert.alert_id)
    else this.#push(heapOf(wait), alert)
  }

  #push(name: HeapName, alert: Held): void {
    const heap = this.#heaps[name]
    heap.push(keyOf(alert, name), alert.alert_id)
    if (heap.size > SWEEP_MIN && heap.size > 2 * this.#size) this.#sweep(name)
  }

  #sweep(name: HeapName): void {
    const seen = new Set<string>()
    this.#heaps[name].sweep((id) => {
      const alert = this.#find(id)
      const wait = alert === undefined ? undefined : waitOf(alert)
      const holds = wait !== undefined && (name === 'usd' ? wait === 'risk' : heapOf(wait) === name) && !seen.has(id)
      seen.add(id)
      return holds
    })
  }
}

function heapOf(wait: Wait): HeapName {
  return wait === 'risk' || wait === 'calm' ? 'pct' : wait
}

function byId(a: Held, b: Held): number {
  return a.alert_id < b.alert_id ? -1 : 1
}

/** Keys rise in the order in which their waits end: those for falling prices have their targets negated. */
function keyOf(alert: AlertState, name: HeapName): number {
  switch (name) {
    case 'above':
    case 'back-above':
      return alert.target_price ?? Infinity
    case 'below':
    case 'back-below':
      return -(alert.target_price ?? -Infinity)
    case 'pct':
      return alert.threshold_pct ?? Infinity
    case 'usd':
      return alert.min_value_usd ?? Infinity
  }
}

function isOver(name: HeapName, key: number, value: number): boolean {
  switch (name) {
    case 'above':
    case 'pct':
      return value > key
    case 'back-above':
    case 'usd':
      return value >= key
    case 'below':
      return -value > key
    case 'back-below':
      return -value >= key
  }
}
