import type { Candle } from '../ledger/candles.ts'
import type { Market } from './markets.ts'
import type { Micros } from './trade.ts'

/** Venues of the simulated world that have spot prices, and those that have perpetuals. */
export const spotVenueNames = ['binance', 'coinbase', 'okx', 'bybit', 'kraken'] as const
export type SpotVenueName = (typeof spotVenueNames)[number]
export const perpVenueNames = ['binance', 'bybit', 'okx', 'gate'] as const
export type PerpVenueName = (typeof perpVenueNames)[number]

/**
 * What the simulated market says beside trades; the venues' APIs put it into their own words. Numbers are doubles of
 * base and quote units (one token, one dollar), whatever units the venue uses. Times are the venues' clock.
 */
export interface Economy {
  /** Markets that a venue lists now; an API lists, streams and answers for exactly these. */
  spots(venue: SpotVenueName): readonly SpotMarket[]
  perps(venue: PerpVenueName): readonly PerpMarket[]
  spot(market: SpotMarket): SpotState
  perp(market: PerpMarket): PerpState
  /** Closed minutes of [from, to), oldest first, as far back as they are kept; in the pair's whole units. */
  spotMinutes(market: SpotMarket, from: Micros, to: Micros): Candle[]
  /** Premium index at a time that is over, a fraction. */
  premiumAt(market: PerpMarket, time: Micros): number
  /** Mark price at a time that is over, dollars of one base unit, and the index that it is of. */
  markAt(market: PerpMarket, time: Micros): number
  indexAt(market: PerpMarket, time: Micros): number
  /** Candles of a market that trades, of the time of which no trades are kept; oldest first, in its whole units. */
  pastCandles(market: Market, stretch: PastStretch): Candle[]
  /** Settled rates, newest first, of at least 90 days. */
  settlements(market: PerpMarket, limit: number, before?: Micros): readonly SettledRate[]
  /** Open interest at the end of each 5 minutes of [from, to), oldest first. */
  openInterests(market: PerpMarket, from: Micros, to: Micros): readonly { time: Micros; size: number }[]
  /** Long over short of top traders in the 5 minutes that begin at `time`; undefined where the venue has none. */
  topTraders(market: PerpMarket, time: Micros): { positions: number; accounts: number } | undefined
  /** Liquidations of [from, to), oldest first. */
  liquidations(market: PerpMarket, from: Micros, to: Micros): readonly SimLiquidation[]
  tokens(): readonly SimToken[]
}

/** A stretch of candles: those that begin in [fromMs, toMs), of the minutes before `untilMs`. */
export interface PastStretch {
  readonly intervalMs: number
  readonly fromMs: number
  readonly toMs: number
  readonly untilMs: number
}

export interface SpotMarket {
  readonly venue: SpotVenueName
  /** The venue's own symbol in its REST: BTCUSDT, BTC-USDT, BTC-USD, XBTUSD. */
  readonly symbol: string
  /** Catalogue symbol: BTC, MATIC; of the filler assets their own. */
  readonly asset: string
  /** As the venue writes it: POL for MATIC, XBT for BTC on Kraken's REST. */
  readonly base: string
  readonly quote: 'USD' | 'USDT' | 'USDC'
  readonly priceDecimals: number
  readonly sizeDecimals: number
}

export interface SpotState {
  readonly bid: number
  readonly ask: number
  readonly last: number
  readonly open24h: number
  readonly high24h: number
  readonly low24h: number
  /** Base and quote units. */
  readonly volume24h: number
  readonly quoteVolume24h: number
  readonly time: Micros
}

export interface PerpMarket {
  readonly venue: PerpVenueName
  readonly symbol: string
  readonly asset: string
  readonly base: string
  /** One unit of the venue's size is 10^factor of the base; one unit of its price is for 10^priceFactor of it. */
  readonly factor: number
  readonly priceFactor: number
  readonly priceDecimals: number
  readonly sizeDecimals: number
  readonly intervalHours: number
  /** Cap and floor of an interval's rate, fraction. */
  readonly cap: number
  readonly floor: number
  readonly maxLeverage: number
  /** Maintenance margin tiers, ascending; `upTo` in dollars, Infinity for the last. */
  readonly tiers: readonly { readonly upTo: number; readonly rate: number }[]
}

export interface PerpState {
  readonly last: number
  readonly mark: number
  readonly index: number
  /** Premium index now, fraction. */
  readonly premium: number
  /** The venue's running rate for `nextSettlement`, by its own formula over the premium since the last one. */
  readonly rate: number
  readonly nextSettlement: Micros
  readonly settledRate: number
  readonly settledAt: Micros
  /** One-sided, base units. */
  readonly openInterest: number
  readonly volume24h: number
  readonly quoteVolume24h: number
  readonly open24h: number
  readonly high24h: number
  readonly low24h: number
  readonly time: Micros
}

export interface SettledRate {
  readonly time: Micros
  readonly rate: number
  readonly mark: number
}

export interface SimLiquidation {
  readonly time: Micros
  /** Which position was closed. */
  readonly side: 'long' | 'short'
  /** Base units. */
  readonly size: number
  readonly bankruptcyPrice: number
  /** Average price of the closing order's fills. */
  readonly fillPrice: number
}

export interface SimToken {
  /** Registry id: bitcoin. */
  readonly id: string
  readonly symbol: string
  readonly name: string
  readonly price: number
  readonly marketCap: number
  readonly rank: number
  readonly volume24h: number
  readonly change24h: number
  readonly change7d: number
  readonly change30d: number
  readonly circulating: number
  readonly total: number | null
  readonly ath: number
  readonly athTime: Micros
  readonly atl: number
  readonly atlTime: Micros
  readonly updated: Micros
}
