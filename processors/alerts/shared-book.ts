import type { AlertBook } from './book.ts'
import type { Readings, Stand, StoredAlert } from './kinds/kind.ts'
import { Levels } from './levels.ts'

type Find = (id: string) => StoredAlert | undefined

/**
 * The rules for all symbols, held once for all of them: they lie at all of their levels, and a record looks at those
 * between the value that was and the value that is. A symbol that is beyond a rule's level, or from which the rule has to
 * see the other side, has a part of its own (`parts.ts`), so that nothing is to be looked at before a value passes.
 */
export class SharedBook implements AlertBook<Readings> {
  readonly #shelves = new Map<string, Levels>()
  readonly #find: Find
  readonly #standing: (alert: StoredAlert) => readonly Stand[]
  #size = 0

  constructor(find: Find, standing: (alert: StoredAlert) => readonly Stand[]) {
    this.#find = find
    this.#standing = standing
  }

  get size(): number {
    return this.#size
  }

  move(before: StoredAlert | undefined, alert: StoredAlert): void {
    const stood = before === undefined ? [] : this.#standing(before)
    for (const { name, at } of stood) this.#shelves.get(name)?.delete(at, alert.alert_id)
    this.#size -= Number(stood.length > 0)
    this.append(alert)
  }

  restore(): void {
    // Nothing was taken out.
  }

  append(alert: StoredAlert): void {
    const stands = this.#standing(alert)
    for (const { name, at } of stands) this.#shelfOf(name).add(at, alert.alert_id)
    this.#size += Number(stands.length > 0)
  }

  settle(): void {
    // Levels are in order at all times.
  }

  /** The rules of which a value has passed a level, by id; they stay where they are. */
  take({ before, sight, time }: Readings): StoredAlert[] {
    const ids = new Set<string>()
    const add = (name: string, low: number, high: number): void => {
      for (const id of this.#shelves.get(name)?.between(low, high) ?? []) ids.add(id)
    }
    for (const [name, then] of before) {
      const now = sight.series.get(name)?.at(time)
      if (now === undefined) continue
      for (const how of ['>', '>=']) if (now > (then ?? -Infinity)) add(`${name} ${how}`, then ?? -Infinity, now)
      for (const how of ['<', '<=']) if (now < (then ?? Infinity)) add(`${name} ${how}`, now, then ?? Infinity)
    }
    return [...ids].sort().flatMap((id) => this.#find(id) ?? [])
  }

  #shelfOf(name: string): Levels {
    const known = this.#shelves.get(name)
    if (known !== undefined) return known
    const levels = new Levels()
    this.#shelves.set(name, levels)
    return levels
  }
}
