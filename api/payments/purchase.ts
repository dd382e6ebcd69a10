import { hash } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { BOUGHT_OTHERWISE } from '../../processors/payments/wire/refusals.ts'
import type { Settlement } from '../../processors/payments/wire/headers.ts'
import type { PaymentAnswer, PaymentEvent, PaymentIntent } from '../../schemas/records.ts'
import { wrong } from '../alerts/fields.ts'
import { ApiError } from '../request/errors.ts'
import type { Reply } from '../request/reply.ts'
import type { Call, Run } from '../request/route.ts'
import type { Services } from '../services.ts'
import { cannotSettle, receiptHeaders, refuses, type Bill } from './challenges.ts'
import type { Payments } from './payments.ts'
import { paidOtherwise, usedAlready } from './single-flight.ts'

/** One payment for one request. */
export interface Purchase {
  readonly payments: Payments
  readonly services: Services
  readonly intent: PaymentIntent
  readonly bill: Bill
}

export const KEY = 'Idempotency-Key'

/** 16 to 128 characters; null: none was sent. */
export function idempotencyKeyOf({ header }: Pick<Call, 'header'>): string | null {
  const key = header(KEY)
  if (key === '') return null
  if (key.length >= 16 && key.length <= 128) return key
  throw wrong('invalid_idempotency_key', KEY, `${KEY} must have 16 to 128 characters, best a random UUID.`)
}

/** Throws where the route needs a key and none was sent. */
export function assertKeyed({ route, header }: Pick<Call, 'route' | 'header'>): void {
  if (route.needsKey !== true || idempotencyKeyOf({ header }) !== null) return
  throw wrong(
    'invalid_idempotency_key',
    KEY,
    `Send the header ${KEY}, best a random UUID, and keep it with the payment: both together give the answer again, the payment alone to nobody. What was bought without one POST /wallet/keys shows.`,
  )
}

/** What several payments may be for, by whom: null where it does not go by its key alone, or none was given. */
export function purchaseOf({ route, header }: Pick<Call, 'route' | 'header'>, payer: string): string | null {
  const { name, isIdempotent } = route
  const key = header(KEY)
  return key === '' || isIdempotent !== true ? null : hash('sha256', `${name} ${payer.toLowerCase()} ${key}`)
}

/** When a caller whose payment has no outcome yet should come again, seconds. */
const PENDING_RETRY_SECONDS = 5

/** The payment is not at fault: chain, wallet or facilitator did not work, and nothing was sent. */
const OURS = 'unexpected_settle_error'

/** Has the payment settled; throws what its caller is told where it is not. */
export async function settle({ payments, services, intent, bill }: Purchase): Promise<PaymentEvent> {
  const done = services.metrics.settleSeconds.startTimer()
  const outcome = await payments.ledger.settle(intent)
  done({ outcome: outcome.is })
  switch (outcome.is) {
    case 'settled':
      if (outcome.event.fingerprint !== intent.fingerprint) throw usedAlready()
      return outcome.event
    case 'conflict':
      throw usedAlready()
    case 'failed': {
      const { reason, transaction } = outcome
      if (reason === BOUGHT_OTHERWISE) throw bill.route.buysCredit === true ? boughtBefore() : paidOtherwise()
      const refusal = { reason, payer: intent.from, version: intent.version, transaction }
      throw reason === OURS ? cannotSettle(payments, bill, refusal) : refuses(payments, bill, refusal)
    }
    case 'pending':
      throw pending(payments, intent, outcome.transaction)
  }
}

/** Who has lost the first payment has its wallet. */
function boughtBefore(): ApiError {
  return wrong(
    'idempotency_conflict',
    KEY,
    `Another payment is for this ${KEY}, and nothing was taken for this one: send that one again, or ask POST /wallet/keys for what it bought; a new ${KEY} buys more.`,
  )
}

/** 503: it is not known what became of the money; a 402 would make the caller pay twice. */
export function pending(payments: Payments, { from: payer, version }: PaymentIntent, transaction: string): ApiError {
  const settlement: Settlement = { success: false, errorReason: 'settlement_pending', transaction, payer }
  return new ApiError(
    'settlement_pending',
    'The payment is being settled; send the same request with the same payment again, it is charged once.',
    {
      retryAfterSeconds: PENDING_RETRY_SECONDS,
      headers: receiptHeaders(settlement, version, payments),
      more: { transaction },
    },
  )
}

/** Runs what was paid for. Whatever fails here can be had again with the same payment; `isStored`: with the same bytes. */
export async function runPaid(purchase: Purchase, event: PaymentEvent, run: Run, isStored: boolean): Promise<Reply> {
  try {
    const reply = await run({ id: event.payment_id, payer: event.payer, time: event.time })
    return withReceipt(purchase, event, isStored ? await store(purchase, reply) : reply)
  } catch (error) {
    throw owed(purchase, event, error)
  }
}

type Stored = Pick<Reply, 'status' | 'type' | 'body'>
type Answer = Stored & Pick<Reply, 'headers' | 'listen'>

/**
 * The answer that is in the log, whoever wrote it: several instances may answer copies of one request at once. Headers are not
 * kept there: those of the reply say which moment its own bytes are of.
 */
async function store({ payments, services, intent }: Purchase, reply: Reply): Promise<Answer> {
  const { payment_id: id, fingerprint } = intent
  const answer = packed(reply, { id, fingerprint, time: services.now() * 1000 })
  if (answer === undefined) return reply
  try {
    const kept = unpacked(await payments.ledger.keep(answer))
    return kept.body === reply.body && reply.headers ? { ...kept, headers: reply.headers } : kept
  } catch (error) {
    services.log.warn({ err: error, payment: id }, 'a paid answer could not be kept; sent again it is made again')
    return reply
  }
}

/** The answer that the payment bought before; undefined: none is stored. */
export async function storedReply(purchase: Purchase, settled: PaymentEvent): Promise<Reply | undefined> {
  const answer = await purchase.payments.ledger.answer(settled.payment_id)
  return answer === undefined ? undefined : withReceipt(purchase, settled, unpacked(answer))
}

/** Compressed bytes that are stored at most; a larger answer is made again. */
const STORED_BYTES_MAX = 256 * 1024

/** The answer as the log keeps it; undefined where it is too large. */
function packed(
  reply: Stored,
  { id, fingerprint, time }: { id: string; fingerprint: string; time: number },
): PaymentAnswer | undefined {
  const body = gzipSync(reply.body)
  if (body.length > STORED_BYTES_MAX) return undefined
  return { payment_id: id, fingerprint, status: reply.status, type: reply.type, body, time }
}

/** More than any answer has, so that no record can fill the memory. */
const UNPACKED_BYTES_MAX = 32 * 1024 * 1024

function unpacked({ status, type, body }: PaymentAnswer): Stored {
  return { status, type, body: gunzipSync(body, { maxOutputLength: UNPACKED_BYTES_MAX }).toString() }
}

const RECEIPT = 'PAYMENT-RESPONSE'

/** Whether the reply says that it was paid for. */
export function isReceipt({ headers }: Reply): boolean {
  return headers !== undefined && RECEIPT in headers
}

/** The caller's alone, with the receipt in the headers of both versions. */
export function withReceipt(purchase: Purchase, event: PaymentEvent, reply: Answer): Reply {
  const { status, type, body, listen } = reply
  const headers = { ...reply.headers, ...receiptOf(purchase, event), 'Cache-Control': 'private, no-store' }
  return { status, type, body, headers, ...(listen && { listen }) }
}

function receiptOf({ payments, intent }: Purchase, { tx, payer, amount }: PaymentEvent): Record<string, string> {
  return receiptHeaders({ success: true, transaction: tx ?? '', payer, amount }, intent.version, payments)
}

/** What failed after the money was taken, with the receipt: the caller must not pay again. */
function owed(purchase: Purchase, event: PaymentEvent, error: unknown): ApiError {
  const known = error instanceof ApiError ? error : undefined
  const why = known?.message ?? 'Something failed on our side.'
  return new ApiError(
    known?.code ?? 'internal_error',
    `${why} The payment stands: the same request with the same payment is not charged again.`,
    { ...known?.detail, cause: error, headers: receiptOf(purchase, event) },
  )
}
