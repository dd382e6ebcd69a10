import type { Backfill as BackfillRecord, Micros, Records } from '../../../schemas/records.ts'
import { BackfillPlan, type CoveredPast, type PastPage, type Since } from '../facts/backfill-plan.ts'
import type { FactBook } from '../facts/fact-book.ts'
import type { FactMarket } from '../facts/fact-market.ts'
import { isFact } from '../venues/fact-fields.ts'
import type { Fact, FactRow } from '../venues/events.ts'
import type { PastPages, RestCall, RestOutcome } from '../venues/venue.ts'
import { type PastRecord, pastKey } from './market-log.ts'
import { type KnownPast, PastJob, type PastParts, RETRY_MS } from './past-job.ts'
import type { PollHost } from './poller.ts'
import { hostNow, ticks } from './process-clock.ts'

const DAY_SECONDS = 86_400
/** A question of several pages has so many at most: 90 days of rates that settle each hour are 22. */
const MOST_PAGES = 30

/** How many days are read back, of hourly candles and all other facts, of candles of a minute, of archives; 0: none. */
export interface BackfillDays {
  readonly hours: number
  readonly minutes: number
  readonly archives: number
}

/** What is read back, and how much of it. */
export interface PastSeries {
  /** As it is called in `control.backfill`. */
  readonly name: string
  /** Length of a candle, or how far two rows are from each other at least, seconds. */
  readonly seconds: number
  /** As far back as it is wanted; no further than the venue has it. */
  readonly days: number
  /** Of what passes, as many rows at least are asked for at once. */
  readonly least: number
}

interface BackfillParts extends PastParts {
  /** The venue. */
  readonly source: string
  readonly market: 'perp' | 'spot'
  readonly past: PastPages
  readonly series: PastSeries
  readonly host: PollHost
  readonly book: FactBook
}

/** Reads a venue's past back, page by page behind all other calls. */
export class PastReader extends PastJob<PastPage, CoveredPast> {
  protected readonly plan: BackfillPlan
  readonly #parts: BackfillParts
  #wanted: ReadonlySet<string> = new Set()
  #since: Since = () => undefined

  constructor(parts: BackfillParts) {
    super(parts)
    this.#parts = parts
    const { past, series } = parts
    const { seconds, days, least } = series
    const mostDays = ((past.depth ?? Infinity) * seconds) / DAY_SECONDS
    this.plan = new BackfillPlan({ seconds, days, mostDays, least, pageSize: past.pageSize })
  }

  /** `since`: from when on a symbol is wanted beside the usual days. */
  want(symbols: ReadonlySet<string>, since: Since = () => undefined): void {
    this.#wanted = symbols
    this.#since = since
    if (this.isKnown) this.updatePlan()
  }

  protected updatePlan(): void {
    this.plan.want(this.#wanted, (symbol) => this.#coveredOf(symbol), this.#since)
  }

  /** Of this series: who is wanted again goes on from there. */
  protected knownOf(all: KnownPast): Map<string, CoveredPast> {
    return new Map([...all].filter(([key]) => key.endsWith(`|${this.#parts.series.name}`)))
  }

  protected async take(page: PastPage): Promise<void> {
    const { past, series, host } = this.#parts
    const { symbol, from, to } = page
    const { seconds } = series
    let outcome = await this.#pages(page)
    const { more } = past
    if (more !== undefined && outcome.kind === 'rows' && !this.isStopped) {
      const { rows } = outcome
      outcome = await host.get(more.call(symbol, seconds, from, to), (body) => more.parse(rows, body), 'back')
    }
    if (this.isStopped) return
    if (outcome.kind === 'rows') await this.#write(page, outcome.rows)
    else this.#failed(page, outcome)
  }

  /** The rows of a page; of a venue that counts its pages from now those of all that it takes. */
  async #pages({ symbol, from, to }: PastPage): Promise<RestOutcome<FactRow>> {
    const { past, series, host } = this.#parts
    const parse = (body: unknown) => past.parse(symbol, series.seconds, body, hostNow())
    const rows: FactRow[] = []
    let call: RestCall | undefined = past.call(symbol, series.seconds, from, to)
    for (let pages = 0; call !== undefined && pages < MOST_PAGES && !this.isStopped; pages++) {
      const outcome: RestOutcome<FactRow> = await host.get(call, parse, 'back')
      if (outcome.kind !== 'rows') return outcome
      rows.push(...outcome.rows)
      call = past.next?.(call, outcome.rows, from)
    }
    return { kind: 'rows', rows }
  }

  #failed(page: PastPage, outcome: Exclude<RestOutcome<FactRow>, { kind: 'rows' }>): void {
    if (outcome.kind === 'error') this.plan.refused(page, ticks())
    else this.later('waitMs' in outcome ? outcome.waitMs : RETRY_MS)
    this.#parts.report.trouble('the past was not answered', { symbol: page.symbol, outcome })
  }

  async #write(page: PastPage, rows: readonly FactRow[]): Promise<void> {
    const { log, series } = this.#parts
    const received = hostNow() * 1_000
    const facts = this.#factsOf(page, rows)
    const known = this.#marketOf(page.symbol)
    if (known !== undefined) for (const fact of facts) this.#record(known, fact, received)
    await this.drained({ series: series.name })
    if (this.isStopped) return
    this.#parts.report.written(facts.length)
    const instrument = known?.instrument.instrument
    const covered = this.plan.written(page, facts.length, Math.max(...facts.map(timeOf)), hostNow(), ticks())
    if (instrument === undefined || covered === undefined) return
    this.known?.set(pastKey({ instrument, series: series.name }), covered)
    const { from: covered_from, to: covered_to, rows: written } = covered
    const progress: BackfillRecord = {
      instrument,
      series: series.name,
      covered_from,
      covered_to,
      rows: written,
      time: received,
    }
    log.record('backfill', progress, received)
  }

  #factsOf({ symbol, from, to }: PastPage, rows: readonly FactRow[]): Fact[] {
    for (const row of rows) if (!isFact(row)) this.#parts.report.refused(row.refused)
    return rows.filter(isFact).filter((fact) => {
      const time = timeOf(fact)
      return fact.kind !== 'other_terms' && fact.symbol === symbol && time >= from && time < to
    })
  }

  #record(market: FactMarket, fact: Fact, received: Micros): void {
    const { log, series } = this.#parts
    const write = <Type extends PastRecord>(type: Type, value: Records[Type]): void => log.past(type, value, received)
    if (fact.kind === 'candle') {
      const { minute: start, ...candle } = market.candleOf(fact, received)
      const unsaid = { quote: null, taker_buy_quote: null }
      write('venue_candle', { ...candle, ...unsaid, start, seconds: series.seconds, source: 'venue_candles' })
    } else if (fact.kind === 'settlement') write('settlement', market.settlementOf(fact, received))
    else if (fact.kind === 'ratio') write('long_short_ratio', market.ratioOf(fact, received))
    else if (fact.kind === 'derivative') {
      write('derivative_ticker', market.derivative.past(fact, series.name, received))
    }
  }

  #marketOf(symbol: string): FactMarket | undefined {
    const { book, source, market } = this.#parts
    return book.find(source, market, symbol)
  }

  #coveredOf(symbol: string): CoveredPast | undefined {
    const instrument = this.#marketOf(symbol)?.instrument.instrument ?? ''
    return this.known?.get(pastKey({ instrument, series: this.#parts.series.name }))
  }
}

/** When it was; NaN: it is nothing of the past. */
function timeOf(fact: Fact): Micros {
  if (fact.kind === 'candle') return fact.minute
  if (fact.kind === 'settlement' || fact.kind === 'ratio') return fact.time
  return fact.kind === 'derivative' ? (fact.openInterest?.time ?? fact.mark?.time ?? NaN) : NaN
}
