import { isRecord, isSymbol } from '../fields.ts'
import type { Listed, Listing } from '../venue.ts'
import { fromSymbol, listed, spotSeed } from './listed.ts'
import { parseSymbols, pricesOf, tickOf } from './listing.ts'

/**
 * Spot pairs in USDT, USDC among their bases. Weight 20; without the permission sets, which nobody here reads, the answer
 * is a fraction of its size. Prices of all symbols: weight 4.
 */
export const spotListing: Listing = {
  first: { path: '/api/v3/exchangeInfo?showPermissionSets=false', cost: 20 },
  parse: (body) => parseSymbols(body, readSymbol),
  seed: spotSeed,
  fromSymbol,
  prices: pricesOf('/api/v3/ticker/price', 4),
}

/** TRADING is the only live `status`; BREAK, HALT and CANCEL_ONLY are not. */
function readSymbol(row: unknown): Listed | undefined {
  if (!isRecord(row)) return undefined
  const { symbol, status, baseAsset, quoteAsset, isSpotTradingAllowed } = row
  if (!isSymbol(baseAsset) || quoteAsset !== 'USDT' || symbol !== `${baseAsset}USDT`) return undefined
  return listed(symbol, baseAsset, tickOf(row['filters']), status === 'TRADING' && isSpotTradingAllowed !== false)
}
