import type { Micros } from '../../../../schemas/records.ts'
import { factEvent, isSigned, percentOf, pricesOf, refusedField, tickerOf } from '../fact-fields.ts'
import { badBody, badField, isCount, isDecimal, isRecord, isSymbol, microsOf } from '../fields.ts'
import type { FactRow, FrameEvent } from '../events.ts'
import { spotPair, type Listed, type Listing, type RestAnswer } from '../venue.ts'
import { answerOf } from './messages.ts'
import { withNext } from './listing.ts'

const LIST = '/v5/market/instruments-info?category=spot'
export const SPOT_TICKERS = '/v5/market/tickers?category=spot'

/** Spot pairs in USDT and USDC, without tokenised shares. The list comes as one page. */
export const spotListing: Listing = {
  first: { path: LIST, cost: 1 },
  parse: (body) => withNext(answerOf(body, readSymbol), body, LIST),
  seed: 'BTC ETH SOL XRP BNB DOGE LINK ARB ADA AVAX DOT POL UNI APT OP SUI NEAR ATOM PEPE SHIB GRAM TRX LTC USDC'
    .split(' ')
    .map((base) => listed(base, 'USDT', null, true)),
  fromSymbol(symbol) {
    const [, base, quote] = /^(.+)(USDT|USDC)$/.exec(symbol) ?? []
    return base === undefined || quote === undefined ? undefined : listed(base, quote, null, true)
  },
  prices: { first: { path: SPOT_TICKERS, cost: 1 }, parse: (body) => pricesOf(parseSpotTickers(body)) },
}

function listed(base: string, quote: string, tick: number | null, live: boolean): Listed {
  return spotPair(base + quote, base, quote, tick, live)
}

function readSymbol(row: unknown): Listed | undefined {
  if (!isRecord(row) || row['symbolType'] === 'xstocks') return undefined
  const { symbol, status, baseCoin, quoteCoin, priceFilter } = row
  if (!isSymbol(baseCoin) || (quoteCoin !== 'USDT' && quoteCoin !== 'USDC')) return undefined
  if (symbol !== baseCoin + quoteCoin) return undefined
  const tick = isRecord(priceFilter) && isDecimal(priceFilter['tickSize']) ? Number(priceFilter['tickSize']) : null
  return listed(baseCoin, quoteCoin, tick, status === 'Trading')
}

/** A message of `tickers.<symbol>`: "snapshot" always, without the top of the book. */
export function readSpotMessage({ data, ts }: Record<string, unknown>): FrameEvent[] {
  const time = isCount(ts) ? microsOf(ts) : undefined
  return time === undefined ? [badField] : [factEvent(readTicker(data, time))]
}

/**
 * The whole market at once, of the answer's time. Its rows have the top of the book, which the stream has not: taken, it
 * would stand beside newer last prices until the next call, so the last price it is, as on the stream.
 */
export function parseSpotTickers(body: unknown): RestAnswer<FactRow> {
  const time = timeOf(body)
  const answer = answerOf(body, (row) => (time === undefined ? undefined : readTicker(row, time)))
  return answer.kind === 'rows' && time === undefined ? badBody('a time') : answer
}

/** When the venue made an answer. */
export function timeOf(body: unknown): Micros | undefined {
  const ms = isRecord(body) ? body['time'] : undefined
  return isCount(ms) ? microsOf(ms) : undefined
}

/** `price24hPcnt` is a fraction: "-0.0179" is -1.79 %. */
function readTicker(row: unknown, time: Micros): FactRow {
  if (!isRecord(row) || !isSymbol(row['symbol']) || !isDecimal(row['lastPrice'])) return refusedField
  const { symbol, lastPrice: last, price24hPcnt: change, volume24h, turnover24h: quoteVolume24h } = row
  if (change !== undefined && change !== '' && !isSigned(change)) return refusedField
  return tickerOf(symbol, time, {
    last,
    change24h: isSigned(change) ? percentOf(change) : null,
    volume24h,
    quoteVolume24h,
  })
}
