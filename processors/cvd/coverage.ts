/** Open holes of one instrument; beyond it the oldest is closed for good, so that state stays small. */
export const HOLES_MAX = 1_024

/** `duplicate`: all of it is covered; `overlap`: a part of it, which has no right answer, so it is refused. */
export type Admission = 'new' | 'duplicate' | 'overlap'

/**
 * Which ids of one instrument have been seen: closed ranges, ascending, never touching. Nearly always it is one range
 * that grows at its end.
 */
export class Coverage {
  readonly #firsts: number[]
  readonly #lasts: number[]
  /** Holes closed for good because there were too many. */
  closedHoles: number

  constructor(ranges: readonly (readonly [first: number, last: number])[] = [], closedHoles = 0) {
    this.#firsts = ranges.map(([first]) => first)
    this.#lasts = ranges.map(([, last]) => last)
    this.closedHoles = closedHoles
  }

  get ranges(): [first: number, last: number][] {
    return this.#firsts.map((first, index) => [first, this.#lasts[index] ?? first])
  }

  /** Covers `first` to `last` where none of it was covered. */
  admit(first: number, last: number): Admission {
    const newest = this.#lasts.length - 1
    const end = this.#lasts[newest]
    if (end === undefined || first > end) {
      this.#append(first, last, end)
      return 'new'
    }
    // The first range that ends at or behind `first`: there is one, since first <= end.
    const at = this.#rangeEndingFrom(first)
    const from = this.#firsts[at] ?? 0
    if (first >= from) return last <= (this.#lasts[at] ?? 0) ? 'duplicate' : 'overlap'
    if (last >= from) return 'overlap'
    this.#insert(at, first, last)
    return 'new'
  }

  #append(first: number, last: number, end: number | undefined): void {
    if (end !== undefined && first === end + 1) {
      this.#lasts[this.#lasts.length - 1] = last
      return
    }
    this.#firsts.push(first)
    this.#lasts.push(last)
    this.#limit()
  }

  /** Puts a range before the one at `at`, joined to its neighbours where they touch. */
  #insert(at: number, first: number, last: number): void {
    const touchesBefore = at > 0 && this.#lasts[at - 1] === first - 1
    const touchesAfter = this.#firsts[at] === last + 1
    if (touchesBefore && touchesAfter) {
      this.#lasts.splice(at - 1, 1)
      this.#firsts.splice(at, 1)
    } else if (touchesBefore) this.#lasts[at - 1] = last
    else if (touchesAfter) this.#firsts[at] = first
    else {
      this.#firsts.splice(at, 0, first)
      this.#lasts.splice(at, 0, last)
      this.#limit()
    }
  }

  #limit(): void {
    if (this.#firsts.length - 1 <= HOLES_MAX) return
    this.#lasts.splice(0, 1)
    this.#firsts.splice(1, 1)
    this.closedHoles += 1
  }

  #rangeEndingFrom(id: number): number {
    let low = 0
    let high = this.#lasts.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#lasts[middle] ?? Infinity) < id) low = middle + 1
      else high = middle
    }
    return low
  }
}
