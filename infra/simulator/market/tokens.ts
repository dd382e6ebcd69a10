import type { SimToken } from './economy.ts'
import type { ReferencePrices } from './reference-prices.ts'
import { assets } from './markets.ts'
import type { Micros } from './trade.ts'

/** "Data is cached for 60 seconds." */
const CACHED: Micros = 60_000_000
const DAY: Micros = 86_400_000_000

/** Asset, registry id, name, circulating and total supply (null: without a limit), all-time high and low in dollars. */
const registry = [
  ['BTC', 'bitcoin', 'Bitcoin', 19_950_000, 21_000_000, 126_080, 67.81],
  ['ETH', 'ethereum', 'Ethereum', 120_700_000, 120_700_000, 4_946, 0.433],
  ['SOL', 'solana', 'Solana', 553_000_000, 612_000_000, 293.31, 0.5008],
  ['XRP', 'ripple', 'XRP', 60_100_000_000, 99_980_000_000, 3.65, 0.002_686],
  ['BNB', 'binancecoin', 'BNB', 137_700_000, 137_700_000, 1_369.99, 0.0398],
  ['DOGE', 'dogecoin', 'Dogecoin', 152_300_000_000, null, 0.7316, 0.000_086_9],
  ['LINK', 'chainlink', 'Chainlink', 696_800_000, 1_000_000_000, 52.7, 0.1482],
  ['ARB', 'arbitrum', 'Arbitrum', 5_550_000_000, 10_000_000_000, 2.39, 0.2429],
  ['ADA', 'cardano', 'Cardano', 36_500_000_000, 45_000_000_000, 3.09, 0.019_25],
  ['AVAX', 'avalanche-2', 'Avalanche', 427_000_000, 461_000_000, 144.96, 2.8],
  ['DOT', 'polkadot', 'Polkadot', 1_640_000_000, null, 54.98, 2.7],
  ['MATIC', 'polygon-ecosystem-token', 'POL (ex-MATIC)', 10_500_000_000, 10_500_000_000, 1.29, 0.1533],
  ['UNI', 'uniswap', 'Uniswap', 600_500_000, 1_000_000_000, 44.92, 1.03],
  ['APT', 'aptos', 'Aptos', 729_000_000, 1_190_000_000, 19.92, 3.08],
  ['OP', 'optimism', 'Optimism', 1_870_000_000, 4_290_000_000, 4.84, 0.4022],
  ['SUI', 'sui', 'Sui', 3_680_000_000, 10_000_000_000, 5.35, 0.3643],
  ['NEAR', 'near', 'NEAR Protocol', 1_280_000_000, 1_280_000_000, 20.44, 0.5268],
  ['ATOM', 'cosmos', 'Cosmos Hub', 475_000_000, null, 44.45, 1.16],
  ['PEPE', 'pepe', 'Pepe', 420_690_000_000_000, 420_690_000_000_000, 0.000_028_03, 5.514e-8],
  ['SHIB', 'shiba-inu', 'Shiba Inu', 589_240_000_000_000, 589_500_000_000_000, 0.000_086_16, 5.6366e-11],
  ['TON', 'the-open-network', 'Gram', 2_520_000_000, 5_150_000_000, 8.25, 0.519_364],
  ['TRX', 'tron', 'TRON', 94_660_000_000, 94_660_000_000, 0.431_288, 0.001_804_34],
  ['LTC', 'litecoin', 'Litecoin', 76_400_000, 84_000_000, 410.26, 1.15],
] as const

const tickers = new Map(assets.map(({ asset, ticker }) => [asset, (ticker ?? asset).toLowerCase()]))

/** The registry's rows at the prices of the last full minute, largest first. */
export function tokensAt(reference: ReferencePrices, now: Micros, volumes: (asset: string) => number): SimToken[] {
  const updated = Math.floor(now / CACHED) * CACHED
  const rows = registry.map(([asset, id, name, circulating, total, ath, atl]) => {
    const price = reference.bar(asset, updated).open * reference.coins.usdt(updated)
    const before = (days: number): number => {
      const time = updated - days * DAY
      return reference.bar(asset, time).open * reference.coins.usdt(time)
    }
    const change = (days: number): number => (price / before(days) - 1) * 100
    return {
      id,
      symbol: tickers.get(asset) ?? asset.toLowerCase(),
      name,
      price,
      marketCap: price * circulating,
      rank: 0,
      volume24h: volumes(asset),
      change24h: change(1),
      change7d: change(7),
      change30d: change(30),
      circulating,
      total,
      ath: Math.max(ath, price),
      athTime: Date.UTC(2025, 9, 6) * 1000,
      atl: Math.min(atl, price),
      atlTime: Date.UTC(2020, 2, 13) * 1000,
      updated,
    }
  })
  rows.sort((left, right) => right.marketCap - left.marketCap)
  return rows.map((row, index) => ({ ...row, rank: index + 1 }))
}
