import type { Vector } from './vector.ts'

/** The newest word on something: it replaces what was said under the same key before. */
export interface Update {
  readonly kind: string
  /** Identity among its kind: an asset, an alert id, a trigger id with the attempt's number. */
  readonly key: string
  /** null: it belongs to no asset. */
  readonly asset: string | null
  /** null: it is gone. */
  readonly value: object | null
}

/** A record's place in the log; `topic` counts in the order in which topics are followed. */
export interface BoardPosition {
  readonly topic: number
  readonly partition: number
  readonly offset: number
}

export interface Entry extends Update {
  readonly position: BoardPosition
}

/**
 * What is known of now, coalesced: per key the newest word alone, in the order of change. Who comes back with a position
 * gets every key that changed behind it; where something behind it was forgotten, nothing can be promised.
 */
export class Board {
  readonly #held: ReadonlyMap<string, Map<string, Entry>>
  readonly #keysMax: Readonly<Record<string, number>>
  readonly #next: number[][]
  /** From here on nothing was forgotten. */
  readonly #floor: number[][]
  #changed = new Map<string, Entry>()

  /**
   * `start`: from where the topics are followed. `keysMax`: most keys that are held of each kind; beyond, the one that is
   * longest without a change is forgotten.
   */
  constructor(start: Vector, keysMax: Readonly<Record<string, number>>) {
    this.#keysMax = keysMax
    this.#held = new Map(Object.keys(keysMax).map((kind) => [kind, new Map<string, Entry>()]))
    this.#next = start.map((offsets) => [...offsets])
    this.#floor = start.map((offsets) => [...offsets])
  }

  /** Everything before it is in what the board has said. */
  get position(): Vector {
    return this.#next
  }

  /** A topic's partition is told from here on, anew: nothing is promised of before. */
  begin({ topic, partition, offset }: BoardPosition): void {
    for (const vector of [this.#next, this.#floor]) {
      const offsets = vector[topic]
      if (offsets !== undefined) offsets[partition] = offset
    }
  }

  /** A record was read; `updates` is what it says, nothing for most. */
  take(position: BoardPosition, updates: readonly Update[]): void {
    raise(this.#next, position, position.offset + 1)
    for (const update of updates) this.#put({ ...update, position })
  }

  /** Says of everything of a kind that it is gone: what is there is told again, whatever place it has. */
  forget(kind: string): void {
    for (const entry of this.all().filter((each) => each.kind === kind)) {
      const { topic, partition } = entry.position
      this.#put({ ...entry, position: { ...entry.position, offset: this.#next[topic]?.[partition] ?? 0 }, value: null })
    }
  }

  #put(entry: Entry): void {
    const { kind, key } = entry
    const held = this.#held.get(kind)
    if (held === undefined) return
    held.delete(key)
    held.set(key, entry)
    this.#changed.delete(`${kind}:${key}`)
    this.#changed.set(`${kind}:${key}`, entry)
    if (held.size <= (this.#keysMax[kind] ?? 0)) return
    const [oldest] = held.values()
    if (oldest === undefined) return
    held.delete(oldest.key)
    raise(this.#floor, oldest.position, oldest.position.offset + 1)
  }

  /** What changed since the last call, each key once; in the order of change. */
  changes(): Entry[] {
    const changes = [...this.#changed.values()]
    this.#changed = new Map()
    return changes
  }

  /** All that is held and not gone. */
  all(): Entry[] {
    return [...this.#held.values()].flatMap((held) => [...held.values()].filter(({ value }) => value !== null))
  }

  /** Every key that changed behind `seen`; undefined where some of that was forgotten, or it is of another log. */
  after(seen: Vector): Entry[] | undefined {
    if (!this.#holds(seen) || this.isBehind(seen)) return undefined
    const isNew = ({ position: { topic, partition, offset } }: Entry): boolean =>
      offset >= (seen[topic]?.[partition] ?? 0)
    return [...this.#held.values()].flatMap((held) => [...held.values()].filter(isNew))
  }

  /** Whether nothing behind `seen` was forgotten, and the board is yet to hear of some that is before it. */
  isBehind(seen: Vector): boolean {
    return this.#holds(seen) && !isEach(seen, this.#next, (offset, next) => offset <= next)
  }

  #holds(seen: Vector): boolean {
    const isAlike =
      seen.length === this.#next.length && seen.every((offsets, topic) => offsets.length === this.#next[topic]?.length)
    return isAlike && isEach(seen, this.#floor, (offset, floor) => offset >= floor)
  }
}

function isEach(a: Vector, b: Vector, isSo: (offset: number, other: number) => boolean): boolean {
  return a.every((offsets, topic) => offsets.every((offset, partition) => isSo(offset, b[topic]?.[partition] ?? NaN)))
}

function raise(vector: number[][], { topic, partition }: BoardPosition, to: number): void {
  const offsets = vector[topic]
  if (offsets !== undefined) offsets[partition] = Math.max(offsets[partition] ?? 0, to)
}
