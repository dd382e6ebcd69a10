import type { Micros } from '../../../schemas/records.ts'
import type { VenueTrade } from '../venues/events.ts'
import { reorderGraceMs } from './id-tracker.ts'

/** Ids remembered per instrument; beyond it the oldest go, and what was not compared by then is a gap. */
export const maxSeenIds = 30_000
/** So many go at once: a map steps over all that were deleted to find its oldest. */
const forgottenAtOnce = 3_000
/** Rows of a page that wait for the stream; beyond it the oldest are taken as missing at once. */
const maxPendingRows = 10_000
/** A page's newest rows are compared again with the next page: REST may show trades of one moment one after the other. */
const settleMicros = 2_000_000
/** Part of a page's time span after which the next is read, so that they overlap also when trading speeds up. */
export const pageSpanShare = 0.25
/** What a process leaves uncompared when it ends: at most this. */
const uncomparedMicros: Micros = 10_000_000
/** Rows that wait for the stream and those that are compared twice, beside the time between two pages. */
const uncomparedBase: Micros = settleMicros + (reorderGraceMs + 500) * 1_000

/** Trades that the stream did not bring, between two that it did. */
export interface PageGap {
  /** Venue time of the last trade before the missing ones; the gap's identity. */
  readonly fromTime: Micros
  readonly toTime: Micros
  readonly trades: readonly VenueTrade[]
}

/** What one page says. */
interface PageFinding {
  /** Time that the page does not reach back to, or whose trades are too old: what happened in it is not known. */
  readonly unknown: { readonly fromTime: Micros; readonly toTime: Micros; readonly isTooOld: boolean } | undefined
  /** From the oldest to the newest row, microseconds; 0 for fewer than two rows. */
  readonly span: Micros
}

/**
 * What came of one instrument whose ids have no order, compared with pages of the newest trades.
 *
 * Up to the settled time everything was compared. A row after it that the stream has not brought `reorderGraceMs` later
 * is missing; a page that does not reach back to it leaves an interval of which nothing can be said.
 */
export class PageTracker {
  readonly #seen = new Map<number, Micros>()
  readonly #pending = new Map<number, { readonly trade: VenueTrade; readonly since: number }>()
  #settled: Micros | undefined
  #newest: Micros = 0
  /** The first trade of all: what is older is not ours. */
  #first: Micros = Infinity
  /** When the stream began, where the venue said so. */
  #begun: Micros | undefined
  /** How far the log says that it has everything; 0: it does not say. */
  #stood: Micros = 0
  /** The process before did not compare the last stretch before the settled time. */
  #uncompared = false
  /** Ids up to this venue time may have been dropped from memory: nothing is said about it any more. */
  #forgotten: Micros = 0
  /** End of the newest interval of which nothing is known: no other gap begins in it or shares its identity. */
  #unknownTo: Micros = 0
  /** Newest row of the page that was compared last (0: none was), and of those that the stream did not bring. */
  #pagedTo: Micros = 0
  #filledTo: Micros = 0

  /** Venue time of the newest trade seen. */
  get newest(): Micros {
    return this.#newest
  }

  /** Venue time of the newest trade that `other` has not seen; 0 for none. */
  newestBut(other: PageTracker): Micros {
    let newest = 0
    for (const [id, time] of this.#seen) if (time > newest && !other.#seen.has(id)) newest = time
    return newest
  }

  /** Everything up to this venue time was compared, or is not ours; undefined before the stream begins. */
  get settled(): Micros | undefined {
    return this.#settled
  }

  /** The venue says that it streams from now on: what it traded before is not ours, whatever a page has of it. */
  begin(time: Micros): void {
    if (this.#settled !== undefined || time === 0) return
    this.#settled = time
    this.#begun = time
  }

  /** Up to here everything was compared and written; undefined before the stream begins. */
  get position(): { readonly last_id: null; readonly time: Micros } | undefined {
    if (this.#settled === undefined) return undefined
    const waiting = [...this.#pending.values()].map(({ trade }) => trade.time - 1)
    return { last_id: null, time: Math.min(this.#settled, ...waiting) }
  }

  /** Before its first trade, or when the stream began; undefined before either came. */
  get began(): { readonly last_id: null; readonly time: Micros } | undefined {
    const time = Math.min(this.#begun ?? Infinity, this.#first - 1)
    return time === Infinity ? undefined : { last_id: null, time }
  }

  /** Takes such a position from the log. */
  stand(time: Micros): void {
    this.#stood = Math.max(this.#stood, time)
    this.#first = Math.min(this.#first, time)
  }

  observe(id: number, time: Micros): 'new' | 'duplicate' {
    if (this.#seen.has(id)) return 'duplicate'
    this.#pending.delete(id)
    this.#remember(id, time)
    this.#settled ??= time
    return 'new'
  }

  /**
   * After a restart: what the log has was brought, but what came last before the end was not compared. The log may hold
   * what this process has written since its start (`later`) as well: that says nothing of the time before it.
   * `doubtedFrom`: from there on the log itself says that nothing was compared.
   */
  resume(later: PageTracker = new PageTracker(), doubtedFrom: Micros = Infinity): void {
    const newest = Math.max(this.newestBut(later), this.#stood)
    if (newest === 0) return // nothing from before
    this.#settled = Math.min(newest, doubtedFrom)
    this.#uncompared = true
  }

  /** Takes over what came after: `this` was read from the log, `later` is the live stream of the same instrument. */
  absorb(later: PageTracker): void {
    for (const [id, time] of later.#seen) if (!this.#seen.has(id)) this.observe(id, time)
  }

  /**
   * Whether nothing is missing between the page before and this one: this one reaches back to it, or the stream was alive
   * at both ends, for it has brought the newest row of the one and the oldest of the other.
   */
  joins(rows: readonly VenueTrade[]): boolean {
    const oldest = rows.reduce((least, { time }) => Math.min(least, time), Infinity)
    if (this.#settled === undefined || oldest <= this.#settled) return true
    const isEndBrought =
      this.#filledTo < this.#pagedTo && [...this.#pending.values()].every(({ trade }) => trade.time < this.#pagedTo)
    return (isEndBrought || this.#pagedTo === 0) && rows.every(({ id, time }) => time > oldest || this.#seen.has(id))
  }

  /**
   * Compares a page, in any order. `full`: it holds as many rows as the venue gives, so there may be older ones. Of before
   * `since` nothing is filled in.
   */
  compare(rows: readonly VenueTrade[], full: boolean, now: number, since: Micros = 0): PageFinding {
    const first = rows[0]
    if (first === undefined) return { unknown: undefined, span: 0 }
    let [oldest, newest] = [first.time, first.time]
    for (const { time } of rows) {
      oldest = Math.min(oldest, time)
      newest = Math.max(newest, time)
    }
    const before = this.#settled
    if (before === undefined) return { unknown: undefined, span: newest - oldest } // nothing of it is ours yet
    const known = Math.max(this.#uncompared ? this.#first : before, this.#forgotten)
    const settled = this.#settledBefore(before, newest - oldest)
    const isTooOld = this.#missesBefore(since, rows, settled)
    const reach = Math.max(full ? oldest : 0, this.#forgotten, isTooOld ? since : 0)
    const unknown = reach > settled ? { fromTime: settled, toTime: reach, isTooOld } : undefined
    if (unknown !== undefined) this.#unknownTo = unknown.toTime
    for (const row of rows) if (row.time > known && row.time >= since) this.#expect(row, now)
    const margin = Math.floor(Math.min(settleMicros, (newest - oldest) / 4))
    this.#settled = Math.max(settled, unknown?.toTime ?? 0, newest - margin)
    this.#pagedTo = newest
    return { unknown, span: newest - oldest }
  }

  /** The rows whose grace is over by `now`, as one gap; they count as seen from here on. */
  due(now: number): PageGap | undefined {
    const ripe = [...this.#pending.values()].filter(
      ({ since }) => since + reorderGraceMs <= now || this.#pending.size > maxPendingRows,
    )
    const trades = ripe.map(({ trade }) => trade).sort(byTime)
    const [first, last] = [trades[0], trades.at(-1)]
    if (first === undefined || last === undefined) return undefined
    const gap = { fromTime: this.#before(first.time), toTime: this.#after(last.time), trades }
    for (const trade of trades) this.observe(trade.id, trade.time)
    this.#filledTo = Math.max(this.#filledTo, last.time)
    return gap
  }

  /**
   * Pages are read more often than their span lasts, so a process that ends leaves only so much uncompared: so far back
   * the next page must reach. What it has beyond is compared too, down to the log's first trade.
   */
  #settledBefore(settled: Micros, span: Micros): Micros {
    if (!this.#uncompared) return settled
    this.#uncompared = false
    const left = Math.min(uncomparedMicros, uncomparedBase + span * pageSpanShare)
    return Math.max(Math.min(this.#first, settled), settled - left)
  }

  /** What came right after the time that the log says it has everything of was compared once, and may be in the log. */
  #missesBefore(since: Micros, rows: readonly VenueTrade[], settled: Micros): boolean {
    const known = Math.max(settled, this.#forgotten, this.#stood + settleMicros)
    return rows.some(({ id, time }) => time > known && time < since && !this.#isKnown(id))
  }

  #expect(trade: VenueTrade, now: number): void {
    if (!this.#isKnown(trade.id)) this.#pending.set(trade.id, { trade, since: now })
  }

  #isKnown(id: number): boolean {
    return this.#seen.has(id) || this.#pending.has(id)
  }

  #remember(id: number, time: Micros): void {
    this.#seen.set(id, time)
    this.#newest = Math.max(this.#newest, time)
    this.#first = Math.min(this.#first, time)
    if (this.#seen.size <= maxSeenIds) return
    for (const [oldest, at] of this.#seen) {
      this.#seen.delete(oldest)
      this.#forgotten = Math.max(this.#forgotten, at)
      if (this.#seen.size <= maxSeenIds - forgottenAtOnce) return
    }
  }

  #before(time: Micros): Micros {
    let best = 0
    for (const seen of this.#seen.values()) if (seen < time && seen > best) best = seen
    if (this.#unknownTo <= time) best = Math.max(best, this.#unknownTo)
    return best === 0 ? time : best
  }

  #after(time: Micros): Micros {
    let best = Infinity
    for (const seen of this.#seen.values()) if (seen > time && seen < best) best = seen
    return best === Infinity ? time : best
  }
}

/** Venue time, then the venue's own ordering number where it has one. */
function byTime(a: VenueTrade, b: VenueTrade): number {
  return a.time - b.time || (a.sequence ?? 0) - (b.sequence ?? 0)
}
