import { productOf } from '../decimal.ts'
import type { FactRow, RatioFact } from '../events.ts'
import { MINUTE_MS, plain, refusedField } from '../fact-fields.ts'
import { badBody, countOf, isCount, isDecimal, isRecord, isSymbol, microsOf, textOf } from '../fields.ts'
import { scaledBase } from '../multiplier.ts'
import type { Listed, ListedPrice, Listing, Poll, RestAnswer, Venue } from '../venue.ts'

/** USDT perpetuals of coins, with their contract sizes. */
export const listing: Listing = {
  first: { path: '/api/v4/futures/usdt/contracts', cost: 1 },
  parse: (body) => rowsOf(body, readContract),
  // Contract sizes as adapters wrote them in 2026; nothing here is in contracts, so a wrong one would do no harm.
  seed: [listed('BTC_USDT', 'BTC', '0.0001', null, true), listed('ETH_USDT', 'ETH', '0.01', null, true)],
  // The contract's size is not in its name.
  fromSymbol: () => undefined,
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

/** What the rows of an answer are; `{"label":"INVALID_PARAM_VALUE","message":".."}` is a refusal. */
function rowsOf<Row>(body: unknown, read: (row: unknown) => readonly Row[]): RestAnswer<Row> {
  if (Array.isArray(body)) return { kind: 'rows', rows: body.flatMap((row) => read(row)) }
  const label = isRecord(body) ? textOf(body['label']) : ''
  if (!isRecord(body) || label === '') return badBody('an array')
  if (label === 'TOO_MANY_REQUESTS') return { kind: 'limited' }
  return { kind: 'error', code: label, message: textOf(body['message']) }
}

/**
 * Top traders of 5 minutes, ascending: `top_lsr_size` is long over short by position size, `top_lsr_account` by heads.
 * Times are seconds; figures may be numbers or texts. The venue does not say who is a top trader.
 */
export const topTraders: Poll = {
  name: 'contract-stats',
  host: 'rest',
  topic: 'market.funding',
  subjects: { of: 'wanted', market: 'perp' },
  everyMs: MINUTE_MS,
  call: (symbol) => ({
    path: `/api/v4/futures/usdt/contract_stats?contract=${encodeURIComponent(symbol)}&interval=5m&limit=3`,
    cost: 1,
  }),
  parse: (symbol, body) => rowsOf(body, (row) => readStats(symbol, row)),
}

/** The two ratios of a row, each judged alone. */
function readStats(symbol: string, row: unknown): FactRow[] {
  if (!isRecord(row)) return [refusedField]
  const { time: seconds, top_lsr_size, top_lsr_account } = row
  const time = microsOf((isCount(seconds) ? seconds : (countOf(seconds) ?? 0)) * 1_000)
  if (time === undefined) return [refusedField]
  return [
    ratioOf(top_lsr_size, { symbol, basis: 'positions', time }),
    ratioOf(top_lsr_account, { symbol, basis: 'accounts', time }),
  ]
}

/** A ratio of 0, or none, says that the venue has no figure: one side is never empty. */
function ratioOf(value: unknown, of: Pick<RatioFact, 'symbol' | 'basis' | 'time'>): FactRow {
  const text = plain(value)
  if (!isDecimal(text)) return refusedField
  const ratio = Number(text)
  const long = ratio / (1 + ratio)
  return { kind: 'ratio', ...of, cohort: 'top_traders', long, short: 1 - long, ratio }
}

/** Gate, whose top traders are the third ratio. Evidence: README.md beside this file. */
export const gate: Venue = {
  name: 'gate',
  budgets: {
    // 200 calls in 10 seconds per address and call: 50 at once and 10 a second are at most 150.
    rest: { capacity: 50, refillPerSecond: 10 },
  },
  listings: [{ market: 'perp', host: 'rest', listing }],
  streams: [],
  polls: [topTraders],
}
