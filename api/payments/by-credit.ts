import { randomUUID } from 'node:crypto'
import { BOUGHT_OTHERWISE } from '../../processors/payments/wire/refusals.ts'
import { reservationOf } from '../../processors/payments/wire/purchase.ts'
import { within } from '../log/log-connection.ts'
import { assertScope } from '../credit/tokens.ts'
import type { Charge, Refusal } from '../credit/purses.ts'
import type { ApiKey } from '../../schemas/records.ts'
import { ApiError } from '../errors.ts'
import type { Reply } from '../reply.ts'
import { isQuestion, ownRequest, type Call } from '../route.ts'
import { challenge, type Bill } from './challenges.ts'
import type { Paid, Payments } from './payments.ts'
import { purchaseOf } from './purchase.ts'
import { paidOtherwise } from './single-flight.ts'

const DAY_SECONDS = 86_400
const RETRY_AFTER_SECONDS = 2
/** Requests whose time is remembered; beyond, the oldest is charged again where it is begun anew. */
const LASTING_MAX = 10_000

/**
 * The reply of a route that has a price, charged to the credit of an API key. Credit is set aside before the request is
 * done, and charged when there is an answer: what fails, what is free and what was answered before costs nothing.
 */
export async function payByCredit(payments: Payments, call: Call, { key, bill }: ByKey): Promise<Reply> {
  assertScope(key, call.route.method === 'GET' ? 'read' : 'alerts')
  const begun = begunBy(payments, call, { key, bill })
  const run = await call.route.prepare({ ...call, payer: { address: key.owner, hasPaid: begun !== undefined } })
  if (typeof run === 'object') return run
  if (begun !== undefined) return run(begun)
  const charge = await payments.credit.purses.reserve(key, Number(bill.amount))
  if (typeof charge === 'string') return refused(payments, call, { charge, bill })
  return charged(charge, bill, async () => {
    await reservePurchase(payments, call, { key, bill })
    const paid = isQuestion(call.route) ? null : paidBy(key, call.services.now() * 1_000)
    const reply = await run(paid)
    if (paid !== null && isCharged(reply)) remember(payments, call, { key, bill, paid })
    return reply
  })
}

interface ByKey {
  readonly key: ApiKey
  readonly bill: Bill
}

/** The log of payments answers by then, milliseconds. */
const RESERVED_MS = 5_000

/**
 * Of credit and payments for one Idempotency-Key one is taken: who comes first in the log of payments. Another request that
 * is charged for the same key is let through, and finds what the first has made.
 */
async function reservePurchase({ ledger, seller }: Payments, call: Call, { key, bill }: ByKey): Promise<void> {
  const purchase = purchaseOf(call, key.owner)
  if (purchase === null) return
  const { method, path: route } = call.route
  const asked = { request_id: ownRequest(call), method, route, price: bill.amount, from: key.owner, purchase }
  const where = {
    chain_id: seller.network.chainId,
    asset: seller.asset.toLowerCase(),
    pay_to: seller.payTo.toLowerCase(),
  }
  const reserving = ledger.settle(reservationOf({ ...asked, ...where, created: call.services.now() * 1_000 }))
  const outcome = await within(RESERVED_MS, reserving, notReserved)
  if (outcome.is === 'failed' && outcome.reason === BOUGHT_OTHERWISE) throw paidOtherwise()
  if (outcome.is !== 'settled') throw notReserved()
}

/** What was written may still be taken: then the same request by credit goes on, and a payment for it is refused. */
function notReserved(): ApiError {
  return new ApiError('data_unavailable', 'Credit cannot be charged right now, and nothing was; send the same again.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
}

async function charged(charge: Charge, { route, price }: Bill, work: () => Promise<Reply>): Promise<Reply> {
  let isGiven = false
  try {
    const reply = await work()
    isGiven = isCharged(reply)
    return isGiven ? { ...reply, headers: { ...reply.headers, [CHARGED]: String(price) } } : reply
  } finally {
    if (isGiven) charge.commit(`${route.method} ${route.path}`)
    else charge.release()
  }
}

/** What an answer has cost, USDC. */
const CHARGED = 'Credit-Charged'

function isCharged({ status, isFree }: Reply): boolean {
  return isFree !== true && status < 400
}

/** What is done is known by an id of its own, as by a payment's. */
function paidBy({ key_id: id, owner: payer }: ApiKey, time: number): Paid {
  return { id: `credit:${id}:${randomUUID()}`, payer, time }
}

function refused(
  payments: Payments,
  { services, requestId }: Call,
  { charge, bill }: { charge: Refusal; bill: Bill },
): Reply {
  switch (charge) {
    case 'no_credit':
      return challenge(payments, bill, requestId, 'insufficient_credit')
    case 'held':
      throw new ApiError(
        'data_unavailable',
        'What is left of the key’s credit is set aside for requests under way; try again.',
        {
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        },
      )
    case 'daily_max':
      throw new ApiError(
        'quota_reached',
        'The key has spent what its daily_max_usdc allows; a day begins at midnight UTC.',
        {
          retryAfterSeconds: DAY_SECONDS - Math.floor((services.now() / 1_000) % DAY_SECONDS),
        },
      )
    case 'ended':
      throw new ApiError('unauthorized', 'This API key has ended; POST /credit buys one.')
  }
}

/**
 * What was paid for and lasts, as the stream, is begun again for nothing by the same instance, until its time is over: as
 * with a payment, in place of the one before.
 */
function begunBy({ credit }: Payments, { route: { lastsMs = 0 }, services }: Call, by: ByKey): Paid | undefined {
  const known = credit.lasting.get(nameOf(by))
  if (known === undefined || services.now() >= known.time / 1_000 + lastsMs) return undefined
  return { ...known, payer: by.key.owner }
}

function remember(
  { credit: { lasting } }: Payments,
  { route }: Call,
  { paid: { id, time }, ...by }: ByKey & { readonly paid: Paid },
): void {
  if (route.lastsMs === undefined) return
  lasting.delete(nameOf(by))
  lasting.set(nameOf(by), { id, time })
  const [oldest] = lasting.size > LASTING_MAX ? lasting.keys() : []
  if (oldest !== undefined) lasting.delete(oldest)
}

function nameOf({ key, bill }: ByKey): string {
  return `${key.key_id} ${bill.url}`
}
