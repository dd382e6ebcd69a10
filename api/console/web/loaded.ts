/** Rows of a history that were read page by page, each once, and where the next older page begins. Pure. */
export class Loaded<Row extends { readonly time: string }> {
  readonly #byTime = new Map<string, Row>()
  #next: string | null | undefined

  /** The `end` of the next older page; null: there is none; undefined: nothing was read yet. */
  get next(): string | null | undefined {
    return this.#next
  }

  /** All rows, oldest first. ISO times sort as texts. */
  get rows(): Row[] {
    return [...this.#byTime.values()].sort((a, b) => (a.time < b.time ? -1 : 1))
  }

  /** The newest page again: what it has stands in place of what was read before. */
  takeNewest(rows: readonly Row[], next: string | null): void {
    this.#put(rows)
    if (this.#next === undefined) this.#next = next
  }

  takeOlder(rows: readonly Row[], next: string | null): void {
    this.#put(rows)
    this.#next = next
  }

  #put(rows: readonly Row[]): void {
    for (const row of rows) this.#byTime.set(row.time, row)
  }
}
