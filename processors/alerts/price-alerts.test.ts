import { describe, expect, it } from 'vitest'
import { recordPosition } from '../../schemas/record-id.ts'
import { versionOf } from '../kernel/version.ts'
import { create, given, latePrice, mark, price, SECOND, T0, type AlertsTestDriver } from './testing/records.ts'

/** What happened to the alert, beside its creation, with the seconds of the marks and prices as they come. */
const after = (g: AlertsTestDriver): string[] => g.told.slice(1)

describe('a level', () => {
  it.each([
    ['above', 100.01, true],
    ['above', 100, false],
    ['above', 99.99, false],
    ['below', 99.99, true],
    ['below', 100, false],
    ['below', 100.01, false],
  ])('%s 100 at its first price %d rings: %s', (condition, usd, rings) => {
    expect(after(given(create({ condition }), price(1, usd)))).toEqual(rings ? ['triggered'] : [])
  })

  it('does not ring every minute while the price stays beyond the target', () => {
    const g = given(create(), price(1, 101))
    for (let minute = 1; minute < 5; minute++) g.batch(mark(minute * 60), price(minute * 60 + 1, 101 + minute))
    expect(after(g)).toEqual(['triggered'])
  })

  it('is active again a minute after the trigger when the price has been back, and rings again', () => {
    const g = given(create(), price(1, 101), price(20, 100), mark(60.9))
    expect(after(g)).toEqual(['triggered'])
    g.batch(mark(61))
    expect(after(g)).toEqual(['triggered', 'rearmed'])
    g.batch(price(62, 101))
    expect(g.events.map(({ alert }) => [alert?.status, alert?.trigger_count])).toEqual([
      ['active', 0],
      ['triggered', 1],
      ['active', 1],
      ['triggered', 2],
    ])
    expect(g.triggers.map(({ trigger_id: id, trigger_count: count }) => [id, count])).toEqual([
      ['a_1', 1],
      ['a_2', 2],
    ])
  })

  it('does not ring within its minute, however often the price comes back', () => {
    const g = given(create(), price(1, 101), price(20, 99), price(30, 102), price(40, 99), price(59, 103))
    expect(after(g)).toEqual(['triggered'])
  })

  it('is active again by the return itself where the minute is over', () => {
    const g = given(create(), price(1, 101), mark(100), price(100, 100))
    expect(after(g)).toEqual(['triggered', 'rearmed'])
    expect(after(g.batch(price(101, 101)))).toEqual(['triggered', 'rearmed', 'triggered'])
  })

  it('counts its minute from the price where that is ahead of the last mark', () => {
    const g = given(create(), price(1, 101), price(20, 99), mark(60.5), price(60.6, 101))
    expect(after(g)).toEqual(['triggered'])
    expect(after(g.batch(mark(61), price(61.1, 101)))).toEqual(['triggered', 'rearmed', 'triggered'])
  })

  it('rings for a price of the time since its minute, though the mark that says so came later', () => {
    const g = given(create(), price(1, 101), price(20, 99), price(61.5, 102), mark(62))
    expect(after(g)).toEqual(['triggered', 'rearmed'])
    expect(after(g.batch(price(61.6, 102)))).toEqual(['triggered', 'rearmed', 'triggered'])
  })
})

describe('a crossing', () => {
  it.each(['crosses_above', 'crosses_below'])('%s needs a price on or before its target first', (condition) => {
    const usd = (n: number): number => (condition === 'crosses_above' ? 100 + n : 100 - n)
    const g = given(create({ condition }), price(1, usd(1)), price(2, usd(2)))
    expect(after(g)).toEqual([])
    expect(after(g.batch(price(3, usd(0)), price(4, usd(0)), price(5, usd(1))))).toEqual(['triggered'])
  })

  it('rings once and stays triggered', () => {
    const g = given(create({ condition: 'crosses_above' }), price(1, 99), price(2, 101))
    g.batch(mark(70), price(71, 99), price(72, 101), mark(90_000))
    expect(after(g)).toEqual(['triggered'])
    expect(g.state.alerts.get('a')).toMatchObject({ status: 'triggered', trigger_count: 1 })
  })
})

describe('the low and high of a record', () => {
  it('ring, with the extreme as the price, and the return is seen with it', () => {
    const g = given(create(), mark(30), price(30, 99, { high: 104 }), mark(90), price(91, 101))
    expect(g.triggers.map(({ current_price: usd }) => usd)).toEqual([104, 101])
  })

  it('show the last price where that meets the condition too', () => {
    expect(given(create(), price(30, 101, { high: 104 })).triggers[0]?.current_price).toBe(101)
  })

  it.each([
    [10.9, []],
    [11, ['triggered']],
  ])('%d s after the creation may be from before it: %j', (seconds, told) => {
    expect(after(given(create(), price(seconds, 99, { high: 104 })))).toEqual(told)
  })

  it('from before the trigger are no return', () => {
    const g = given(create(), price(20, 101), price(21, 101, { low: 98 }), mark(90), price(91, 102))
    expect(after(g)).toEqual(['triggered'])
    expect(after(g.batch(price(92, 102, { low: 98 }), price(93, 102)))).toEqual(['triggered', 'rearmed', 'triggered'])
  })

  it('from before a crossing was armed are no crossing', () => {
    const g = given(create({ condition: 'crosses_above' }), price(19, 101), price(20, 99), price(21, 98, { high: 101 }))
    expect(after(g)).toEqual([])
    expect(after(g.batch(price(31, 98, { high: 101 })))).toEqual(['triggered'])
  })

  it('cross within one record when it ends beyond the target, not when the order is not known', () => {
    const crossing = (): AlertsTestDriver => given(create({ condition: 'crosses_above' }), price(1, 103))
    expect(after(crossing().batch(price(20, 101, { low: 99 })))).toEqual(['triggered'])
    expect(after(crossing().batch(price(20, 99, { high: 104 })))).toEqual([])
  })
})

describe('a late record', () => {
  /** Prices until 200 s and again from 300 s on. */
  const gap = (condition = 'above'): AlertsTestDriver =>
    given(create({ condition }), price(199, 99), price(200, 99), mark(300), price(300, 99))

  it('rings for what happened while no source was there, says so, and shows the bound', () => {
    const g = gap().batch(mark(330), latePrice(290, 90, 106))
    expect(g.triggers).toMatchObject([{ late: true, current_price: 106, time: T0 + 290 * SECOND }])
    expect(g.triggers[0]?.condition_met).toContain('while no price source was there')
    expect(g.state.alerts.get('a')?.last_triggered).toBe(T0 + 330 * SECOND)
  })

  it('may come before the first price does', () => {
    const g = given(create(), price(199, 99), price(200, 99), mark(290), latePrice(280, 90, 106))
    expect(g.rang).toEqual([280])
  })

  it('arms a crossing but does not cross: its middle is no price', () => {
    const g = given(create({ condition: 'crosses_above' }), price(1, 101), price(499, 101), price(500, 101))
    g.batch(mark(600), price(600, 102), latePrice(590, 99, 110))
    expect(after(g)).toEqual([])
    expect(after(g.batch(price(602, 102)))).toEqual(['triggered'])
  })

  it('rings with the time of its own minute, though it is not the first of several', () => {
    const g = gap().batch(mark(330), latePrice(240, 90, 99), latePrice(300, 90, 106))
    expect(g.triggers).toMatchObject([{ late: true, current_price: 106, time: T0 + 300 * SECOND }])
  })

  it('rings for an alert that was made in that time, before its minute', () => {
    const made = (seconds: number): AlertsTestDriver => {
      const g = given(price(199, 99), price(200, 99), mark(seconds), create())
      return g.batch(mark(300), price(300, 99), latePrice(270, 90, 106), latePrice(300, 90, 99))
    }
    expect(after(made(210))).toEqual(['triggered'])
    expect(after(made(211))).toEqual([])
  })

  it('crosses what the minute before has armed', () => {
    const g = given(create({ condition: 'crosses_above' }), price(1, 101), price(200, 101))
    g.batch(mark(330), price(331, 102), latePrice(260, 99, 110), latePrice(320, 98, 104))
    expect(g.triggers).toMatchObject([{ late: true, current_price: 104, time: T0 + 320 * SECOND }])
  })

  it('is no return that the trigger before it did not see', () => {
    const g = gap().batch(price(301, 101), latePrice(290, 90, 106), mark(400), price(401, 102))
    expect(after(g)).toEqual(['triggered'])
  })

  it('says nothing where it does not tell since when its bounds are', () => {
    expect(after(gap().batch(latePrice(290, 90, 106, { bounds_from: 0 })))).toEqual([])
  })
})

describe('a price', () => {
  it('from before the creation is not looked at', () => {
    expect(after(given(mark(100), create(), price(99.9, 105)))).toEqual([])
    expect(after(given(mark(100), create(), price(100, 105)))).toEqual(['triggered'])
  })

  it('from after the end is not, though the mark that ends the alert has not come', () => {
    const g = given(create({ expires_in_hours: 1 }), price(3_600, 105), mark(3_600))
    expect(after(g)).toEqual(['expired'])
    expect(after(given(create({ expires_in_hours: 1 }), price(3_599.9, 105)))).toEqual(['triggered'])
  })

  it('of another asset is not', () => {
    expect(after(given(create(), price(1, 105, { asset: 'eth' })))).toEqual([])
  })

  it('is told in the text as a decimal', () => {
    expect(given(create(), price(1, 82_250.45000000001)).triggers[0]?.condition_met).toBe(
      'BTC rose above 100 USD: at 82250.45 USD',
    )
  })

  it('is told in the text without an exponent, however small', () => {
    const alert = create({ target_price: 1.5e-7 })
    expect(given(alert, price(1, 1.6e-7 + 1e-24)).triggers[0]?.condition_met).toBe(
      'BTC rose above 0.00000015 USD: at 0.00000016 USD',
    )
  })

  it('that is degraded rings and says so, in data and text', () => {
    const g = given(create(), price(1, 105, { quality: 'degraded' }))
    expect(g.triggers).toMatchObject([{ quality: 'degraded' }])
    expect(g.triggers[0]?.condition_met).toBe(
      'BTC rose above 100 USD: at 105 USD; quality degraded: one source only, or sources over 1 % apart',
    )
  })
})

it('names in a trigger its evidence: sources, quality and the record that caused it', () => {
  const g = given(create(), price(1, 105))
  const [trigger] = g.triggers
  expect(trigger).toMatchObject({
    severity: 'medium',
    test: false,
    quality: 'good',
    late: false,
    receiver: 'hooks.example:443',
    webhook: 'sealed',
    sources: [
      { exchange: 'binance', price: 105, open_interest_usd: null, time: T0 + 0.95 * SECOND },
      { exchange: 'kraken', price: 105, open_interest_usd: null, time: T0 + 0.95 * SECOND },
    ],
  })
  expect(recordPosition(trigger?.record ?? '')).toEqual({ topic: 'alerts.inputs', partition: 0, offset: 2 })
})

describe('prices that are told again, by a core of a higher generation that was built again', () => {
  const again = { v: versionOf(2, 7) }
  /** It rang at 10 s, and has stayed beyond its target since. */
  const rung = (): AlertsTestDriver => given(create(), price(10, 101), price(80, 102), mark(100), price(100, 103))

  it('ring nobody again, though its figures of that time are others', () => {
    const g = rung().batch(
      price(20, 99, again),
      price(80, 102, again),
      latePrice(90, 98, 104, again),
      price(100, 103, again),
    )
    expect(after(g)).toEqual(['triggered'])
    expect(after(g.batch(mark(170), price(170, 104, again)))).toEqual(['triggered'])
  })

  it('are heard as soon as they are newer than what was told before', () => {
    const g = rung().batch(price(20, 99, again), mark(170), price(170, 99, again), price(171, 104, again))
    expect(after(g)).toEqual(['triggered', 'rearmed', 'triggered'])
    expect(g.batch(price(150, 90, again)).state.prices.get('btc')?.time).toBe(T0 + 171 * SECOND)
  })
})
