import { productOf } from '../decimal.ts'
import { isDecimal, isRecord, isSymbol } from '../fields.ts'
import type { Listed, ListedPrice, Listing, RestAnswer } from '../venue.ts'
import { answerOf } from './messages.ts'

/** `sz` counts contracts of `ctVal x ctMult` coins; the price is for one coin. */
function listed(symbol: string, base: string, sizeFactor: number, tick: number | null, live: boolean): Listed {
  return { symbol, base, quote: 'USDT', settle: 'USDT', sizeFactor, priceFactor: 1, tick, live }
}

/** Coins per contract of the known assets as they stood in November 2026; the list decides at first contact. */
const contracts: Readonly<Record<string, number>> = {
  BTC: 0.01,
  ETH: 0.1,
  SOL: 1,
  XRP: 100,
  BNB: 0.01,
  DOGE: 1000,
  LINK: 1,
  ARB: 10,
  ADA: 100,
  AVAX: 1,
  DOT: 1,
  POL: 10,
  UNI: 1,
  APT: 1,
  OP: 1,
  SUI: 1,
  NEAR: 10,
  ATOM: 1,
  PEPE: 10_000_000,
  SHIB: 1_000_000,
  GRAM: 1,
  TRX: 1000,
  LTC: 1,
}

const seed: readonly Listed[] = Object.entries(contracts).map(([base, size]) =>
  listed(`${base}-USDT-SWAP`, base, size, null, true),
)

/** For tools without a venue: only the seeds, since a contract's size does not follow from its symbol. */
function fromSymbol(symbol: string): Listed | undefined {
  return seed.find((row) => row.symbol === symbol)
}

export const SWAP_LIST = '/api/v5/public/instruments?instType=SWAP'

/** Linear USDT swaps of `instruments`. */
export const listing: Listing = {
  first: { path: SWAP_LIST, cost: 2 },
  parse: (body) => answerOf(body, (row) => readInstrument(row) ?? []),
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
  return answerOf(body, (row) => readPrice(row) ?? [])
}

function readPrice(row: unknown): ListedPrice | undefined {
  if (!isRecord(row) || !isSymbol(row['instId']) || !isDecimal(row['last'])) return undefined
  return { symbol: row['instId'], price: Number(row['last']) }
}
