import type { Micros } from '../../schemas/records.ts'
import type { Listener } from '../stream/hub.ts'
import { iso } from '../views/time.ts'

export const JSON_TYPE = 'application/json; charset=utf-8'

/** What a request is answered with: data, pages, errors and prices alike. */
export interface Reply {
  readonly status: number
  /** Content-Type. */
  readonly type: string
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
  /** How long a caller may keep it, milliseconds; left out: not at all. */
  readonly freshForMs?: number
  /** Whether its data came from our cache; left out: they are none that are cached. */
  readonly cached?: boolean
  /** Goes on writing behind the headers, in place of `body`. */
  readonly listen?: (listener: Listener) => void
  /** Nobody is charged for it: a warm-up, missing or stale data. */
  readonly isFree?: boolean
}

/** A JSON object as it is. */
export function jsonReply(status: number, body: object, more: Omit<Reply, 'status' | 'type' | 'body'> = {}): Reply {
  return { status, type: JSON_TYPE, body: JSON.stringify(body), ...more }
}

export function textReply(type: string, body: string, freshForMs: number): Reply {
  return { status: 200, type, body, freshForMs }
}

/** What a view of the data gives. */
export interface View {
  /** A JSON object, or its text. */
  readonly body: object | string
  /** Time of the newest input. */
  readonly asOf: Micros
  /** From here on the answer is stale. */
  readonly freshUntil: Micros
}

/** How old data are at `clock`, as every data answer says it. */
export function ageOf({ asOf, freshUntil }: Omit<View, 'body'>, clock: Micros): { age_ms: number; stale: boolean } {
  return { age_ms: Math.round(Math.max(0, clock - asOf) / 1000), stale: clock > freshUntil }
}

export interface ReplyMeta {
  /** What ages are told by. */
  readonly clock: Micros
  /** When it is answered, ISO 8601. */
  readonly timestamp: string
  readonly cached: boolean
  readonly freshForMs: number
}

/** A data answer: what the view says, then its age. The text of a cached view is not written anew. */
export function dataReply(view: View, { clock, timestamp, cached, freshForMs }: ReplyMeta): Reply {
  const { body, asOf } = view
  const open = (typeof body === 'string' ? body : JSON.stringify(body)).slice(0, -1)
  const { age_ms, stale } = ageOf(view, clock)
  const age = `"as_of":"${iso(asOf)}","age_ms":${age_ms},"stale":${stale},"timestamp":"${timestamp}","cached":${cached}`
  return { status: 200, type: JSON_TYPE, body: `${open},${age}}`, cached, freshForMs, isFree: stale }
}
