import { badBody, isRecord, pageRow, textOf } from '../fields.ts'
import type { Backfill, RestAnswer } from '../venue.ts'
import { readRow } from './parse.ts'

/** "limit: number of results per request. Maximum 1000." */
const PAGE_SIZE = 1000

/**
 * "after: request page after (older) this pagination id", newest first; the id is the trade id. `before` gives the
 * newest page, which leaves a hole, so we page backwards. The whole history is there.
 */
export const backfill: Backfill = {
  direction: 'backward',
  pageSize: PAGE_SIZE,
  page: (symbol, _from, to) => ({
    path: `/products/${encodeURIComponent(symbol)}/trades?after=${to + 1}&limit=${PAGE_SIZE}`,
    cost: 1,
  }),
  parse(symbol, body) {
    if (!Array.isArray(body)) return refusal(body) ?? badBody('an array of trades')
    return { kind: 'rows', rows: body.map((row) => pageRow(readRow(row, symbol))) }
  },
}

/** `{"message":"NotFound"}`; a refusal for the rate says so in words. */
export function refusal(body: unknown): RestAnswer<never> | undefined {
  if (!isRecord(body) || typeof body['message'] !== 'string') return undefined
  const message = textOf(body['message'])
  if (/rate limit/i.test(message)) return { kind: 'limited' }
  return { kind: 'error', code: message.slice(0, 40), message }
}
