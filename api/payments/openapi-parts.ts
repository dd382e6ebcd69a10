import type { ErrorCode } from '../errors.ts'
import { array, integer, object, text, type Schema } from '../schema.ts'

/** What the OpenAPI document says of a route that is paid for. */

export const paidErrors: ErrorCode[] = [
  'invalid_payment',
  'payment_already_used',
  'data_unavailable',
  'settlement_pending',
]

/** The form that crawlers of paid interfaces read. */
export function paymentInfo(priceUsdc: number): Schema {
  return { price: { mode: 'fixed', currency: 'USD', amount: String(priceUsdc) }, protocols: [{ x402: {} }] }
}

export const paymentHeaders: readonly Schema[] = [
  header('PAYMENT-SIGNATURE', 'A payment of x402 version 2, JSON in base64'),
  header('X-PAYMENT', 'A payment of x402 version 1, JSON in base64'),
]

function header(name: string, description: string): Schema {
  return { name, in: 'header', required: false, description, schema: { type: 'string' } }
}

const challengeSchema = object(
  'What it costs, as x402 version 1 says it, and why a payment was not accepted',
  {
    x402Version: integer('1'),
    error: text('payment_required, or the reason code of a payment that was not accepted'),
    message: text('One sentence that says what to do'),
    docs: text('Address of the text that explains it'),
    accepts: array({ type: 'object', description: 'One offer' }, 'Offers'),
    payer: text('Who signed the payment that was not accepted'),
    request_id: text('As in X-Request-Id'),
  },
  ['docs', 'payer'],
)

export const challengeResponse: Schema = {
  description: 'Payment Required',
  headers: {
    'PAYMENT-REQUIRED': { description: 'The offer of x402 version 2, JSON in base64', schema: { type: 'string' } },
    'PAYMENT-RESPONSE': {
      description: 'Why a payment was not accepted, JSON in base64',
      schema: { type: 'string' },
    },
  },
  content: { 'application/json': { schema: challengeSchema } },
}
