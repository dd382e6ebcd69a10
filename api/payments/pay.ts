import { decodePayment, type Decoded, type Payment } from '../../processors/payments/wire/decode.ts'
import { fingerprintOf } from '../../processors/payments/wire/purchase.ts'
import { OVER, mismatchOf, untimelyOf } from '../../processors/payments/wire/refusals.ts'
import { paymentId } from '../../schemas/keys.ts'
import type { PaymentEvent, PaymentIntent } from '../../schemas/records.ts'
import { ApiError } from '../request/errors.ts'
import { rateLimited } from '../request/limits.ts'
import type { Reply } from '../request/reply.ts'
import { isQuestion, ownRequest, type Call, type Route, type Run } from '../request/route.ts'
import { creditedKey } from '../credit/tokens.ts'
import { KEPT_MS } from './answers.ts'
import { payByCredit } from './by-credit.ts'
import { assertCharged } from './operations.ts'
import { billOf, challenge, refuses, type Bill } from './challenges.ts'
import {
  assertKeyed,
  isReceipt,
  idempotencyKeyOf,
  KEY,
  pending,
  purchaseOf,
  runPaid,
  settle,
  storedReply,
  withReceipt,
  type Purchase,
} from './purchase.ts'
import { usedAlready } from './single-flight.ts'
import type { Payments, Standing } from './payments.ts'

/** The reply of a route that has a price: for nothing, for a payment, or 402; what became of it is counted. */
export async function pay(payments: Payments, call: Call): Promise<Reply> {
  const { metrics, steady } = call.services
  let isSold = false
  try {
    const reply = await sell(payments, call)
    isSold = isReceipt(reply)
    metrics.payments(reply.status === 402 ? 'asked' : isSold ? 'given' : 'free').inc()
    return reply
  } catch (error) {
    metrics.payments(error instanceof ApiError ? error.code : 'internal_error').inc()
    throw error
  } finally {
    if (!isSold) countRefusal(payments, call, steady())
  }
}

/** What comes with a payment and is not charged counts against a rate of its own: checking it costs us. */
export function countRefusal(
  { refusals }: Payments,
  { method, header, caller }: Pick<Call, 'method' | 'header' | 'caller'>,
  now: number,
): void {
  if (method !== 'HEAD' && isPaying(header)) refusals.take(caller, now)
}

/** Whether a payment comes with the request, readable or not. */
export function isPaying(header: (name: string) => string): boolean {
  return header('payment-signature') !== '' || header('x-payment') !== ''
}

/** Refuses who has sent too many payments that came to nothing. */
export function assertCredit({ refusals }: Payments, caller: string, now: number): void {
  const verdict = refusals.look(caller, now)
  if (verdict.kind !== 'refused') return
  throw rateLimited('Too many payments of yours were not accepted; wait a second.', verdict)
}

/**
 * The request is prepared, the payment verified, and the answer to a question made; only then the money is taken, and
 * only after that something is done. A payment is bound to its request by the fingerprint under its id.
 */
async function sell(payments: Payments, call: Call): Promise<Reply> {
  if (!isProbe(call)) assertKeyed(call)
  const target = targetOf(call.route, call.input)
  const bill = billOf(payments, call, target)
  const decoded = paymentOf(call)
  if (decoded.kind === 'none' && call.key !== null) return payByCredit(payments, call, { key: call.key, bill })
  if (decoded.kind === 'none') return unpaid(payments, call, bill)
  if (decoded.kind === 'malformed') throw malformed(decoded)
  const { payment } = decoded
  const { version, authorization } = payment
  const refused = (reason: string): ApiError => refuses(payments, bill, { reason, payer: authorization.from, version })
  const mismatch = mismatchOf(payment, { ...payments, ...bill })
  if (mismatch !== null) throw refused(mismatch)
  if (!(await payments.isSigned(payment))) throw refused('invalid_exact_evm_payload_signature')
  const intent = intentOf(payments, call, { bill, target, payment })
  return payments.inFlight.join(intent.payment_id, intent.fingerprint, async () => {
    const standing = await payments.ledger.find(intent.payment_id)
    const purchase = { payments, services: call.services, intent, bill }
    if (standing?.is === 'settled') return replyAgain(purchase, call, standing.event)
    const now = call.services.now() / 1000
    const untimely = untimelyOf(payment, payments.seller, now)
    if (untimely === null) return standing === undefined ? buy(purchase, call) : goOn(purchase, call, standing)
    throw mayHavePaid(standing, intent, now) ? underWay(purchase, standing) : refused(untimely)
  })
}

/** What the request pays with. */
function paymentOf({ method, header }: Call): Decoded {
  if (method === 'HEAD') return { kind: 'none' }
  return decodePayment({ v2: header('payment-signature'), v1: header('x-payment') })
}

function malformed({ header, fault }: Extract<Decoded, { kind: 'malformed' }>): ApiError {
  const message = `${header} cannot be read (${fault}); send one payment, as JSON in padded base64.`
  return new ApiError('invalid_payment', message, { field: header })
}

/** Without a payment: what is free is given; for what costs something its price is told, once it is known to be valid. */
async function unpaid(payments: Payments, call: Call, bill: Bill): Promise<Reply> {
  const prepared = isProbe(call) ? undefined : await call.route.prepare(call)
  if (typeof prepared === 'object') return prepared
  const isGift = prepared !== undefined && call.method === 'GET' && isQuestion(call.route) && hasFree(payments, call)
  return isGift ? prepared(null) : challenge(payments, bill, call.requestId)
}

/** Of those who discover prices: a POST without any body or payment. */
function isProbe({ route, body, header }: Call): boolean {
  return route.body !== undefined && body === undefined && !isPaying(header)
}

/** Whether the caller has a request left that the operator gives for nothing. */
function hasFree({ credit: { free } }: Payments, { caller, services }: Call): boolean {
  return free?.take(caller, services.steady()).kind === 'allowed'
}

/** Of all payments for the same Idempotency-Key one is taken: after it the others are answered for nothing. */
function buy(purchase: Purchase, call: Call, hasPaid = false): Promise<Reply> {
  const { inFlight } = purchase.payments
  const { purchase: name } = purchase.intent
  const once = (): Promise<Reply> => buyOnce(purchase, call, hasPaid)
  return name === null ? once() : inFlight.alone(name, once)
}

/** Whether the answer is kept for who sends the payment again. */
function isStored({ isIdempotent, lastsMs }: Route): boolean {
  return isIdempotent !== true && lastsMs === undefined
}

/** The money is taken when there is something to give for it. */
async function buyOnce(purchase: Purchase, call: Call, hasPaid: boolean): Promise<Reply> {
  const { route } = call
  const { payments, intent, bill } = purchase
  const run = await route.prepare({ ...call, payer: { address: intent.from, hasPaid } })
  if (typeof run === 'object') await assertCharged(payments, call, { key: { owner: intent.from }, bill })
  if (typeof run === 'object') return run
  if (!isQuestion(route)) return settleAndRun(purchase, call, { run, hasPaid })
  const reply = await run(null)
  if (reply.isFree === true) return reply
  return runPaid(purchase, await settle(purchase), async () => reply, true)
}

/** What may have been paid for is not refused for want of what is kept. */
async function settleAndRun(
  purchase: Purchase,
  { route, services, caller }: Call,
  { run, hasPaid }: { readonly run: Run; readonly hasPaid: boolean },
): Promise<Reply> {
  const letGo = hasPaid ? undefined : route.keep?.({ services, caller }, purchase.intent.payment_id)
  try {
    return await runPaid(purchase, await settle(purchase), run, isStored(route))
  } finally {
    letGo?.()
  }
}

type Open = Extract<Standing, { is: 'open' }>

/** The money was asked for before, so nothing can be given for free: whether it has come will be known in a moment. */
async function goOn(purchase: Purchase, call: Call, standing: Open): Promise<Reply> {
  const reply = await buy(purchase, call, true)
  if (isReceipt(reply)) return reply
  throw underWay(purchase, standing)
}

/** The money has come, and the answer got lost, or its making: nothing is taken again. */
async function replyAgain(purchase: Purchase, call: Call, settled: PaymentEvent): Promise<Reply> {
  if (settled.fingerprint !== purchase.intent.fingerprint) throw usedAlready()
  const stored = await storedReply(purchase, settled)
  if (stored !== undefined) return stored
  const { route, services } = call
  const { from: payer, version } = purchase.intent
  if (services.now() >= settled.time / 1000 + givenMs(route))
    throw refuses(purchase.payments, purchase.bill, { reason: OVER, payer, version })
  const run = await route.prepare({ ...call, payer: { address: payer, hasPaid: true } })
  // What is given for nothing is nobody's purchase: it may be told anew, and may hold secrets.
  if (typeof run === 'object') return withReceipt(purchase, settled, run)
  if (!isQuestion(route)) return runPaid(purchase, settled, run, isStored(route))
  const reply = await run(null)
  return runPaid(purchase, settled, async () => reply, reply.isFree !== true)
}

/** How long what was paid for is given again: an answer as long as it is kept; what is done is done once whenever it is asked. */
function givenMs(route: Route): number {
  return route.lastsMs ?? (isQuestion(route) ? KEPT_MS : Infinity)
}

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

function intentOf(
  { seller }: Payments,
  { route, services, header, requestId, bytes, body }: Call,
  { bill, target, payment }: { readonly bill: Bill; readonly target: string; readonly payment: Payment },
): PaymentIntent {
  const { version, authorization, signature } = payment
  const { from, nonce, value, validAfter, validBefore } = authorization
  const asset = seller.asset.toLowerCase()
  const looked = Object.keys(route.headers ?? {}).filter((name) => !BESIDE.has(name))
  const isKeyed = idempotencyKeyOf({ header }) !== null
  const named = isKeyed && !looked.includes(KEY) ? [...looked, KEY] : looked
  const headers = named.map((name) => [name, header(name)] as const)
  const { chainId } = seller.network
  const id = paymentId(chainId, asset, from, nonce)
  return {
    payment_id: id,
    request_id: ownRequest({ requestId }),
    method: route.method,
    route: route.path,
    fingerprint: fingerprintOf({ method: route.method, target, headers, body: bytes }),
    price: bill.amount,
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
    created: services.now() * 1000,
    purchase: purchaseOf({ route, header }, from),
    credit: route.buysCredit === true ? creditedKey(body, id, header(KEY)) : null,
  }
}

/** What a payment is for is the same whoever asks and however far the answer was read. */
const BESIDE: ReadonlySet<string> = new Set(['X-API-Key', 'Last-Event-ID'])

/**
 * Path and query as the router and the rules have understood them, however they were written: parameters in the
 * table's order, defaults said, others left out. Two requests that mean the same have the same, and it is an address
 * that answers.
 */
function targetOf({ path, input: rules }: Route, input: Readonly<Record<string, unknown>>): string {
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(textOf(input[name])))
  const query = Object.entries(rules).flatMap(([name, rule]) => {
    const value = input[name]
    return rule.in === 'path' || value === undefined ? [] : [`${name}=${encodeURIComponent(textOf(value))}`]
  })
  return query.length === 0 ? filled : `${filled}?${query.join('&')}`
}

/** A parameter's value: a text, a number or a list of texts. */
function textOf(value: unknown): string {
  return Array.isArray(value) ? value.join(',') : String(value)
}
