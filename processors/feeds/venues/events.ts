import type { Micros } from '../../../schemas/records.ts'

/** One trade in the venue's own units: decimals are still text, so that scaling stays exact. */
export interface VenueTrade {
  readonly symbol: string
  /** The contiguous id, or for unordered ids a 52-bit number made of the id. */
  readonly id: number
  /** Fills merged into it. */
  readonly count: number
  readonly sequence: number | null
  readonly price: string
  readonly size: string
  readonly taker: 'buy' | 'sell'
  readonly time: Micros
}

/** Why a frame or a row is not a trade; counted per venue and reason. */
type Refusal =
  | 'not-json'
  | 'not-an-object'
  | 'unknown-event'
  | 'bad-field'
  /** Block trades, liquidation fund and ADL fills: real, but not taker flow of the book. */
  | 'off-book'
  | 'unknown-symbol'
  /** Several ids in one record, of which only the last is said to be one (OKX `trades`): not the pager's unit. */
  | 'merged'

export type FrameEvent =
  | { readonly kind: 'trade'; readonly trade: VenueTrade }
  /** Anything but a trade. */
  | { readonly kind: 'fact'; readonly fact: Fact }
  /** The venue's own word on how far a symbol's ids have come (Coinbase heartbeat, last_match). */
  | { readonly kind: 'heartbeat'; readonly symbol: string | null; readonly lastId: number | null }
  /** Subscribed symbols; null: the request `id` as a whole. `whole`: all of them, what is not among them is not subscribed. */
  | {
      readonly kind: 'subscribed'
      readonly symbols: readonly string[] | null
      readonly id: number | null
      readonly whole?: true
    }
  | { readonly kind: 'unsubscribed'; readonly symbols: readonly string[] | null; readonly id: number | null }
  /**
   * The request `id` failed as a whole; `symbols`: those that the venue names as the cause, null: it names none. `alone`:
   * they failed by themselves, the others have answers of their own.
   */
  | {
      readonly kind: 'rejected'
      readonly symbols: readonly string[] | null
      readonly id: number | null
      readonly message: string
      readonly alone?: true
    }
  /** The venue will close this connection soon: open the replacement now. */
  | { readonly kind: 'closing'; readonly message: string }
  | { readonly kind: 'pong' }
  | { readonly kind: 'refused'; readonly reason: Refusal }

/** A row of a page: a trade, or why it is none. */
export type PageRow = VenueTrade | { readonly refused: Refusal }

export type FactRow = Fact | { readonly refused: Refusal }

/** Something a venue said, in its own symbols and units: decimals are still text, so that scaling stays exact. */
export type Fact =
  | TickerFact
  | DerivativeFact
  | SettlementFact
  | RatioFact
  | LiquidationFact
  | TermsFact
  | OtherTermsFact
  | CandleFact
  | TokenFact

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

/** The interval of every market of the source that an answer does not name. */
export interface OtherTermsFact {
  readonly kind: 'other_terms'
  readonly named: ReadonlySet<string>
  readonly intervalHours: number
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
