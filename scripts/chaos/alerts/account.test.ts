import { beforeEach, describe, expect, it } from 'vitest'
import { nobody } from '../../../processors/alerts/record.ts'
import { price as priceAt } from '../../../processors/alerts/testing/records.ts'
import { MemoryBroker, stillClock } from '../../../processors/kernel/testing/memory-log.ts'
import { localCodec, emptyFields } from '../../../schemas/codec.ts'
import { recordId } from '../../../schemas/record-id.ts'
import type { Attempt, Command, Message, Trigger } from '../../../schemas/records.ts'
import { accountAlerts, isSoundAlerts, type AlertReport, type Disturbance } from './account.ts'
import type { Delivered, Receiver } from './receiver.ts'

const T = 1_700_000_000_000_000
const PARTITION = 1
const codec = localCodec()

let broker: MemoryBroker
let deliveries: Map<string, Delivered>
beforeEach(() => {
  broker = new MemoryBroker(stillClock)
  deliveries = new Map()
  enter('alerts.inputs', { type: 'command', value: create })
  enter('alerts.inputs', { type: 'composite_price', value: price })
})

function recordOf(offset: number): string {
  return recordId({ topic: 'alerts.inputs', partition: PARTITION, offset })
}

type Entered = 'alerts.inputs' | 'alerts.triggers' | 'webhooks.attempts'

function enter(topic: Entered, message: Message): void {
  const value = codec.encode(topic, message.type, message.value)
  broker.append(topic, PARTITION, [{ key: 'k', value, time: T / 1000 }])
}

const create: Command = {
  ...emptyFields('command'),
  request_id: 'r1',
  action: 'create',
  asset: 'btc',
  alert_id: 'a',
  alert: {
    kind: 'price',
    symbol: 'BTC',
    condition: 'above',
    target_price: 100,
    threshold_pct: null,
    min_value_usd: null,
    expires_in_hours: 1,
    ...nobody,
    receiver: 'r:443',
    key_version: 1,
  },
  created: T,
}
const { value: price } = priceAt(0, 101, { time: T + 1, v: 1 })
const trigger: Trigger = {
  ...emptyFields('trigger'),
  trigger_id: 'a_1',
  alert_id: 'a',
  kind: 'price',
  asset: 'btc',
  symbol: 'BTC',
  receiver: 'r:443',
  webhook: '',
  key_version: 1,
  severity: 'medium',
  test: false,
  current_price: 101,
  target_price: 100,
  condition: 'above',
  condition_met: '',
  quality: 'good',
  late: false,
  trigger_count: 1,
  record: recordOf(1),
  time: T + 1,
  v: 1,
}
const attempt: Attempt = {
  ...emptyFields('attempt'),
  trigger_id: 'a_1',
  alert_id: 'a',
  receiver: 'r:443',
  number: 1,
  outcome: 'cancelled',
  error: 'stopped',
  started: T,
  finished: T,
  test: false,
  triggered: T,
}
const triggered = (change: Partial<Trigger> = {}): void =>
  enter('alerts.triggers', { type: 'trigger', value: { ...trigger, ...change } })
const delivered = (id: string, change: Partial<Delivered> = {}): void => {
  const plain = { alertId: 'a', symbol: 'BTC', count: 1, test: false, body: 'x', first: 0, attempts: 1, taken: [0] }
  deliveries.set(id, { ...plain, isDigested: false, ...change })
}

interface Asked {
  readonly symbols: number
  readonly quietUntil: number
  readonly cancels: boolean
}

async function report(
  upsets: readonly Disturbance[] = [],
  asked: Partial<Asked> = {},
  reader = broker.connect().reader(),
): Promise<AlertReport> {
  const receiver: Receiver = {
    url: '',
    deliveries,
    wrong: [],
    know: () => undefined,
    close: () => Promise.resolve(),
  }
  const books = { reader, codec, partitions: 2 }
  return accountAlerts(books, receiver, new Map([['a', { symbols: 1, quietUntil: 0, cancels: false, ...asked }]]), {
    withinMs: 0,
    upsets,
  })
}

describe('the account of alerts', () => {
  it('is sound where what had to ring rang and was taken, however often it came', async () => {
    triggered()
    triggered()
    delivered('a_1', { attempts: 3, taken: [1_000, 9_000] })
    const found = await report([{ from: 5_000, to: 20_000 }])
    expect(found).toMatchObject({ created: 1, demanded: 1, repeated: 1, delivered: 1, doubled: 1 })
    expect(isSoundAlerts(found)).toBe(true)
  })

  it('names a delivery that was taken twice with nothing between that hid the first from the dispatcher', async () => {
    triggered()
    delivered('a_1', { attempts: 2, taken: [T / 1_000, T / 1_000 + 60_000] })
    const found = await report([{ from: T / 1_000 - 90_000, to: T / 1_000 - 30_000 }])
    expect(found).toMatchObject({ doubled: 1, resent: ['a_1'] })
    expect(isSoundAlerts(found)).toBe(false)
    enter('webhooks.attempts', { type: 'attempt', value: { ...attempt, outcome: 'retry', error: 'timeout' } })
    expect((await report()).resent).toEqual([])
  })

  it('excuses one more taking for each attempt of unknown outcome, however late a busy receiver took it', async () => {
    const start = T / 1_000
    triggered()
    const timedOut = { ...attempt, outcome: 'retry', error: 'timeout', finished: T + 10_000_000 } as const
    enter('webhooks.attempts', { type: 'attempt', value: timedOut })
    delivered('a_1', { attempts: 2, taken: [start + 45_000, start + 46_000] })
    expect((await report()).resent).toEqual([])
    delivered('a_1', { attempts: 3, taken: [start + 45_000, start + 46_000, start + 47_000] })
    expect((await report()).resent).toEqual(['a_1'])
  })

  it('names a trigger that the log does not have', async () => {
    const found = await report()
    expect(found.lost).toEqual(['a_1'])
    expect(isSoundAlerts(found)).toBe(false)
  })

  it('sees what rang while the whole of a long log was judged', async () => {
    const reader = broker.connect().reader()
    const toEnd = reader.toEnd.bind(reader)
    reader.toEnd = (topic, ...rest) => {
      if (topic === 'alerts.inputs' && deliveries.size === 0) {
        triggered()
        delivered('a_1')
      }
      return toEnd(topic, ...rest)
    }
    expect(isSoundAlerts(await report([], {}, reader))).toBe(true)
  })

  it('names a trigger that nothing demanded, and one that another record caused', async () => {
    triggered({ record: recordId({ topic: 'alerts.inputs', partition: PARTITION, offset: 0 }) })
    triggered({ trigger_id: 'a_2', trigger_count: 2 })
    delivered('a_1')
    delivered('a_2', { count: 2 })
    expect((await report()).unexpected).toEqual(['a_1', 'a_2'])
  })

  it('does not excuse a second taking by an attempt whose answer is known, nor by one that was never made', async () => {
    const start = T / 1_000
    triggered()
    enter('webhooks.attempts', {
      type: 'attempt',
      value: { ...attempt, outcome: 'retry', error: 'status', status: 500 },
    })
    enter('webhooks.attempts', { type: 'attempt', value: { ...attempt, number: 0 } })
    delivered('a_1', { attempts: 3, taken: [start + 5_000, start + 65_000] })
    expect((await report()).resent).toEqual(['a_1'])
  })

  it('names a trigger that did not arrive, unless its owner ended it', async () => {
    triggered()
    delivered('a_1', { taken: [] })
    expect((await report([], { cancels: true })).undelivered).toEqual(['a_1'])
    enter('webhooks.attempts', { type: 'attempt', value: attempt })
    const found = await report([], { cancels: true })
    expect(found).toMatchObject({ undelivered: [], ended: 1 })
    expect(isSoundAlerts(found)).toBe(true)
  })

  it.each([
    ['was cancelled though nobody asked for it', attempt, false],
    ['was given up at a refusal', { ...attempt, outcome: 'exhausted', error: 'status', status: 500 }, true],
    ['was given up unsent', { ...attempt, outcome: 'exhausted', error: 'backlog', number: 0 }, true],
  ] as const)('names a trigger that did not arrive and %s', async (_what, value, cancels) => {
    triggered()
    delivered('a_1', { taken: [] })
    enter('webhooks.attempts', { type: 'attempt', value })
    expect(await report([], { cancels })).toMatchObject({ undelivered: ['a_1'], ended: 0 })
  })

  it('names deliveries that nothing asked for, and one trigger under two ids', async () => {
    triggered()
    delivered('a_1')
    delivered('b_1')
    expect((await report()).wrong).toEqual(['b_1: nothing asked for it', 'b_1 and a_1: one trigger under two ids'])
  })

  it('knows a rule for several symbols by its parts, each once, and the symbols of its deliveries', async () => {
    const part = { ...create, request_id: 'r3', alert_id: 'a.2.eth', asset: 'eth' }
    enter('alerts.inputs', { type: 'command', value: part })
    triggered()
    delivered('a_1', { isDigested: true })
    triggered({ trigger_id: 'a.2.eth_1', alert_id: 'a.2.eth', asset: 'eth', record: recordOf(3) })
    enter('alerts.inputs', { type: 'composite_price', value: { ...price, asset: 'eth', time: T + 2 } })
    delivered('a.2.eth_1', { symbol: 'ETH', isDigested: true })
    const found = await report([], { symbols: 2 })
    expect(found).toMatchObject({ demanded: 2, delivered: 2, digested: 2 })
    expect(isSoundAlerts(found)).toBe(true)
    expect((await report([], { symbols: 3 })).wrong).toEqual(['a: created for 3 symbols, and the log knows it for 2'])
  })

  it('names what came within quiet hours', async () => {
    triggered()
    delivered('a_1', { first: 60_000 })
    expect((await report([], { quietUntil: 61_000 })).wrong).toEqual([])
    expect((await report([], { quietUntil: 63_000 })).wrong).toEqual(['a_1: it came within quiet hours'])
  })

  it('leaves the alerts of others alone', async () => {
    enter('alerts.inputs', { type: 'command', value: { ...create, request_id: 'r2', alert_id: 'other' } })
    triggered()
    delivered('a_1')
    expect(await report()).toMatchObject({ demanded: 1, lost: [], unexpected: [] })
  })
})
