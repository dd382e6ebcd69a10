import type { AlertBook } from './book.ts'
import type { Readings, Stand, StoredAlert } from './kinds/kind.ts'

type Find = (id: string) => StoredAlert | undefined

/**
 * The rules for all symbols, held once for all of them: they lie at all of their levels, and a record looks at those
 * between the value that was and the value that is. A symbol that is beyond a rule's level, or from which the rule has to
 * see the other side, has a part of its own (`parts.ts`), so that nothing is to be looked at before a value passes.
 */
export class SharedBook implements AlertBook<Readings> {
  readonly #levels = new Map<string, Levels>()
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
    for (const { name, at } of stood) this.#levels.get(name)?.delete(at, alert.alert_id)
    this.#size -= Number(stood.length > 0)
    this.append(alert)
  }

  restore(): void {
    // Nothing was taken out.
  }

  append(alert: StoredAlert): void {
    const stands = this.#standing(alert)
    for (const { name, at } of stands) this.#levelsOf(name).add(at, alert.alert_id)
    this.#size += Number(stands.length > 0)
  }

  settle(): void {
    // Levels are in order at all times.
  }

  /** The rules of which a value has passed a level, by id; they stay where they are. */
  take({ before, sight, time }: Readings): StoredAlert[] {
    const ids = new Set<string>()
    const add = (name: string, low: number, high: number): void => {
      for (const id of this.#levels.get(name)?.between(low, high) ?? []) ids.add(id)
    }
    for (const [name, then] of before) {
      const now = sight.series.get(name)?.at(time)
      if (now === undefined) continue
      for (const how of ['>', '>=']) if (now > (then ?? -Infinity)) add(`${name} ${how}`, then ?? -Infinity, now)
      for (const how of ['<', '<=']) if (now < (then ?? Infinity)) add(`${name} ${how}`, now, then ?? Infinity)
    }
    return [...ids].sort().flatMap((id) => this.#find(id) ?? [])
  }

  #levelsOf(name: string): Levels {
    const known = this.#levels.get(name)
    if (known !== undefined) return known
    const levels = new Levels()
    this.#levels.set(name, levels)
    return levels
  }
}

/** A chunk is cut in two when it is longer. */
const CHUNK_MAX = 1_024

/** Levels with the ids that stand at them, in order. */
interface Chunk {
  readonly keys: number[]
  readonly ids: string[]
}

/**
 * Ids by level, equal levels by id, of which those between two levels are read: adding, taking out and finding cost the
 * logarithm of their number and a chunk.
 */
export class Levels {
  #chunks: Chunk[] = [{ keys: [], ids: [] }]

  add(key: number, id: string): void {
    const at = this.#chunkAt(key, id)
    const chunk = this.#chunks[at] ?? { keys: [], ids: [] }
    const index = indexIn(chunk, key, id)
    chunk.keys.splice(index, 0, key)
    chunk.ids.splice(index, 0, id)
    if (chunk.keys.length <= CHUNK_MAX) return
    const half = CHUNK_MAX / 2
    this.#chunks.splice(at + 1, 0, { keys: chunk.keys.splice(half), ids: chunk.ids.splice(half) })
  }

  /** Takes out what was added. */
  delete(key: number, id: string): void {
    const at = this.#chunkAt(key, id)
    const chunk = this.#chunks[at]
    const index = chunk === undefined ? 0 : indexIn(chunk, key, id)
    if (chunk?.keys[index] !== key || chunk.ids[index] !== id) return
    chunk.keys.splice(index, 1)
    chunk.ids.splice(index, 1)
    if (chunk.keys.length === 0 && this.#chunks.length > 1) this.#chunks.splice(at, 1)
  }

  /** The ids from one level to another, both included. */
  *between(low: number, high: number): Iterable<string> {
    for (let at = this.#chunkAt(low, ''); at < this.#chunks.length; at++) {
      const { keys, ids } = this.#chunks[at] ?? { keys: [], ids: [] }
      for (let index = indexIn({ keys, ids }, low, ''); index < keys.length; index++) {
        if ((keys[index] ?? Infinity) > high) return
        yield ids[index] ?? ''
      }
    }
  }

  /** The last chunk that does not begin behind it. */
  #chunkAt(key: number, id: string): number {
    let [low, high] = [0, this.#chunks.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      const chunk = this.#chunks[middle]
      if (chunk !== undefined && !isBefore(key, id, chunk, 0)) low = middle
      else high = middle - 1
    }
    return low
  }
}

function indexIn(chunk: Chunk, key: number, id: string): number {
  let [low, high] = [0, chunk.keys.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBefore(key, id, chunk, middle) || (chunk.keys[middle] === key && chunk.ids[middle] === id)) high = middle
    else low = middle + 1
  }
  return low
}

function isBefore(key: number, id: string, { keys, ids }: Chunk, at: number): boolean {
  const other = keys[at] ?? Infinity
  return key < other || (key === other && id < (ids[at] ?? ''))
}
