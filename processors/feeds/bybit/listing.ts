import { badBody, isDecimal, isRecord, isSymbol } from '../fields.ts'
import type { Listed, ListedPrice, Listing, RestAnswer, RestCall } from '../venue.ts'
import { listOf, refusal } from './backfill.ts'
import { fromSymbol, listed, seed } from './listed.ts'

export const LINEAR_LIST = '/v5/market/instruments-info?category=linear&limit=1000'

/** USDT perpetuals of `instruments-info`. 800 symbols in August 2026: one page of 1000, further ones by cursor. */
export const listing: Listing = {
  first: { path: LINEAR_LIST, cost: 1 },
  parse(body) {
    const list = listOf(body)
    if (list === undefined) return refusal(body) ?? badBody('a result with a list')
    const rows = list.map(readSymbol).filter((row) => row !== undefined)
    return { kind: 'rows', rows, ...nextOf(body, LINEAR_LIST) }
  },
  seed,
  fromSymbol,
  prices: { first: { path: '/v5/market/tickers?category=linear', cost: 1 }, parse: readPrices },
}

/** The call for the page that follows a list of `path`. */
export function nextOf(body: unknown, path: string): { next?: RestCall } {
  const result = isRecord(body) ? body['result'] : undefined
  const cursor = isRecord(result) ? result['nextPageCursor'] : undefined
  if (typeof cursor !== 'string' || cursor === '') return {}
  return { next: { path: `${path}&cursor=${encodeURIComponent(cursor)}`, cost: 1 } }
}

/** What `symbolType` names beside coins: shares, currencies, metals and oil. */
const notCrypto: ReadonlySet<unknown> = new Set(['stock', 'forex', 'commodity'])

function readSymbol(row: unknown): Listed | undefined {
  if (!isRecord(row) || row['contractType'] !== 'LinearPerpetual' || notCrypto.has(row['symbolType'])) return undefined
  const { symbol, status, baseCoin, quoteCoin, settleCoin, isPreListing, priceFilter } = row
  if (!isSymbol(symbol) || !isSymbol(baseCoin) || quoteCoin !== 'USDT' || settleCoin !== 'USDT') return undefined
  const tick = isRecord(priceFilter) && isDecimal(priceFilter['tickSize']) ? Number(priceFilter['tickSize']) : null
  return listed(symbol, baseCoin, tick, status === 'Trading' && isPreListing !== true)
}

function readPrices(body: unknown): RestAnswer<ListedPrice> {
  const list = listOf(body)
  if (list === undefined) return refusal(body) ?? badBody('a result with a list')
  return { kind: 'rows', rows: list.map(readPrice).filter((row) => row !== undefined) }
}

function readPrice(row: unknown): ListedPrice | undefined {
  if (!isRecord(row) || !isSymbol(row['symbol']) || !isDecimal(row['lastPrice'])) return undefined
  return { symbol: row['symbol'], price: Number(row['lastPrice']) }
}
