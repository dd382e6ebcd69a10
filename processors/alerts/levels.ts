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
    const place = placeIn(chunk, key, id)
    chunk.keys.splice(place, 0, key)
    chunk.ids.splice(place, 0, id)
    if (chunk.keys.length <= CHUNK_MAX) return
    const half = CHUNK_MAX / 2
    this.#chunks.splice(at + 1, 0, { keys: chunk.keys.splice(half), ids: chunk.ids.splice(half) })
  }

  /** Takes out what was added. */
  delete(key: number, id: string): void {
    const at = this.#chunkAt(key, id)
    const chunk = this.#chunks[at]
    const place = chunk === undefined ? 0 : placeIn(chunk, key, id)
    if (chunk?.keys[place] !== key || chunk.ids[place] !== id) return
    chunk.keys.splice(place, 1)
    chunk.ids.splice(place, 1)
    if (chunk.keys.length === 0 && this.#chunks.length > 1) this.#chunks.splice(at, 1)
  }

  /** The ids from one level to another, both included. */
  *between(low: number, high: number): Iterable<string> {
    for (let at = this.#chunkAt(low, ''); at < this.#chunks.length; at++) {
      const { keys, ids } = this.#chunks[at] ?? { keys: [], ids: [] }
      for (let place = placeIn({ keys, ids }, low, ''); place < keys.length; place++) {
        if ((keys[place] ?? Infinity) > high) return
        yield ids[place] ?? ''
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

function placeIn(chunk: Chunk, key: number, id: string): number {
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
