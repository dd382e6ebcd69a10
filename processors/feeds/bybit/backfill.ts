import {
  badBody,
  badField,
  countOf,
  isDecimal,
  isRecord,
  microsOf,
  offBook,
  pageRow,
  textOf,
  tradeEvent,
} from '../fields.ts'
import type { Backfill, FrameEvent, RestAnswer } from '../venue.ts'
import { idOf } from './id.ts'

/** "category linear: [1,1000]"; newest first, and there is no way to page on. */
const PAGE_SIZE = 1000

/** `execId` is the stream's `i`, so a page that reaches the last known trade closes a hole exactly. */
export const backfill: Backfill = {
  direction: 'newest',
  pageSize: PAGE_SIZE,
  page: (symbol) => ({
    path: `/v5/market/recent-trade?category=linear&symbol=${encodeURIComponent(symbol)}&limit=${PAGE_SIZE}`,
    cost: 1,
  }),
  parse(symbol, body) {
    const list = listOf(body)
    if (list === undefined) return refusal(body) ?? badBody('a result with a list')
    return { kind: 'rows', rows: list.map((row) => pageRow(readRow(symbol, row))) }
  },
}

function readRow(asked: string, row: unknown): FrameEvent {
  if (!isRecord(row)) return badField
  const { execId, symbol, price, size, side, time, isBlockTrade, seq } = row
  const ms = countOf(time)
  const id = typeof execId === 'string' ? idOf(execId) : undefined
  const sequence = seq === undefined ? null : countOf(seq)
  if (symbol !== asked || id === undefined || ms === undefined || sequence === undefined) return badField
  if (!isDecimal(price) || !isDecimal(size) || (side !== 'Buy' && side !== 'Sell')) return badField
  if (typeof isBlockTrade !== 'boolean') return badField
  const event = tradeEvent(asked, id, 1, sequence, price, size, side === 'Buy' ? 'buy' : 'sell', microsOf(ms))
  return isBlockTrade && event.kind === 'trade' ? offBook : event
}

/** The list of a body whose `retCode` is 0. */
export function listOf(body: unknown): unknown[] | undefined {
  if (!isRecord(body) || body['retCode'] !== 0 || !isRecord(body['result'])) return undefined
  return Array.isArray(body['result']['list']) ? body['result']['list'] : undefined
}

/** HTTP is 200 whatever happened. 10006: "Too many visits"; 10018: the address's limit; 429, 10429: system protection. */
const limitCodes: ReadonlySet<unknown> = new Set([10006, 10018, 429, 10429])

export function refusal(body: unknown): RestAnswer<never> | undefined {
  if (!isRecord(body) || typeof body['retCode'] !== 'number' || body['retCode'] === 0) return undefined
  if (limitCodes.has(body['retCode'])) return { kind: 'limited' }
  return { kind: 'error', code: String(body['retCode']), message: textOf(body['retMsg']) }
}
