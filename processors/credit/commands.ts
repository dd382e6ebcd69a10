import type { CreditCommand, Micros, PaymentIntent } from '../../schemas/records.ts'

/** A command about a key; what it does not say is left as it is. */
export function creditCommand(
  said: Pick<CreditCommand, 'key_id' | 'op' | 'request_id' | 'time'> & Partial<CreditCommand>,
): CreditCommand {
  const nothing = { amount: 0, payment_id: null, payer: null, lease: null, uses: [], ends: false }
  return { ...nothing, terms: null, version: null, until: null, ...said }
}

/** The purchase that a settled payment was for; undefined: it bought no credit. */
export function boughtBy(intent: PaymentIntent, request_id: string, time: Micros): CreditCommand | undefined {
  const { credit: key_id, payment_id, from: payer, value } = intent
  if (key_id === null) return undefined
  return creditCommand({ key_id, op: 'bought', request_id, time, amount: Number(value), payment_id, payer })
}
