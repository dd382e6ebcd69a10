/** Where the answers of payments lie in `payments.answers`. The first of a payment counts; the last is the same text. */
export interface AnswerOffsets {
  readonly first: number
  readonly last: number
  /** Kafka record timestamp, milliseconds. */
  readonly time: number
}

/** Offsets only: the answers themselves stay in the log. */
export class AnswerIndex {
  readonly #offsets = new Map<string, AnswerOffsets>()

  get size(): number {
    return this.#offsets.size
  }

  find(id: string): AnswerOffsets | undefined {
    return this.#offsets.get(id)
  }

  /** A record of the log; gives whether it is the payment's first. */
  put(id: string, offset: number, time: number): boolean {
    const known = this.#offsets.get(id)
    this.#offsets.set(id, known === undefined ? { first: offset, last: offset, time } : { ...known, last: offset })
    return known === undefined
  }

  remove(id: string): void {
    this.#offsets.delete(id)
  }

  /** Payments whose answers were kept before `time`, milliseconds; at most `count` of them. */
  olderThan(time: number, count: number): string[] {
    const old: string[] = []
    for (const [id, known] of this.#offsets) {
      if (known.time >= time || old.length === count) break
      old.push(id)
    }
    return old
  }
}
