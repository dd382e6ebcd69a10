import { factRows } from '../fact-fields.ts'
import { badBody } from '../fields.ts'
import type { FactRow } from '../source.ts'
import type { RestAnswer } from '../venue.ts'
import { refusal } from './backfill.ts'

/** The rows of a body that is an array; `read` gives undefined for a row that is not for us. */
export function rowsOf(body: unknown, read: (row: unknown) => FactRow | undefined): RestAnswer<FactRow> {
  return Array.isArray(body) ? factRows(body, read) : (refusal(body) ?? badBody('an array'))
}

/** `symbol=...`: names outside of ASCII exist. */
export function about(symbol: string): string {
  return `symbol=${encodeURIComponent(symbol)}`
}
