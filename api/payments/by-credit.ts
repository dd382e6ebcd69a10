import { randomUUID } from 'node:crypto'
import { within } from '../log/log-connection.ts'
import { assertScope } from '../credit/tokens.ts'
import type { Charge, Refusal } from '../credit/purses.ts'
import type { ApiKey } from '../../schemas/records.ts'
import { ApiError } from '../request/errors.ts'
import type { Reply } from '../request/reply.ts'
import { isQuestion, type Call } from '../request/route.ts'
import { challenge, type Bill } from './challenges.ts'
import { begin, operationOf, isCharger, type Operation } from './operations.ts'
import type { Paid, Payments } from './payments.ts'
import { purchaseOf } from './purchase.ts'

const DAY_SECONDS = 86_400
const RETRY_AFTER_SECONDS = 2
/** Requests whose time is remembered; beyond, the oldest is charged again where it is begun anew. */
const LASTING_MAX = 10_000

/**
 * The reply of a route that has a price, charged to the credit of an API key. Credit is set aside before the request is
 * done, and charged when there is an answer: what fails, what is free and what was charged before costs nothing. What was
 * done and not answered is charged when the same request is sent again.
 */
export async function payByCredit(payments: Payments, call: Call, by: ByKey): Promise<Reply> {
  const { key, bill } = by
  assertScope(key, call.route.method === 'GET' ? 'read' : 'alerts')
  const lasting = begunBy(payments, call, by)
  const operation = await operationOf(payments, call, by)
  const hasPaid = lasting !== undefined || operation?.isBegun === true
  const run = await call.route.prepare({ ...call, payer: { address: key.owner, hasPaid } })
  if (typeof run === 'object' && operation?.isBegun !== true) return run
  if (lasting !== undefined && typeof run === 'function') return run(lasting)
  const done = doneBy(call, by, operation)
  const work: Work = typeof run === 'object' ? async () => run : () => run(done)
  if (operation?.isCharged === true) return work()
  const charge = await payments.credit.purses.reserve(key, Number(bill.amount))
  if (typeof charge === 'string') return refused(payments, call, { charge, bill })
  const reply = await charged(charge, bill, () => give(payments, call, { by, operation, work }))
  if (done !== null && isAnswer(reply)) remember(payments, call, { key, bill, paid: done })
  return reply
}

interface ByKey {
  readonly key: ApiKey
  readonly bill: Bill
}

type Work = () => Promise<Reply>

/** A reply, and whether it is charged. */
interface Given {
  readonly reply: Reply
  readonly isCharged: Promise<boolean>
}

interface Giving {
  readonly by: ByKey
  readonly operation: Operation | null
  readonly work: Work
}

/** An operation is charged where it is new, or where another request has begun it; of both, the first that asks is charged. */
async function give(payments: Payments, call: Call, { by, operation, work }: Giving): Promise<Given> {
  const isBegun = operation !== null && (await begin(payments, call, by, operation))
  const reply = await work()
  const isDue = isAnswer(isBegun ? { ...reply, isFree: false } : reply)
  return {
    reply,
    isCharged: isDue && operation !== null ? isCharger(payments, call, by, operation) : Promise.resolve(isDue),
  }
}

/** The log of payments says who is charged by then, milliseconds; what it says later still counts. */
const CHARGED_MS = 5_000

async function charged(charge: Charge, { route, price }: Bill, giving: () => Promise<Given>): Promise<Reply> {
  const end = (isCharged: boolean): boolean => {
    if (isCharged) charge.commit(`${route.method} ${route.path}`)
    else charge.release()
    return isCharged
  }
  const given = await giving().catch((error: unknown) => {
    end(false)
    throw error
  })
  const ending = given.isCharged.then(end, (error: unknown) => {
    end(false)
    throw error
  })
  const { reply } = given
  const isCharged = await within(CHARGED_MS, ending, notCharged)
  return isCharged ? { ...reply, headers: { ...reply.headers, [CHARGED]: String(price) } } : reply
}

function notCharged(): ApiError {
  const message = 'It is not yet known whether credit is charged for this; send the same again, it is charged once.'
  return new ApiError('data_unavailable', message, { retryAfterSeconds: RETRY_AFTER_SECONDS })
}

/** What an answer has cost, USDC. */
const CHARGED = 'Credit-Charged'

function isAnswer({ status, isFree }: Reply): boolean {
  return isFree !== true && status < 400
}

/**
 * What is done is known by an id of its own, as by a payment's: that of its operation, which so is done once. A creation is known
 * by its Idempotency-Key.
 */
function doneBy(call: Call, { key: { key_id: id, owner: payer } }: ByKey, operation: Operation | null): Paid | null {
  if (isQuestion(call.route)) return null
  const own = operation === null || purchaseOf(call, payer) !== null ? randomUUID() : operation.name
  return { id: `credit:${id}:${own}`, payer, time: call.services.now() * 1_000 }
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
