import { badBody, isRecord, textOf } from '../fields.ts'
import type { RestAnswer } from '../venue.ts'

/** What the rows of an answer are; `{"label":"INVALID_PARAM_VALUE","message":".."}` is a refusal. */
export function rowsOf<Row>(body: unknown, read: (row: unknown) => readonly Row[]): RestAnswer<Row> {
  if (Array.isArray(body)) return { kind: 'rows', rows: body.flatMap((row) => read(row)) }
  const label = isRecord(body) ? textOf(body['label']) : ''
  if (!isRecord(body) || label === '') return badBody('an array')
  if (label === 'TOO_MANY_REQUESTS') return { kind: 'limited' }
  return { kind: 'error', code: label, message: textOf(body['message']) }
}
