import type { PastCandles } from '../venue.ts'
import { about } from './answers.ts'
import { parseCandles } from './polls.ts'

/** "Default 500; max 1500", at weight 1 below 100 rows, 2 below 500, 5 to 1000, 10 beyond: 499 cost least for each row. */
const PAGE_SIZE = 499

/** `klines` of the futures, with what takers bought. "If startTime and endTime are sent", both are inclusive. */
export const pastCandles: PastCandles = {
  host: 'rest',
  pageSize: PAGE_SIZE,
  call(symbol, seconds, from, to) {
    const bounds = `startTime=${from / 1_000}&endTime=${to / 1_000 - 1}&limit=${PAGE_SIZE}`
    const interval = seconds === 60 ? '1m' : '1h'
    return { path: `/fapi/v1/klines?${about(symbol)}&interval=${interval}&${bounds}`, cost: 2 }
  },
  parse: (symbol, seconds, body, now) => parseCandles(symbol, body, now, seconds * 1_000),
}
