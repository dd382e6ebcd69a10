import type { Backfill as BackfillRecord, Micros, Records } from '../../../schemas/records.ts'
import type { LogReader } from '../../../infra/kafka/seam.ts'
import { BackfillPlan, type CoveredPast, type PastPage, type PastProgress, type Since } from '../facts/backfill-plan.ts'
import type { FactBook } from '../facts/fact-book.ts'
import type { FactMarket } from '../facts/fact-market.ts'
import { isFact } from '../venues/fact-fields.ts'
import type { Fact, FactRow } from '../venues/events.ts'
import type { PastPages, RestCall, RestOutcome } from '../venues/venue.ts'
import { type MarketLog, type PastRecord, pastKey } from './market-log.ts'
import type { PollHost } from './poller.ts'
import { hostNow } from './process-clock.ts'
import { Readback, type ReadbackPorts } from './readback.ts'

const TOPIC = 'control.backfill'
const DAY_SECONDS = 86_400
/** A log that has not taken a page for so long is told of, milliseconds. */
const WRITE_MS = 10_000
/** A question of several pages has so many at most: 90 days of rates that settle each hour are 22. */
const MOST_PAGES = 30
/** A call that failed is made again after this long, milliseconds. */
const RETRY_MS = 5_000

/** What the log has of the past, by `instrument|series`; `time`: when it was told, microseconds. */
export type KnownPast = ReadonlyMap<string, CoveredPast & { readonly time: Micros }>

/** Reads what the log has of the past. */
export async function readKnownPast(reader: LogReader, ports: ReadbackPorts): Promise<KnownPast> {
  const known = new Map<string, CoveredPast & { time: Micros }>()
  const readback = new Readback(TOPIC, ports)
  for await (const records of reader.toEnd(TOPIC, 0)) {
    for (const { message } of await readback.read(records)) {
      if (message?.type !== 'backfill') continue
      const { covered_from: from, covered_to: to, rows, time } = message.value
      known.set(pastKey(message.value), { from, to, rows, time })
    }
  }
  return known
}

/** How many days are read back, of hourly candles and all other facts, of candles of a minute, of archives; 0: none. */
export interface BackfillDays {
  readonly hours: number
  readonly minutes: number
  readonly archives: number
}

/** A part of a venue's past that is read back, a step at each `tick`. Times are the host's, milliseconds. */
export interface PastJob {
  /** Whether it has learned what the log has. */
  readonly isKnown: boolean
  /** There is nothing to ask for now. */
  isIdle(now: number): boolean
  /** Undefined: it is not known yet what the log has. */
  progress(now: number): PastProgress | undefined
  /** Called often. */
  tick(now: number): void
  /** The log lost what it had. */
  lost(): void
  stop(): void
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

interface BackfillParts {
  /** The venue. */
  readonly source: string
  readonly market: 'perp' | 'spot'
  readonly past: PastPages
  readonly series: PastSeries
  readonly host: PollHost
  readonly book: FactBook
  readonly log: MarketLog
  /** What the log has; rejects where it cannot be read now. */
  readonly known: () => Promise<KnownPast>
  readonly report: PastReport
}

/** Hears how it goes. */
export interface PastReport {
  /** A page is in the log. */
  readonly written: (rows: number) => void
  /** A row says nothing for us. */
  readonly refused: (reason: string, count?: number) => void
  readonly trouble: (what: string, details: Readonly<Record<string, unknown>>) => void
}

/**
 * Reads a venue's past back: page by page behind all other calls, each page in the log before the log is told that it has
 * it. A kill in between brings a page twice, which readers take once. One page at a time, so that nothing piles up.
 */
export class PastReader implements PastJob {
  readonly #parts: BackfillParts
  readonly #plan: BackfillPlan
  /** Of this series, kept up with what is written: who is wanted again goes on from there. */
  #known: Map<string, CoveredPast> | undefined
  #wanted: ReadonlySet<string> = new Set()
  #since: Since = () => undefined
  #underWay = false
  #notBefore = 0
  #stopped = false

  constructor(parts: BackfillParts) {
    this.#parts = parts
    const { past, series } = parts
    const { seconds, days, least } = series
    const mostDays = ((past.depth ?? Infinity) * seconds) / DAY_SECONDS
    this.#plan = new BackfillPlan({ seconds, days, mostDays, least, pageSize: past.pageSize })
  }

  /** `since`: from when on a symbol is wanted beside the usual days. */
  want(symbols: ReadonlySet<string>, since: Since = () => undefined): void {
    this.#wanted = symbols
    this.#since = since
    if (this.#known !== undefined) this.#plan.want(symbols, (symbol) => this.#coveredOf(symbol), since)
  }

  get isKnown(): boolean {
    return this.#known !== undefined
  }

  isIdle(now: number): boolean {
    return !this.#underWay && this.#plan.next(now) === undefined
  }

  progress(now: number): PastProgress | undefined {
    return this.#known === undefined ? undefined : this.#plan.progress(now)
  }

  tick(now: number): void {
    if (this.#underWay || this.#stopped || now < this.#notBefore || this.#parts.log.of('market.history').full) return
    const page = this.#known === undefined ? undefined : this.#plan.next(now)
    if (this.#known !== undefined && page === undefined) return
    this.#underWay = true
    void (page === undefined ? this.#begin() : this.#ask(page)).finally(() => {
      this.#underWay = false
    })
  }

  lost(): void {
    this.#known = new Map()
    this.#plan.forget()
  }

  stop(): void {
    this.#stopped = true
  }

  async #begin(): Promise<void> {
    try {
      const known = await this.#parts.known()
      this.#known = new Map([...known].filter(([key]) => key.endsWith(`|${this.#parts.series.name}`)))
      this.want(this.#wanted, this.#since)
    } catch (error) {
      this.#later(RETRY_MS)
      if (!this.#stopped) this.#parts.report.trouble('cannot read how far the past is', { err: error })
    }
  }

  async #ask(page: PastPage): Promise<void> {
    const { past, series, host } = this.#parts
    const { symbol, from, to } = page
    const { seconds } = series
    let outcome = await this.#pages(page)
    const { more } = past
    if (more !== undefined && outcome.kind === 'rows' && !this.#stopped) {
      const { rows } = outcome
      outcome = await host.get(more.call(symbol, seconds, from, to), (body) => more.parse(rows, body), 'back')
    }
    if (this.#stopped) return
    if (outcome.kind === 'rows') await this.#write(page, outcome.rows)
    else this.#failed(page, outcome)
  }

  /** The rows of a page; of a venue that counts its pages from now those of all that it takes. */
  async #pages({ symbol, from, to }: PastPage): Promise<RestOutcome<FactRow>> {
    const { past, series, host } = this.#parts
    const parse = (body: unknown) => past.parse(symbol, series.seconds, body, hostNow())
    const rows: FactRow[] = []
    let call: RestCall | undefined = past.call(symbol, series.seconds, from, to)
    for (let pages = 0; call !== undefined && pages < MOST_PAGES && !this.#stopped; pages++) {
      const outcome: RestOutcome<FactRow> = await host.get(call, parse, 'back')
      if (outcome.kind !== 'rows') return outcome
      rows.push(...outcome.rows)
      call = past.next?.(call, outcome.rows, from)
    }
    return { kind: 'rows', rows }
  }

  #failed(page: PastPage, outcome: Exclude<RestOutcome<FactRow>, { kind: 'rows' }>): void {
    if (outcome.kind === 'error') this.#plan.refused(page, hostNow())
    else this.#later('waitMs' in outcome ? outcome.waitMs : RETRY_MS)
    this.#parts.report.trouble('the past was not answered', { symbol: page.symbol, outcome })
  }

  #later(ms: number): void {
    this.#notBefore = hostNow() + ms
  }

  async #write(page: PastPage, rows: readonly FactRow[]): Promise<void> {
    const { log, series } = this.#parts
    const received = hostNow() * 1_000
    const facts = this.#factsOf(page, rows)
    const known = this.#marketOf(page.symbol)
    if (known !== undefined) for (const fact of facts) this.#record(known, fact, received)
    await this.#drained()
    if (this.#stopped) return
    this.#parts.report.written(facts.length)
    const instrument = known?.instrument.instrument
    const covered = this.#plan.written(page, facts.length, Math.max(...facts.map(timeOf)), hostNow())
    if (instrument === undefined || covered === undefined) return
    this.#known?.set(pastKey({ instrument, series: series.name }), covered)
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

  /** Nothing more is asked for before the broker has what there is: it waits for a disk that is full. */
  async #drained(): Promise<void> {
    const waits = setTimeout(() => {
      const mend = 'see whether its disk is full and the broker runs; nothing is lost, it goes on when there is room'
      this.#parts.report.trouble('the log does not take the past', { series: this.#parts.series.name, mend })
    }, WRITE_MS)
    await this.#parts.log.of('market.history').drained()
    clearTimeout(waits)
  }

  #factsOf({ symbol, from, to }: PastPage, rows: readonly FactRow[]): Fact[] {
    for (const row of rows) if (!isFact(row)) this.#parts.report.refused(row.refused)
    return rows.filter(isFact).filter((fact) => {
      const time = timeOf(fact)
      return fact.symbol === symbol && time >= from && time < to
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
    return this.#known?.get(pastKey({ instrument, series: this.#parts.series.name }))
  }
}

/** When it was; NaN: it is nothing of the past. */
function timeOf(fact: Fact): Micros {
  if (fact.kind === 'candle') return fact.minute
  if (fact.kind === 'settlement' || fact.kind === 'ratio') return fact.time
  return fact.kind === 'derivative' ? (fact.openInterest?.time ?? fact.mark?.time ?? NaN) : NaN
}
