import type { Candle } from '../ledger/candles.ts'
import type { SpotMarket, SpotState } from './economy.ts'
import type { ReferencePrices } from './reference-prices.ts'
import { type Market, simulatedMarkets } from './markets.ts'
import { type Bar, MINUTE } from './premium.ts'
import { Noise, streamOf, unitOf } from './random.ts'
import type { Micros } from './trade.ts'

/** Half of the distance between the best prices. */
const HALF_SPREAD = 0.000_01
/** How far a venue's prices are from the others', a part. */
const VENUE_SPREAD = 0.000_03
/** Share of a perpetual's trading that a spot pair sees. */
const SPOT_SHARE: Readonly<Record<SpotMarket['venue'], number>> = {
  binance: 0.3,
  coinbase: 0.2,
  okx: 0.1,
  bybit: 0.12,
  kraken: 0.05,
}
const KEPT_MINUTES = 1_500
const DAY_SECONDS = 86_400
const STABLE_USD_PER_SECOND = 2_000
/** Worth of a trade, dollars. */
const TRADE_USD = 3_000

/** Spot prices around the assets' own: in tether dollars, or in dollars by what the coin is worth. */
export class SpotSide {
  private readonly reference: ReferencePrices
  private readonly offsets = new Map<SpotMarket, Noise>()

  constructor(reference: ReferencePrices) {
    this.reference = reference
  }

  state(market: SpotMarket, now: Micros): SpotState {
    const middle = this.middle(market, now)
    const tick = 10 ** -market.priceDecimals
    const bid = Math.max(1, Math.floor((middle * (1 - HALF_SPREAD)) / tick))
    const ask = Math.max(bid + 1, Math.ceil((middle * (1 + HALF_SPREAD)) / tick))
    const lifted = unitOf(this.reference.seed, streamOf(market.symbol), Math.floor(now / 1_000_000)) < 0.5
    const price = (ticks: number): number => Number(`${ticks}e-${market.priceDecimals}`)
    return {
      bid: price(bid),
      ask: price(ask),
      last: (tradedOf(market) === undefined ? undefined : this.reference.last(market)) ?? price(lifted ? ask : bid),
      ...this.day(market, now),
      time: now,
    }
  }

  /** Closed minutes of [from, to), as far back as they are kept. */
  minutes(market: SpotMarket, from: Micros, to: Micros, now: Micros): Candle[] {
    const minutes: Candle[] = []
    const end = Math.min(to, Math.floor(now / MINUTE) * MINUTE)
    for (
      let start = Math.max(Math.ceil(from / MINUTE) * MINUTE, end - KEPT_MINUTES * MINUTE);
      start < end;
      start += MINUTE
    ) {
      minutes.push(minuteOf(market, start, this.bar(market, start), this.volume(market, start)))
    }
    return minutes
  }

  private middle(market: SpotMarket, now: Micros): number {
    const { coins } = this.reference
    const offset = 1 + VENUE_SPREAD * this.offset(market).at(now)
    if (market.asset === 'USDT') return coins.usdt(now) * offset
    if (market.asset === 'USDC') return coins.usdc(now) * offset
    return this.reference.price(market.asset, now) * offset * (market.quote === 'USD' ? coins.usdt(now) : 1)
  }

  private bar(market: SpotMarket, start: Micros): Bar {
    const { coins } = this.reference
    if (market.asset === 'USDT' || market.asset === 'USDC') {
      const [open, close] = [start, start + MINUTE].map((time) => this.middle(market, time))
      const ends = [open ?? 1, close ?? 1]
      return { open: ends[0] ?? 1, high: Math.max(...ends), low: Math.min(...ends), close: ends[1] ?? 1 }
    }
    const worth = market.quote === 'USD' ? coins.usdt(start) : 1
    const { open, high, low, close } = this.reference.bar(market.asset, start)
    return { open: open * worth, high: high * worth, low: low * worth, close: close * worth }
  }

  private day(market: SpotMarket, now: Micros): Omit<SpotState, 'bid' | 'ask' | 'last' | 'time'> {
    const worth = market.quote === 'USD' ? this.reference.coins.usdt(now) : 1
    const stable = market.asset === 'USDT' || market.asset === 'USDC'
    const middle = this.middle(market, now)
    const day = stable
      ? { open: 1, high: Math.max(1, middle), low: Math.min(1, middle) }
      : this.reference.day(market.asset, now)
    const scale = stable ? 1 : worth
    const volume24h = this.dayVolume(market, now)
    return {
      open24h: day.open * scale,
      high24h: Math.max(day.high * scale, middle),
      low24h: Math.min(day.low * scale, middle),
      volume24h,
      quoteVolume24h: (volume24h * (day.open * scale + middle)) / 2,
    }
  }

  /** Coinbase's pairs trade; others are made up at a share of what the asset's perpetual trades. */
  private dayVolume(market: SpotMarket, now: Micros): number {
    const own = tradedOf(market)
    if (own !== undefined) return this.reference.minutes.dayVolume(own, now)
    return (this.dollarsPerSecond(market) * DAY_SECONDS) / this.middle(market, now)
  }

  private volume(market: SpotMarket, start: Micros): number {
    const own = tradedOf(market)
    if (own !== undefined) return this.reference.minutes.volume(own, start)
    const activity =
      0.6 + 0.8 * unitOf(this.reference.seed, streamOf(`${market.venue} ${market.symbol}`), Math.floor(start / MINUTE))
    return (this.dollarsPerSecond(market) * 60 * activity) / this.middle(market, start)
  }

  private dollarsPerSecond(market: SpotMarket): number {
    const perpetual = perpetuals.get(market.asset)
    if (perpetual === undefined) return STABLE_USD_PER_SECOND
    return this.reference.dollarsPerSecond(perpetual) * SPOT_SHARE[market.venue]
  }

  private offset(market: SpotMarket): Noise {
    const known = this.offsets.get(market)
    if (known !== undefined) return known
    const noise = new Noise(this.reference.seed, streamOf(`spot ${market.venue} ${market.symbol}`), 20)
    this.offsets.set(market, noise)
    return noise
  }
}

/** `bar` in dollars, `volume` in base units, of which takers bought half. */
function minuteOf(market: SpotMarket, start: Micros, bar: Bar, volume: number): Candle {
  const price = (value: number): number => Math.round(value * 10 ** market.priceDecimals)
  const [open, high, low, close] = [price(bar.open), price(bar.high), price(bar.low), price(bar.close)]
  const size = Math.round(volume * 10 ** market.sizeDecimals)
  const buy = Math.round(size / 2)
  const sell = size - buy
  const worth = (units: number): bigint => BigInt(Math.round(units * close))
  const count = size === 0 ? 0 : 1 + Math.round((volume * bar.close) / TRADE_USD)
  return {
    startMs: start / 1000,
    open,
    high,
    low,
    close,
    buy,
    sell,
    buyQuote: worth(buy),
    sellQuote: worth(sell),
    count,
  }
}

const perpetuals = new Map(
  simulatedMarkets.filter(({ venue }) => venue === 'binance').map((market) => [market.asset, market]),
)
const coinbase = new Map(
  simulatedMarkets.filter(({ venue }) => venue === 'coinbase').map((market) => [market.symbol, market]),
)

function tradedOf({ venue, symbol }: SpotMarket): Market | undefined {
  return venue === 'coinbase' ? coinbase.get(symbol) : undefined
}
