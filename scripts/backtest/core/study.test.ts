import { describe, expect, it } from 'vitest'
import { triggerTo } from '../../../processors/webhooks/testing/world.ts'
import type { Signal } from '../../../schemas/records.ts'
import type { RecordPosition } from '../../../schemas/record-id.ts'
import { Series } from './chart.ts'
import { Fills, Study } from './study.ts'
import { readRules, type Rule } from './rules.ts'
import { summarise, tQuantile, wilson } from './stats.ts'

const SECOND = 1_000_000
const place: RecordPosition = { topic: 'market.tickers', partition: 3, offset: 7 }
const at = (seconds: number, price: number) => ({ price, time: seconds * SECOND, place })

function signal(fields: Partial<Signal> = {}): Signal {
  return {
    asset: 'btc',
    kind: 'cvd',
    period: '1h',
    from: 'neutral',
    to: 'bullish_pressure',
    value: 0.1,
    evidence: {},
    time: 0,
    v: 0,
    exchange: null,
    ...fields,
  }
}

function study(rules: readonly Rule[] = []): Study {
  return new Study({ latencyMs: 500, horizonsMs: [10_000, 60_000], rules })
}

describe('an alert', () => {
  it('has rung where it rang, not where its ring was over', () => {
    const s = study()
    for (const trigger_id of ['pa_1_1', 'pa_1_1_over', 'pa_1_2'])
      s.trigger(triggerTo('https://a.example/', { trigger_id }), SECOND, place)
    expect(s.triggers.map(({ trigger_id: id }) => id)).toEqual(['pa_1_1', 'pa_1_2'])
  })
})

describe('a decision', () => {
  it('is filled at the first price at or after it and the latency, never at one before', () => {
    const s = study()
    s.signal(signal(), 100 * SECOND, place, true)
    for (const [seconds, price] of [
      [100, 1],
      [100.4999, 2],
      [100.5, 3],
      [101, 4],
    ] as const)
      s.price('btc', at(seconds, price))
    expect(s.signals[0]?.fill).toMatchObject({ price: 3, time: 100.5 * SECOND, place })
  })

  it('has the return of each horizon from its fill on, and none where the range ends before', () => {
    const s = study()
    s.signal(signal(), 0, place, true)
    for (const [seconds, price] of [
      [1, 100],
      [10.9, 150],
      [11, 110],
      [40, 120],
    ] as const)
      s.price('btc', at(seconds, price))
    expect(s.signals[0]?.returns).toEqual([110 / 100 - 1, null])
  })

  it('has no return, or no fill, where the next price is over a minute late, of a long horizon over a tenth of it', () => {
    const returnsAt = (seconds: number): readonly (number | null)[] | undefined => {
      const s = new Study({ latencyMs: 500, horizonsMs: [60_000, 3_600_000], rules: [] })
      s.signal(signal(), 0, place, true)
      s.price('btc', at(60.5, 100))
      s.price('btc', at(seconds, 110))
      return s.signals[0]?.returns
    }
    const rise = 110 / 100 - 1
    expect(returnsAt(180.5)).toEqual([rise, null])
    expect(returnsAt(180.6)).toEqual([null, null])
    expect(returnsAt(60.5 + 3_960)).toEqual([null, rise])
    expect(returnsAt(60.5 + 3_961)).toEqual([null, null])
    const late = study()
    late.signal(signal(), 0, place, true)
    late.price('btc', at(60.6, 100))
    late.price('btc', at(71, 110))
    expect(late.signals[0]).toMatchObject({ fill: null, returns: [null, null] })
  })

  it('is not filled by another asset, nor kept when it belongs to the lead-in', () => {
    const s = study()
    s.signal(signal(), 0, place, true)
    s.signal(signal({ asset: 'eth' }), 0, place, false)
    s.price('eth', at(5, 9))
    expect(s.signals.map(({ symbol, fill }) => [symbol, fill])).toEqual([['BTC', null]])
  })
})

describe('the summary of a group', () => {
  it('turns returns in the direction of the bet and counts only windows that do not overlap', () => {
    const s = study()
    for (const seconds of [0, 5, 20]) s.signal(signal({ to: 'bearish_pressure' }), seconds * SECOND, place, true)
    for (let seconds = 1; seconds < 40; seconds++) s.price('btc', at(seconds, 100 - seconds))
    const [short] = s.summaries()
    expect(short).toMatchObject({ group: 'cvd 1h bearish_pressure', side: 'short', n: 3, independent: 2, hitRate: 1 })
    expect(short?.mean).toBeGreaterThan(0)
  })

  it('counts a bet once that several signals make at one moment: periods of a rule, venues of a kind', () => {
    const periods = ['4h', '24h', '7d'].map((period) => signal({ period }))
    const venues = ['binance', 'okx'].map((exchange) =>
      signal({ kind: 'funding', period: '', exchange, to: 'bullish' }),
    )
    const prices = [100, 101, 102, 103].map((price, index) => at(1 + index * 10, price))
    const summary = (given: readonly Signal[], rules: readonly Rule[] = []) => {
      const s = study(rules)
      for (const each of given) s.signal(each, 0, place, true)
      for (const price of prices) s.price('btc', price)
      return s.summaries()[0]
    }
    const rules = readRules([{ name: 'flow', when: { kind: 'cvd', to: ['bullish_pressure'] }, side: 'long' }])
    expect(summary(periods, rules)).toMatchObject({ group: 'flow', n: 1, independent: 1 })
    expect(summary(venues)).toMatchObject({ group: 'funding bullish', n: 1, independent: 1 })
  })

  it.each([
    ['long', 'short'],
    ['short', 'long'],
  ] as const)('is of each rule that a signal meets by the side of its own: %s before %s', (...sides) => {
    const when = { kind: 'cvd', to: ['bullish_pressure'] }
    const s = study(readRules(sides.map((side) => ({ name: `go ${side}`, when, side }))))
    s.signal(signal(), 0, place, true)
    s.price('btc', at(1, 100))
    s.price('btc', at(11, 101))
    expect(s.signals[0]?.side).toBe(null)
    expect(s.summaries().filter(({ horizonMs }) => horizonMs === 10_000)).toMatchObject([
      { group: 'go long', side: 'long', mean: 101 / 100 - 1, hitRate: 1 },
      { group: 'go short', side: 'short', mean: 1 - 101 / 100, hitRate: 0 },
    ])
  })

  it('says nothing of classes without a direction', () => {
    const s = study()
    s.signal(signal({ to: 'neutral' }), 0, place, true)
    expect(s.summaries()).toEqual([])
  })
})

describe('rules', () => {
  const plain = { name: 'a', when: { kind: 'cvd', to: ['neutral'] }, side: 'long' }
  const rules = readRules([
    {
      name: 'both',
      when: { kind: 'cvd', period: '1h', to: ['bullish_pressure'] },
      and: [{ kind: 'funding', exchange: 'binance', to: ['bearish'] }],
      side: 'short',
    },
  ])

  it('decide when the condition comes about while the others hold, lead-in included', () => {
    const s = study(rules)
    s.signal(signal(), 0, place, true)
    s.signal(signal({ kind: 'funding', period: '', exchange: 'binance', to: 'bearish' }), 1, place, false)
    s.signal(signal(), 2, place, true)
    expect(s.signals.map(({ rules: names, side }) => [names, side])).toEqual([
      [[], null],
      [['both'], 'short'],
    ])
  })

  it('take symbols in any case', () => {
    expect(readRules([{ ...plain, symbols: ['btc', 'ETH'] }])[0]?.symbols).toEqual(['BTC', 'ETH'])
  })

  it.each([
    [[], /list of 1 to/],
    [[{}], /rule 1: name/],
    [[{ name: 'a', when: { kind: 'cvd', to: ['neutral'] }, side: 'up' }], /a: side must be long or short/],
    [[{ name: 'a', when: { kind: 'cvd', to: [] }, side: 'long' }], /a: when: to must be a list/],
    [
      ['long', 'short'].map((side) => ({ name: 'a', when: { kind: 'cvd', to: ['neutral'] }, side })),
      /a: rules of one name are one group, so that they must have one side/,
    ],
    [[{ name: 'a', when: { kind: 'cvd', to: ['neutral'] }, and: [{}], side: 'long' }], /a: and, 1: kind/],
    [[{ ...plain, symbol: ['BTC'] }], /a: no field symbol; there are name, when, and, side, symbols/],
    [[{ ...plain, when: { kind: 'cvd', class: 'neutral' } }], /a: when: no field class; there are kind, period, /],
    [[{ ...plain, when: { kind: 'flow', to: ['neutral'] } }], /a: when: no kind flow; there are cvd, funding, /],
    [
      [{ ...plain, when: { kind: 'cvd', to: ['strong_bullish'] } }],
      /a: when: no class strong_bullish of cvd; there are strong_bullish_pressure, /,
    ],
    [
      [{ ...plain, when: { kind: 'cvd', period: '1hour', to: ['neutral'] } }],
      /a: when: no period 1hour of cvd; there are 1h, 4h, 24h, 7d/,
    ],
    [
      [{ ...plain, when: { kind: 'cvd', exchange: 'binance', to: ['neutral'] } }],
      /a: when: no exchange binance of cvd, which has none/,
    ],
  ])('that cannot be followed are refused: %j', (file, message) => {
    expect(() => readRules(file)).toThrow(message)
  })
})

describe('confidence', () => {
  it('is Student’s t over the independent returns', () => {
    const { mean, low, high, deviation } = summarise([0.01, 0.02, 0.03], 3)
    expect(mean).toBeCloseTo(0.02, 12)
    expect(deviation).toBeCloseTo(0.01, 12)
    expect(high).toBeCloseTo(0.02 + (4.303 * 0.01) / Math.sqrt(3), 9)
    expect(low).toBeCloseTo(0.02 - (4.303 * 0.01) / Math.sqrt(3), 9)
    expect(tQuantile(10_000)).toBeCloseTo(1.96, 2)
  })

  it('is not claimed for one return or none', () => {
    expect(summarise([0.5], 1)).toMatchObject({ n: 1, low: null, high: null, deviation: null })
    expect(summarise([], 0)).toMatchObject({ n: 0, mean: null, hitRate: null })
    expect(summarise([0.5, 0.6, 0.7], 1)).toMatchObject({ low: null })
  })

  it('of a hit rate stays within 0 and 1 (Wilson: 8 of 10 are 49 % to 94 %)', () => {
    expect(wilson(0.8, 10).low).toBeCloseTo(0.4902, 4)
    expect(wilson(0.8, 10).high).toBeCloseTo(0.9433, 4)
    expect(wilson(1, 3).high).toBe(1)
  })
})

it('those who wait are served in the order of what they wait for', () => {
  const fills = new Fills()
  const taken: string[] = []
  fills.waitFor('btc', { due: 30, latest: 30, take: () => taken.push('c') })
  fills.waitFor('btc', { due: 10, latest: 30, take: () => taken.push('a') })
  fills.waitFor('btc', { due: 20, latest: 30, take: () => taken.push('b') })
  fills.price('btc', { price: 1, time: 20, place })
  expect(taken).toEqual(['a', 'b'])
})

it('a series of any length keeps its last values and at most 4,000 points', () => {
  const series = new Series()
  for (let second = 0; second < 20_000; second++) series.add(second * SECOND, second)
  const points = series.points()
  expect(points.length).toBeLessThanOrEqual(4_000)
  expect(points.at(-1)?.value).toBe(19_999)
})
