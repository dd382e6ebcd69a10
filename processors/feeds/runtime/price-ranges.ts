import type { Micros } from '../../../schemas/records.ts'
import type { Market } from '../../../schemas/venues.ts'
import { hostNow, ticks } from './process-clock.ts'
import type { FactBook } from '../facts/fact-book.ts'
import type { MarketLog } from './market-log.ts'
import type { PollHost } from './poller.ts'
import { candlesIn } from '../facts/fact-market.ts'
import type { FactRow } from '../venues/events.ts'
import { MINUTE_MS, minuteOf } from '../venues/fact-fields.ts'
import type { PastPages, RestCall } from '../venues/venue.ts'

/** Instruments whose bounds are waited for; beyond it a gap's bounds are not looked up. */
const waitingMax = 5_000
/** The last minute of a gap has to be over, and the venue has to have its candle. */
const afterMinuteMs = 65_000
const MINUTE = MINUTE_MS * 1_000
const triesMax = 5
const retryMs = 10_000

interface Missed {
  readonly market: Market
  readonly symbol: string
  from: Micros
  to: Micros
  /** By ticks. */
  dueAt: number
  tries: number
}

/** Looks up what spot prices did while a channel was still: one `PriceRange` per instrument and gap. */
export class PriceRanges {
  readonly #source: string
  readonly #pages: PastPages
  readonly #host: PollHost
  readonly #book: FactBook
  readonly #log: Pick<MarketLog, 'range'>
  #waiting: Missed[] = []
  #asked: Missed | undefined
  #stopped = false

  constructor(
    source: string,
    pages: PastPages,
    host: PollHost,
    { book, log }: { book: FactBook; log: Pick<MarketLog, 'range'> },
  ) {
    this.#source = source
    this.#pages = pages
    this.#host = host
    this.#book = book
    this.#log = log
  }

  /** These symbols had no tickers from `from` until now, `to`: for each another gap, or more of one that waits. */
  missed(market: Market, symbols: readonly string[], from: Micros, to: Micros): void {
    const dueAt = ticks() + afterMinuteMs
    for (const symbol of symbols) {
      const known = this.#waiting.find(
        (one) =>
          one.symbol === symbol && one.market === market && one.to > from && one.from < to && one !== this.#asked,
      )
      if (known !== undefined) {
        known.from = Math.min(known.from, from)
        known.to = Math.max(known.to, to)
        known.dueAt = Math.max(known.dueAt, dueAt)
        known.tries = 0
      } else if (this.#waiting.length < waitingMax) this.#waiting.push({ market, symbol, from, to, dueAt, tries: 0 })
    }
  }

  /** Called often. `now`: ticks. */
  tick(now: number): void {
    if (this.#asked !== undefined) return
    this.#asked = this.#waiting.find(({ dueAt }) => dueAt <= now)
    if (this.#asked === undefined) return
    void this.#ask(this.#asked).finally(() => {
      this.#asked = undefined
    })
  }

  stop(): void {
    this.#stopped = true
    this.#waiting = []
  }

  async #ask(missed: Missed): Promise<void> {
    const parse = (body: unknown) => this.#pages.parse(missed.symbol, 60, body, hostNow())
    const outcome = await this.#host.get(this.#callOf(missed), parse, 'back')
    if (this.#stopped) return
    if (outcome.kind === 'rows') this.#write(missed, outcome.rows, hostNow() * 1_000)
    const again = outcome.kind !== 'rows' && outcome.kind !== 'error' && ++missed.tries < triesMax
    missed.dueAt = ticks() + ('waitMs' in outcome ? outcome.waitMs : retryMs)
    if (!again) this.#waiting = this.#waiting.filter((one) => one !== missed)
  }

  /** Of the minutes that the time touches; of more than a page the newest. */
  #callOf({ symbol, from, to }: Missed): RestCall {
    const end = minuteOf(to - 1) + MINUTE
    return this.#pages.call(symbol, 60, Math.max(minuteOf(from), end - this.#pages.pageSize * MINUTE), end)
  }

  #write({ market, symbol, from, to }: Missed, rows: readonly FactRow[], received: Micros): void {
    const known = this.#book.find(this.#source, market, symbol)
    const candles = known === undefined ? [] : candlesIn(known, rows, from, to)
    if (known === undefined || candles.length === 0) return
    const { instrument, asset, quote } = known.instrument
    const quoteUsd = this.#book.quoteUsd(quote, received)
    if (quoteUsd === undefined) return
    const low = Math.min(...candles.map((candle) => candle.low))
    const high = Math.max(...candles.map((candle) => candle.high))
    this.#log.range({ instrument, asset, from, to, low, high, quote, quote_usd: quoteUsd, received, candles })
  }
}
