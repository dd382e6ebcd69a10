import { expect, it } from 'vitest'
import type { Log } from '../../infra/kafka/seam.ts'
import type { PaymentEvent, PaymentIntent } from '../../schemas/records.ts'
import { credit } from '../credit/credit.ts'
import { CoreTestDriver } from '../kernel/testing/core-test-driver.ts'
import type { Clock } from '../kernel/ports.ts'
import { codec, testTask, testTaskOn, type TestTask } from '../kernel/testing/task.ts'
import { eventOf } from './ledger.ts'
import { CREDIT_LOG, EVENTS, INTENTS, PARTITION, Settlement } from './settlement.ts'
import type { Settler } from './settler.ts'
import { intentOf, NOW, SELLER } from './testing/intents.ts'
import { reservationOf } from './wire/purchase.ts'

const nothing = (): void => undefined
const clock: Clock = {
  now: () => NOW * 1_000,
  steady: () => NOW * 1_000,
  delay: (ms) => (ms === 0 ? Promise.resolve() : new Promise(nothing)),
  turn: () => Promise.resolve(),
}
const losses = { gas: 0n, cooling: 0 }

const bank: Settler = {
  by: 'us',
  trouble: null,
  losses,
  recall: nothing,
  async settle({ sent, sending }) {
    if (sent.length === 0) await sending({ tx: '0xaa', raw: null })
    return { is: 'settled', tx: '0xaa', block: 7, by: 'us' }
  },
}

/** An owner that reads all intents; gives what it has failed of. */
async function own(world: TestTask, settler = bank, settleMs = 20_000): Promise<unknown> {
  const payments = { settled: nothing, failed: nothing, pending: nothing }
  const options = { ...world, settler, seller: SELLER, payments, settleMs }
  const settlement = await Settlement.open(options)
  const failed = settlement.owned.failed
  await settlement.work(
    await world.ports.reader.fetch(settlement.owned.positions(), { maxWaitMs: 0, maxBytesPerPartition: 1e6 }),
  )
  const ended = await Promise.race([failed, new Promise((resolve) => setTimeout(resolve, 20, 'done'))])
  await settlement.owned.close()
  return ended
}

/** A log that is gone from a write on. */
function dyingOf(log: Log, isTime: (topic: string) => boolean): Log {
  const claim: Log['claim'] = async (owner, targets) => {
    const claimed = await log.claim(owner, targets)
    return {
      ...claimed,
      send: async (topic, ...rest) => {
        if (isTime(topic)) throw new Error('killed')
        return claimed.send(topic, ...rest)
      },
    }
  }
  return { ...log, claim }
}

it('counts what a settled payment bought as credit once, wherever its owner is killed', async () => {
  const world = testTask({}, clock)
  for (const [index, key] of ['k_1', null].entries()) {
    const intent = intentOf({ payment_id: `p${index}`, credit: key, nonce: `0x${String(index).padStart(64, '0')}` })
    const value = codec.encode(INTENTS, 'payment_intent', intent)
    world.broker.append(INTENTS, PARTITION, [{ key: intent.payment_id, value, time: NOW * 1_000 }])
  }
  let isBought = false
  const behindThePurchase = (topic: string): boolean => {
    if (topic === EVENTS && isBought) return true
    isBought ||= topic === CREDIT_LOG
    return false
  }
  const dying = testTaskOn(world.broker, { log: dyingOf(world.broker.connect(), behindThePurchase) }, clock)
  expect(await own(dying)).toEqual(new Error('killed'))
  expect(await own(testTaskOn(world.broker, {}, clock))).toBe('done')
  expect(await own(testTaskOn(world.broker, {}, clock))).toBe('done')

  const commands = world.broker
    .records(CREDIT_LOG, PARTITION)
    .map(({ value }) => codec.decode(value ?? Buffer.alloc(0)))
  expect(commands).toMatchObject([
    { type: 'credit_command', value: { key_id: 'k_1', op: 'bought', payment_id: 'p0', amount: 20_000 } },
    { value: { payment_id: 'p0' } },
  ])
  const { state } = new CoreTestDriver(credit, CREDIT_LOG).batch(...commands)
  expect(state.keys.get('k_1')?.bought).toBe(20_000)
})

/** A log in which a payment is asked for, and what is written of it. */
function asking(intent: PaymentIntent): { world: TestTask; events: () => PaymentEvent[] } {
  const world = testTask({}, clock)
  const value = codec.encode(INTENTS, 'payment_intent', intent)
  world.broker.append(INTENTS, PARTITION, [{ key: intent.payment_id, value, time: NOW * 1_000 }])
  const events = (): PaymentEvent[] =>
    world.broker.records(EVENTS, PARTITION).flatMap((record) => {
      const said = codec.decode(record.value ?? Buffer.alloc(0))
      return said.type === 'payment_event' ? [said.value] : []
    })
  return { world, events }
}

it('gives no credit for a payment that has failed', async () => {
  const { world, events } = asking(intentOf({ credit: 'k_1' }))
  const settle: Settler['settle'] = () => Promise.resolve({ is: 'failed', tx: null, reason: 'insufficient_funds' })
  expect(await own(world, { ...bank, settle })).toBe('done')
  expect(events()).toMatchObject([{ event: 'failed', reason: 'insufficient_funds' }])
  expect(world.broker.records(CREDIT_LOG, PARTITION)).toEqual([])
})

it('names the transaction of a payment that is said to be pending', async () => {
  const { world, events } = asking(intentOf())
  const settle: Settler['settle'] = async ({ sending }) => {
    await sending({ tx: '0xaa', raw: null })
    return new Promise(nothing)
  }
  expect(await own(world, { ...bank, settle }, 0)).toBe('done')
  expect(events()).toMatchObject([
    { event: 'broadcast', tx: '0xaa' },
    { event: 'pending', tx: '0xaa' },
  ])
})

it('settles what a former owner has sent, though it would not be taken now', async () => {
  const intent = intentOf({ price: '1' })
  const { world, events } = asking(intent)
  const sent = eventOf({ intent, offset: 0 }, { event: 'broadcast', time: NOW * 1e6, tx: '0xaa' })
  const value = codec.encode(EVENTS, 'payment_event', sent)
  world.broker.append(EVENTS, PARTITION, [{ key: intent.payment_id, value, time: NOW * 1_000 }])
  expect(await own(world)).toBe('done')
  expect(events()).toMatchObject([{ event: 'broadcast' }, { event: 'settled', tx: '0xaa' }])
})

it('reports each step of a payment under its request', async () => {
  const world = testTask({}, clock)
  const intent = intentOf({ request_id: 'my-request_0f' })
  const value = codec.encode(INTENTS, 'payment_intent', intent)
  world.broker.append(INTENTS, PARTITION, [{ key: intent.payment_id, value, time: NOW * 1_000 }])
  await own(world)
  const about = { request: 'my-request_0f', payment: intent.payment_id, tx: '0xaa' }
  expect(world.notes.fields).toMatchObject([
    { ...about, event: 'broadcast' },
    { ...about, event: 'settled' },
  ])
})

it.each([0, 1, 2, 3, 4, 5, 6])(
  'takes of credit and a payment for one purchase who came first, killed before event %i',
  async (count) => {
    const world = testTask({}, clock)
    const payment = (purchase: string): PaymentIntent =>
      intentOf({ payment_id: `paid-${purchase}`, request_id: `paid-${purchase}`, purchase })
    const credit = (purchase: string, request_id = `credit-${purchase}`): PaymentIntent =>
      reservationOf({ ...intentOf({ request_id }), purchase })
    const asked = [credit('a'), payment('a'), credit('a', 'again'), payment('b'), credit('b')]
    for (const intent of asked) {
      const value = codec.encode(INTENTS, 'payment_intent', intent)
      world.broker.append(INTENTS, PARTITION, [{ key: intent.payment_id, value, time: NOW * 1_000 }])
    }
    let left = count
    const log = dyingOf(world.broker.connect(), (topic) => topic === EVENTS && left-- <= 0)
    await own(testTaskOn(world.broker, { log }, clock))
    expect(await own(testTaskOn(world.broker, {}, clock))).toBe('done')

    const events = world.broker.records(EVENTS, PARTITION).flatMap(({ value }) => {
      const said = codec.decode(value ?? Buffer.alloc(0))
      return said.type === 'payment_event' ? [`${said.value.request_id} ${said.value.reason ?? said.value.event}`] : []
    })
    expect(new Set(events)).toEqual(
      new Set([
        'credit-a reserved',
        'paid-a idempotency_key_in_use',
        'paid-b broadcast',
        'paid-b settled',
        'credit-b idempotency_key_in_use',
      ]),
    )
  },
)
