import type { Micros } from '../../../schemas/records.ts'

/** A time that is over for this long has its candle at the venue, microseconds. */
const SETTLED: Micros = 10_000_000
/** A venue that has not told its newest row this long after its end leaves it out, microseconds. */
const LATE: Micros = 600_000_000
/** A row that the venue is late with is asked for again after this long, milliseconds. */
const LATE_RETRY_MS = 60_000
/** A subject that the venue refuses is asked for again after this long, milliseconds. */
const REFUSED_MS = 3_600_000
const DAY: Micros = 86_400_000_000

/** The stretch of which the log has all that the venue has: half open, microseconds. */
export interface CoveredPast {
  readonly from: Micros
  readonly to: Micros
  /** Records written for it. */
  readonly rows: number
}

/** One page: candles of `symbol` that begin in [from, to). */
export interface PastPage {
  readonly symbol: string
  readonly from: Micros
  readonly to: Micros
}

interface PastSpan {
  /** Length of a candle, seconds. */
  readonly seconds: number
  readonly days: number
  /** Nobody is asked for more days than that. */
  readonly mostDays?: number
  /** Candles of a page at most. */
  readonly pageSize: number
  /** Of what passes, as many at least are asked for at once. */
  readonly least: number
}

/** How much of what is wanted there is, in candles. */
export interface PastProgress {
  readonly wanted: number
  readonly missing: number
}

/** From when on a symbol is wanted beside the usual days; undefined: it is not. */
export type Since = (symbol: string) => Micros | undefined

interface Subject {
  covered: CoveredPast | undefined
  /** Wanted from then on, where that is earlier than the usual days. */
  since: Micros
  /** By ticks. */
  notBefore: number
}

/**
 * Which page of the past is asked for next: what is newest first, of all symbols in turn, so that every chart grows from
 * now backwards. What is covered is one stretch; it grows at both ends, and each hour by what has passed. No clock: times
 * are arguments, milliseconds; `ticks` are those that no correction of the clock moves, by which it waits.
 */
export class BackfillPlan {
  readonly #span: PastSpan
  readonly #width: Micros
  readonly #subjects = new Map<string, Subject>()

  constructor(span: PastSpan) {
    this.#span = span
    this.#width = span.seconds * 1_000_000
  }

  /** The symbols whose past is wanted; `known`: what the log has of one that is new. */
  want(
    symbols: ReadonlySet<string>,
    known: (symbol: string) => CoveredPast | undefined,
    sinceOf: Since = () => undefined,
  ): void {
    for (const symbol of this.#subjects.keys()) if (!symbols.has(symbol)) this.#subjects.delete(symbol)
    for (const symbol of symbols) {
      const since = sinceOf(symbol) ?? Infinity
      const subject = this.#subjects.get(symbol)
      if (subject === undefined) this.#subjects.set(symbol, { covered: known(symbol), since, notBefore: 0 })
      else subject.since = since
    }
  }

  /** The next page; undefined: there is nothing to ask for now. */
  next(now: number, ticks: number): PastPage | undefined {
    const due = [...this.#subjects].filter(([, { notBefore }]) => notBefore <= ticks)
    const pages = due.flatMap(([symbol, subject]) => {
      const { covered } = subject
      const page = this.#pageOf(subject, now)
      return page === undefined ? [] : [{ page: { symbol, ...page }, has: covered?.rows ?? 0 }]
    })
    return pages.toSorted((a, b) => b.page.to - a.page.to || a.has - b.has)[0]?.page
  }

  /**
   * The log has what came of a page, `newest` the beginning of its last row; gives how far it is covered now. What the
   * venue is late with is asked for again. Undefined: nobody wants it any more.
   */
  written(
    { symbol, from, to: asked }: PastPage,
    rows: number,
    newest: Micros,
    now: number,
    ticks: number,
  ): CoveredPast | undefined {
    const subject = this.#subjects.get(symbol)
    if (subject === undefined) return undefined
    const isLate = newest + this.#width < asked && asked > now * 1_000 - LATE
    if (isLate) subject.notBefore = ticks + LATE_RETRY_MS
    const to = isLate ? Math.max(from, newest + this.#width) : asked
    const { covered } = subject
    const joins = covered !== undefined && from <= covered.to && to >= covered.from
    subject.covered = joins
      ? { from: Math.min(from, covered.from), to: Math.max(to, covered.to), rows: covered.rows + rows }
      : { from, to, rows }
    return subject.covered
  }

  /** The venue refuses the symbol. */
  refused({ symbol }: PastPage, ticks: number): void {
    const subject = this.#subjects.get(symbol)
    if (subject !== undefined) subject.notBefore = ticks + REFUSED_MS
  }

  /** What was written is gone: all is asked for again. */
  forget(): void {
    for (const subject of this.#subjects.values()) subject.covered = undefined
  }

  /** Without the symbols that the venue refuses for now: nobody can say when they come. */
  progress(now: number, ticks: number): PastProgress {
    let [wanted, missing] = [0, 0]
    for (const { covered, since, notBefore } of this.#subjects.values()) {
      if (notBefore > ticks) continue
      const { begin, end } = this.#bounds(since, now)
      const each = (end - begin) / this.#width
      wanted += each
      const to = covered === undefined ? 0 : this.#isDue(covered, end) ? Math.min(end, covered.to) : end
      const has = covered === undefined ? 0 : to - Math.max(begin, covered.from)
      missing += each - Math.max(0, has) / this.#width
    }
    return { wanted, missing }
  }

  /** Whether so much has passed since the newest candle that it is asked for. */
  #isDue({ to }: CoveredPast, end: Micros): boolean {
    return end - to >= this.#span.least * this.#width
  }

  #bounds(since: Micros, now: number): { begin: Micros; end: Micros } {
    const end = floorTo(now * 1_000 - SETTLED, this.#width)
    const usual = end - floorTo(this.#span.days * DAY, this.#width)
    const deepest = end - floorTo((this.#span.mostDays ?? Infinity) * DAY, this.#width)
    return { begin: Math.max(deepest, Math.min(usual, floorTo(since, this.#width))), end }
  }

  #pageOf({ covered, since }: Subject, now: number): Omit<PastPage, 'symbol'> | undefined {
    const { begin, end } = this.#bounds(since, now)
    const page = this.#span.pageSize * this.#width
    // What ended before the time that is wanted is not joined to it.
    if (covered === undefined || covered.to < begin)
      return begin < end ? { from: Math.max(begin, end - page), to: end } : undefined
    if (this.#isDue(covered, end)) return { from: covered.to, to: Math.min(end, covered.to + page) }
    if (covered.from > begin) return { from: Math.max(begin, covered.from - page), to: covered.from }
    return undefined
  }
}

function floorTo(time: Micros, width: Micros): Micros {
  return Math.floor(time / width) * width
}
