import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { recordPosition } from '../../schemas/record-id.ts'
import type { Message } from '../../schemas/records.ts'
import {
  command,
  create,
  createRule,
  DAY,
  given,
  latePrice,
  mark,
  metric,
  price,
  risk,
  SECOND,
  T0,
} from './testing/records.ts'
import type { AlertTerms } from './kinds/kinds.ts'
import type { PriceTerms } from './kinds/price.ts'
import { rule as ruleKind } from './kinds/rule.ts'
import { readRuleTerms, type RuleTerms } from './kinds/rule-terms.ts'
import { PastReader, pastText } from './past.ts'
import { seriesName } from './series.ts'
import { WhatIf, type WhatIfTerms } from './what-if.ts'

const level: WhatIfTerms = {
  asset: 'btc',
  symbol: 'BTC',
  terms: { kind: 'price', condition: 'above', target_price: 100 },
}

const at = (condition: PriceTerms['condition']): AlertTerms => ({ kind: 'price', condition, target_price: 100 })

type Fed = Message<'composite_price'> | Message<'liquidation_risk'>

/** Seconds after T0 at which it rang. */
function rang(terms: AlertTerms, ...messages: readonly Fed[]): number[] {
  const trial = new WhatIf({ ...level, terms }, T0)
  for (const [offset, message] of messages.entries()) trial.feed({ partition: 3, offset, message })
  return trial.rang.map(({ time }) => (time - T0) / SECOND)
}

describe('an alert that is tried out', () => {
  it('rings at once beyond its target, and again after a minute and a return', () => {
    expect(rang(at('above'), price(1, 101), price(30, 99), price(50, 101), price(62, 101), price(70, 102))).toEqual([
      1, 62,
    ])
  })

  it('never expires within a week', () => {
    const days = [1, 3, 6.99].map((day) => day * 86_400)
    expect(rang(at('above'), ...days.flatMap((at) => [price(at, 99), price(at + 20, 101)]))).toEqual(
      days.map((at) => at + 20),
    )
  })

  it('names the record that rang it, with its price', () => {
    const trial = new WhatIf(level, T0)
    trial.feed({ partition: 3, offset: 77, message: price(20, 99, { high: 100.5 }) })
    const [trigger] = trial.rang
    expect([trigger?.current_price, recordPosition(trigger?.record ?? '')]).toEqual([
      100.5,
      { topic: 'alerts.inputs', partition: 3, offset: 77 },
    ])
  })

  it('names none where time alone rang it', () => {
    const when = { metric: 'volume', window: '1m', operator: 'below', value: 1 }
    const trial = new WhatIf({ ...level, terms: readRuleTerms({ when }) as RuleTerms }, T0)
    for (const at of [10, 100]) trial.feed({ partition: 3, offset: at, message: metric(at, 'cvd', { 'buy@okx': 2 }) })
    expect(trial.rang).toMatchObject([{ time: T0 + 80 * SECOND, record: null }])
  })

  it('takes a low or high only where it was there all the time that the record looks back on', () => {
    expect(rang(at('above'), price(10, 99, { high: 101 }))).toEqual([])
    expect(rang(at('above'), price(11, 99, { high: 101 }))).toEqual([11])
  })

  it('is told of a time without prices by candles, as a live one is', () => {
    const seen = [price(100, 99), latePrice(200, 90, 105), price(230, 99)]
    expect(rang(at('above'), ...seen)).toEqual([200])
  })

  it('that crosses is created again a minute after it rang', () => {
    const crossing = at('crosses_above')
    expect(rang(crossing, price(1, 101), price(2, 102))).toEqual([])
    expect(rang(crossing, price(1, 99), price(2, 101), price(3, 99), price(4, 101))).toEqual([2])
    expect(rang(crossing, price(1, 99), price(2, 101), price(61, 99), price(63, 99), price(64, 101))).toEqual([2, 64])
  })

  it('that is a rule rings once where it does not repeat, and is drawn on', () => {
    const cvd = { metric: 'cvd', exchange: null, window: null, isMove: false, close: null } as const
    const log = Array.from({ length: 20 }, (_, at) => metric(at * 30, 'cvd', { 'cvd@okx': at }))
    const terms = readRuleTerms({ when: { metric: 'cvd', operator: 'above', value: 2 }, repeat: false }) as RuleTerms
    const trial = new WhatIf({ ...level, terms, looksAt: [seriesName(cvd)] }, T0)
    for (const [offset, message] of log.entries()) trial.feed({ partition: 3, offset, message })
    expect([trial.rang.map(({ time }) => (time - T0) / SECOND), trial.figures]).toEqual([[90], [19]])
  })

  it.each([
    { metric: 'volume_spike', window: '5m', operator: 'above', value: 3 },
    { metric: 'volume', window: '1h', operator: 'below', value: 1_000 },
    { metric: 'volume', window: '15m', operator: 'crosses_above', value: 800 },
    { metric: 'cvd_change', window: '15m', operator: 'crosses_above', value: 150 },
  ])('takes a time that nobody recorded for not known: %j', (when) => {
    const all = [when, { metric: 'price', operator: 'above', value: 1 }]
    for (const one of [when, { all }]) {
      const trial = new WhatIf({ ...level, terms: readRuleTerms({ when: one }) as RuleTerms }, T0 - 29 * DAY * SECOND)
      for (const at of [-DAY, -60, 0]) trial.feed({ partition: 3, offset: 0, message: price(at, 2) })
      for (let at = 10; at <= 7_200; at += 10) {
        const message = metric(at, 'cvd', { 'buy@okx': 6, 'sell@okx': 4 })
        trial.feed({ partition: 3, offset: at, message })
      }
      expect(trial.rang).toEqual([])
    }
  })

  it('counts its minute from when figures of trades are told, 2 s behind their bucket', () => {
    const when = { metric: 'cvd', operator: 'above', value: 5 }
    const log = [6, 0, 0, 0, 0, 0, 6, 6].map((value, at) => metric((at + 1) * 10, 'cvd', { 'cvd@okx': value }))
    const live = given(createRule(when))
    const trial = new WhatIf({ ...level, terms: readRuleTerms({ when }) as RuleTerms }, T0)
    for (const [offset, message] of log.entries()) {
      live.batch(mark((offset + 1) * 10 + 2), message)
      trial.feed({ partition: 3, offset, message })
    }
    expect([live.rang, trial.rang.map(({ time }) => (time - T0) / SECOND)]).toEqual([
      [10, 80],
      [10, 80],
    ])
  })

  it('rings no more often where it tells that it is over', () => {
    const values = [0, 6, 6, 0, 0, 0, 0, 0, 7, 7, 0]
    const rangOf = (resolved: boolean) => {
      const terms = readRuleTerms({ when: { metric: 'cvd', operator: 'above', value: 5 }, resolved }) as RuleTerms
      const trial = new WhatIf({ ...level, terms }, T0)
      for (const [at, value] of values.entries()) {
        const message = metric((at + 1) * 10, 'cvd', { 'cvd@binance': value })
        trial.feed({ partition: 3, offset: at, message })
      }
      return trial.rang.map(({ trigger_id: id, time }) => [id, (time - T0) / SECOND])
    }
    const twice = [
      ['what-if-1_1', 20],
      ['what-if-1_2', 90],
    ]
    expect([rangOf(false), rangOf(true)]).toEqual([twice, twice])
  })

  it('watches liquidation risk as well', () => {
    const terms = { kind: 'liquidation', threshold_pct: 5 } as const
    const seen = [risk(1, 4), risk(2, 6), risk(30, 4), risk(62, 7), risk(63, 8)]
    expect(rang({ ...terms, min_value_usd: 0 }, ...seen)).toEqual([2, 62])
    expect(rang({ ...terms, min_value_usd: 6_500 }, ...seen)).toEqual([62])
  })
})

it('rings exactly when the core does that has the same alert, prices and marks in its log', () => {
  const step = fc.record({
    after: fc.integer({ min: 1, max: 40 }),
    usd: fc.integer({ min: 97, max: 103 }),
    wick: fc.integer({ min: 0, max: 3 }),
  })
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 60 }),
      fc.constantFrom('above' as const, 'below' as const),
      (steps, condition) => {
        let seconds = 0
        const prices = steps.map(({ after, usd, wick }) =>
          price((seconds += after), usd, { low: usd - wick, high: usd + wick }),
        )
        const live = given(create({ condition, expires_in_hours: 720 }))
        for (const message of prices) live.batch(mark((message.value.time - T0) / SECOND), message)
        expect(rang(at(condition), ...prices)).toEqual(live.rang)
      },
    ),
  )
})

it('rings as the core does that has a mark a second, where trades are few', () => {
  let byTime = 0
  const trades = fc.record({
    after: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constantFrom(1, 2, 100)),
    buy: fc.integer({ min: 0, max: 4 }),
  })
  const whens = ['volume', 'cvd_change', 'volume_spike'].flatMap((name) =>
    [
      ['1m', null],
      ['5m', null],
      ['15m', null],
      ['1m', '5m'],
    ].flatMap(([window, close]) => {
      const leaf = { metric: name, window, value: 2, close }
      return [
        { ...leaf, operator: 'below' },
        { ...leaf, operator: 'above' },
      ]
    }),
  )
  const plain = { metric: 'cvd', operator: 'above', value: 2 }
  const both = { all: [whens[0], plain] }
  fc.assert(
    fc.property(
      fc.array(trades, { minLength: 5, maxLength: 20 }),
      fc.constantFrom(...whens, both, plain),
      fc.constantFrom(null, '15s', '30s', '90s'),
      fc.nat(8),
      (steps, when, held, begin) => {
        let seconds = 0
        const told = steps.map(({ after, buy }) =>
          metric((seconds += 10 * after), 'cvd', { 'buy@okx': buy, 'cvd@okx': buy }),
        )
        const before = told.splice(0, Math.min(begin, steps.length - 4))
        const from = (before.at(-1)?.value.time ?? (told[0]?.value.time ?? T0) - 2 * SECOND) + SECOND
        const terms = readRuleTerms({ when, held_for: held }) as RuleTerms
        const reader = new PastReader(ruleKind.series?.(terms) ?? [], from)
        for (const message of before) reader.feed(message)
        const warm = command({ action: 'warm', past: pastText(reader.told) })
        const live = given(mark((from - T0) / SECOND), createRule(when, { held_for: held, hours: 720 }), warm)
        const trial = new WhatIf({ ...level, terms, past: reader.told }, from)
        for (const [offset, message] of told.entries()) {
          const end = (message.value.time - T0) / SECOND + 2 // when what a bucket comes to is told
          for (let now = live.state.time / SECOND - T0 / SECOND + 1; now <= end; now += 1) live.batch(mark(now))
          live.batch(message)
          trial.feed({ partition: 3, offset, message })
        }
        for (let now = seconds + 1; now < seconds + 200; now += 1) live.batch(mark(now))
        trial.pass(T0 + (seconds + 200) * SECOND)
        expect(trial.rang.map(({ time }) => (time - T0) / SECOND)).toEqual(live.rang)
        byTime += live.rang.filter((time) => told.every(({ value }) => value.time !== T0 + time * SECOND)).length
      },
    ),
    { numRuns: 60 },
  )
  expect(byTime).toBeGreaterThan(50)
})
