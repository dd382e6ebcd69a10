import fc from 'fast-check'
import { expect, it } from 'vitest'
import { alerts } from '../alerts.ts'
import { nobody } from '../record.ts'
import { recordPosition } from '../../../schemas/record-id.ts'
import { emptyFields } from '../../../schemas/codec.ts'
import type { Command, CompositePrice, Message, Trigger } from '../../../schemas/records.ts'
import { Model } from './model.ts'

const SECOND = 1_000_000
const T = 1_700_000_000_000_000
const conditions = ['above', 'below', 'crosses_above', 'crosses_below']

/** Steps of a log: seconds pass between them, and times of prices are near the mark. */
const step = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('create' as const),
      id: fc.nat(5),
      condition: fc.constantFrom(...conditions),
      target: fc.integer({ min: 98, max: 102 }),
    }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('price' as const),
      price: fc.integer({ min: 96, max: 104 }),
      down: fc.nat(3),
      up: fc.nat(3),
      offset: fc.integer({ min: -3, max: 1 }),
      late: fc.integer({ min: 0, max: 9 }),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('mark' as const), seconds: fc.integer({ min: 1, max: 45 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), id: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('extend' as const), id: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('hour' as const) }) },
)
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

const command = (request: number, change: Partial<Command>): Message => ({
  type: 'command',
  value: {
    ...emptyFields('command'),
    request_id: `r${request}`,
    action: 'create',
    asset: 'btc',
    alert_id: '',
    created: T,
    ...change,
  },
})

const price = (at: number, { price, down, up, late }: Extract<Step, { kind: 'price' }>): Message => {
  const value: CompositePrice = {
    asset: 'btc',
    price,
    low: price - down,
    high: price + up,
    change_24h: null,
    sources: [],
    quality: 'good',
    late: late === 0,
    bounds_from: late === 0 ? at - 60 * SECOND : 0,
    time: at,
    v: 1,
  }
  return { type: 'composite_price', value }
}

function logOf(steps: readonly Step[]): Message[] {
  let now = T
  return steps.map((one, index): Message => {
    switch (one.kind) {
      case 'create': {
        const { condition, target } = one
        const terms = { kind: 'price' as const, condition, target_price: target }
        const limits = { threshold_pct: null, min_value_usd: null, expires_in_hours: 1 }
        const alert = { ...nobody, ...terms, ...limits, symbol: 'BTC', receiver: 'r:443', key_version: 1 }
        return command(index, { alert_id: `a${one.id}`, alert })
      }
      case 'price':
        return price(now + one.offset * SECOND, one)
      case 'cancel':
        return command(index, { action: 'cancel', alert_id: `a${one.id}` })
      case 'extend':
        return command(index, { action: 'extend', alert_id: `a${one.id}`, add_hours: 1 })
      case 'mark':
      case 'hour':
        now += one.kind === 'hour' ? 1800 * SECOND : one.seconds * SECOND
        return {
          type: 'mark',
          value: { ...emptyFields('mark'), writer: 'prices', run: 0, time: now },
        }
    }
  })
}

/** What the processor triggers of the same log. */
function triggersOf(log: readonly Message[]): string[] {
  const state = alerts.empty()
  const triggers: Trigger[] = []
  let partitionTime = 0
  log.forEach((message, offset) => {
    if (message.type === 'mark') partitionTime = Math.max(partitionTime, message.value.time)
    const context = { partition: 3, v: offset, partitionTime }
    alerts.apply(state, { topic: 'alerts.inputs', offset, time: 0, message }, context, (output) => {
      if (output.message?.type === 'trigger') triggers.push(output.message.value)
    })
  })
  return triggers.map(({ trigger_id, record }) => `${trigger_id} by ${record}`).sort()
}

it('demands of any log just what the processor triggers', { timeout: 60_000 }, () => {
  const triggered = { once: 0, again: 0, late: 0 }
  fc.assert(
    fc.property(fc.array(step, { minLength: 20, maxLength: 120, size: 'max' }), (steps) => {
      const log = logOf(steps)
      const model = new Model(3)
      const demanded = log.flatMap((message, offset) => model.apply(message, offset).triggers)
      const lates = log.map((message) => message.type === 'composite_price' && message.value.late)
      for (const { count, record } of demanded) {
        triggered[count === 1 ? 'once' : 'again'] += 1
        if (lates[recordPosition(record)?.offset ?? -1] === true) triggered.late += 1
      }
      expect(demanded.map(({ triggerId, record }) => `${triggerId} by ${record}`).sort()).toEqual(triggersOf(log))
    }),
    { numRuns: 1_000 },
  )
  expect(Math.min(...Object.values(triggered))).toBeGreaterThan(5) // the logs are worth the comparison
})
