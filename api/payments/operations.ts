import { hash } from 'node:crypto'
import { BOUGHT_OTHERWISE } from '../../processors/payments/wire/refusals.ts'
import { fingerprintOf, reservationOf } from '../../processors/payments/wire/purchase.ts'
import type { ApiKey, PaymentEvent } from '../../schemas/records.ts'
import { within } from '../log/log-connection.ts'
import { ApiError } from '../request/errors.ts'
import { isQuestion, ownRequest, type Call } from '../request/route.ts'
import type { Bill } from './challenges.ts'
import type { Payments } from './payments.ts'
import { idempotencyKeyOf, KEY, purchaseOf } from './purchase.ts'
import { paidOtherwise } from './single-flight.ts'

/** An Idempotency-Key means the same for a day; a minute less, since what it made may be older than its reservation. */
const KNOWN_MICROS = (86_400 - 60) * 1_000_000
/** The log of payments answers by then, milliseconds. */
const RESERVED_MS = 5_000
const RETRY_AFTER_SECONDS = 2

/**
 * What one Idempotency-Key asks to be done and is charged to credit. The log of payments knows of it whether it was begun
 * and whether it was charged, whichever instance did so and whatever became of that instance.
 */
export interface Operation {
  /** The same for every request of it. */
  readonly name: string
  readonly isBegun: boolean
  readonly isCharged: boolean
}

interface ByKey {
  readonly key: Pick<ApiKey, 'owner'>
  readonly bill: Bill
}

/** Null: a question, or it has no key and cannot be sent again as the same. */
export async function operationOf({ ledger }: Payments, call: Call, by: ByKey): Promise<Operation | null> {
  const name = isQuestion(call.route) || call.route.lastsMs !== undefined ? null : nameOf(call, by)
  if (name === null) return null
  const isThere = async (what: string): Promise<boolean> => {
    const standing = await ledger.find(idOf(what))
    return standing?.is === 'settled' && isOfToday(call, standing.event)
  }
  const [isBegun, isCharged] = await Promise.all([isThere(name), isThere(chargeOf(name))])
  return { name, isBegun, isCharged }
}

/** Throws where credit is still to be charged for it: who sends it with a payment does not have it for nothing. */
export async function assertCharged(payments: Payments, call: Call, by: ByKey): Promise<void> {
  const operation = await operationOf(payments, call, by)
  if (operation?.isBegun === true && !operation.isCharged) throw paidOtherwise()
}

/** A creation is the same for its payer and key; of anything else the whole request is. */
function nameOf(call: Call, { key: { owner }, bill: { url } }: ByKey): string | null {
  const key = idempotencyKeyOf(call)
  if (key === null) return null
  const { method } = call.route
  const request = { method, target: url, headers: [[KEY, key]], body: call.bytes } as const
  return purchaseOf(call, owner) ?? hash('sha256', `${owner} ${fingerprintOf(request)}`)
}

const idOf = (name: string): string => `credit:${name}`
const chargeOf = (name: string): string => `charge of ${name}`

/**
 * Of credit and payments for one Idempotency-Key one is taken: who comes first in the log of payments. Gives whether another
 * request has begun the operation: it may have done it, and not charged it.
 */
export async function begin(payments: Payments, call: Call, by: ByKey, { name }: Operation): Promise<boolean> {
  const { isOurs, event } = await within(RESERVED_MS, reserve(payments, call, by, name), notReserved)
  return !isOurs && isOfToday(call, event)
}

/** What was written may still be taken: then the same request by credit goes on, and a payment for it is refused. */
function notReserved(): ApiError {
  return new ApiError('data_unavailable', 'Credit cannot be charged right now, and nothing was; send the same again.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
}

/** Whether this request is the one that is charged for the operation, which was done; of all that ask, the first in the log is. */
export async function isCharger(payments: Payments, call: Call, by: ByKey, { name }: Operation): Promise<boolean> {
  const { isOurs, event } = await reserve(payments, call, by, chargeOf(name))
  return isOurs || !isOfToday(call, event) // what the key did the day before
}

interface Reserved {
  readonly isOurs: boolean
  readonly event: PaymentEvent
}

async function reserve(payments: Payments, call: Call, { key, bill }: ByKey, purchase: string): Promise<Reserved> {
  const { ledger, seller } = payments
  const { method, path: route } = call.route
  const request = ownRequest(call)
  const asked = { request_id: request, method, route, price: bill.amount, from: key.owner, purchase }
  const where = {
    chain_id: seller.network.chainId,
    asset: seller.asset.toLowerCase(),
    pay_to: seller.payTo.toLowerCase(),
  }
  const outcome = await ledger.settle(reservationOf({ ...asked, ...where, created: call.services.now() * 1_000 }))
  if (outcome.is === 'failed' && outcome.reason === BOUGHT_OTHERWISE) throw paidOtherwise()
  if (outcome.is !== 'settled') throw notReserved()
  return { isOurs: outcome.event.request_id === request, event: outcome.event }
}

function isOfToday({ services }: Pick<Call, 'services'>, { time }: PaymentEvent): boolean {
  return services.now() * 1_000 < time + KNOWN_MICROS
}
