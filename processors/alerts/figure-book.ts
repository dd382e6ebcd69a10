import type { AlertBook } from './book.ts'
import { Heap } from '../kernel/heap.ts'
import type { Readings, Stand, StoredAlert } from './kinds/kind.ts'

/** Entries that no longer hold are thrown out when there are twice as many as after the last time, and this many. */
const SWEEP_MIN = 1_000

/** How a value passes a level; `*`: each change does, be it that nothing is known any more. */
const passes = ['>', '>=', '<', '<='] as const
type Passes = (typeof passes)[number] | '*'

interface SeriesLevels {
  readonly heap: Heap
  swept: number
}

/**
 * The alerts of an asset that stand at levels of its series, as `Book` for levels of records: a record costs the series that
 * it changes, the logarithm of the alerts that stand there, and what it really moves. An alert may stand at several levels
 * at once; entries of places that it has left are recognised when they come up.
 */
export class FigureBook implements AlertBook<Readings> {
  readonly #series = new Map<string, SeriesLevels>()
  readonly #find: (id: string) => StoredAlert | undefined
  readonly #standing: (alert: StoredAlert) => readonly Stand[]
  #size = 0

  constructor(find: (id: string) => StoredAlert | undefined, standing: (alert: StoredAlert) => readonly Stand[]) {
    this.#find = find
    this.#standing = standing
  }

  get size(): number {
    return this.#size
  }

  move(before: StoredAlert | undefined, alert: StoredAlert): void {
    const had = before !== undefined && before.stands.length > 0
    this.#stand(alert, 'push')
    this.#size += Number(alert.stands.length > 0) - Number(had)
  }

  restore(alert: StoredAlert): void {
    this.#stand(alert, 'push')
  }

  append(alert: StoredAlert): void {
    this.#stand(alert, 'append')
    this.#size += Number(alert.stands.length > 0)
  }

  settle(): void {
    for (const { heap } of this.#series.values()) heap.settle()
  }

  take({ before, sight, time }: Readings): StoredAlert[] {
    const taken = new Map<string, StoredAlert>()
    for (const name of before.keys()) {
      const value = sight.series.get(name)?.at(time)
      this.#takeFrom(`${name} *`, '*', NaN, taken)
      if (value === undefined) continue
      for (const how of passes) this.#takeFrom(`${name} ${how}`, how, value, taken)
    }
    return [...taken.values()].sort(byId)
  }

  #takeFrom(name: string, how: Passes, value: number, taken: Map<string, StoredAlert>): void {
    const levels = this.#series.get(name)
    if (levels === undefined) return
    const { heap } = levels
    const figure = isFalling(how) ? -value : value
    const isOn = how.endsWith('=')
    for (let { key } = heap; key !== undefined; key = heap.key) {
      if (how !== '*' && !(figure > key || (isOn && figure === key))) return
      const id = heap.pop()
      const alert = id === undefined ? undefined : this.#find(id)
      if (alert?.stands.includes(name) === true) taken.set(alert.alert_id, alert)
    }
    this.#series.delete(name) // it is empty
  }

  /** An alert is put to all of its places each time: whatever it was taken from, it stands there once more. */
  #stand(alert: StoredAlert, how: 'push' | 'append'): void {
    const stands = this.#standing(alert)
    alert.stands = stands.length === 0 ? nowhere : stands.map(({ name }) => name)
    for (const { name, at } of stands) {
      const levels = this.#levelsOf(name)
      levels.heap[how](isFalling(name.slice(name.lastIndexOf(' ') + 1)) ? -at : at, alert.alert_id)
      if (how === 'push' && levels.heap.size > SWEEP_MIN + 2 * levels.swept) this.#sweep(name, levels)
    }
  }

  #levelsOf(name: string): SeriesLevels {
    const known = this.#series.get(name)
    if (known !== undefined) return known
    const levels = { heap: new Heap(), swept: 0 }
    this.#series.set(name, levels)
    return levels
  }

  #sweep(name: string, levels: SeriesLevels): void {
    const seen = new Set<string>()
    levels.heap.sweep((id) => {
      const holds = !seen.has(id) && this.#find(id)?.stands.includes(name) === true
      seen.add(id)
      return holds
    })
    levels.swept = levels.heap.size
  }
}

/** Of an alert that stands nowhere. */
export const nowhere: readonly string[] = []

function isFalling(how: string): boolean {
  return how.startsWith('<')
}

function byId(a: StoredAlert, b: StoredAlert): number {
  return a.alert_id < b.alert_id ? -1 : 1
}
