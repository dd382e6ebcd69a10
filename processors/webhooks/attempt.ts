import { createHash } from 'node:crypto'
import type { Micros } from '../../schemas/records.ts'

/**
 * Why an attempt did not deliver.
 * - `timeout`: connection, headers and body together took longer than allowed;
 * - `dns`: the name has no address; `private_address`: one of its addresses is not public;
 * - `refused`: no connection; `reset`: cut before the answer was whole; `tls`: no trusted certificate, no common protocol;
 * - `protocol`: the answer is not HTTP; `redirect`, `status`: an answer, not a 2xx;
 * - `gone`: the receiver is no more, and says so (410; of a chat as its service says); `rejected`: it never takes this message;
 * - `url_unreadable`: the sealed URL cannot be opened (a replaced SERVICE_SECRET that is not configured);
 * - `message_unwritable`: this version has no words for the trigger (a kind of alert that a newer release knows).
 */
export type Failure =
  | 'timeout'
  | 'dns'
  | 'private_address'
  | 'refused'
  | 'reset'
  | 'tls'
  | 'protocol'
  | 'redirect'
  | 'status'
  | 'gone'
  | 'rejected'
  | 'url_unreadable'
  | 'message_unwritable'

/** What one attempt came to. */
export type Result = {
  readonly started: Micros
  readonly finished: Micros
  /** HTTP status; null: none came. */
  readonly status: number | null
} & (
  | {
      readonly is: 'delivered'
      /** The answer went on beyond what is read of one. */
      readonly isCut: boolean
    }
  | { readonly is: 'failed'; readonly error: Failure; readonly retryAfterSeconds?: number }
)

/** Why a trigger ended without an attempt. */
export type Ending = 'stopped' | 'gone' | 'backlog' | 'not_found'

const refusals = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL', 'ETIMEDOUT', 'EHOSTDOWN'])

/** What an error of Node's sockets, TLS or HTTP parser, or of nodemailer, says, by its code. */
export function failureOf(error: unknown): Failure {
  const code = error instanceof Error ? codeOf(error) : ''
  if (refusals.has(code)) return 'refused'
  if (code === 'EDNS') return 'dns'
  if (code === 'ETLS') return 'tls'
  if (code === 'EPROTOCOL') return 'protocol'
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'reset'
  if (code.startsWith('HPE_') || code.startsWith('ERR_HTTP')) return 'protocol'
  if (/^(?:ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|HOSTNAME_MISMATCH|EPROTO)/.test(code)) return 'tls'
  if (/^(?:INVALID_(?:CA|PURPOSE)|PATH_LENGTH|CRL_|ERROR_IN_CERT|OUT_OF_MEM)/.test(code)) return 'tls'
  return 'reset'
}

/** nodemailer puts a code of its own in place of the system's. */
function codeOf(error: Error): string {
  if ('originalCode' in error) return String(error.originalCode)
  return 'code' in error ? String(error.code) : ''
}

const SECOND = 1_000_000

/** Pauses after the first, second, ... failed attempt; after the last of them the trigger is exhausted. Seconds. */
export const retrySteps = [5, 30, 120, 600, 1_800, 7_200, 21_600, 43_200, 86_400] as const
/** A pause is longer or shorter by up to this share, so that receivers that fail together are not asked together. */
const JITTER = 0.2
/** A receiver may ask for more time, up to this many times the step. */
const RETRY_AFTER_STEPS_MAX = 2

/**
 * When the attempt after `attempts` failed ones is due; null: there is none any more. The jitter follows from the
 * trigger and the attempt, so that a restart plans the same. `retryAfterSeconds`: as the receiver said, never earlier.
 */
export function nextAttempt(
  triggerId: string,
  attempts: number,
  now: Micros,
  retryAfterSeconds?: number,
): Micros | null {
  const step = retrySteps[attempts - 1]
  if (step === undefined) return null
  const planned = step * (1 - JITTER + 2 * JITTER * fraction(`${triggerId}|${attempts}`))
  const asked = Math.min(retryAfterSeconds ?? 0, step * RETRY_AFTER_STEPS_MAX)
  return now + Math.round(Math.max(planned, asked) * SECOND)
}

/** Evenly spread over [0, 1). */
function fraction(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0) / 2 ** 32
}

/** Seconds that a `Retry-After` header asks for; undefined where it is absent or says nothing. */
export function retryAfterSeconds(header: string | null | undefined, now: Micros): number | undefined {
  if (header === null || header === undefined) return undefined
  if (/^\d{1,9}$/.test(header.trim())) return Number(header)
  const at = /^[A-Z][a-z]+, /.test(header) ? Date.parse(header) : NaN
  return Number.isNaN(at) ? undefined : Math.max(0, at / 1_000 - now / SECOND)
}
