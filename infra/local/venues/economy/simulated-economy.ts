import type {
  Economy,
  PerpMarket,
  PerpMinute,
  PerpState,
  PerpVenueName,
  SettledRate,
  SimLiquidation,
  SimToken,
  SpotMarket,
  SpotMinute,
  SpotState,
  SpotVenueName,
} from '../economy.ts'
import type { Market } from '../markets.ts'
import type { Micros, Trade } from '../trade.ts'
import { BaseInterest } from './base-interest.ts'
import { fillersOf, perpMarkets, spotMarkets } from './catalogue.ts'
import { basePrice, Ground, type GroundOptions } from './ground.ts'
import { PerpSide } from './perp-side.ts'
import { SpotSide } from './spot-side.ts'
import { topTradersOf } from './top-traders.ts'

const FIVE_MINUTES: Micros = 300_000_000

export interface EconomyOptions extends GroundOptions {
  /** Made-up assets that Binance, Bybit and OKX list. */
  readonly fillers: number
}

/** What the seeded market says beside its trades. The same seed, start and trades give the same numbers. */
export class SimulatedEconomy implements Economy {
  private readonly ground: Ground
  private readonly spotSide: SpotSide
  private readonly perpSide: PerpSide
  private readonly base: BaseInterest
  private readonly spotList: readonly SpotMarket[]
  private readonly perpList: readonly PerpMarket[]
  private readonly perpOf = new Map<string, PerpMarket>()
  private readonly ratios = new Map<PerpMarket, ReturnType<typeof topTradersOf>>()
  private time: Micros
  /** As of when prices are; behind `time` while nothing trades. */
  private pricesTime: Micros

  constructor(options: EconomyOptions) {
    this.time = options.now
    this.pricesTime = options.now
    this.ground = new Ground(options)
    this.base = new BaseInterest(this.ground)
    this.spotSide = new SpotSide(this.ground)
    this.perpSide = new PerpSide(this.ground, (market) => this.base.at(market, this.time))
    this.spotList = spotMarkets()
    this.perpList = perpMarkets(fillersOf(options.fillers))
    for (const perp of this.perpList) this.perpOf.set(`${perp.venue} ${perp.symbol}`, perp)
    for (const { market, trade } of options.newest) this.traded(market, [{ ...trade, size: 0 }])
  }

  /** How far a market's trades are from its asset's price in tether dollars, as a factor. */
  basis(market: Market, time: Micros): number {
    if (market.venue === 'coinbase') return this.ground.coins.usdt(time)
    const perp = this.perpOf.get(`${market.venue} ${market.symbol}`)
    return perp === undefined ? 1 : 1 + this.ground.premium(perp).at(time)
  }

  /** Takes what a market has just traded. */
  traded(market: Market, trades: readonly Trade[]): void {
    const unit = 10 ** (market.factor - market.sizeDecimals)
    for (const trade of trades) {
      if (trade.block) continue
      const price = basePrice(market, trade) / this.basis(market, trade.time)
      this.ground.minutes.add(market, price, trade.size * unit)
    }
  }

  /** `standing`: nothing trades, so prices stay where they are. */
  advance(now: Micros, standing = false): void {
    this.time = now
    if (!standing) this.pricesTime = now
    this.ground.minutes.roll(now)
  }

  spots(venue: SpotVenueName): readonly SpotMarket[] {
    return this.spotList.filter((market) => market.venue === venue)
  }

  perps(venue: PerpVenueName): readonly PerpMarket[] {
    return this.perpList.filter((market) => market.venue === venue)
  }

  spot(market: SpotMarket): SpotState {
    return { ...this.spotSide.state(market, this.pricesTime), time: this.time }
  }

  perp(market: PerpMarket): PerpState {
    return this.perpSide.state(market, this.time, this.pricesTime)
  }

  spotMinutes(market: SpotMarket, from: Micros, to: Micros): readonly SpotMinute[] {
    return this.spotSide.minutes(market, from, to, this.time)
  }

  minutes(market: PerpMarket, from: Micros, to: Micros): readonly PerpMinute[] {
    return this.perpSide.minutes(market, from, to, this.time)
  }

  settlements(market: PerpMarket, limit: number, before?: Micros): readonly SettledRate[] {
    return this.perpSide.settlements(market, { limit, before, now: this.time })
  }

  openInterests(market: PerpMarket, from: Micros, to: Micros): readonly { time: Micros; size: number }[] {
    const rows: { time: Micros; size: number }[] = []
    for (
      let time = Math.ceil(from / FIVE_MINUTES) * FIVE_MINUTES;
      time < Math.min(to, this.time);
      time += FIVE_MINUTES
    ) {
      rows.push({ time, size: this.base.at(market, time) })
    }
    return rows
  }

  topTraders(market: PerpMarket, time: Micros): { positions: number; accounts: number } | undefined {
    if (time > this.time) return undefined
    if (!this.ratios.has(market)) this.ratios.set(market, topTradersOf(market, this.ground.seed))
    return this.ratios.get(market)?.(time)
  }

  liquidations(): readonly SimLiquidation[] {
    return []
  }

  tokens(): readonly SimToken[] {
    return []
  }

  close(): void {
    this.ground.close()
  }
}
