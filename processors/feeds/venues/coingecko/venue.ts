import { registryIds } from '../../../../schemas/tokens.ts'
import type { FactRow } from '../events.ts'
import { MINUTE_MS, refusedField } from '../fact-fields.ts'
import { badBody, isCount, isRecord, isSymbol, microsOfIso, textOf } from '../fields.ts'
import type { Poll, RestAnswer, Venue } from '../venue.ts'

/** One call tells all ids: "ids: coins' ids, comma-separated"; a page has at most 250. */
const PAGE_SIZE = 250
const PERIODS = '24h,7d,30d'
/** What the record's field holds; no registry lists as many coins. */
const RANK_MAX = 2 ** 31 - 1

const query = new URLSearchParams({
  vs_currency: 'usd',
  ids: registryIds.join(','),
  price_change_percentage: PERIODS,
  per_page: String(PAGE_SIZE),
})

/** Prices, ranks and supplies of the coins that are assets of ours. Answers are up to a minute old at the registry. */
export const markets: Poll = {
  name: 'markets',
  host: 'rest',
  topic: 'market.tokens',
  scope: { of: 'whole', symbol: 'usd', market: 'spot' },
  everyMs: MINUTE_MS,
  call: () => ({ path: `/api/v3/coins/markets?${query.toString()}`, cost: 1 }),
  parse(_symbol, body) {
    if (!Array.isArray(body)) return refusal(body) ?? badBody('an array of coins')
    return { kind: 'rows', rows: body.map(readCoin) }
  },
}

function readCoin(row: unknown): FactRow {
  if (!isRecord(row) || !isSymbol(row['id'])) return refusedField
  const { id, symbol, name, last_updated } = row
  const updated = microsOfIso(textOf(last_updated))
  if (!isSymbol(symbol) || typeof name !== 'string' || name === '' || updated === undefined) return refusedField
  const figures = figuresOf(row)
  const dates = datesOf(row)
  if (figures === undefined || dates === undefined) return refusedField
  return { kind: 'token', symbol: id, ticker: symbol.toLowerCase(), name, ...figures, ...dates, updated }
}

/** Undefined where one of the figures is neither a number nor missing. */
function figuresOf(row: Record<string, unknown>) {
  const rank = row['market_cap_rank'] ?? null
  if (rank !== null && (!isCount(rank) || rank === 0 || rank > RANK_MAX)) return undefined
  const figures = {
    price: sizeOf(row['current_price']),
    volume24h: amountOf(row['total_volume']),
    marketCap: sizeOf(row['market_cap']),
    circulating: sizeOf(row['circulating_supply']),
    total: sizeOf(row['total_supply']),
    ath: sizeOf(row['ath']),
    atl: sizeOf(row['atl']),
    // Some plans' answers have the 24 h change under its old name only.
    change24h: numberOf(row['price_change_percentage_24h_in_currency'] ?? row['price_change_percentage_24h']),
    change7d: numberOf(row['price_change_percentage_7d_in_currency']),
    change30d: numberOf(row['price_change_percentage_30d_in_currency']),
  }
  return isRead(figures) ? { ...figures, rank } : undefined
}

/** When the highest and the lowest price were; undefined where a text is no time. */
function datesOf({ ath_date = null, atl_date = null }: Record<string, unknown>) {
  const dates = { athDate: timeOf(ath_date), atlDate: timeOf(atl_date) }
  return isRead(dates) ? dates : undefined
}

function isRead<Name extends string>(
  values: Readonly<Record<Name, number | null | undefined>>,
): values is Readonly<Record<Name, number | null>> {
  return Object.values(values).every((value) => value !== undefined)
}

/** JSON has no infinities; what is beyond a double's range reads as one. */
function numberOf(value: unknown): number | null | undefined {
  if (value === undefined || value === null) return null
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

function amountOf(value: unknown): number | null | undefined {
  const number = numberOf(value)
  return typeof number === 'number' && number < 0 ? undefined : number
}

/** The registry writes 0 where it has no price, capitalisation or supply. */
function sizeOf(value: unknown): number | null | undefined {
  const number = amountOf(value)
  return number === 0 ? null : number
}

/** A time before there were coins is one that the registry has not. */
function timeOf(value: unknown): number | null | undefined {
  if (value === null) return null
  if (typeof value !== 'string' || Number.isNaN(Date.parse(value))) return undefined
  return microsOfIso(value) ?? null
}

/** `{"status":{"error_code":429,"error_message":".."}}`, or `{"error":".."}`. */
function refusal(body: unknown): RestAnswer<never> | undefined {
  if (!isRecord(body)) return undefined
  const status = isRecord(body['status']) ? body['status'] : body
  const { error_code, error_message, error } = status
  if (error_code === 429) return { kind: 'limited' }
  if (typeof error_code !== 'number' && typeof error !== 'string') return undefined
  return {
    kind: 'error',
    code: typeof error_code === 'number' ? String(error_code) : 'error',
    message: textOf(error_message) || textOf(error),
  }
}

/** The token registry. Evidence: README.md beside this file. */
export const coingecko: Venue = {
  name: 'coingecko',
  budgets: {
    // Without a key the limit is per address and not disclosed; 5 to 10 calls a minute are safe. We make one, and a few
    // more at a restart.
    rest: { capacity: 3, refillPerSecond: 1 / 15 },
  },
  listings: [],
  streams: [],
  polls: [markets],
}
