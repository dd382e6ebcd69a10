import { productOf } from '../decimal.ts'
import { badBody, isDecimal, isRecord, isSymbol } from '../fields.ts'
import type { Listed, ListedPrice, Listing, RestAnswer } from '../venue.ts'
import { dataOf, refusal } from './backfill.ts'
import { fromSymbol, listed, seed } from './listed.ts'

export const SWAP_LIST = '/api/v5/public/instruments?instType=SWAP'

/** Linear USDT swaps of `instruments`. */
export const listing: Listing = {
  first: { path: SWAP_LIST, cost: 2 },
  parse(body) {
    const data = dataOf(body)
    if (data === undefined) return refusal(body) ?? badBody('data')
    return { kind: 'rows', rows: data.map(readInstrument).filter((row) => row !== undefined) }
  },
  seed,
  fromSymbol,
  prices: { first: { path: '/api/v5/market/tickers?instType=SWAP', cost: 2 }, parse: readPrices },
}

/** `instCategory` 1 is crypto; shares, metals and the like have others. Answers before 2025 do not have the field. */
function readInstrument(row: unknown): Listed | undefined {
  if (!isRecord(row) || row['instType'] !== 'SWAP' || row['ctType'] !== 'linear') return undefined
  const { instId, settleCcy, ctValCcy, ctVal, ctMult, state, tickSz, instCategory = '1' } = row
  if (settleCcy !== 'USDT' || instCategory !== '1' || !isSymbol(instId)) return undefined
  // `baseCcy` is empty for swaps: the contract's value is in the base coin.
  if (!isSymbol(ctValCcy) || !isDecimal(ctVal) || !isDecimal(ctMult)) return undefined
  return listed(instId, ctValCcy, productOf(ctVal, ctMult), isDecimal(tickSz) ? Number(tickSz) : null, state === 'live')
}

export function readPrices(body: unknown): RestAnswer<ListedPrice> {
  const data = dataOf(body)
  if (data === undefined) return refusal(body) ?? badBody('data')
  return { kind: 'rows', rows: data.map(readPrice).filter((row) => row !== undefined) }
}

function readPrice(row: unknown): ListedPrice | undefined {
  if (!isRecord(row) || !isSymbol(row['instId']) || !isDecimal(row['last'])) return undefined
  return { symbol: row['instId'], price: Number(row['last']) }
}
