import { gunzipSync, gzipSync } from 'node:zlib'
import type { PaymentAnswer } from '../../schemas/records.ts'
import { textOf } from '../kept.ts'
import type { Answer } from '../route.ts'
import type { Services } from '../services.ts'

/** An answer that was paid for, whole: the same payment gets the same bytes. */
export interface Given {
  readonly kind: 'given'
  readonly status: number
  readonly type: string
  readonly body: string
  /** The receipt, in the headers of both versions. */
  readonly headers: Readonly<Record<string, string>>
}

/** Compressed bytes that are kept at most; a larger answer is made again. */
export const KEPT_BYTES_MAX = 256 * 1024

export type Written = Pick<Given, 'status' | 'type' | 'body'>

const JSON_TYPE = 'application/json; charset=utf-8'

/** The bytes of an answer as they are given now. */
export function writtenOf(answer: Answer, services: Services): Written {
  const timestamp = services.timestamp()
  switch (answer.kind) {
    case 'kept':
      return {
        status: 200,
        type: JSON_TYPE,
        body: textOf(answer.kept, answer.clock, { timestamp, cached: answer.cached }),
      }
    case 'data': {
      const body = JSON.stringify({ ...answer.body, timestamp, cached: answer.cached })
      return { status: answer.status, type: JSON_TYPE, body }
    }
    case 'json':
      return { status: answer.status, type: JSON_TYPE, body: JSON.stringify(answer.body) }
    case 'text':
    case 'page':
      return { status: 200, type: answer.type, body: answer.body }
  }
}

/** What nobody is charged for: a warm-up, missing data, stale data. */
export function isFree(answer: Answer): boolean {
  if (answer.kind === 'kept') return answer.clock > answer.kept.freshUntil
  return answer.kind === 'data' && answer.status !== 200
}

/** The answer as the log keeps it; undefined where it is too large. */
export function packed(
  written: Written,
  { id, fingerprint, time }: { id: string; fingerprint: string; time: number },
): PaymentAnswer | undefined {
  const body = gzipSync(written.body)
  if (body.length > KEPT_BYTES_MAX) return undefined
  return { payment_id: id, fingerprint, status: written.status, type: written.type, body, time }
}

/** More than any answer has, so that no record can fill the memory. */
const UNPACKED_BYTES_MAX = 32 * 1024 * 1024

export function unpacked({ status, type, body }: PaymentAnswer): Written {
  return { status, type, body: gunzipSync(body, { maxOutputLength: UNPACKED_BYTES_MAX }).toString() }
}
