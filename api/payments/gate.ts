import { hash, randomBytes } from 'node:crypto'
import { decodePayment, type Decoded, type Payment } from '../../processors/payments/wire/decode.ts'
import { fingerprintOf } from '../../processors/payments/wire/fingerprint.ts'
import { mismatchOf, untimelyOf } from '../../processors/payments/wire/match.ts'
import { paymentId } from '../../schemas/payments.ts'
import type { PaymentEvent, PaymentIntent } from '../../schemas/records.ts'
import { ApiError } from '../errors.ts'
import type { Answer, Call, Route } from '../route.ts'
import { ask, billOf, refuses, type Ask, type Bill } from './challenges.ts'
import { usedAlready } from './flights.ts'
import { isFree, writtenOf, type Given } from './given.ts'
import { keptAnswer, pending, perform, takeMoney, type Purchase } from './purchase.ts'
import type { Payments, Standing } from './payments.ts'

/** One request for a route that has a price. */
export interface Entry {
  readonly row: Route
  /** Read and checked, but by its handler. */
  readonly call: Call
  readonly requestId: string
  /** HEAD is answered like a GET that pays nothing. */
  readonly method: string
  /** Path and query as matched. */
  readonly target: string
  /** The body as it was sent. */
  readonly bytes: Buffer | undefined
}

/**
 * What a request gets: its answer for nothing, what it has paid for, or an offer; throws what is not accepted.
 *
 * The request is checked, then the payment, then the answer to a question is made; only then the money is taken, and
 * only after that something is done. A payment is bound to its request by the fingerprint under its id.
 */
export async function passGate(payments: Payments, entry: Entry): Promise<Answer | Given | Ask> {
  const bill = billOf(payments, entry.row, entry.target)
  const decoded = paymentOf(entry)
  if (decoded.kind === 'none') return askFor(payments, entry, bill)
  if (decoded.kind === 'malformed') throw malformed(decoded)
  const { payment } = decoded
  const { version, authorization } = payment
  const refused = (reason: string): ApiError => refuses(payments, bill, { reason, payer: authorization.from, version })
  const mismatch = mismatchOf(payment, { ...payments, ...bill })
  if (mismatch !== null) throw refused(mismatch)
  if (!(await payments.isSigned(payment))) throw refused('invalid_exact_evm_payload_signature')
  const intent = intentOf(payments, entry, bill, payment)
  return payments.flights.join(intent.payment_id, intent.fingerprint, async () => {
    const standing = await payments.ledger.find(intent.payment_id)
    const purchase = { payments, services: entry.call.services, intent, bill }
    if (standing?.is === 'settled') return giveAgain(purchase, entry, standing.event)
    const now = entry.call.services.now() / 1000
    const untimely = untimelyOf(payment, payments.seller, now)
    if (untimely === null) return standing === undefined ? giveAlone(purchase, entry) : goOn(purchase, entry, standing)
    throw mayHavePaid(standing, intent, now) ? underWay(purchase, standing) : refused(untimely)
  })
}

type Open = Extract<Standing, { is: 'open' }>

/** A block's clock lags behind ours by less, seconds. */
const BLOCK_LAG_SECONDS = 60

/**
 * Whether an authorization that nobody can bring any more may have moved the money all the same: it was sent in its time,
 * or it was asked for and the token would still take it.
 */
function mayHavePaid(
  standing: Standing | undefined,
  { valid_before: end }: PaymentIntent,
  now: number,
): standing is Open {
  return standing?.is === 'open' && (standing.isSent || now < end + BLOCK_LAG_SECONDS)
}

/** What it pays for is told when it has settled. */
function underWay({ payments, intent }: Purchase, standing: Open): ApiError {
  return standing.fingerprint === intent.fingerprint ? pending(payments, intent, standing.transaction) : usedAlready()
}

/** What the request pays with. */
function paymentOf({ method, call }: Pick<Entry, 'method' | 'call'>): Decoded {
  if (method === 'HEAD') return { kind: 'none' }
  return decodePayment({ v2: call.header('payment-signature'), v1: call.header('x-payment') })
}

function malformed({ header, fault }: Extract<Decoded, { kind: 'malformed' }>): ApiError {
  const message = `${header} cannot be read (${fault}); send one payment, as JSON in padded base64.`
  return new ApiError('invalid_payment', message, { field: header })
}

/** Without a payment: what is free is given; what costs something is asked for, once it is known to be valid. */
async function askFor(payments: Payments, { row, call }: Entry, bill: Bill): Promise<Answer | Ask> {
  // For those who discover prices: a POST without any body.
  const isProbe = row.body !== undefined && call.body === undefined
  const result = isProbe ? undefined : await row.handle(call)
  if (result === undefined || result.kind === 'deed' || result.kind === 'draft') return ask(payments, bill)
  return result
}

function intentOf(
  { seller }: Payments,
  { row, call, requestId, target, bytes }: Entry,
  { amount }: Bill,
  { version, authorization, signature }: Payment,
): PaymentIntent {
  const { from, nonce, value, validAfter, validBefore } = authorization
  const asset = seller.asset.toLowerCase()
  const headers = Object.keys(row.headers ?? {}).map((name) => [name, call.header(name)] as const)
  const { chainId } = seller.network
  return {
    payment_id: paymentId(chainId, asset, from, nonce),
    // Callers may repeat the id that they give; what becomes of an intent is told by an id of its own.
    request_id: `${requestId}.${randomBytes(4).toString('hex')}`,
    method: row.method,
    route: row.path,
    fingerprint: fingerprintOf({ method: row.method, target, headers, body: bytes }),
    price: amount,
    version,
    chain_id: chainId,
    asset,
    pay_to: seller.payTo.toLowerCase(),
    from,
    value,
    valid_after: Number(validAfter),
    valid_before: Number(validBefore),
    nonce,
    signature,
    created: call.services.now() * 1000,
    purchase: purchaseOf(row, from, call.header(KEY)),
  }
}

const KEY = 'Idempotency-Key'

/** What several payments may be for, by whom: null where the route takes no such key, or none was given. */
function purchaseOf({ name, headers = {} }: Route, payer: string, key: string): string | null {
  return key === '' || !(KEY in headers) ? null : hash('sha256', `${name} ${payer.toLowerCase()} ${key}`)
}

/** Of all payments for the same Idempotency-Key one is taken: after it the others are answered for nothing. */
function giveAlone(purchase: Purchase, entry: Entry, mayHavePaid = false): Promise<Answer | Given> {
  const { flights } = purchase.payments
  const { purchase: name } = purchase.intent
  const give = (): Promise<Answer | Given> => giveOnce(purchase, entry, mayHavePaid)
  return name === null ? give() : flights.alone(name, give)
}

/** The money was asked for before, so nothing can be given for free: whether it has come will be known in a moment. */
async function goOn(purchase: Purchase, entry: Entry, standing: Open): Promise<Given> {
  const answer = await giveAlone(purchase, entry, true)
  if (answer.kind === 'given') return answer
  throw underWay(purchase, standing)
}

/** The money is taken when there is something to give for it. */
async function giveOnce(purchase: Purchase, { row, call }: Entry, hasPaid: boolean): Promise<Answer | Given> {
  const result = await row.handle({ ...call, payer: { address: purchase.intent.from, hasPaid } })
  if (result.kind === 'deed') return perform(purchase, await takeMoney(purchase), result)
  if (result.kind !== 'draft') return result
  const answer = await result.give()
  if (isFree(answer)) return answer
  const made = writtenOf(answer, purchase.services)
  return perform(purchase, await takeMoney(purchase), { kind: 'made', made })
}

/** The money has come, and the answer got lost, or its making: nothing is taken again. */
async function giveAgain(purchase: Purchase, { row, call }: Entry, settled: PaymentEvent): Promise<Given> {
  if (settled.fingerprint !== purchase.intent.fingerprint) throw usedAlready()
  const kept = await keptAnswer(purchase, settled)
  if (kept !== undefined) return kept
  const result = await row.handle({ ...call, payer: { address: purchase.intent.from, hasPaid: true } })
  if (result.kind === 'deed') return perform(purchase, settled, result)
  const answer = result.kind === 'draft' ? await result.give() : result
  // What is given without a draft is nobody's purchase: it may be told anew, and may hold secrets.
  const kind = result.kind !== 'draft' || isFree(answer) ? 'passing' : 'made'
  return perform(purchase, settled, { kind, made: writtenOf(answer, purchase.services) })
}
