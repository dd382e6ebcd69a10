import type { TradeVenueName } from '../../../schemas/venues.ts'

/** One asset of the simulated world. */
export interface AssetRow {
  /** Name in the ledger. */
  readonly asset: string
  /** What venues call it today, where that is another name. */
  readonly ticker?: string
  /** USD at the start. */
  readonly price: number
  /** Share of all trades, relative. */
  readonly weight: number
  /** Yearly volatility, and how much of the market's move it takes. */
  readonly volatility: number
  readonly beta: number
  /** OKX: a contract is 10^okxFactor of the asset. */
  readonly okxFactor: number
  /** Binance and Bybit trade it in units of 10^thousands. */
  readonly thousands?: number
  /** Bybit's symbol where it is not made like Binance's. */
  readonly bybit?: string
  readonly onCoinbase?: false
}

/** Contract sizes as the venues had them in 2026; prices and shares are only plausible. */
export const assets: readonly AssetRow[] = [
  { asset: 'BTC', price: 84_000, weight: 30, volatility: 0.45, beta: 1, okxFactor: -2 },
  { asset: 'ETH', price: 2_690, weight: 22, volatility: 0.65, beta: 1.2, okxFactor: -1 },
  { asset: 'SOL', price: 178, weight: 10, volatility: 0.8, beta: 1.3, okxFactor: 0 },
  { asset: 'XRP', price: 2.21, weight: 7, volatility: 0.8, beta: 1.1, okxFactor: 2 },
  { asset: 'BNB', price: 905, weight: 4, volatility: 0.55, beta: 0.9, okxFactor: -2 },
  { asset: 'DOGE', price: 0.196, weight: 5, volatility: 0.9, beta: 1.3, okxFactor: 3 },
  { asset: 'LINK', price: 16.8, weight: 3, volatility: 0.85, beta: 1.2, okxFactor: 0 },
  { asset: 'ARB', price: 0.352, weight: 2, volatility: 0.95, beta: 1.3, okxFactor: 1 },
  { asset: 'ADA', price: 0.61, weight: 1.6, volatility: 0.85, beta: 1.2, okxFactor: 2 },
  { asset: 'AVAX', price: 21.9, weight: 1.4, volatility: 0.9, beta: 1.3, okxFactor: 0 },
  { asset: 'DOT', price: 4.05, weight: 0.9, volatility: 0.85, beta: 1.2, okxFactor: 0 },
  { asset: 'MATIC', ticker: 'POL', price: 0.207, weight: 0.7, volatility: 0.9, beta: 1.2, okxFactor: 1 },
  { asset: 'UNI', price: 7.3, weight: 0.9, volatility: 0.95, beta: 1.3, okxFactor: 0 },
  { asset: 'APT', price: 4.4, weight: 0.8, volatility: 0.95, beta: 1.3, okxFactor: 0 },
  { asset: 'OP', price: 0.52, weight: 0.9, volatility: 0.95, beta: 1.3, okxFactor: 0 },
  { asset: 'SUI', price: 2.81, weight: 2, volatility: 0.95, beta: 1.4, okxFactor: 0 },
  { asset: 'NEAR', price: 2.47, weight: 1, volatility: 0.95, beta: 1.3, okxFactor: 1 },
  { asset: 'ATOM', price: 3.55, weight: 0.6, volatility: 0.8, beta: 1.1, okxFactor: 0 },
  { asset: 'PEPE', price: 0.0000094, weight: 2.2, volatility: 1.2, beta: 1.5, okxFactor: 7, thousands: 3 },
  {
    asset: 'SHIB',
    price: 0.0000112,
    weight: 0.9,
    volatility: 0.9,
    beta: 1.2,
    okxFactor: 6,
    thousands: 3,
    bybit: 'SHIB1000USDT',
  },
  { asset: 'TON', ticker: 'GRAM', price: 2.24, weight: 0.8, volatility: 0.8, beta: 1, okxFactor: 0 },
  { asset: 'TRX', price: 0.297, weight: 0.7, volatility: 0.5, beta: 0.5, okxFactor: 3, onCoinbase: false },
  { asset: 'LTC', price: 94.6, weight: 1, volatility: 0.7, beta: 1, okxFactor: 0 },
]

/** Venues whose trades are always simulated; those of the others trade once somebody has subscribed (`further.ts`). */
export const tradeVenueNames = ['binance', 'bybit', 'okx', 'coinbase'] as const
type MainVenueName = (typeof tradeVenueNames)[number]

/** A market that trades: what its venue calls it and in which units it counts. */
export interface Market {
  readonly venue: TradeVenueName
  /** The venue's own symbol. */
  readonly symbol: string
  /** The asset as the ledger shows it, whatever its ticker is today: MATIC, TON. */
  readonly asset: string
  readonly base: string
  readonly quote: string
  /** Prices are whole numbers of 10^-priceDecimals, sizes of 10^-sizeDecimals, in the venue's own units. */
  readonly priceDecimals: number
  readonly sizeDecimals: number
  /** Smallest steps, in those units. */
  readonly tick: number
  readonly lot: number
  /** One unit of the venue's size is 10^factor of the base asset: 3 for 1000PEPEUSDT, -2 for an OKX BTC contract. */
  readonly factor: number
  /** Price of one unit of size at the start, in quote currency. */
  readonly startPrice: number
  /** Share of all trades. */
  readonly weight: number
  /** The id before its first trade; of a realistic size, so that nothing downstream gets away with 32 bits. */
  readonly firstId: number
  /** Ids go up by so many at most; absent: as its venue's rule is, mostly by one. */
  readonly idStep?: number
  /** Its venue writes times finer than milliseconds. */
  readonly isFine?: boolean
}

const venueShare: Readonly<Record<MainVenueName, number>> = { binance: 0.42, bybit: 0.2, okx: 0.2, coinbase: 0.18 }

export const firstIds: Readonly<Record<MainVenueName, number>> = {
  binance: 3_478_018_549,
  bybit: 753_843_954_913,
  okx: 1_062_992_715,
  coinbase: 1_081_862_674,
}

/** Every market of the simulated world: 23 assets on four venues, but for TRX, which Coinbase does not list. */
export const simulatedMarkets: readonly Market[] = tradeVenueNames.flatMap((venue) =>
  assets.filter((asset) => listed(asset, venue)).map((asset) => marketOf(asset, venue)),
)

function listed(asset: AssetRow, venue: MainVenueName): boolean {
  return venue !== 'coinbase' || asset.onCoinbase !== false
}

function marketOf(asset: AssetRow, venue: MainVenueName): Market {
  const ticker = asset.ticker ?? asset.asset
  const factor = factorOf(asset, venue)
  // A contract's price is that of one base unit on OKX; a multiplied symbol's is that of 1000 units.
  const priceFactor = venue === 'okx' ? 0 : factor
  const startPrice = asset.price * 10 ** priceFactor
  const tickDecimals = Math.max(1, Math.ceil(4.7 - Math.log10(startPrice)))
  // Binance and Bybit write BTC with two decimals although its tick is 0.1.
  const twoDecimals = (venue === 'binance' || venue === 'bybit') && tickDecimals === 1
  return {
    venue,
    symbol: symbolOf(asset, ticker, venue),
    asset: asset.asset,
    base: ticker,
    quote: venue === 'coinbase' ? 'USD' : 'USDT',
    priceDecimals: twoDecimals ? 2 : tickDecimals,
    sizeDecimals: sizeDecimalsOf(asset, venue, asset.price * 10 ** factor),
    tick: twoDecimals ? 10 : 1,
    lot: 1,
    factor,
    startPrice,
    weight: asset.weight * venueShare[venue],
    firstId: firstIds[venue],
    isFine: venue === 'coinbase',
  }
}

function factorOf(asset: AssetRow, venue: MainVenueName): number {
  if (venue === 'okx') return asset.okxFactor
  return venue === 'coinbase' ? 0 : (asset.thousands ?? 0)
}

function symbolOf(asset: AssetRow, ticker: string, venue: MainVenueName): string {
  switch (venue) {
    case 'binance':
      return asset.thousands === undefined ? `${ticker}USDT` : `1000${ticker}USDT`
    case 'bybit':
      return asset.thousands === undefined ? `${ticker}USDT` : (asset.bybit ?? `1000${ticker}USDT`)
    case 'okx':
      return `${ticker}-USDT-SWAP`
    case 'coinbase':
      return `${ticker}-USD`
  }
}

/** Lots are worth a few dollars at most; Coinbase counts much finer. `price`: of one unit of size. */
function sizeDecimalsOf(asset: AssetRow, venue: MainVenueName, price: number): number {
  if (venue === 'coinbase') return asset.price >= 50 ? 8 : asset.price >= 1 ? 6 : asset.price >= 0.001 ? 2 : 0
  if (venue === 'okx') return price >= 100 ? 2 : price >= 5 ? 1 : 0
  return price >= 1000 ? 3 : price >= 50 ? 2 : price >= 5 ? 1 : 0
}
