import { BOUGHT_OTHERWISE } from '../../processors/payments/wire/reasons.ts'
import type { Settlement } from '../../processors/payments/wire/receipt.ts'
import type { PaymentEvent, PaymentIntent } from '../../schemas/records.ts'
import { ApiError } from '../errors.ts'
import type { Deed } from '../route.ts'
import type { Services } from '../services.ts'
import { cannotSettle, receiptHeaders, refuses, type Bill } from './challenges.ts'
import { paidOtherwise, usedAlready } from './flights.ts'
import { packed, unpacked, writtenOf, type Given, type Written } from './given.ts'
import type { Payments } from './payments.ts'

/** One payment for one request. */
export interface Purchase {
  readonly payments: Payments
  readonly services: Services
  readonly intent: PaymentIntent
  readonly bill: Bill
}

/**
 * What is given for a payment.
 * - `made`: an answer that stands already;
 * - `passing`: the same, of stale data: it is not kept, so that the same payment gets better ones later.
 */
export type Good = Deed | { readonly kind: 'made' | 'passing'; readonly made: Written }

/** When a caller whose payment has no outcome yet should come again, seconds. */
const PENDING_RETRY_SECONDS = 5

/** The payment is not at fault: chain, wallet or facilitator did not work, and nothing was sent. */
const OURS = 'unexpected_settle_error'

/** Has the payment settled; throws what its caller is told where it is not. */
export async function takeMoney({ payments, services, intent, bill }: Purchase): Promise<PaymentEvent> {
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
      if (reason === BOUGHT_OTHERWISE) throw paidOtherwise()
      const refusal = { reason, payer: intent.from, version: intent.version, transaction }
      throw reason === OURS ? cannotSettle(payments, bill, refusal) : refuses(payments, bill, refusal)
    }
    case 'pending':
      throw pending(payments, intent, outcome.transaction)
  }
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

/** Does or gives what was paid for, and keeps the answer. Whatever fails here can be had again with the same payment. */
export async function perform(purchase: Purchase, event: PaymentEvent, good: Good): Promise<Given> {
  try {
    const written = good.kind === 'deed' ? await act(purchase, event, good) : good.made
    const isKept = good.kind === 'deed' ? !good.isRepeatable : good.kind === 'made'
    return givenOf(purchase, event, isKept ? await keep(purchase, written) : written)
  } catch (error) {
    throw owed(purchase, event, error)
  }
}

async function act({ services }: Purchase, { payment_id: id, payer }: PaymentEvent, deed: Deed): Promise<Written> {
  return writtenOf(await deed.act({ id, payer }), services)
}

/** The answer that is in the log, whoever wrote it: several instances may answer copies of one request at once. */
async function keep({ payments, services, intent }: Purchase, written: Written): Promise<Written> {
  const { payment_id: id, fingerprint } = intent
  const answer = packed(written, { id, fingerprint, time: services.now() * 1000 })
  if (answer === undefined) return written
  try {
    return unpacked(await payments.ledger.keep(answer))
  } catch (error) {
    services.log.warn({ err: error, payment: id }, 'a paid answer could not be kept; sent again it is made again')
    return written
  }
}

/** The answer that the payment bought before; undefined: none is kept. */
export async function keptAnswer(purchase: Purchase, settled: PaymentEvent): Promise<Given | undefined> {
  const answer = await purchase.payments.ledger.answer(settled.payment_id)
  return answer === undefined ? undefined : givenOf(purchase, settled, unpacked(answer))
}

function givenOf(purchase: Purchase, event: PaymentEvent, written: Written): Given {
  return { kind: 'given', ...written, headers: receiptOf(purchase, event) }
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
