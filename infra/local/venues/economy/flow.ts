import { assets } from '../assets.ts'
import { simulatedMarkets, type Market } from '../markets.ts'
import { RECORDS_PER_ORDER } from '../order.ts'

/** Mean worth of a taker order in a book of depth 10, dollars: the sizes that `order.ts` draws. */
const MEAN_ORDER_USD = 3_900
const STREAMED = new Set(['BTC', 'ETH', 'SOL', 'XRP', 'BNB', 'DOGE', 'LINK', 'ARB'])

const depths = new Map(assets.map(({ asset, weight }) => [asset, weight]))
const weights = simulatedMarkets.reduce((sum, { asset, weight }) => sum + (STREAMED.has(asset) ? weight : 0), 0)

/** Dollars a second that a market trades in the long run at `rate` trades a second of the whole market. */
export function dollarsPerSecond(market: Market, rate: number): number {
  const orders = ((market.weight / weights) * rate) / RECORDS_PER_ORDER
  return orders * MEAN_ORDER_USD * Math.sqrt(Math.max(0.05, (depths.get(market.asset) ?? 1) / 10))
}
