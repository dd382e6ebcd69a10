import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Caller } from '../agent.ts'
import {
  Certificates,
  attempts,
  append,
  dispatch,
  fastClock,
  senderTo,
  startReceiver,
  triggerFor,
  type Answering,
  type Receiver,
} from '../testing/world.ts'
import type { Result } from '../attempt.ts'
import { answering, vendors } from './testing/vendors.ts'

/** Channels against stand-ins that take and refuse what their vendors say. */

const certificates = new Certificates()
const open: Receiver[] = []
let caller: Caller

beforeAll(async () => {
  await certificates.make()
  caller = new Caller(certificates.authorities)
})
afterEach(async () => {
  await Promise.all(open.splice(0).map((receiver) => receiver.close()))
})
afterAll(() => {
  caller.close()
  certificates.remove()
})

interface StandIn {
  readonly taken: Buffer[]
  readonly bases: ReadonlyMap<string, URL>
}

async function standIn(name: string, limitedFirst = 0): Promise<StandIn> {
  const vendor = vendors[name]
  if (vendor === undefined) throw new Error(`no stand-in is called ${name}`)
  const taken: Buffer[] = []
  const receiver = await startReceiver(certificates.of('good'), answering(vendor, taken, limitedFirst))
  open.push(receiver)
  return { taken, bases: new Map([[name, new URL(receiver.url)]]) }
}

function attempt({ bases }: StandIn, ...given: Parameters<typeof triggerFor>): Promise<Result> {
  return senderTo(caller, { bases, deadlineMs: 20_000 })(triggerFor(...given), 1, () => undefined)
}

describe.each(Object.entries(vendors))('%s', (name, { given, dead, retryAfter }) => {
  it('takes an event, and one that says more than it takes', async () => {
    const vendor = await standIn(name)
    expect(await attempt(vendor, given)).toMatchObject({ is: 'delivered' })
    expect(await attempt(vendor, given, { condition_met: '<&*"\n😀'.repeat(20_000) })).toMatchObject({
      is: 'delivered',
    })
    expect(await attempt(vendor, given, { test: true })).toMatchObject({ is: 'delivered' })
    expect(vendor.taken).toHaveLength(3)
  })

  it('says how long it wants to be left alone', async () => {
    const limited = await attempt(await standIn(name, 1), given)
    expect(limited).toMatchObject({ is: 'failed', status: 429, error: 'status' })
    expect('retryAfterSeconds' in limited ? limited.retryAfterSeconds : undefined).toBe(retryAfter)
  })

  it('does not know a destination that is gone: its alert is told of no more, and the journal says so', async () => {
    const vendor = await standIn(name)
    expect(await attempt(vendor, dead)).toMatchObject({ is: 'failed', error: 'gone' })
    const { broker, dispatcher } = dispatch(senderTo(caller, { bases: vendor.bases }))
    append(broker, triggerFor(dead, { trigger_id: 'alert_btc_1786060800_1_1' }))
    await expect.poll(() => attempts(broker).length, { timeout: 4_000 }).toBe(1)
    append(broker, triggerFor(dead, { trigger_id: 'alert_btc_1786060800_1_2' }))
    await expect.poll(() => attempts(broker).length, { timeout: 4_000 }).toBe(2)
    await dispatcher.stop()
    const told = attempts(broker).map(({ outcome, error, number }) => ({ outcome, error, number }))
    const end = { outcome: 'cancelled', error: 'gone' }
    expect(told).toEqual([
      { ...end, number: 1 },
      { ...end, number: 0 },
    ])
  })

  it('gets what it put off once, when it is due again', async () => {
    const vendor = await standIn(name, 2)
    const { broker, dispatcher } = dispatch(senderTo(caller, { bases: vendor.bases }), { clock: fastClock(60) })
    append(broker, triggerFor(given, { time: Date.now() * 1_000 }))
    await expect.poll(() => vendor.taken.length, { timeout: 4_000 }).toBe(1)
    await dispatcher.stop()
    expect(attempts(broker).map(({ outcome, status }) => [outcome, status])).toEqual([
      ['retry', 429],
      ['retry', 429],
      ['delivered', expect.toSatisfy((code) => code >= 200 && code < 300)],
    ])
  })
})

it('a burst beyond the limit of a destination is not sent against it: what waits is held until it may', async () => {
  const SPEED = 20
  const times: number[] = []
  const taken: Buffer[] = []
  const bucket: Answering = (_, response, { body, at }) => {
    const recent = times.filter((time) => at - time < 2_000 / SPEED) // 5 in 2 s, as Discord's webhooks
    if (recent.length >= 5) return void response.writeHead(429).end('{"retry_after": 2.0, "global": false}')
    times.push(at)
    taken.push(body)
    response.writeHead(204).end()
  }
  const receiver = await startReceiver(certificates.of('good'), bucket)
  open.push(receiver)
  const send = senderTo(caller, { bases: new Map([['discord', new URL(receiver.url)]]) })
  const { broker, dispatcher } = dispatch(send, { clock: fastClock(SPEED) })
  const triggers = Array.from({ length: 30 }, (_, n) =>
    triggerFor(vendors['discord']?.given ?? {}, {
      trigger_id: `alert_btc_1786060800_1_${n}`,
      delivery: '{"digest":false}',
      time: Date.now() * 1_000,
    }),
  )
  for (const trigger of triggers) append(broker, trigger)
  await expect.poll(() => taken.length, { timeout: 4_500 }).toBe(30)
  await dispatcher.stop()
  const refused = attempts(broker).filter(({ status }) => status === 429).length
  expect(refused).toBeLessThan(30)
})

it('a message that is never taken ends by itself, and the next of its alert is tried', async () => {
  const taken: Buffer[] = []
  const refuse = (_: unknown, response: { writeHead(code: number): { end(text: string): void } }): void => {
    taken.push(Buffer.alloc(0))
    response.writeHead(400).end('invalid_payload')
  }
  const receiver = await startReceiver(certificates.of('good'), refuse)
  open.push(receiver)
  const bases = new Map([['slack', new URL(receiver.url)]])
  const { broker, dispatcher } = dispatch(senderTo(caller, { bases }))
  for (const id of [1, 2])
    append(broker, triggerFor(vendors['slack']?.given ?? {}, { trigger_id: `alert_btc_1786060800_1_${id}` }))
  await expect.poll(() => attempts(broker).length, { timeout: 4_000 }).toBe(2)
  await dispatcher.stop()
  expect(attempts(broker).map(({ outcome, error, number }) => [outcome, error, number])).toEqual([
    ['cancelled', 'rejected', 1],
    ['cancelled', 'rejected', 1],
  ])
  expect(taken).toHaveLength(2)
})
