import type { PerpMarket, PerpVenueName, SpotMarket, SpotVenueName } from './economy.ts'
import { type AssetRow, assets, type Market, simulatedMarkets } from './markets.ts'
import { streamOf, unitOf } from './random.ts'

/** A made-up asset whose perpetuals are listed and never trade. */
interface Filler {
  readonly asset: string
  /** USD at the start. */
  readonly price: number
}

/** The first `count` made-up assets: names that no real ticker has. */
export function fillersOf(count: number): Filler[] {
  return Array.from({ length: count }, (_, index) =>
    fillerOf(`${syllable(index)}${syllable(Math.floor(index / 100) * 37 + 11)}Q`),
  )
}

/** A made-up asset by its name; its price follows from it. */
export function fillerOf(asset: string): Filler {
  return { asset, price: 10 ** (5 * unitOf(streamOf(asset), 4, 0) - 3) }
}

function syllable(index: number): string {
  return `${'BCDFGHJKLMNPRSTVWXYZ'[index % 20] ?? ''}${'AEIOU'[Math.floor(index / 20) % 5] ?? ''}`
}

/** Perpetuals of the traded assets on four venues, then those of the fillers on three. */
export function perpMarkets(fillers: readonly Filler[]): PerpMarket[] {
  const traded = assets.flatMap((row) => [
    ...simulatedMarkets
      .filter(isPerp)
      .filter((market) => market.asset === row.asset)
      .map((market) => tradedPerp(row, market)),
    gatePerp(row),
  ])
  const venues = ['binance', 'bybit', 'okx'] as const
  return [...traded, ...fillers.flatMap((filler) => venues.map((venue) => quietPerp(venue, filler)))]
}

/** Spot pairs of the traded assets on five venues, and the two stable coins in dollars. */
export function spotMarkets(): SpotMarket[] {
  const pairs = assets.flatMap((row) =>
    (['binance', 'coinbase', 'okx', 'bybit', 'kraken'] as const)
      .filter((venue) => venue !== 'coinbase' || row.onCoinbase !== false)
      .map((venue) => pairOf(row, venue)),
  )
  const stable = (['USDT', 'USDC'] as const).flatMap((asset) =>
    (['coinbase', 'kraken'] as const).map((venue) => spotMarket(venue, { asset, base: asset, price: 1 })),
  )
  return [...pairs, ...stable]
}

type PerpOf = Market & { readonly venue: 'binance' | 'bybit' | 'okx' }

function isPerp(market: Market): market is PerpOf {
  return market.venue !== 'coinbase'
}

function tradedPerp(row: AssetRow, market: PerpOf): PerpMarket {
  const { venue, symbol, asset, base, factor, priceDecimals, sizeDecimals } = market
  const priceFactor = venue === 'okx' ? 0 : factor
  return { venue, symbol, asset, base, factor, priceFactor, priceDecimals, sizeDecimals, ...termsOf(row, venue) }
}

/** A contract is worth some dollars. */
export function gatePerp(row: AssetRow): PerpMarket {
  const base = row.ticker ?? row.asset
  return {
    venue: 'gate',
    symbol: `${base}_USDT`,
    asset: row.asset,
    base,
    factor: Math.round(0.5 - Math.log10(row.price)),
    priceFactor: 0,
    priceDecimals: decimalsOf(row.price),
    sizeDecimals: 0,
    ...termsOf(row, 'gate'),
  }
}

/** A perpetual that is listed and does not trade. */
export function quietPerp(venue: PerpVenueName, { asset, price }: Filler, symbol?: string): PerpMarket {
  const native = { binance: `${asset}USDT`, bybit: `${asset}USDT`, okx: `${asset}-USDT-SWAP`, gate: `${asset}_USDT` }
  return {
    venue,
    symbol: symbol ?? native[venue],
    asset,
    base: asset,
    factor: venue === 'okx' ? Math.round(1 - Math.log10(price)) : 0,
    priceFactor: 0,
    priceDecimals: decimalsOf(price),
    sizeDecimals: venue === 'okx' ? 0 : Math.max(0, Math.ceil(Math.log10(price))),
    ...fillerTermsOf(asset, venue),
  }
}

function pairOf(row: AssetRow, venue: SpotVenueName): SpotMarket {
  return spotMarket(venue, { asset: row.asset, base: row.ticker ?? row.asset, price: row.price })
}

/** A spot pair in the venue's main quote currency. `base`: the ticker that most venues use. */
export function spotMarket(
  venue: SpotVenueName,
  { asset, base, price }: { asset: string; base: string; price: number },
): SpotMarket {
  const traded = simulatedMarkets.find(
    (market) => venue === 'coinbase' && market.venue === venue && market.asset === asset,
  )
  const dollars = venue === 'coinbase' || venue === 'kraken'
  const own = venue === 'kraken' ? (krakenNames[base] ?? base) : base
  const quote = dollars ? 'USD' : 'USDT'
  const joint = venue === 'okx' || venue === 'coinbase' ? '-' : ''
  // Binance writes 8 decimals of everything.
  const most = venue === 'binance' ? 8 : 10
  const sizes = { priceDecimals: Math.min(most, decimalsOf(price)), sizeDecimals: sizeDecimalsOf(venue, price) }
  const { priceDecimals, sizeDecimals } = traded ?? sizes
  return { venue, symbol: `${own}${joint}${quote}`, asset, base: own, quote, priceDecimals, sizeDecimals }
}

const krakenNames: Readonly<Record<string, string>> = { BTC: 'XBT', DOGE: 'XDG' }

/** About five or six digits of a price. */
function decimalsOf(price: number): number {
  return Math.min(price < 0.001 ? 10 : 8, Math.max(price >= 1000 ? 1 : 2, Math.ceil(4.7 - Math.log10(price))))
}

function sizeDecimalsOf(venue: SpotVenueName, price: number): number {
  if (venue === 'kraken') return 8
  return price >= 1000 ? 5 : price >= 10 ? 3 : price >= 0.01 ? 1 : 0
}

type Terms = Pick<PerpMarket, 'intervalHours' | 'cap' | 'floor' | 'maxLeverage' | 'tiers'>

/** Assets that settle every 4 hours or every hour; a venue may differ from the others. All others every 8. */
const fourHourly: ReadonlySet<string> = new Set(['ARB', 'UNI', 'APT', 'OP', 'SUI', 'NEAR', 'ATOM', 'MATIC', 'TON'])
const hourly: ReadonlySet<string> = new Set(['bybit PEPE', 'binance SHIB', 'okx APT'])
const large: ReadonlySet<string> = new Set(['BTC', 'ETH'])

/** A perpetual's terms on a venue: interval, cap and floor of a rate, leverage, margin tiers. Only plausible. */
function termsOf(asset: AssetRow, venue: PerpVenueName): Terms {
  const rate = large.has(asset.asset) ? 0.004 : asset.weight >= 1.4 ? 0.005 : 0.01
  const cap = venue === 'bybit' ? 0.005 : 0.75 * rate
  return {
    intervalHours: intervalOf(asset.asset, venue),
    cap,
    floor: -cap,
    maxLeverage: large.has(asset.asset) ? (venue === 'okx' ? 100 : 125) : asset.weight >= 1.4 ? 100 : 50,
    tiers: tiersOf(rate, asset.weight * 400_000),
  }
}

/** The same for a made-up asset, whose rate may go far. */
function fillerTermsOf(asset: string, venue: PerpVenueName): Terms {
  const draw = unitOf(streamOf(asset), streamOf(venue) & 3, 1)
  return {
    intervalHours: draw < 0.45 ? 8 : draw < 0.95 ? 4 : 1,
    cap: 0.02,
    floor: -0.02,
    maxLeverage: 50,
    tiers: tiersOf(0.01, 50_000),
  }
}

function intervalOf(asset: string, venue: PerpVenueName): number {
  if (hourly.has(`${venue} ${asset}`)) return 1
  return fourHourly.has(asset) ? 4 : 8
}

/** Each tier takes more and lets in larger positions. */
function tiersOf(rate: number, upTo: number): Terms['tiers'] {
  const steps = [
    [1, 1],
    [5, 1.25],
    [20, 2.5],
    [100, 5],
    [Number.POSITIVE_INFINITY, 12.5],
  ] as const
  return steps.map(([size, more]) => ({ upTo: upTo * size, rate: rate * more }))
}
