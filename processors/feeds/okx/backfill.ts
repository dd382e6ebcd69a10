import { badBody, badField, isRecord, pageRow, textOf } from '../fields.ts'
import type { Backfill, FrameEvent, RestAnswer } from '../venue.ts'
import { readRow } from './parse.ts'

/** "The maximum is 100." */
const PAGE_SIZE = 100

/**
 * "type=1: tradeId"; "after: records earlier than the requested id", newest first. `before` gives the newest page, not
 * the one next to the id, so we page backwards. Three months deep.
 */
export const backfill: Backfill = {
  direction: 'backward',
  pageSize: PAGE_SIZE,
  page: (symbol, _from, to) => ({
    path: `/api/v5/market/history-trades?instId=${encodeURIComponent(symbol)}&type=1&after=${to + 1}&limit=${PAGE_SIZE}`,
    // "20 requests per 2 seconds".
    cost: 2,
  }),
  parse(symbol, body) {
    const data = dataOf(body)
    if (data === undefined) return refusal(body) ?? badBody('data')
    return { kind: 'rows', rows: data.map((row) => pageRow(ofSymbol(symbol, readRow(row)))) }
  },
}

function ofSymbol(symbol: string, event: FrameEvent): FrameEvent {
  return event.kind === 'trade' && event.trade.symbol !== symbol ? badField : event
}

/** The data of a body whose code is 0. */
export function dataOf(body: unknown): unknown[] | undefined {
  if (!isRecord(body) || body['code'] !== '0') return undefined
  return Array.isArray(body['data']) ? body['data'] : undefined
}

/** 50011: "Rate limit reached"; 50013: "Systems are busy. Please try again later." */
const limitCodes: ReadonlySet<unknown> = new Set(['50011', '50013'])

export function refusal(body: unknown): RestAnswer<never> | undefined {
  if (!isRecord(body) || typeof body['code'] !== 'string' || body['code'] === '0') return undefined
  if (limitCodes.has(body['code'])) return { kind: 'limited' }
  return { kind: 'error', code: body['code'], message: textOf(body['msg']) }
}
