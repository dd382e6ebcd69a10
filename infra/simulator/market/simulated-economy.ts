import {
  type Economy,
  type PastStretch,
  type PerpMarket,
  type PerpState,
  type PerpVenueName,
  type SettledRate,
  type SimLiquidation,
  type SimToken,
  type SpotMarket,
  type SpotState,
  type SpotVenueName,
  spotVenueNames,
} from './economy.ts'
import { ReferencePrices, type ReferencePricesOptions } from './reference-prices.ts'
import { BaseInterest, Interests, keyOf } from './interests.ts'
import { type ListingChange, Listings } from './listings.ts'
import type { Candle } from '../ledger/candles.ts'
import type { Market } from './markets.ts'
import { PastTrades } from './past.ts'
import { PerpSide, topTradersOf, tradedOf } from './perp-side.ts'
import { SpotSide } from './spot-side.ts'
import { tokensAt } from './tokens.ts'
import type { Micros, Trade } from './trade.ts'

interface EconomyOptions extends ReferencePricesOptions {
  /** Made-up assets that Binance, Bybit and OKX list. */
  readonly fillers: number
}

/** What the seeded market says beside its trades. The same seed, start and trades give the same numbers. */
export class SimulatedEconomy implements Economy {
  private readonly reference: ReferencePrices
  private readonly spotSide: SpotSide
  private readonly perpSide: PerpSide
  private readonly base: BaseInterest
  private readonly interests: Interests
  private readonly listings: Listings
  private readonly past: PastTrades
  private readonly perpOf = new Map<string, PerpMarket>()
  private readonly ratios = new Map<PerpMarket, ReturnType<typeof topTradersOf>>()
  private time: Micros
  /** As of when prices are; behind `time` while nothing trades. */
  private pricesTime: Micros

  constructor(options: EconomyOptions) {
    this.time = options.now
    this.pricesTime = options.now
    this.reference = new ReferencePrices(options)
    this.base = new BaseInterest(this.reference)
    this.past = new PastTrades(this.reference, (market, time) => this.basis(market, time))
    this.spotSide = new SpotSide(this.reference)
    this.listings = new Listings(options.folder, options.fillers)
    for (const perp of this.listings.catalogue) this.perpOf.set(keyOf(perp), perp)
    for (const { market, trade } of options.newest) this.see(market, trade, 0)
    this.interests = new Interests(
      { reference: this.reference, base: this.base, folder: options.folder, now: options.now },
      this.listings.catalogue.filter((perp) => tradedOf(perp) !== undefined),
    )
    const openInterest = (market: PerpMarket): number =>
      this.interests.size(market) ?? this.base.at(market, this.pricesTime)
    this.perpSide = new PerpSide(this.reference, openInterest)
  }

  /** How far a market's trades are from its asset's price in tether dollars, as a factor. */
  basis(market: Market, time: Micros): number {
    if (market.venue === 'coinbase') return this.reference.coins.usdt(time)
    const perp = this.perpOf.get(keyOf(market))
    return perp === undefined ? 1 : 1 + this.reference.premium(perp).at(time)
  }

  /** A market that trades, as its venue counts it now; undefined where the venue no longer lists it. */
  listed(market: Market): Market | undefined {
    return this.listings.traded(market)
  }

  /** Changes an instrument list; the reason where it cannot be. */
  list(change: ListingChange): string | undefined {
    return this.listings.apply(change)
  }

  /** Takes what a market has just traded. */
  traded(market: Market, trades: readonly Trade[]): void {
    const unit = 10 ** (market.factor - market.sizeDecimals)
    let sum = 0
    for (const trade of trades) {
      if (trade.block) continue
      this.see(market, trade, trade.size * unit)
      sum += trade.size * unit
    }
    this.interests.traded(keyOf(market), sum)
  }

  /** `standing`: nothing trades, so prices stay where they are. */
  advance(now: Micros, standing = false): void {
    this.time = now
    if (!standing) this.pricesTime = now
    this.reference.minutes.roll(now)
    if (!standing) this.interests.advance(now)
  }

  spots(venue: SpotVenueName): readonly SpotMarket[] {
    return this.listings.spots(venue)
  }

  perps(venue: PerpVenueName): readonly PerpMarket[] {
    return this.listings.perps(venue)
  }

  spot(market: SpotMarket): SpotState {
    return { ...this.spotSide.state(market, this.pricesTime), time: this.time }
  }

  perp(market: PerpMarket): PerpState {
    return this.perpSide.state(market, this.time, this.pricesTime)
  }

  spotMinutes(market: SpotMarket, from: Micros, to: Micros): Candle[] {
    return this.spotSide.minutes(market, from, to, this.time)
  }

  premiumAt(market: PerpMarket, time: Micros): number {
    return this.perpSide.premiumAt(market, time)
  }

  markAt(market: PerpMarket, time: Micros): number {
    return this.perpSide.markAt(market, time)
  }

  indexAt(market: PerpMarket, time: Micros): number {
    return this.perpSide.indexAt(market, time)
  }

  pastCandles(market: Market, stretch: PastStretch): Candle[] {
    return this.past.candles(market, stretch, this.time / 1000)
  }

  settlements(market: PerpMarket, limit: number, before?: Micros): readonly SettledRate[] {
    return this.perpSide.settlements(market, { limit, before, now: this.time })
  }

  openInterests(market: PerpMarket, from: Micros, to: Micros): readonly { time: Micros; size: number }[] {
    return this.interests.history(market, from, Math.min(to, this.time + 1))
  }

  topTraders(market: PerpMarket, time: Micros): { positions: number; accounts: number } | undefined {
    if (time > this.time) return undefined
    if (!this.ratios.has(market)) this.ratios.set(market, topTradersOf(market, this.reference.seed))
    return this.ratios.get(market)?.(time)
  }

  liquidations(market: PerpMarket, from: Micros, to: Micros): readonly SimLiquidation[] {
    return this.interests.liquidations(market, from, to)
  }

  /** As the registry counts: what an asset's spot pairs trade, in dollars. */
  tokens(): readonly SimToken[] {
    const volume = (asset: string): number => {
      const pairs = spotVenueNames.flatMap((venue) => this.spots(venue)).filter((market) => market.asset === asset)
      return pairs.reduce((sum, market) => sum + this.spot(market).quoteVolume24h, 0)
    }
    return tokensAt(this.reference, this.time, volume)
  }

  close(): void {
    this.interests.close()
    this.reference.close()
  }

  private see(market: Market, trade: Trade, size: number): void {
    this.reference.see(market, trade, { basis: this.basis(market, trade.time), size })
  }
}
