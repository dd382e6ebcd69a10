import type { Micros } from '../../../schemas/records.ts'
import { type GapReason, gapOf, tradesOf, troubleOf, waitAfter } from './gaps.ts'
import { AHEAD_MAX, type PageStream } from './stream.ts'
import { reorderGraceMs } from './id-tracker.ts'
import { type PageGap, pageSpanShare } from './page-tracker.ts'
import { repairDepth, type RepairOptions } from './id-repair.ts'
import type { PageRow } from '../venues/events.ts'
import type { RestOutcome } from '../venues/venue.ts'

/** Shortest and longest time between two pages of one instrument. */
export const pageEveryMs = { min: 500, max: 5_000 } as const
const failureBackoff = { firstMs: 1_000, maxMs: 30_000 }
/** How often it is looked whether the stream has come as far as a page. */
const lookEveryMs = 100

/** Without an answer that can be read for this long nothing was compared, which the log has to know: an open gap says so, and grows. */
export const doubtAfterMs = 8_000

interface Watch {
  /** When a page was last compared, by ticks; `compared`: whether one was. */
  comparedAt: number
  compared: boolean
  /** When that page was asked for, by ticks. */
  askedAt: number
  /** The stream did not join that page to the one before, though a connection carried it. */
  silent: boolean
  /** When the log was last told that nothing is compared, by ticks. */
  doubtedAt: number
  notBefore: number
  failures: number
  asking: boolean
  /** Gaps that the log has as open, from a process that ended before it could say more. */
  open: readonly { readonly fromTime: Micros; readonly toTime: Micros }[]
}

/** A page that is on its way. */
interface Asked {
  /** By ticks. */
  readonly at: number
  readonly answer: Promise<RestOutcome<PageRow>>
}

/** A gap that is left open in the log. */
type OpenTimeGap = Watch['open'][number]

/**
 * Compares each instrument of a venue without ordered ids with the venue's page of newest trades, as often as the rate
 * of trading asks for, and writes what the stream did not bring.
 */
export class PageRepair {
  readonly #options: RepairOptions
  readonly #watches = new Map<PageStream, Watch>()
  readonly #prefetched = new Map<PageStream, Asked>()

  constructor(options: RepairOptions) {
    this.#options = options
  }

  /** Asks for a stream's page now; it is compared when the stream is watched. */
  prefetch(stream: PageStream): void {
    this.#prefetched.set(stream, this.#page(stream))
  }

  /** Begins to watch a stream. `open`: gaps to be settled with the first page. */
  watch(stream: PageStream, open: readonly OpenTimeGap[] = []): void {
    const comparedAt = this.#options.ticks()
    this.#watches.set(stream, {
      notBefore: 0,
      failures: 0,
      asking: false,
      open,
      comparedAt,
      compared: false,
      askedAt: comparedAt,
      silent: false,
      doubtedAt: comparedAt,
    })
  }

  drop(stream: PageStream): void {
    this.#watches.delete(stream)
    this.#prefetched.delete(stream)
  }

  /** Ends; what still waited for the stream will not come by it any more. */
  stop(): void {
    for (const stream of this.#watches.keys()) {
      const gap = stream.tracker.due(Infinity)
      if (gap !== undefined) this.#fill(stream, gap)
    }
    this.#watches.clear()
  }

  /** Called often: asks for the pages that are due and writes what has waited long enough for the stream. */
  tick(now: number): void {
    for (const [stream, watch] of this.#watches) {
      const gap = stream.tracker.due(now)
      if (gap !== undefined) this.#fill(stream, gap)
      if (now - Math.max(watch.comparedAt, watch.doubtedAt) > doubtAfterMs) this.#doubt(stream, watch, now)
      if (!watch.asking && now >= watch.notBefore) void this.#ask(stream, watch)
    }
  }

  async #ask(stream: PageStream, watch: Watch): Promise<void> {
    const { report, ticks, random } = this.#options
    watch.asking = true
    const asked = this.#prefetched.get(stream) ?? this.#page(stream)
    const answer = await asked.answer
    this.#prefetched.delete(stream)
    await this.#letStreamCome(stream, watch, answer)
    await this.#options.room()
    watch.asking = false
    if (this.#watches.get(stream) !== watch) return
    const outcome = this.#judged(stream, watch, answer)
    if (outcome.kind === 'rows') {
      watch.failures = 0
      const span = this.#compare(stream, watch, outcome.rows)
      watch.askedAt = asked.at
      watch.notBefore = ticks() + nextPageMs(span)
      return
    }
    report.trouble(troubleOf(outcome))
    watch.notBefore = ticks() + waitAfter(outcome, () => watch.failures++, random(), failureBackoff)
  }

  /** REST may be ahead of the stream, which then has its time; but while it is silent the next page is the more urgent. */
  async #letStreamCome(stream: PageStream, watch: Watch, answer: RestOutcome<PageRow>): Promise<void> {
    if (answer.kind !== 'rows' || !this.#isCarried(stream, watch)) return
    if (watch.silent && stream.lastTradeAt <= watch.askedAt) return
    const trades = tradesOf(answer.rows)
    for (let waited = 0; waited < reorderGraceMs && !stream.tracker.joins(trades); waited += lookEveryMs) {
      await this.#options.wait(lookEveryMs)
    }
  }

  /** A page of which nothing can be read compares nothing, nor does an empty one of a market that has traded. */
  #judged({ tracker }: PageStream, { open }: Watch, answer: RestOutcome<PageRow>): RestOutcome<PageRow> {
    if (answer.kind !== 'rows') return answer
    const { rows } = answer
    const isUnreadable = rows.some(isUnreadRow) && !rows.some((row) => !('refused' in row))
    if (!isUnreadable && (rows.length > 0 || (open.length === 0 && tracker.newest === 0))) return answer
    tradesOf(rows, (reason) => this.#options.report.refused(reason))
    return { kind: 'error', code: rows.length === 0 ? 'empty_page' : 'unreadable_page', message: '' }
  }

  /**
   * Opens a gap from what was compared last to now, or lets it reach to now; the next page fills it, or does not reach
   * back to it.
   */
  #doubt(stream: PageStream, watch: Watch, now: number): void {
    watch.doubtedAt = now
    const { settled, newest } = stream.tracker
    if (settled === undefined) return
    const gap = { fromTime: settled, toTime: Math.max(settled, newest) }
    const openGap = watch.open.find(({ fromTime }) => fromTime === settled)
    if (openGap !== undefined && openGap.toTime >= gap.toTime) return
    watch.open = [...watch.open.filter((open) => open !== openGap), gap]
    this.#record(stream, 'opened', 'missing_ids', gap)
  }

  #page({ symbol }: PageStream): Asked {
    const { backfill, rest, ticks } = this.#options
    const at = ticks()
    return { at, answer: rest.get(backfill.newest(symbol), (body) => backfill.parse(symbol, body)) }
  }

  /** Pages are short by nature, and no connection that carries the stream was lost since the one before was asked for. */
  #isCarried({ lostAt, carriedSince }: PageStream, { compared, askedAt }: Watch): boolean {
    return this.#options.backfill.isShort === true && compared && Math.max(lostAt, carriedSince) < askedAt
  }

  #compare(stream: PageStream, watch: Watch, rows: readonly PageRow[]): Micros {
    const { backfill, clock, report, ticks } = this.#options
    const latest = clock.now() === 0 ? Infinity : clock.now() + AHEAD_MAX
    const read = tradesOf(rows, (reason) => report.refused(reason))
    const trades = read.map((trade) => ({ ...trade, time: Math.min(trade.time, latest) }))
    const isCarried = this.#isCarried(stream, watch)
    const isJoined = stream.tracker.joins(trades)
    const isFull = rows.length >= backfill.pageSize && !(isCarried && isJoined)
    watch.silent = isCarried && !isJoined
    const { unknown, span } = stream.tracker.compare(trades, isFull, ticks(), clock.now() - repairDepth)
    const reason = unknown?.isTooOld === true ? 'too_old' : 'lost_page'
    for (const gap of watch.open) this.#record(stream, unknown === undefined ? 'filled' : 'unfillable', reason, gap)
    watch.open = []
    watch.comparedAt = ticks()
    watch.compared = true
    if (unknown !== undefined) this.#record(stream, 'unfillable', reason, unknown)
    return span
  }

  #fill(stream: PageStream, { trades, ...bounds }: PageGap): void {
    const { log, clock, report } = this.#options
    this.#record(stream, 'opened', 'missing_ids', bounds, trades.length)
    const from = { origin: 'backfill', gapId: bounds.fromTime } as const
    for (const trade of trades) log.trade(stream.normalise(trade, clock.now(), from))
    report.backfilled(trades.length)
    this.#record(stream, 'filled', 'missing_ids', bounds, 0)
  }

  #record(
    { instrument }: PageStream,
    state: 'opened' | 'filled' | 'unfillable',
    reason: GapReason,
    bounds: OpenTimeGap,
    missing: number | null = null,
  ): void {
    const { log, clock, feed, report } = this.#options
    const gap = { gapId: bounds.fromTime, state, reason, missing }
    log.gap(gapOf(instrument, gap, bounds, { feed, time: clock.now() }))
    report.gap(state, reason, missing, instrument.instrument)
  }
}

/** What is off the book was read, and is no trade of ours. */
function isUnreadRow(row: PageRow): boolean {
  return 'refused' in row && row.refused !== 'off-book'
}

/** When to read the next page after one that reached back `span` microseconds. */
export function nextPageMs(span: Micros): number {
  return Math.min(pageEveryMs.max, Math.max(pageEveryMs.min, (span / 1_000) * pageSpanShare))
}
