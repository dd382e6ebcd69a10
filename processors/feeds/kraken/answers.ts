import { badBody, isRecord, textOf } from '../fields.ts'
import type { RestAnswer } from '../venue.ts'

/** The `result` of a body whose `error` is empty. */
export function resultOf(body: unknown): Record<string, unknown> | undefined {
  if (!isRecord(body) || !Array.isArray(body['error']) || body['error'].length > 0) return undefined
  return isRecord(body['result']) ? body['result'] : undefined
}

/** `{"error":["EAPI:Rate limit exceeded"]}`, with HTTP 200. `EService` and its like: unavailable or busy for now. */
export function refusal(body: unknown): RestAnswer<never> {
  const errors = isRecord(body) && Array.isArray(body['error']) ? body['error'].map(textOf) : []
  const [first] = errors
  if (first === undefined) return badBody('a result')
  if (/rate limit|too many requests|throttled/i.test(first)) return { kind: 'limited' }
  return { kind: 'error', code: first.slice(0, 40), message: errors.join(' ') }
}
