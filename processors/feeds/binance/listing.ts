import { badBody, isDecimal, isRecord, isSymbol } from '../fields.ts'
import type { Listed, ListedPrice, Listing, PriceList, RestAnswer } from '../venue.ts'
import { refusal } from './backfill.ts'
import { fromSymbol, listed, seed } from './listed.ts'

/** USDT perpetuals of `exchangeInfo`: weight 1. Prices of all symbols: weight 2. */
export const listing: Listing = {
  first: { path: '/fapi/v1/exchangeInfo', cost: 1 },
  parse: (body) => parseSymbols(body, readSymbol),
  seed,
  fromSymbol,
  prices: pricesOf('/fapi/v2/ticker/price', 2),
}

/** `exchangeInfo` of either market. */
export function parseSymbols(body: unknown, read: (row: unknown) => Listed | undefined): RestAnswer<Listed> {
  const symbols = isRecord(body) ? body['symbols'] : undefined
  if (!Array.isArray(symbols)) return refusal(body) ?? badBody('exchangeInfo with symbols')
  return { kind: 'rows', rows: symbols.map(read).filter((row) => row !== undefined) }
}

/** `contractType` PERPETUAL only: TRADIFI_PERPETUAL are shares and metals. `status` TRADING is the only live one. */
function readSymbol(row: unknown): Listed | undefined {
  if (!isRecord(row) || row['contractType'] !== 'PERPETUAL') return undefined
  const { symbol, status, baseAsset, quoteAsset, marginAsset } = row
  if (!isSymbol(symbol) || !isSymbol(baseAsset) || quoteAsset !== 'USDT' || marginAsset !== 'USDT') return undefined
  return listed(symbol, baseAsset, tickOf(row['filters']), status === 'TRADING')
}

/** The call that has the last price of every market. */
export function pricesOf(path: string, cost: number): PriceList {
  return {
    first: { path, cost },
    parse(body) {
      if (!Array.isArray(body)) return refusal(body) ?? badBody('an array of prices')
      return { kind: 'rows', rows: body.map(readPrice).filter((row) => row !== undefined) }
    },
  }
}

export function tickOf(filters: unknown): number | null {
  if (!Array.isArray(filters)) return null
  const filter: unknown = filters.find((entry) => isRecord(entry) && entry['filterType'] === 'PRICE_FILTER')
  const tick = isRecord(filter) ? filter['tickSize'] : undefined
  return isDecimal(tick) ? Number(tick) : null
}

function readPrice(row: unknown): ListedPrice | undefined {
  if (!isRecord(row) || !isSymbol(row['symbol']) || !isDecimal(row['price'])) return undefined
  return { symbol: row['symbol'], price: Number(row['price']) }
}
