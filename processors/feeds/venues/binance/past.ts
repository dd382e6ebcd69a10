import type { Micros } from '../../../../schemas/records.ts'
import { isAmount, refusedField, withIndexes } from '../fact-fields.ts'
import { isDecimal, isRecord } from '../fields.ts'
import type { FactRow } from '../events.ts'
import type { PastFacts, PastPages, RestAnswer, RestCall } from '../venue.ts'
import { symbolQuery, rowsOf } from './messages.ts'
import {
  closed,
  FUNDING_COST,
  parseCandles,
  parseTopPositions,
  readSettlement,
  STATISTICS_COST,
  timeOf,
} from './polls.ts'

/** "Default 500; max 1500", at weight 1 below 100 rows, 2 below 500, 5 to 1000, 10 beyond: 499 cost least for each row. */
const PAGE_SIZE = 499

/** "If startTime and endTime are sent", both are inclusive. */
function bounds(from: Micros, to: Micros): string {
  return `startTime=${from / 1_000}&endTime=${to / 1_000 - 1}`
}

/** `klines` of the futures, with what takers bought. */
export const pastCandles: PastPages = {
  host: 'rest',
  pageSize: PAGE_SIZE,
  call(symbol, seconds, from, to) {
    const interval = seconds === 60 ? '1m' : '1h'
    const path = `/fapi/v1/klines?${symbolQuery(symbol)}&interval=${interval}&${bounds(from, to)}&limit=${PAGE_SIZE}`
    return { path, cost: 2 }
  },
  parse: (symbol, seconds, body, now) => parseCandles(symbol, body, now, seconds * 1_000),
}

/** The same of spot: weight 2, "default 500; maximum 1000". */
export const pastSpotCandles: PastPages = {
  host: 'rest',
  pageSize: 1000,
  call(symbol, seconds, from, to) {
    const interval = seconds === 60 ? '1m' : '1h'
    return {
      path: `/api/v3/klines?${symbolQuery(symbol)}&interval=${interval}&${bounds(from, to)}&limit=1000`,
      cost: 2,
    }
  },
  parse: (symbol, seconds, body, now) => parseCandles(symbol, body, now, seconds * 1_000),
}

const HOUR = 3_600
/** "Only the data of the latest 30 days is available": an hour less, which passes while a call waits. */
const STATISTICS_HOURS = 30 * 24 - 1

/** A call of `/futures/data/*` by the hour: "default 30; max 500". */
function statistics(what: string): Pick<PastFacts, 'host' | 'seconds' | 'pageSize' | 'depth' | 'call'> {
  return {
    host: 'rest',
    seconds: HOUR,
    pageSize: 500,
    depth: STATISTICS_HOURS,
    call: (symbol, _seconds, from, to) => ({
      path: `/futures/data/${what}?${symbolQuery(symbol)}&period=1h&${bounds(from, to)}&limit=500`,
      cost: STATISTICS_COST,
    }),
  }
}

/** Settled rates, all that there are; open interest and top traders of a month, mark and index prices of all time, by the hour. */
export const pastFacts: readonly PastFacts[] = [
  {
    name: 'settlements',
    host: 'rest',
    // A market that settles each hour has eight in the time of one that settles every eighth: "limit: max 1000".
    seconds: 8 * HOUR,
    pageSize: 125,
    call: (symbol, _seconds, from, to) => ({
      path: `/fapi/v1/fundingRate?${symbolQuery(symbol)}&${bounds(from, to)}&limit=1000`,
      cost: FUNDING_COST,
    }),
    parse: (_symbol, _seconds, body) => rowsOf(body, readSettlement),
  },
  {
    name: 'open_interest',
    ...statistics('openInterestHist'),
    parse: (symbol, _seconds, body) => parseOpenInterests(symbol, body),
  },
  {
    name: 'top_traders',
    ...statistics('topLongShortPositionRatio'),
    parse: (symbol, _seconds, body) => parseTopPositions(symbol, body),
  },
  {
    // "Kline of the mark price", of the same columns and weights as `klines`: its open is the price at its start.
    name: 'prices',
    host: 'rest',
    seconds: HOUR,
    pageSize: PAGE_SIZE,
    call: (symbol, _seconds, from, to) => priceCandles(`markPriceKlines?${symbolQuery(symbol)}`, from, to),
    parse: (symbol, _seconds, body, now) => readPrices(symbol, body, now),
    // "Kline of the index price of a pair", by `pair`, which a perpetual's symbol is.
    more: {
      call: (symbol, _seconds, from, to) =>
        priceCandles(`indexPriceKlines?pair=${encodeURIComponent(symbol)}`, from, to),
      parse: (marks, body) => withIndexes(marks, readPrices('', body, Infinity)),
    },
  },
]

/** Open interest at the end of each period, ascending: base units, one side. */
function parseOpenInterests(asked: string, body: unknown): RestAnswer<FactRow> {
  return rowsOf(body, (row) => {
    if (!isRecord(row) || row['symbol'] !== asked) return refusedField
    const { sumOpenInterest: size, timestamp } = row
    const time = timeOf(timestamp)
    if (time === undefined || !isAmount(size)) return refusedField
    return { kind: 'derivative', symbol: asked, openInterest: { size, time } }
  })
}

function priceCandles(what: string, from: Micros, to: Micros): RestCall {
  return { path: `/fapi/v1/${what}&interval=1h&${bounds(from, to)}&limit=${PAGE_SIZE}`, cost: 2 }
}

function readPrices(symbol: string, body: unknown, now: number): RestAnswer<FactRow> {
  return closed(body, { now, lengthMs: HOUR * 1_000 }, ([, mark], time) =>
    isDecimal(mark) ? { kind: 'derivative', symbol, mark: { mark, index: null, time } } : refusedField,
  )
}
