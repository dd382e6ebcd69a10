import type { History } from '../ledger/history.ts'
import type { World } from '../ledger/world.ts'
import type {
  Economy,
  PerpMarket,
  PerpState,
  PerpVenueName,
  SpotMarket,
  SpotState,
  SpotVenueName,
} from '../market/economy.ts'
import type { Market } from '../market/markets.ts'

const INTERVAL_HOURS = 8
const HOUR_MICROS = 3_600_000_000

/** What a world without an economy says beside trades: its markets at their last prices, and nothing else. */
export class TapeEconomy implements Economy {
  private readonly world: World
  private readonly listed = new Map<History, PerpMarket & SpotMarket>()

  constructor(world: World) {
    this.world = world
  }

  spots(venue: SpotVenueName): readonly SpotMarket[] {
    return venue === 'coinbase' ? this.world.of('coinbase').map((history) => this.market(history)) : []
  }

  perps(venue: PerpVenueName): readonly PerpMarket[] {
    return venue === 'gate' ? [] : this.world.of(venue).map((history) => this.market(history))
  }

  spot(market: SpotMarket): SpotState {
    const { price, time } = this.last('coinbase', market.symbol)
    const day = { open24h: price, high24h: price, low24h: price, volume24h: 0, quoteVolume24h: 0 }
    return { bid: price, ask: price, last: price, ...day, time }
  }

  perp(market: PerpMarket): PerpState {
    const { price, time } = this.last(market.venue === 'gate' ? 'binance' : market.venue, market.symbol)
    const interval = market.intervalHours * HOUR_MICROS
    const settledAt = Math.floor(this.world.now / interval) * interval
    const prices = { last: price, mark: price, index: price, open24h: price, high24h: price, low24h: price }
    const funding = { premium: 0, rate: 0, settledRate: 0, settledAt, nextSettlement: settledAt + interval }
    return { ...prices, ...funding, openInterest: 0, volume24h: 0, quoteVolume24h: 0, time }
  }

  spotMinutes(): [] {
    return []
  }

  premiumAt(): number {
    return 0
  }

  markAt(): number {
    return 0
  }

  indexAt(): number {
    return 0
  }

  pastCandles(): [] {
    return []
  }

  settlements(): readonly never[] {
    return []
  }

  openInterests(): readonly never[] {
    return []
  }

  topTraders(): undefined {
    return undefined
  }

  liquidations(): readonly never[] {
    return []
  }

  tokens(): readonly never[] {
    return []
  }

  private market(history: History): PerpMarket & SpotMarket {
    const known = this.listed.get(history) ?? marketOf(history.market)
    this.listed.set(history, known)
    return known
  }

  /** Dollars for one base unit, of the newest trade or where the market starts. */
  private last(venue: Market['venue'], symbol: string): { price: number; time: number } {
    const history = this.world.find(venue, symbol)
    if (history === undefined) throw new Error(`no history of ${venue} ${symbol}`)
    const { market, newest } = history
    const places = market.priceDecimals + priceFactorOf(market)
    if (newest === undefined) return { price: market.startPrice / 10 ** priceFactorOf(market), time: this.world.now }
    return { price: Number(`${newest.price}e${-places}`), time: newest.time }
  }
}

/** Quotes are dollars of some kind in all of the world's markets. */
function marketOf(market: Market): PerpMarket & SpotMarket {
  const { venue, symbol, asset, base, factor, priceDecimals, sizeDecimals } = market
  return {
    // One record serves both listings; each reader takes the side that it knows.
    venue: venue as SpotVenueName & PerpVenueName,
    symbol,
    asset,
    base,
    quote: market.quote === 'USD' ? 'USD' : 'USDT',
    factor,
    priceFactor: priceFactorOf(market),
    priceDecimals,
    sizeDecimals,
    intervalHours: INTERVAL_HOURS,
    cap: 0.003,
    floor: -0.003,
    maxLeverage: 100,
    tiers: [{ upTo: Number.POSITIVE_INFINITY, rate: 0.005 }],
  }
}

/** An OKX contract's price is that of one base unit. */
function priceFactorOf({ venue, factor }: Market): number {
  return venue === 'okx' ? 0 : factor
}
