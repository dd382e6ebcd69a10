import { isRecord, textOf } from '../fields.ts'
import { factRows } from '../fact-fields.ts'
import { badBody } from '../fields.ts'
import type { FactRow } from '../events.ts'
import type { RestAnswer } from '../venue.ts'

/** The rows of a body that is an array; `read` gives undefined for a row that is not for us. */
export function rowsOf(body: unknown, read: (row: unknown) => FactRow | undefined): RestAnswer<FactRow> {
  return Array.isArray(body) ? factRows(body, read) : (refusal(body) ?? badBody('an array'))
}

/** `symbol=...`: names outside of ASCII exist. */
export function about(symbol: string): string {
  return `symbol=${encodeURIComponent(symbol)}`
}

/** `{"code":-1121,"msg":"Invalid symbol."}`; -1003 is TOO_MANY_REQUESTS. */
export function refusal(body: unknown): RestAnswer<never> | undefined {
  if (!isRecord(body) || typeof body['code'] !== 'number') return undefined
  if (body['code'] === -1003) return { kind: 'limited' }
  return { kind: 'error', code: String(body['code']), message: textOf(body['msg']) }
}
