import { isDecimal, isRecord, isSymbol } from '../fields.ts'
import type { Listed, ListedPrice, Listing, RestAnswer } from '../venue.ts'
import { answerOf } from './messages.ts'
import { scaledBase } from '../multiplier.ts'

/** Multipliers stand before the ticker (1000PEPE) or behind it (SHIB1000); price and size are for and in that many. */
function listed(symbol: string, ticker: string, tick: number | null, live: boolean): Listed {
  const { base, factor } = scaledBase(ticker)
  return { symbol, base, quote: 'USDT', settle: 'USDT', sizeFactor: factor, priceFactor: factor, tick, live }
}

/** For tools without a venue: live and without a tick. */
function fromSymbol(symbol: string): Listed | undefined {
  const ticker = /^([^-]+)USDT$/.exec(symbol)?.[1]
  return ticker === undefined ? undefined : listed(symbol, ticker, null, true)
}

const tickers =
  'BTC ETH SOL XRP BNB DOGE LINK ARB ADA AVAX DOT POL UNI APT OP SUI NEAR ATOM 1000PEPE SHIB1000 GRAM TRX LTC'

/** The known assets as they stood in November 2026: MATIC trades as POL, TON as GRAM. */
const seed: readonly Listed[] = tickers.split(' ').map((ticker) => listed(`${ticker}USDT`, ticker, null, true))

export const LINEAR_LIST = '/v5/market/instruments-info?category=linear&limit=1000'

/** USDT perpetuals of `instruments-info`. 800 symbols in August 2026: one page of 1000, further ones by cursor. */
export const listing: Listing = {
  first: { path: LINEAR_LIST, cost: 1 },
  parse: (body) => withNext(answerOf(body, readSymbol), body, LINEAR_LIST),
  seed,
  fromSymbol,
  prices: {
    first: { path: '/v5/market/tickers?category=linear', cost: 1 },
    parse: (body) => answerOf(body, readPrice),
  },
}

/** An answer with the call for the page that follows in a list of `path`. */
export function withNext<Row>(answer: RestAnswer<Row>, body: unknown, path: string): RestAnswer<Row> {
  const result = isRecord(body) ? body['result'] : undefined
  const cursor = isRecord(result) ? result['nextPageCursor'] : undefined
  if (answer.kind !== 'rows' || typeof cursor !== 'string' || cursor === '') return answer
  return { ...answer, next: { path: `${path}&cursor=${encodeURIComponent(cursor)}`, cost: 1 } }
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

function readPrice(row: unknown): ListedPrice | undefined {
  if (!isRecord(row) || !isSymbol(row['symbol']) || !isDecimal(row['lastPrice'])) return undefined
  return { symbol: row['symbol'], price: Number(row['lastPrice']) }
}
