import { productOf } from '../decimal.ts'
import { plain } from '../fact-fields.ts'
import { isDecimal, isRecord, isSymbol } from '../fields.ts'
import { scaledBase } from '../multiplier.ts'
import type { Listed, ListedPrice, Listing } from '../venue.ts'
import { rowsOf } from './messages.ts'

/**
 * Contract sizes that adapters agreed on in 2026. A wrong one would be a wrong volume, so the others wait for the venue's
 * list.
 */
const seed: readonly Listed[] = [
  listed('BTC_USDT', 'BTC', '0.0001', null, true),
  listed('ETH_USDT', 'ETH', '0.01', null, true),
]

/** USDT perpetuals of coins, with their contract sizes. */
export const listing: Listing = {
  first: { path: '/api/v4/futures/usdt/contracts', cost: 1 },
  parse: (body) => rowsOf(body, readContract),
  seed,
  /** For tools without a venue: only the seeds, since a contract's size does not follow from its symbol. */
  fromSymbol: (symbol) => seed.find((row) => row.symbol === symbol),
  prices: { first: { path: '/api/v4/futures/usdt/tickers', cost: 1 }, parse: (body) => rowsOf(body, readPrice) },
}

/** One contract is `quanto_multiplier` of the base: of 1000 coins where the name says so. */
function listed(symbol: string, ticker: string, multiplier: string, tick: number | null, live: boolean): Listed {
  const { base, factor } = scaledBase(ticker)
  const sizeFactor = productOf(multiplier, String(factor))
  return { symbol, base, quote: 'USDT', settle: 'USDT', sizeFactor, priceFactor: factor, tick, live }
}

/** `type` direct is linear; `contract_type` is empty for coins: stocks, metals and the like have others. */
function readContract(row: unknown): Listed[] {
  if (!isRecord(row) || (row['type'] !== undefined && row['type'] !== 'direct')) return []
  const { name, contract_type: kind = '', status = 'trading', in_delisting, is_pre_market } = row
  const multiplier = plain(row['quanto_multiplier'])
  const tick = plain(row['order_price_round'])
  const ticker = isSymbol(name) ? /^([^_]+)_USDT$/.exec(name)?.[1] : undefined
  if (!isSymbol(name) || ticker === undefined || !isDecimal(multiplier)) return []
  if (kind !== '' && kind !== 'crypto') return []
  const live = status === 'trading' && in_delisting !== true && is_pre_market !== true
  return [listed(name, ticker, multiplier, isDecimal(tick) ? Number(tick) : null, live)]
}

function readPrice(row: unknown): ListedPrice[] {
  if (!isRecord(row) || !isSymbol(row['contract'])) return []
  const last = plain(row['last'])
  return isDecimal(last) ? [{ symbol: row['contract'], price: Number(last) }] : []
}
