import type { Instrument, Micros, Records, VenueState } from '../../../schemas/records.ts'
import type { Market } from '../../../schemas/venues.ts'
import { FactMarket } from './fact-market.ts'
import { AHEAD_MAX } from '../trades/stream.ts'
import type { DerivativeFact, Fact, OtherTermsFact, TickerFact, TokenFact } from '../venues/events.ts'
import { TokenAssets, tokenRecord } from '../venues/assets.ts'
import { median } from '../../prices/median.ts'
import { ALIVE } from '../../prices/state.ts'
import type { Settlements } from './poll-plan.ts'
import type { Scope } from '../venues/venue.ts'

/** Time between two records of one instrument, microseconds; those of wanted assets and of all others. */
const tickerEvery = { wanted: 1_000_000, spot: 5_000_000, derivative: 15_000_000 } as const

/** Where a fact comes from. */
interface FactOrigin {
  readonly source: string
  readonly market: Market
  /** Name of the stream or poll. */
  readonly channel: string
  /** When we had it. */
  readonly received: Micros
}

/**
 * Why a fact is not written. `unlisted`: not an instrument of ours. `old`: not newer than what is known. `known`: has come
 * before. `ahead`: names a time that is more than 5 s away. `quote`: priced in what we cannot convert.
 */
export type FactVerdict = 'taken' | 'unlisted' | 'old' | 'known' | 'ahead' | 'quote'

interface FactOut {
  record<Type extends FactRecord>(type: Type, value: Records[Type], now: Micros): void
  /** A venue time was too far ahead and was cut. */
  clamped(source: string): void
}

/**
 * What the sources say, merged and bounded: facts in, the records of `schemas/records.ts` out. What is written at once goes
 * out from `take`, what is throttled from `take` or `flush`, whichever finds it due. No clock: times are arguments.
 */
export class FactBook {
  readonly #out: FactOut
  /** `source:market` to the market's symbol to what is known of it. */
  readonly #markets = new Map<string, Map<string, FactMarket>>()
  #wanted: ReadonlySet<string> = new Set()
  readonly #rates = new QuoteRates()
  readonly #tokens = new TokenAssets()
  readonly #tokenTimes = new Map<string, string>()
  /** Newest price of an asset, dollars. */
  readonly #prices = new Map<string, number>()

  constructor(out: FactOut) {
    this.#out = out
  }

  /**
   * The instruments that a source lists now. One whose factors changed starts anew; what is not listed is forgotten, and
   * given back.
   */
  list(source: string, market: Market, instruments: Iterable<Instrument>): Instrument[] {
    const known = this.#marketOf(source, market)
    const next = new Map<string, FactMarket>()
    for (const instrument of instruments) {
      const before = known?.get(instrument.symbol)
      const keep = before !== undefined && isSame(before.instrument, instrument)
      next.set(instrument.symbol, keep ? before : new FactMarket(instrument))
    }
    for (const [symbol, { instrument }] of known ?? []) if (!next.has(symbol)) this.#rates.forget(instrument)
    this.#markets.set(`${source}:${market}`, next)
    const before = [...(known?.values() ?? [])].map(({ instrument }) => instrument)
    return before.filter(({ symbol, asset }) => next.get(symbol)?.instrument.asset !== asset)
  }

  /** Assets whose tickers are written more often. */
  want(assets: ReadonlySet<string>): void {
    this.#wanted = assets
  }

  find(source: string, market: Market, symbol: string): FactMarket | undefined {
    return this.#marketOf(source, market)?.get(symbol)
  }

  /** All instruments of a source's market. */
  of(source: string, market: Market): Iterable<FactMarket> {
    return this.#marketOf(source, market)?.values() ?? []
  }

  /** How the venues' channels of spot prices are. */
  note(channels: readonly VenueState[], now: Micros): void {
    this.#rates.note(channels, now)
  }

  quoteUsd(quote: string, now: Micros): number | undefined {
    return this.#rates.of(quote, now)
  }

  take(fact: Fact, origin: FactOrigin): FactVerdict {
    if (fact.kind === 'token') return this.#token(fact, origin)
    if (fact.kind === 'other_terms') return this.#otherTerms(fact, origin)
    const known = this.find(origin.source, origin.market, fact.symbol)
    if (known === undefined) return 'unlisted'
    const { received } = origin
    switch (fact.kind) {
      case 'ticker':
        return this.#ticker(known, fact, origin)
      case 'derivative':
        return this.#derivative(known, fact, origin)
      case 'terms':
        known.terms.take(fact, received)
        return 'taken'
      case 'settlement':
        if (isAhead(fact.time, received)) return 'ahead'
        return this.#once('settlement', known.settlement(fact, received), received)
      case 'ratio':
        if (isAhead(fact.time, received)) return 'ahead'
        return this.#once('long_short_ratio', known.ratio(fact, received), received)
      case 'candle':
        if (isAhead(fact.minute, received)) return 'ahead'
        return this.#once('candle', known.candle(fact, received), received)
      case 'liquidation': {
        const record = known.liquidation(fact, this.#bound(fact.time, origin), received)
        return this.#once('liquidation', record, received)
      }
    }
  }

  /** Writes what was held back and is due by now. */
  flush(now: Micros): void {
    for (const markets of this.#markets.values()) {
      for (const known of markets.values()) {
        this.#writeTicker(known, now)
        this.#writeDerivative(known, now)
        const terms = known.terms.write(now)
        if (terms !== undefined) this.#out.record('contract_terms', terms, now)
      }
    }
  }

  #marketOf(source: string, market: Market): Map<string, FactMarket> | undefined {
    return this.#markets.get(`${source}:${market}`)
  }

  #ticker(known: FactMarket, fact: TickerFact, origin: FactOrigin): FactVerdict {
    const { quote } = known.instrument
    const { received } = origin
    if (this.#rates.of(quote, received) === undefined) return 'quote'
    const time = fact.time === null ? received : this.#bound(fact.time, origin)
    if (known.spot.take(fact, time, received) === 'old') return 'old'
    const { price } = known.spot
    if (price !== undefined) {
      this.#rates.see(known.instrument, price, received)
      this.#prices.set(known.instrument.asset, price * (this.#rates.of(quote, received) ?? 1))
    }
    this.#writeTicker(known, received)
    return 'taken'
  }

  #derivative(known: FactMarket, fact: DerivativeFact, origin: FactOrigin): FactVerdict {
    const { channel, received } = origin
    const premium = fact.premium === undefined ? 'old' : this.#premium(known, fact.premium, origin)
    const groups = known.derivative.take(fact, channel, received, (time) => this.#bound(time, origin))
    if (groups === 'taken') this.#writeDerivative(known, received)
    return groups === 'taken' ? 'taken' : premium
  }

  #premium(known: FactMarket, { premium, time }: { premium: string; time: Micros }, origin: FactOrigin): FactVerdict {
    const { channel, received } = origin
    if (isAhead(time, received)) return 'ahead'
    if (!known.premiums.first(time)) return 'known'
    this.#out.record('derivative_ticker', known.derivative.premium(premium, time, channel, received), received)
    return 'taken'
  }

  #otherTerms({ named, intervalHours }: OtherTermsFact, { source, market, received }: FactOrigin): FactVerdict {
    for (const { instrument, terms } of this.of(source, market)) {
      const { symbol } = instrument
      if (!named.has(symbol)) terms.take({ kind: 'terms', symbol, intervalHours }, received)
    }
    return 'taken'
  }

  #token(fact: TokenFact, { received }: FactOrigin): FactVerdict {
    const asset = this.#tokens.assetOf(fact, (id) => this.#prices.get(id))
    const version = `${fact.updated} ${asset ?? ''}`
    if (this.#tokenTimes.get(fact.symbol) === version) return 'known'
    this.#tokenTimes.set(fact.symbol, version)
    this.#out.record('token', tokenRecord(fact, asset, received), received)
    return 'taken'
  }

  #writeTicker({ instrument, spot }: FactMarket, now: Micros): void {
    const interval = this.#wanted.has(instrument.asset) ? tickerEvery.wanted : tickerEvery.spot
    if (!spot.due(now, interval)) return
    const record = spot.write(now, interval, this.#rates.of(instrument.quote, now) ?? 1)
    if (record !== undefined) this.#out.record('spot_ticker', record, now)
  }

  #writeDerivative({ instrument, derivative }: FactMarket, now: Micros): void {
    if (!derivative.due(now, this.#wanted.has(instrument.asset) ? tickerEvery.wanted : tickerEvery.derivative)) return
    this.#out.record('derivative_ticker', derivative.write(now), now)
  }

  #once<Type extends FactRecord>(type: Type, value: Records[Type] | undefined, now: Micros): FactVerdict {
    if (value === undefined) return 'known'
    this.#out.record(type, value, now)
    return 'taken'
  }

  #bound(time: Micros, { source, received }: FactOrigin): Micros {
    if (!isAhead(time, received)) return time
    this.#out.clamped(source)
    return received + AHEAD_MAX
  }
}

/** The records that the book makes. */
export type FactRecord =
  | 'spot_ticker'
  | 'derivative_ticker'
  | 'settlement'
  | 'long_short_ratio'
  | 'contract_terms'
  | 'liquidation'
  | 'candle'
  | 'token'

/** A settlement or a minute that has a time of its own cannot be cut: it is refused. */
function isAhead(time: Micros, received: Micros): boolean {
  return time > received + AHEAD_MAX
}

function isSame(a: Instrument, b: Instrument): boolean {
  return (
    a.asset === b.asset && a.quote === b.quote && a.size_factor === b.size_factor && a.price_factor === b.price_factor
  )
}

interface QuotePrice {
  readonly venue: string
  readonly price: number
  readonly received: Micros
}

/**
 * What quotes are worth in dollars, as this process last saw it: the median of the venues' USDT-USD and USDC-USD. As for
 * every price, a venue counts that has spoken within 15 s, or whose channel lives and has lived since it spoke; where none
 * counts, the last rate stands.
 */
class QuoteRates {
  /** Quote ticker to the newest price of each instrument. */
  readonly #prices = new Map([
    ['USDT', new Map<string, QuotePrice>()],
    ['USDC', new Map<string, QuotePrice>()],
  ])
  readonly #rates = new Map<string, number>()
  /** Venues whose channel lives: since when, and when that was said. */
  readonly #channels = new Map<string, { readonly since: Micros; readonly said: Micros }>()

  /** Takes the price of any spot instrument; those of other assets say nothing of a quote. */
  see({ instrument, venue, asset, quote }: Instrument, price: number, received: Micros): void {
    if (quote !== 'USD') return
    const ticker = asset.toUpperCase()
    this.#prices.get(ticker)?.set(instrument, { venue, price, received })
    this.of(ticker, received)
  }

  forget({ instrument }: Instrument): void {
    for (const prices of this.#prices.values()) prices.delete(instrument)
  }

  note(channels: readonly VenueState[], now: Micros): void {
    for (const { venue, state, since } of channels) {
      if (state === 'live') this.#channels.set(venue, { since, said: now })
      else this.#channels.delete(venue)
    }
  }

  /** Dollars for one unit; 1 before anything was seen, undefined for a quote that we do not follow. */
  of(quote: string, now: Micros): number | undefined {
    if (quote === 'USD') return 1
    const prices = this.#prices.get(quote)
    if (prices === undefined) return undefined
    const counted = [...prices.values()].filter((price) => this.#counts(price, now))
    const rate = median(counted.map(({ price }) => price)) ?? this.#rates.get(quote) ?? 1
    this.#rates.set(quote, rate)
    return rate
  }

  #counts({ venue, received }: QuotePrice, now: Micros): boolean {
    const channel = this.#channels.get(venue)
    return (
      now - received <= ALIVE || (channel !== undefined && channel.since <= received && now - channel.said <= ALIVE)
    )
  }
}

/** What the book knows of the settlements of a poll's subjects; of a whole market the first that is due. */
export function settlementsOf(book: FactBook, source: string, { of, market }: Scope): Settlements {
  if (of === 'whole') {
    return {
      next: () => earliest([...book.of(source, market)].map(({ derivative }) => derivative.nextSettlement)),
      has: (_whole, at) => [...book.of(source, market)].some((known) => known.hasSettled(at)),
    }
  }
  return {
    next: (symbol) => book.find(source, market, symbol)?.derivative.nextSettlement ?? undefined,
    has: (symbol, at) => book.find(source, market, symbol)?.hasSettled(at) === true,
  }
}

function earliest(times: readonly (Micros | null)[]): Micros | undefined {
  const known = times.filter((time) => time !== null)
  return known.length === 0 ? undefined : known.reduce((least, time) => Math.min(least, time))
}
