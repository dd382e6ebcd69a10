import type {
  Economy,
  PerpMarket,
  PerpState,
  SettledRate,
  SimLiquidation,
  SimToken,
  SpotMarket,
  SpotState,
} from '../market/economy.ts'
import type { Candle } from '../ledger/candles.ts'
import type { Micros } from '../market/trade.ts'

export const MINUTE: Micros = 60_000_000
/** A Saturday, 20 seconds after a full minute; the last settlement was at eight. */
export const NOON: Micros = Date.UTC(2026, 10, 21, 12) * 1000
export const NOW: Micros = NOON + 20_000_000

/** What a test changes between two looks; the rest is made of the market's own name and the time. */
export interface TestEconomy extends Economy {
  readonly spotMarkets: SpotMarket[]
  readonly perpMarkets: PerpMarket[]
  readonly spotChanges: Map<string, Partial<SpotState>>
  readonly perpChanges: Map<string, Partial<PerpState>>
  readonly liquidated: { market: PerpMarket; liquidation: SimLiquidation }[]
  tokenList: SimToken[]
  now: Micros
}

/** BTC and the awkward ones (1000PEPE, POL, XBT) on every venue, at prices that never move by themselves. */
export function testEconomy(): TestEconomy {
  const economy: TestEconomy = {
    now: NOW,
    spotMarkets: [...spotMarkets],
    perpMarkets: [...perpMarkets],
    spotChanges: new Map(),
    perpChanges: new Map(),
    liquidated: [],
    tokenList: [token('bitcoin', 'btc', 'Bitcoin', 84_000), token('matic-network', 'pol', 'POL', 0.2071)],
    spots: (venue) => economy.spotMarkets.filter((market) => market.venue === venue),
    perps: (venue) => economy.perpMarkets.filter((market) => market.venue === venue),
    spot: (market) => ({ ...spotState(market), time: economy.now, ...economy.spotChanges.get(market.symbol) }),
    perp: (market) => ({ ...perpState(market), time: economy.now, ...economy.perpChanges.get(market.symbol) }),
    spotMinutes: (market, from, to) => every(MINUTE, from, Math.min(to, NOON)).map((time) => spotMinute(market, time)),
    premiumAt: (_market, time) => minuteOf(time - MINUTE) / 1_000_000,
    markAt: (market, time) => priceAt(market, time),
    indexAt: (market, time) => priceAt(market, time),
    pastCandles: () => [],
    settlements: (market, limit, before = NOON + 1) => settlements(market, limit, before),
    openInterests: (_market, from, to) =>
      every(5 * MINUTE, from, Math.min(to, NOON + 1)).map((time) => ({ time, size: 1000 + minuteOf(time) })),
    topTraders: (market, time) =>
      market.venue === 'bybit' || time > NOON
        ? undefined
        : { positions: 1.5 + minuteOf(time) / 1000, accounts: 1.2 + minuteOf(time) / 1000 },
    liquidations: (market, from, to) =>
      economy.liquidated
        .filter((one) => one.market === market && one.liquidation.time >= from && one.liquidation.time < to)
        .map(({ liquidation }) => liquidation),
    tokens: () => economy.tokenList,
  }
  return economy
}

const prices: Readonly<Record<string, number>> = {
  BTC: 84_000,
  PEPE: 0.0000094,
  MATIC: 0.2071,
  DOGE: 0.19612,
  USDT: 0.9997,
}

function spotMarket(
  venue: SpotMarket['venue'],
  symbol: string,
  base: string,
  more: Partial<SpotMarket> = {},
): SpotMarket {
  const asset = { POL: 'MATIC', XBT: 'BTC', XDG: 'DOGE' }[base] ?? base
  const decimals = { BTC: 1, PEPE: 9 }[asset] ?? 5
  return { venue, symbol, asset, base, quote: 'USDT', priceDecimals: decimals, sizeDecimals: 6, ...more }
}

const spotMarkets: readonly SpotMarket[] = [
  ...['BTC', 'PEPE', 'POL'].map((base) => spotMarket('bybit', `${base}USDT`, base)),
  ...['BTC', 'PEPE', 'POL'].map((base) => spotMarket('okx', `${base}-USDT`, base)),
  ...['BTC', 'PEPE', 'POL', 'USDT'].map((base) => spotMarket('coinbase', `${base}-USD`, base, { quote: 'USD' })),
  ...['XBT', 'XDG', 'POL', 'USDT'].map((base) =>
    spotMarket('kraken', `${base}USD`, base, { quote: 'USD', sizeDecimals: 8 }),
  ),
  spotMarket('kraken', 'XBTUSDT', 'XBT', { sizeDecimals: 8 }),
  ...['BTC', 'PEPE', 'POL'].map((base) => spotMarket('binance', `${base}USDT`, base)),
]

function perpMarket(venue: PerpMarket['venue'], symbol: string, asset: string, more: Partial<PerpMarket>): PerpMarket {
  return {
    venue,
    symbol,
    asset,
    base: asset,
    factor: 0,
    priceFactor: 0,
    priceDecimals: asset === 'BTC' ? 2 : 7,
    sizeDecimals: asset === 'BTC' ? 3 : 0,
    intervalHours: 8,
    cap: 0.005,
    floor: -0.005,
    maxLeverage: 100,
    tiers: [
      { upTo: 2_000_000, rate: 0.005 },
      { upTo: 10_000_000, rate: 0.01 },
      { upTo: Number.POSITIVE_INFINITY, rate: 0.025 },
    ],
    ...more,
  }
}

const perpMarkets: readonly PerpMarket[] = [
  perpMarket('bybit', 'BTCUSDT', 'BTC', {}),
  perpMarket('bybit', '1000PEPEUSDT', 'PEPE', { factor: 3, priceFactor: 3, intervalHours: 4 }),
  perpMarket('okx', 'BTC-USDT-SWAP', 'BTC', { factor: -2, priceDecimals: 1, sizeDecimals: 2 }),
  perpMarket('okx', 'PEPE-USDT-SWAP', 'PEPE', { factor: 7, priceDecimals: 10, sizeDecimals: 1 }),
  perpMarket('gate', 'BTC_USDT', 'BTC', { factor: -4, priceDecimals: 1, sizeDecimals: 0 }),
  perpMarket('gate', 'PEPE_USDT', 'PEPE', { factor: 7, priceDecimals: 10, sizeDecimals: 0 }),
  perpMarket('binance', 'BTCUSDT', 'BTC', {}),
  perpMarket('binance', '1000PEPEUSDT', 'PEPE', { factor: 3, priceFactor: 3, intervalHours: 4 }),
]

function spotState({ asset }: SpotMarket): Omit<SpotState, 'time'> {
  const last = prices[asset] ?? 1
  const day = { open24h: last * 0.98, high24h: last * 1.01, low24h: last * 0.97 }
  return { bid: last * 0.9999, ask: last * 1.0001, last, ...day, volume24h: 1234.5, quoteVolume24h: 1234.5 * last }
}

function perpState({ asset, intervalHours }: PerpMarket): Omit<PerpState, 'time'> {
  const last = prices[asset] ?? 1
  const day = { open24h: last * 0.98, high24h: last * 1.01, low24h: last * 0.97 }
  const funding = { premium: 0.0002, rate: 0.00012345, settledRate: 0.0001, settledAt: NOON - 240 * MINUTE }
  const nextSettlement = NOON + (intervalHours === 8 ? 240 : 60 * intervalHours) * MINUTE
  const sizes = { openInterest: 20_000_000, volume24h: 30_000_000, quoteVolume24h: 30_000_000 * last }
  return { last, mark: last * 1.0001, index: last * 0.9999, ...funding, nextSettlement, ...sizes, ...day }
}

function priceAt({ asset }: SpotMarket | PerpMarket, time: Micros): number {
  return (prices[asset] ?? 1) * (1 + minuteOf(time) / 10_000)
}

/** Takers bought all of it. */
function spotMinute(market: SpotMarket, start: Micros): Candle {
  const price = (part: number): number => Math.round(priceAt(market, start) * part * 10 ** market.priceDecimals)
  const [open, high, low, close] = [price(1), price(1.001), price(0.999), price(1.0005)]
  const buy = 12.5 * 10 ** market.sizeDecimals
  return {
    startMs: start / 1000,
    open,
    high,
    low,
    close,
    buy,
    sell: 0,
    buyQuote: BigInt(buy * close),
    sellQuote: 0n,
    count: 7,
  }
}

function settlements({ intervalHours, asset }: PerpMarket, limit: number, before: Micros): SettledRate[] {
  const interval = intervalHours * 60 * MINUTE
  const last = Math.ceil(before / interval) * interval - interval
  return Array.from({ length: limit }, (_, index) => {
    return { time: last - index * interval, rate: 0.0001 - index / 1_000_000, mark: prices[asset] ?? 1 }
  })
}

function token(id: string, symbol: string, name: string, price: number): SimToken {
  const supply = { circulating: 19_900_000, total: 21_000_000, marketCap: price * 19_900_000 }
  const extremes = { ath: 126_080, athTime: NOON - 1_000 * MINUTE, atl: 67.81, atlTime: NOON - 9_000 * MINUTE }
  const moves = { change24h: -1.53973, change7d: 2.5, change30d: -10.25, volume24h: 39_122_950_768 }
  return { id, symbol, name, price, rank: 1, ...supply, ...extremes, ...moves, updated: NOON }
}

/** Multiples of `step` in [from, to). */
function every(step: Micros, from: Micros, to: Micros): Micros[] {
  const first = Math.ceil(from / step) * step
  return Array.from({ length: Math.max(0, Math.ceil((to - first) / step)) }, (_, index) => first + index * step)
}

/** Minute of the hour, so that each has its own numbers. */
function minuteOf(time: Micros): number {
  return Math.floor(time / MINUTE) % 60
}
