import { Heap } from '../kernel/heap.ts'
import { EVERY_RECORD, type AlertKind, type Level, type StoredAlert } from './kinds/kind.ts'

/** The level at which an alert waits for a record; undefined: no record matters to it. */
function waitOf(kind: AlertKind, alert: StoredAlert): string | undefined {
  const { status, armed, ended_at: ended, paused_until: paused, terms } = alert
  if (ended > 0 || paused > 0) return undefined
  const waitsToReturn = status === 'triggered' && !armed && !kind.ringsOnce(terms)
  return status === 'active' || waitsToReturn ? kind.wait(alert) : undefined
}

/** Entries that no longer hold are thrown out when there are this many and they are the larger part. */
const SWEEP_MIN = 1_000

/** Alerts of one kind on one asset, where what a record may concern is found. */
export interface AlertBook<Record = unknown> {
  /** Alerts that wait for something. */
  readonly size: number
  /** An alert has changed: where it waits for something else now, it stands there. */
  move(before: StoredAlert | undefined, alert: StoredAlert): void
  /** Puts an alert that was taken, and has not changed, back: to where it waits, or to the level that stands for it. */
  restore(alert: StoredAlert, at?: string): void
  /** Puts in an alert of a loaded state; `settle` has to follow. */
  append(alert: StoredAlert): void
  settle(): void
  /** Takes out the alerts that the record may concern: each is to be put back or changed. */
  take(record: Record): StoredAlert[]
}

type Find = (id: string) => StoredAlert | undefined

/**
 * The alerts of one kind on one asset, sorted by the levels that they wait at, so that a record costs the logarithm of
 * their number and what it really moves. An alert may have entries of waits that are over: they are recognised when they
 * come up.
 */
export class Book implements AlertBook {
  readonly #kind: AlertKind
  readonly #heaps: ReadonlyMap<string, LevelHeap>
  /** Alerts may stand at one of several levels: which of them depends on the past, so their order must not depend on it. */
  readonly #isById: boolean
  readonly #everyRecord = new Set<string>()
  readonly #find: Find
  #size = 0

  constructor(kind: AlertKind, find: Find) {
    const levels = Object.entries(kind.levels)
    this.#kind = kind
    this.#heaps = new Map(levels.map(([name, level]) => [name, levelHeap(name, level)]))
    this.#isById = levels.some(([, { insteadOf }]) => insteadOf !== undefined)
    this.#find = find
  }

  get size(): number {
    return this.#size
  }

  move(before: StoredAlert | undefined, alert: StoredAlert): void {
    const from = before === undefined ? undefined : waitOf(this.#kind, before)
    const to = waitOf(this.#kind, alert)
    if (from === to) return
    this.#size += Number(to !== undefined) - Number(from !== undefined)
    if (from === EVERY_RECORD) this.#everyRecord.delete(alert.alert_id)
    if (to === EVERY_RECORD) this.#everyRecord.add(alert.alert_id)
    else if (to !== undefined) this.#push(to, alert)
  }

  restore(alert: StoredAlert, at?: string): void {
    const wait = waitOf(this.#kind, alert)
    if (wait !== undefined && wait !== EVERY_RECORD) this.#push(at ?? wait, alert)
  }

  append(alert: StoredAlert): void {
    const wait = waitOf(this.#kind, alert)
    if (wait === undefined) return
    this.#size += 1
    if (wait === EVERY_RECORD) this.#everyRecord.add(alert.alert_id)
    else this.#entry(wait, alert, 'append')
  }

  settle(): void {
    for (const { heap } of this.#heaps.values()) heap.settle()
  }

  /** Takes out the alerts whose levels the record passes, and those that wait for every record: each is to be put back or changed. */
  take(record: unknown): StoredAlert[] {
    const taken: StoredAlert[] = []
    for (const entries of this.#heaps.values()) this.#takeFrom(entries, record, taken)
    if (this.#isById) taken.sort(byId)
    if (this.#everyRecord.size === 0) return taken
    return [...taken, ...[...this.#everyRecord].flatMap((id) => this.#find(id) ?? []).sort(byId)]
  }

  #takeFrom(entries: LevelHeap, record: unknown, taken: StoredAlert[]): void {
    const { heap, wait, level, sign } = entries
    if (heap.size === 0) return
    const value = sign * level.figure(record as never)
    let seen: Set<string> | undefined
    for (let { key } = heap; key !== undefined && isPassed(entries, key, value); key = heap.key) {
      const id = heap.pop()
      const alert = id === undefined ? undefined : this.#find(id)
      if (alert === undefined || waitOf(this.#kind, alert) !== wait) continue
      seen ??= new Set(taken.map(({ alert_id: other }) => other))
      if (seen.has(alert.alert_id)) continue
      seen.add(alert.alert_id)
      taken.push(alert)
    }
  }

  #push(name: string, alert: StoredAlert): void {
    const entries = this.#entry(name, alert, 'push')
    if (entries.heap.size > SWEEP_MIN && entries.heap.size > 2 * this.#size) this.#sweep(entries)
  }

  #entry(name: string, alert: StoredAlert, how: 'push' | 'append'): LevelHeap {
    const entries = this.#heaps.get(name)
    if (entries === undefined) throw new Error(`alerts of the kind ${this.#kind.kind} have no level ${name}`)
    entries.heap[how](entries.sign * this.#kind.at(alert.terms, name), alert.alert_id)
    return entries
  }

  #sweep({ heap, wait }: LevelHeap): void {
    const seen = new Set<string>()
    heap.sweep((id) => {
      const alert = this.#find(id)
      const holds = alert !== undefined && waitOf(this.#kind, alert) === wait && !seen.has(id)
      seen.add(id)
      return holds
    })
  }
}

/** The entries at one level. Keys rise in the order in which their waits end: levels that are passed downward are negated. */
interface LevelHeap {
  readonly heap: Heap
  readonly level: Level<never>
  /** What an alert that stands here waits at. */
  readonly wait: string
  readonly sign: 1 | -1
  /** A figure that is on the level passes it. */
  readonly isOn: boolean
}

function levelHeap(name: string, level: Level<never>): LevelHeap {
  const { passes, insteadOf: wait = name } = level
  return { heap: new Heap(), level, wait, sign: passes.startsWith('<') ? -1 : 1, isOn: passes.endsWith('=') }
}

function isPassed({ isOn }: LevelHeap, key: number, value: number): boolean {
  return value > key || (isOn && value === key)
}

function byId(a: StoredAlert, b: StoredAlert): number {
  return a.alert_id < b.alert_id ? -1 : 1
}
