import type { Market, SourceName } from '../../schemas/venues.ts'
import type { Micros } from '../../schemas/records.ts'
import type { Listing, Refusal, RestAnswer, RestCall, RestRules, StreamProtocol } from './venue.ts'

/**
 * What one venue says beside trades (prices, funding, open interest, ratios, liquidations, candles, tokens), as data and
 * pure functions. One per venue folder (`source.ts`), listed in `sources.ts`; sockets, polling, budgets, throttling and
 * Kafka are the runner's and the same for all.
 */
export interface Source {
  readonly name: SourceName
  /** Where it is found; each is replaced by a setting: `<VENUE>_WS_URL`, `<VENUE>_REST_URL`, `<VENUE>_SPOT_...`. */
  readonly hosts: Readonly<Partial<Record<HostName, string>>>
  /** One token bucket per REST host. A venue's `rest` shares it with its trades' repair. */
  readonly budgets: Readonly<Partial<Record<RestHost, RestRules>>>
  /** The share of `rest` that the repair of trades may use; without it all of it. */
  readonly repair?: RestRules
  /** Markets that are not listed by the venue's trade adapter: spot markets of the price chain. */
  readonly listings: readonly SourceListing[]
  readonly streams: readonly DataStream[]
  readonly polls: readonly Poll[]
  /** Where a time without spot tickers is looked up afterwards. */
  readonly candles?: CandleLookup
}

/** One-minute candles of a spot market over a time that we choose: the bounds of prices that no ticker told. */
export interface CandleLookup {
  readonly host: RestHost
  /** Candles of the minutes that touch [from, to), microseconds; of more than a page the newest. */
  call(symbol: string, from: Micros, to: Micros): RestCall
  parse(symbol: string, body: unknown, now: number): RestAnswer<FactRow>
}

export type RestHost = 'rest' | 'spotRest'
export type HostName = RestHost | 'ws' | 'spotWs'

export interface SourceListing {
  readonly market: Market
  readonly host: RestHost
  readonly listing: Listing
}

/** The topics that facts go to; a stream or poll feeds one of them, which its marks then tell the state of. */
export type FactTopic = 'market.tickers' | 'market.funding' | 'market.liquidations' | 'market.candles' | 'market.tokens'

/**
 * What a stream or poll is asked for.
 * - `whole`: one subscription or call for all markets; of `symbol` where the protocol needs a name for it;
 * - `each`: one per instrument of `market`: of all that are listed (`catalogue`), or of the assets that are wanted.
 */
export type Subjects =
  | { readonly of: 'whole'; readonly symbol: string; readonly market: Market }
  | { readonly of: 'catalogue' | 'wanted'; readonly market: Market }

/** A WebSocket channel; `parse` gives `{ kind: 'fact' }` events. */
export interface DataStream extends StreamProtocol {
  /** Within the venue, for logs and metrics: tickers, mark-price, liquidations. */
  readonly name: string
  readonly host: 'ws' | 'spotWs'
  readonly topic: FactTopic
  readonly subjects: Subjects
}

/** A REST call that is made again and again, spread over its period. */
export interface Poll {
  readonly name: string
  readonly host: RestHost
  readonly topic: FactTopic
  readonly subjects: Subjects
  /** Time between two calls about one subject, milliseconds. `once`: at start and for each new subject: a back-read. */
  readonly everyMs: number | 'once'
  /** For minute data: asked this long after each full minute rather than at any time, milliseconds. */
  readonly afterMinuteMs?: number
  /** Waits until a settlement of the instrument has passed, and asks then. */
  readonly when?: 'settlement'
  /** `now`: the host's clock, milliseconds. `symbol`: the venue's own; for `whole` the subjects' name. */
  call(symbol: string, now: number): RestCall
  /** `next` in the answer is called too: pages. */
  parse(symbol: string, body: unknown, now: number): RestAnswer<FactRow>
}

export type FactRow = Fact | { readonly refused: Refusal }

/** Something a venue said, in its own symbols and units: decimals are still text, so that scaling stays exact. */
export type Fact =
  TickerFact | DerivativeFact | SettlementFact | RatioFact | LiquidationFact | TermsFact | CandleFact | TokenFact

/**
 * Spot. Absent: this message does not say, what is known of before stands. Null: the venue has none now (an empty side of
 * the book) or its book top is not to be used with this price (a stand-in that knows last prices only).
 */
export interface TickerFact {
  readonly kind: 'ticker'
  readonly symbol: string
  readonly bid?: string | null
  readonly ask?: string | null
  readonly last?: string | null
  /** Percent. */
  readonly change24h?: number | null
  /** In the venue's size units. */
  readonly volume24h?: string | null
  readonly quoteVolume24h?: string | null
  /** Null: the message has none, the receive time is taken. */
  readonly time: Micros | null
}

/** Perpetual; each group with its own venue time. */
export interface DerivativeFact {
  readonly kind: 'derivative'
  readonly symbol: string
  readonly rate?: { readonly rate: string; readonly next: Micros | null; readonly time: Micros }
  /**
   * Null: not said here, what is known stands. Mark and index can be of two calls (OKX), each with its own time: whether
   * one is news is judged by its own last time, not by the other's. A record that joins them has the mark's time, so that an
   * index never makes a mark look young.
   */
  readonly mark?: { readonly mark: string | null; readonly index: string | null; readonly time: Micros }
  /** Close of the minute that begins at `time`. */
  readonly premium?: { readonly premium: string; readonly time: Micros }
  /** One-sided, in the venue's size units (OKX: contracts). */
  readonly openInterest?: { readonly size: string; readonly time: Micros }
}

export interface SettlementFact {
  readonly kind: 'settlement'
  readonly symbol: string
  readonly rate: string
  readonly mark: string | null
  /** As the venue says it; the runner rounds it to its minute. */
  readonly time: Micros
}

export interface RatioFact {
  readonly kind: 'ratio'
  readonly symbol: string
  readonly cohort: 'top_traders' | 'all'
  readonly basis: 'positions' | 'accounts'
  /** Shares that add up to 1. */
  readonly long: number
  readonly short: number
  readonly ratio: number
  readonly time: Micros
}

export interface LiquidationFact {
  readonly kind: 'liquidation'
  readonly symbol: string
  /** Identity within the instrument. */
  readonly id: string
  /** The position that was closed. */
  readonly side: 'long' | 'short'
  readonly size: string
  readonly price: string
  readonly priceKind: 'bankruptcy' | 'order' | 'average_fill'
  readonly completeness: 'all' | 'sampled'
  readonly time: Micros
}

/** What is not said is left out; the runner joins the terms of several calls. */
export interface TermsFact {
  readonly kind: 'terms'
  readonly symbol: string
  readonly intervalHours?: number
  readonly cap?: number
  readonly floor?: number
  /** Fraction per day. */
  readonly interestDaily?: number
  readonly maxLeverage?: number
  /** Ascending; notionals in quote units. */
  readonly tiers?: readonly { readonly upTo: number | null; readonly rate: number; readonly deduction: number }[]
}

export interface CandleFact {
  readonly kind: 'candle'
  readonly symbol: string
  /** Start of the minute. Only closed minutes are facts. */
  readonly minute: Micros
  readonly open: string
  readonly high: string
  readonly low: string
  readonly close: string
  /** In the venue's size units. */
  readonly volume: string
  readonly takerBuy: string | null
  readonly trades: number | null
}

/** Of the registry; `symbol` is its id. Null: not said. Times in microseconds. */
export interface TokenFact {
  readonly kind: 'token'
  readonly symbol: string
  readonly ticker: string
  readonly name: string
  readonly price: number | null
  readonly change24h: number | null
  readonly change7d: number | null
  readonly change30d: number | null
  readonly volume24h: number | null
  readonly marketCap: number | null
  readonly rank: number | null
  readonly circulating: number | null
  readonly total: number | null
  readonly ath: number | null
  readonly athDate: Micros | null
  readonly atl: number | null
  readonly atlDate: Micros | null
  readonly updated: Micros
}
