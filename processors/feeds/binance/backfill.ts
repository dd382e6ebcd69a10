import { badBody, badField, isCount, isDecimal, isRecord, microsOf, pageRow, textOf, tradeEvent } from '../fields.ts'
import type { Backfill, FrameEvent, RestAnswer } from '../venue.ts'

/** "The maximum is 1000." */
const PAGE_SIZE = 1000
/** "Only supports querying futures trade histories that are within 24 hours." */
const DEPTH_MS = 24 * 3_600_000
/** Weight of `aggTrades`. */
const COST = 20

/** "fromId: ID to get aggregate trades from INCLUSIVE"; ascending. No times beside it: they must not be mixed. */
export const backfill: Backfill = {
  direction: 'forward',
  pageSize: PAGE_SIZE,
  depthMs: DEPTH_MS,
  page: (symbol, from, to) => ({
    path: `/fapi/v1/aggTrades?symbol=${encodeURIComponent(symbol)}&fromId=${from}&limit=${Math.min(PAGE_SIZE, to - from + 1)}`,
    cost: COST,
  }),
  parse(symbol, body) {
    if (!Array.isArray(body)) return refusal(body) ?? badBody('an array of aggregate trades')
    return { kind: 'rows', rows: body.map((row) => pageRow(readRow(symbol, row))) }
  },
}

function readRow(symbol: string, row: unknown): FrameEvent {
  if (!isRecord(row)) return badField
  const { a, p, q, f, l, T, m } = row
  if (!isCount(a) || !isCount(f) || !isCount(l) || !isCount(T)) return badField
  if (!isDecimal(p) || !isDecimal(q) || typeof m !== 'boolean') return badField
  return tradeEvent(symbol, a, l - f + 1, null, p, q, m ? 'sell' : 'buy', microsOf(T))
}

/** `{"code":-1121,"msg":"Invalid symbol."}`; -1003 is TOO_MANY_REQUESTS. */
export function refusal(body: unknown): RestAnswer<never> | undefined {
  if (!isRecord(body) || typeof body['code'] !== 'number') return undefined
  if (body['code'] === -1003) return { kind: 'limited' }
  return { kind: 'error', code: String(body['code']), message: textOf(body['msg']) }
}
