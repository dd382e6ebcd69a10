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
