import {
  candleOf,
  isSigned,
  MINUTE_MS,
  refusedField,
  settlementOf,
  SETTLEMENT_MS,
  withIndexes,
} from '../fact-fields.ts'
import { badBody, countOf, isDecimal, isRecord, microsOf } from '../fields.ts'
import type { Micros } from '../../../../schemas/records.ts'
import type { FactRow } from '../events.ts'
import type { PastFacts, PastPages, Poll, RestAnswer, RestCall } from '../venue.ts'
import { openInterestOf } from './facts.ts'
import { answerOf } from './messages.ts'

type Calls = Pick<Poll, 'call' | 'parse'>

/** The newest settled rates. */
export function settlements(limit: number): Calls {
  return {
    call: (symbol) => ({ path: `/v5/market/funding/history?${symbolQuery(symbol)}&limit=${limit}`, cost: 1 }),
    parse: (symbol, body) => oldestFirst(body, (row) => readSettlement(symbol, row)),
  }
}

function readSettlement(asked: string, row: unknown): FactRow {
  if (!isRecord(row)) return refusedField
  const { symbol, fundingRate: rate, fundingRateTimestamp: time } = row
  return symbol === asked ? settlementOf(asked, rate, timeOf(time)) : refusedField
}

/** Closes of the last closed minutes of the premium index: as many as a mean may miss while the venue does not answer. */
export const premiumMinutes: Calls = {
  call: (symbol) => ({ path: `${premiumPath(symbol)}&limit=15`, cost: 1 }),
  parse: parsePremiums,
}

/** The same since the last settlement: at most 480 minutes, one page. */
export const premiumSinceSettlement: Calls = {
  call: (symbol, now) => ({ path: `${premiumPath(symbol)}&start=${now - (now % SETTLEMENT_MS)}&limit=1000`, cost: 1 }),
  parse: parsePremiums,
}

function premiumPath(symbol: string): string {
  return `/v5/market/premium-index-price-kline?${symbolQuery(symbol)}&interval=1`
}

function parsePremiums(symbol: string, body: unknown, now: number): RestAnswer<FactRow> {
  return candlesOf(symbol, body, now - MINUTE_MS, ([start, , , , close]) => {
    const time = timeOf(start)
    if (time === undefined || !isSigned(close)) return refusedField
    return { kind: 'derivative', symbol, premium: { premium: close, time } }
  })
}

/** The last closed minutes of the trades; the venue does not say who took. */
export const candles: Calls = {
  call: (symbol) => ({ path: `/v5/market/kline?${symbolQuery(symbol)}&interval=1&limit=3`, cost: 1 }),
  parse: (symbol, body, now) => parseCandles(symbol, body, now),
}

/** "Limit for data size per page. [1, 1000]"; `start` and `end` are both inclusive. */
export function pastCandles(category: 'linear' | 'spot'): PastPages {
  return {
    host: 'rest',
    pageSize: 1000,
    call(symbol, seconds, from, to) {
      const range = `interval=${seconds / 60}&start=${from / 1_000}&end=${to / 1_000 - 1}`
      return { path: `/v5/market/kline?${symbolQuery(symbol, category)}&${range}&limit=1000`, cost: 1 }
    },
    parse: (symbol, seconds, body, now) => parseCandles(symbol, body, now, seconds * 1_000),
  }
}

const HOUR = 3_600

/** A call of rows by the hour; both bounds are inclusive. */
function byHour(what: string, pageSize: number): Pick<PastFacts, 'host' | 'seconds' | 'pageSize' | 'call'> {
  return {
    host: 'rest',
    seconds: HOUR,
    pageSize,
    call: (symbol, _seconds, from, to) => ({
      path: `/v5/market/${what}&${symbolQuery(symbol)}&startTime=${from / 1_000}&endTime=${to / 1_000 - 1}&limit=${pageSize}`,
      cost: 1,
    }),
  }
}

/** All that the venue has of settled rates, open interest, mark and index prices and how all of its accounts are positioned. */
export const pastFacts: readonly PastFacts[] = [
  {
    name: 'settlements',
    host: 'rest',
    // A market that settles each hour has eight in the time of one that settles every eighth: "limit: [1, 200]".
    seconds: 8 * HOUR,
    pageSize: 25,
    call: (symbol, _seconds, from, to) => ({
      path: `/v5/market/funding/history?${symbolQuery(symbol)}&startTime=${from / 1_000}&endTime=${to / 1_000 - 1}&limit=200`,
      cost: 1,
    }),
    parse: (symbol, _seconds, body) => settlements(200).parse(symbol, body, 0),
  },
  {
    // "limit: [1, 200]".
    name: 'open_interest',
    ...byHour('open-interest?intervalTime=1h', 200),
    parse: (symbol, _seconds, body) => ofSymbol(symbol, body, (row) => readOpenInterest(symbol, row)),
  },
  {
    // "limit: [1, 500]"; of all who hold, not of the largest.
    name: 'all_accounts',
    ...byHour('account-ratio?period=1h', 500),
    parse: (symbol, _seconds, body) => oldestFirst(body, (row) => readRatio(symbol, row)),
  },
  {
    name: 'prices',
    host: 'rest',
    seconds: HOUR,
    pageSize: 1000,
    call: (symbol, _seconds, from, to) => priceCandles('mark', symbol, from, to),
    parse: readPrices,
    more: {
      call: (symbol, _seconds, from, to) => priceCandles('index', symbol, from, to),
      parse: (marks, body) =>
        withIndexes(
          marks,
          answerOf(body, (row) => readPrice('', row)),
        ),
    },
  },
]

/** `mark-price-kline`, `index-price-kline`: "limit: [1, 1000]", of the same columns. */
function priceCandles(what: 'mark' | 'index', symbol: string, from: Micros, to: Micros): RestCall {
  const range = `start=${from / 1_000}&end=${to / 1_000 - 1}`
  return { path: `/v5/market/${what}-price-kline?${symbolQuery(symbol)}&interval=60&${range}&limit=1000`, cost: 1 }
}

function readPrices(symbol: string, seconds: number, body: unknown, now: number): RestAnswer<FactRow> {
  return candlesOf(symbol, body, now - seconds * 1_000, (row) => readPrice(symbol, row))
}

/** A candle's open is the price at its start. */
function readPrice(symbol: string, row: unknown): FactRow {
  const [start, mark]: unknown[] = Array.isArray(row) ? row : []
  const time = timeOf(start)
  if (time === undefined || !isDecimal(mark)) return refusedField
  return { kind: 'derivative', symbol, mark: { mark, index: null, time } }
}

/** "openInterest" counts both sides; the newer "singleOpenInterest" one. */
function readOpenInterest(symbol: string, row: unknown): FactRow {
  const time: Micros | undefined = isRecord(row) ? timeOf(row['timestamp']) : undefined
  if (!isRecord(row) || time === undefined) return refusedField
  const { openInterest } = openInterestOf(row, time) ?? {}
  return openInterest === undefined ? refusedField : { kind: 'derivative', symbol, openInterest }
}

/** "buyRatio: the ratio of the number of holders of long positions"; rounded to four decimals. */
function readRatio(asked: string, row: unknown): FactRow {
  if (!isRecord(row)) return refusedField
  const { symbol, buyRatio, sellRatio, timestamp } = row
  const time = timeOf(timestamp)
  if (symbol !== asked || time === undefined || !isDecimal(buyRatio) || !isDecimal(sellRatio)) return refusedField
  const long = Number(buyRatio) / (Number(buyRatio) + Number(sellRatio))
  const shares = { long, short: 1 - long, ratio: long / (1 - long) }
  return { kind: 'ratio', symbol: asked, cohort: 'all', basis: 'accounts', ...shares, time }
}

/** An answer that says its symbol says the one that was asked for. */
function ofSymbol(symbol: string, body: unknown, read: (row: unknown) => FactRow | undefined): RestAnswer<FactRow> {
  const result = isRecord(body) ? body['result'] : undefined
  if (isRecord(result) && Array.isArray(result['list']) && result['symbol'] !== symbol) return badBody(symbol)
  return oldestFirst(body, read)
}

function parseCandles(symbol: string, body: unknown, now: number, lengthMs: number = MINUTE_MS): RestAnswer<FactRow> {
  return candlesOf(symbol, body, now - lengthMs, ([start, ...values]) => candleOf(symbol, timeOf(start), values))
}

/** Rows of a `kline` call that begin at `newest` at the latest: the last one may be of a time that still runs. */
function candlesOf(
  symbol: string,
  body: unknown,
  newest: number,
  read: (row: readonly unknown[]) => FactRow,
): RestAnswer<FactRow> {
  return ofSymbol(symbol, body, (row) => {
    if (!Array.isArray(row)) return refusedField
    return (countOf(row[0]) ?? 0) > newest ? undefined : read(row)
  })
}

/** The venue lists the newest first. */
function oldestFirst(body: unknown, read: (row: unknown) => FactRow | undefined): RestAnswer<FactRow> {
  const answer = answerOf(body, read)
  return answer.kind === 'rows' ? { ...answer, rows: answer.rows.toReversed() } : answer
}

function symbolQuery(symbol: string, category = 'linear'): string {
  return `category=${category}&symbol=${encodeURIComponent(symbol)}`
}

function timeOf(text: unknown): number | undefined {
  return microsOf(countOf(text) ?? 0)
}
