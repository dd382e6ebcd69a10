import type { Micros } from '../../../../schemas/records.ts'
import type { DerivativeFact, FactRow, FrameEvent, TermsFact } from '../events.ts'
import {
  factEvent,
  isAmount,
  isSigned,
  plain,
  priceOf,
  refusedField,
  percentOf,
  pricesOf,
  tickerOf,
} from '../fact-fields.ts'
import { badBody, badField, countOf, isCount, isDecimal, isRecord, isSymbol, microsOf } from '../fields.ts'
import { type Poll, type RestAnswer, spotPair, type Listed, type Listing } from '../venue.ts'
import { LINEAR_LIST, withNext } from './trades.ts'
import { answerOf } from './messages.ts'

/** A message of `tickers.<symbol>`: a snapshot, then deltas with what has changed. Nothing of ours in it: no event. */
export function readDerivativeMessage({ data, ts }: Record<string, unknown>): FrameEvent[] {
  const time = isCount(ts) ? microsOf(ts) : undefined
  if (time === undefined) return [badField]
  const row = readDerivative(data, time)
  return row === undefined ? [] : [factEvent(row)]
}

/** `tickers?category=linear`: the whole market with funding, mark, index and open interest, of the answer's time. */
export function parseDerivatives(body: unknown): RestAnswer<FactRow> {
  const time = timeOf(body)
  const answer = answerOf(body, (row) => (isDated(row) || time === undefined ? undefined : readDerivative(row, time)))
  return answer.kind === 'rows' && time === undefined ? badBody('a time') : answer
}

/** Futures that end stand among the perpetuals; theirs is "deliveryTime": "0" or missing. */
function isDated(row: unknown): boolean {
  return isRecord(row) && row['deliveryTime'] !== undefined && row['deliveryTime'] !== '0'
}

/** Each group as far as it is said; undefined: none of them. */
function readDerivative(row: unknown, time: Micros): FactRow | undefined {
  if (!isRecord(row) || !isSymbol(row['symbol'])) return refusedField
  const groups = [rateOf(row, time), markOf(row, time), openInterestOf(row, time)]
  if (groups.includes(undefined)) return refusedField
  const fact: DerivativeFact = Object.assign({ kind: 'derivative' as const, symbol: row['symbol'] }, ...groups)
  return Object.keys(fact).length > 2 ? fact : undefined
}

/** What a row says of one group: nothing is an empty one, undefined a value that is none. */
type Group<Name extends 'rate' | 'mark' | 'openInterest'> = Pick<DerivativeFact, Name> | undefined

/** "fundingRate" runs for "nextFundingTime"; a delta names only the one that has changed. */
function rateOf({ fundingRate, nextFundingTime }: Record<string, unknown>, time: Micros): Group<'rate'> {
  if (fundingRate === undefined || fundingRate === '') return {}
  if (!isSigned(fundingRate)) return undefined
  if (nextFundingTime === undefined || nextFundingTime === '' || nextFundingTime === '0')
    return { rate: { rate: fundingRate, next: null, time } }
  const next = microsOf(countOf(nextFundingTime) ?? 0)
  return next === undefined ? undefined : { rate: { rate: fundingRate, next, time } }
}

function markOf({ markPrice, indexPrice }: Record<string, unknown>, time: Micros): Group<'mark'> {
  const mark = priceOf(markPrice)
  const index = priceOf(indexPrice)
  if (mark === undefined || index === undefined) return undefined
  return mark === null && index === null ? {} : { mark: { mark, index, time } }
}

/** "openInterest" counts both sides; "singleOpenInterest", since June 2026, one. */
export function openInterestOf(row: Record<string, unknown>, time: Micros): Group<'openInterest'> {
  const { singleOpenInterest: single, openInterest: both } = row
  if (single !== undefined && single !== '')
    return isAmount(single) ? { openInterest: { size: single, time } } : undefined
  if (both === undefined || both === '') return {}
  return isAmount(both) ? { openInterest: { size: halved(both), time } } : undefined
}

/** Half of a decimal, exactly: five times it with the point one place to the left. */
export function halved(decimal: string): string {
  const [whole = '', fraction = ''] = decimal.split('.')
  const decimals = fraction.length + 1
  const digits = String(BigInt(whole + fraction) * 5n).padStart(decimals + 1, '0')
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}

/** A message of `allLiquidation.<symbol>`: every liquidation of the last 500 ms. */
export function readLiquidations({ data, ts }: Record<string, unknown>): FrameEvent[] {
  if (!Array.isArray(data) || !isCount(ts) || microsOf(ts) === undefined) return [badField]
  return data.map((row, index) => factEvent(readRow(row, `${ts}-${index}`)))
}

/**
 * "S: position side; Buy: a long position was liquidated". `v` in base units of the symbol, `p` the bankruptcy price,
 * `T` the time. Rows have no id of their own; the message's time and the place in it are one, and the same for whoever
 * receives the message.
 */
function readRow(row: unknown, id: string): FactRow {
  if (!isRecord(row)) return refusedField
  const { T, s, S, v, p } = row
  const time: Micros | undefined = isCount(T) ? microsOf(T) : undefined
  if (time === undefined || !isSymbol(s) || !isDecimal(v) || !isDecimal(p)) return refusedField
  if (S !== 'Buy' && S !== 'Sell') return refusedField
  const side = S === 'Buy' ? 'long' : 'short'
  return {
    kind: 'liquidation',
    symbol: s,
    id,
    side,
    size: v,
    price: p,
    priceKind: 'bankruptcy',
    completeness: 'all',
    time,
  }
}

type Calls = Pick<Poll, 'call' | 'parse'>
type Tier = NonNullable<TermsFact['tiers']>[number]

/** "Interest rate: 0.03 % a day" for every contract. */
const INTEREST_DAILY = 0.0003

/** Funding interval (minutes), cap, floor and highest leverage of all contracts, out of the same list as the markets. */
export const contractTerms: Calls = {
  call: () => ({ path: LINEAR_LIST, cost: 1 }),
  parse: (_whole, body) => withNext(answerOf(body, readContract), body, LINEAR_LIST),
}

function readContract(row: unknown): FactRow | undefined {
  if (!isRecord(row)) return refusedField
  if (row['contractType'] !== 'LinearPerpetual' || row['settleCoin'] !== 'USDT') return undefined
  const { symbol, fundingInterval, upperFundingRate: cap, lowerFundingRate: floor, leverageFilter } = row
  const leverage = isRecord(leverageFilter) ? leverageFilter['maxLeverage'] : undefined
  if (!isSymbol(symbol) || !isCount(fundingInterval) || fundingInterval === 0) return refusedField
  if (!isSigned(cap) || !isSigned(floor) || !isDecimal(leverage)) return refusedField
  return {
    kind: 'terms',
    symbol,
    intervalHours: fundingInterval / 60,
    cap: Number(cap),
    floor: Number(floor),
    interestDaily: INTEREST_DAILY,
    maxLeverage: Number(leverage),
  }
}

/** Maintenance margin by size of the position, of one contract. */
export const riskLimits: Calls = {
  call: (symbol) => ({
    path: `/v5/market/risk-limit?category=linear&symbol=${encodeURIComponent(symbol)}`,
    cost: 1,
  }),
  parse(symbol, body) {
    const answer = answerOf(body, (row) => row)
    return answer.kind === 'rows' ? { ...answer, rows: [readLimits(symbol, answer.rows)] } : answer
  },
}

function readLimits(symbol: string, list: readonly unknown[]): FactRow {
  const limits = list.map((row) => readLimit(symbol, row)).filter((limit) => limit !== undefined)
  if (limits.length === 0 || limits.length < list.length) return refusedField
  return { kind: 'terms', symbol, tiers: limits.toSorted((a, b) => (a.upTo ?? Infinity) - (b.upTo ?? Infinity)) }
}

/**
 * "riskLimitValue: position limit", in quote units. Documentation has margin rates in percent ("0.5"), clients have seen
 * fractions ("0.005"): initial margin and leverage are each other's inverse, which tells the unit.
 */
function readLimit(asked: string, row: unknown): Tier | undefined {
  if (!isRecord(row) || row['symbol'] !== asked) return undefined
  const { riskLimitValue: upTo, maxLeverage } = row
  const maintenance = plain(row['maintenanceMargin'])
  const initial = plain(row['initialMargin'])
  const deduction = row['mmDeduction'] === undefined || row['mmDeduction'] === '' ? '0' : row['mmDeduction']
  if (!isDecimal(upTo) || !isDecimal(maxLeverage) || !isAmount(deduction)) return undefined
  if (!isDecimal(maintenance) || !isDecimal(initial)) return undefined
  const unit = Number(initial) * Number(maxLeverage) > 10 ? 'e-2' : ''
  return { upTo: Number(upTo), rate: Number(`${maintenance}${unit}`), deduction: Number(deduction) }
}

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
function timeOf(body: unknown): Micros | undefined {
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
