/** Where the answers of payments lie in `payments.answers`. The first of a payment counts; the last is the same text. */
export interface Place {
  readonly first: number
  readonly last: number
  /** Kafka record timestamp, milliseconds. */
  readonly time: number
}

/** Offsets only: the answers themselves stay in the log. */
export class AnswerIndex {
  readonly #places = new Map<string, Place>()

  get size(): number {
    return this.#places.size
  }

  find(id: string): Place | undefined {
    return this.#places.get(id)
  }

  /** A record of the log; gives whether it is the payment's first. */
  put(id: string, offset: number, time: number): boolean {
    const known = this.#places.get(id)
    this.#places.set(id, known === undefined ? { first: offset, last: offset, time } : { ...known, last: offset })
    return known === undefined
  }

  remove(id: string): void {
    this.#places.delete(id)
  }

  /** Payments whose answers were kept before `time`, milliseconds; at most `count` of them. */
  olderThan(time: number, count: number): string[] {
    const old: string[] = []
    for (const [id, place] of this.#places) {
      if (place.time >= time || old.length === count) break
      old.push(id)
    }
    return old
  }
}
