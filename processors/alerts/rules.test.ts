import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Message } from '../../schemas/records.ts'
import { CvdTestDriver, gap, longAgo, markOf, trade } from '../cvd/testing/records.ts'
import { payloadOf } from '../webhooks/payload.ts'
import {
  cancel,
  command,
  pause,
  resume,
  newAlert,
  createRule,
  DAY,
  given,
  HOUR,
  mark,
  metric,
  price,
  risk,
  SECOND,
  T0,
  type AlertsTestDriver,
} from './testing/records.ts'
import { readRuleTerms, type RuleTerms } from './kinds/rule-terms.ts'
import { pastText, readPast } from './past.ts'
import { InputFigures, Series } from './series.ts'
import { fresh } from './state.ts'
import { WhatIf } from './what-if.ts'

const cvdAbove = (value: number, more: object = {}) => ({ metric: 'cvd', operator: 'above', value, ...more })
const cvd = (seconds: number, value: number, venue = 'binance') => metric(seconds, 'cvd', { [`cvd@${venue}`]: value })
const rang = (when: object, ...log: readonly Message[]): number[] => given(createRule(when), ...log).rang

/** Marks each ten seconds, as they come each second in life. */
const marks = (from: number, to: number): Message[] =>
  Array.from({ length: Math.floor((to - from) / 10) + 1 }, (_, at) => mark(from + at * 10))

describe('a rule with one condition', () => {
  const values = [1, 6, 4, 11, 6].map((value, at) => cvd(10 + at * 100, value))
  const log = values.flatMap((value, at) => [mark(10 + at * 100), value])
  it.each([
    ['above', 5, [110, 310]],
    ['below', 5, [10, 210]],
    ['crosses_above', 5, [110, 310]],
    ['crosses_below', 5, [210]],
    ['between', [4, 6], [110, 410]],
  ])('that is %s %j rings at %j', (operator, value, expected) => {
    expect(rang({ metric: 'cvd', operator, value }, ...log)).toEqual(expected)
  })

  it('rings beyond its bound and not on it', () => {
    expect(rang(cvdAbove(5), cvd(10, 5), cvd(20, 5.01))).toEqual([20])
    expect(rang({ metric: 'cvd', operator: 'between', value: [5, 6] }, cvd(10, 4.99), cvd(20, 5))).toEqual([20])
  })

  it('rings again only behind its cooldown, once it has been back', () => {
    const log = [cvd(10, 6), mark(20), cvd(20, 4), mark(30), cvd(30, 6), mark(70), cvd(80, 7), mark(90), cvd(95, 8)]
    expect(rang(cvdAbove(5), ...log)).toEqual([10, 80])
    expect(given(createRule(cvdAbove(5), { cooldown: '5m' }), ...log, mark(310), cvd(320, 9)).rang).toEqual([10, 320])
    expect(given(createRule(cvdAbove(5), { repeat: false }), ...log).rang).toEqual([10])
  })

  it('that has rung is back behind its hysteresis alone', () => {
    const log = [cvd(10, 6), cvd(20, 4), mark(70), cvd(80, 6), cvd(90, 2.9), cvd(100, 6)]
    expect(rang(cvdAbove(5), ...log)).toEqual([10, 80])
    expect(rang(cvdAbove(5, { hysteresis: 2 }), ...log)).toEqual([10, 100])
  })

  it('that was made beyond its bound rings at the next figure, or, where it crosses, has to see the other side', () => {
    const beyond = [createRule(cvdAbove(9), { id: 'first' }), cvd(10, 6)]
    expect(given(...beyond, createRule(cvdAbove(5)), cvd(20, 7)).rang).toEqual([20])
    const crossing = createRule({ metric: 'cvd', operator: 'crosses_above', value: 5 })
    expect(given(...beyond, crossing, cvd(20, 7), cvd(30, 5), cvd(40, 5.1)).rang).toEqual([40])
  })
})

describe('a metric', () => {
  it('over all venues is their sum, or that of the one that is asked for', () => {
    const log = [metric(10, 'cvd', { 'cvd@binance': 3, 'cvd@okx': 3 })]
    expect(rang(cvdAbove(5), ...log)).toEqual([10])
    expect(rang(cvdAbove(2, { exchange: 'okx' }), ...log)).toEqual([10])
    expect(rang(cvdAbove(5, { exchange: 'okx' }), ...log)).toEqual([])
  })

  it.each([
    ['cvd_change', { 'buy@okx': 5, 'sell@okx': 1 }, 12, 11, 130],
    ['volume', { 'buy@okx': 5, 'sell@okx': 1 }, 18, 17, 130],
    ['liquidated_usd', { 'liquidated_long@okx': 5, 'liquidated_short@bybit': 1 }, 18, 17, 130],
    ['liquidated_short_usd', { 'liquidated_long@okx': 5, 'liquidated_short@bybit': 1 }, 3, 2.9, 130],
  ])('%s adds a window up, once it has seen all of it', (name, figures, sum, below, emptied) => {
    const core = name.startsWith('liquidated') ? 'liquidated' : 'cvd'
    const log = [metric(20, core, figures), metric(40, core, figures), mark(59), metric(60, core, figures)]
    const when = (value: number) => ({ metric: name, window: '1m', operator: 'above', value })
    expect(rang(when(below), ...log)).toEqual([60])
    expect(rang(when(sum), ...log)).toEqual([])
    expect(rang({ ...when(0), operator: 'below', value: 0.001 }, ...log, ...marks(70, 200))).toEqual([emptied])
  })

  it('that changes compares with a window ago, and knows nothing before', () => {
    const when = { metric: 'price_change_pct', window: '1m', operator: 'below', value: -4.9 }
    const log = [0, 20, 40].map((at) => price(at, 100))
    expect(rang(when, ...log, price(55, 95), price(61, 95))).toEqual([61])
    expect(rang({ metric: 'price', window: '1m', operator: 'changes_by', value: 5 }, ...log, price(61, 105))).toEqual([
      61,
    ])
  })

  it.each([
    ['price_change_pct', 100, 101, 1],
    ['price_change_pct', 100, 100.01, 0.01],
    ['price_change_pct', 64_000, 63_360, -1],
  ])('%s from %f to %f is on its bound, and not beyond', (name, from, to, bound) => {
    const log = [price(0, from), price(61, to)]
    const when = { metric: name, window: '1m' }
    for (const operator of ['above', 'below']) expect(rang({ ...when, operator, value: bound }, ...log)).toEqual([])
    expect(rang({ ...when, operator: 'between', value: [bound, bound] }, ...log)).toEqual([61])
  })

  it('that moves by its bound is on it', () => {
    const when = { metric: 'price', window: '1m', operator: 'changes_by', value: 0.3 }
    expect(rang(when, price(0, 100), price(61, 100.3))).toEqual([61])
  })

  it('that is added up or a mean is on its bound, and not beyond', () => {
    const tenths = [20, 40, 60].map((at) => metric(at, 'cvd', { 'buy@okx': 0.1 }))
    const volume = { metric: 'volume', window: '1m' }
    expect(rang({ ...volume, operator: 'above', value: 0.3 }, mark(0), ...tenths)).toEqual([])
    expect(rang({ ...volume, operator: 'between', value: [0.3, 0.3] }, mark(0), ...tenths)).toEqual([60])
    const ratios = metric(10, 'funding', {
      'long_short@binance': 2.0001,
      'long_short@okx': 2.0003,
      'long_short@gate': 1.9996,
    })
    expect(rang({ metric: 'long_short_ratio', operator: 'above', value: 2 }, ratios)).toEqual([])
    const flat = metric(1, 'funding', { 'long_short@okx': 1 })
    expect(rang({ metric: 'sentiment', operator: 'becomes', value: 'Bullish' }, flat, ratios)).toEqual([10])
  })

  it.each(['price_change_pct', 'price'])(
    '%s says nothing of a window in which nothing was told, until it has seen one',
    (name) => {
      const when = { metric: name, window: '1m', operator: name === 'price' ? 'changes_by' : 'above', value: 5 }
      const [told, gone] = [[0, 30, 60].map((at) => price(at, 100)), 6 * HOUR]
      const back = [0, 30, 59].flatMap((at) => [mark(gone + at), price(gone + at, 110)])
      expect(rang(when, ...told, ...marks(70, gone - 10), ...back)).toEqual([])
      expect(rang(when, ...told, ...marks(70, gone - 10), ...back, price(gone + 61, 117))).toEqual([gone + 61])
      expect(rang(when, ...told, price(60 + 60 + 901, 110))).toEqual([60 + 60 + 901]) // a pause of 15 minutes is none
      expect(rang(when, ...told, price(60 + 60 + 902, 110))).toEqual([])
    },
  )

  it('of a sum whose venues come and go begins anew', () => {
    const when = { metric: 'open_interest_change_pct', window: '1m', operator: 'below', value: -1 }
    const both = (at: number) => metric(at, 'funding', { 'open_interest@okx': 100, 'open_interest@bybit': 100 })
    expect(rang(when, both(0), both(30), metric(61, 'funding', { 'open_interest@okx': 100 }))).toEqual([])
    expect(
      rang({ ...when, exchange: 'okx' }, both(0), both(30), metric(61, 'funding', { 'open_interest@okx': 90 })),
    ).toEqual([61])
  })

  it.each(['funding_rate', 'predicted_funding_rate', 'basis'])(
    '%s of the first venue begins anew where another is the first',
    (figure) => {
      const rule = { metric: `${figure}_pct`, window: '5m', operator: 'changes_by', value: 1 }
      const told = (at: number, bybit: number, binance?: number): Message[] => {
        const figures = { [`${figure}@bybit`]: bybit, ...(binance !== undefined && { [`${figure}@binance`]: binance }) }
        return [mark(at), metric(at, 'funding', figures)]
      }
      const both = [0, 100, 200, 300].flatMap((at) => told(at, 3, 1))
      expect(rang(rule, ...both, ...told(400, 3), ...told(500, 3), ...told(600, 3, 1), ...told(901, 3, 1))).toEqual([])
      const alone = [400, 500, 600].flatMap((at) => told(at, 3))
      expect(rang(rule, ...both, ...alone, ...told(705, 4.5))).toEqual([705])
    },
  )

  it('goes on from a state that does not say whose the figures of the first venue are', () => {
    const name = 'funding_rate_pct||5m|move|'
    const series = new Series(name, { since: T0, samples: [[T0, 1]], value: null, time: T0, venues: '', raw: null })
    series.take(new InputFigures(metric(301, 'funding', { 'funding_rate@okx': 3 })))
    expect(series.at(T0 + 301 * SECOND)).toBe(2)
  })

  it('spikes against the mean of the windows before', () => {
    const quiet = Array.from({ length: 12 }, (_, at) => metric(10 + at * 30, 'cvd', { 'buy@okx': 1 }))
    const when = { metric: 'volume_spike', window: '1m', operator: 'above', value: 3 }
    const log = quiet.flatMap((one, at) => [mark(10 + at * 30), one])
    expect(rang(when, ...log, mark(370), metric(370, 'cvd', { 'buy@okx': 10 }))).toEqual([370])
    expect(rang(when, ...log, mark(370), metric(370, 'cvd', { 'buy@okx': 4 }))).toEqual([])
  })

  it.each([
    ['funding_rate_pct', { 'funding_rate@bybit': 0.06, 'funding_rate@okx': 0.01 }],
    ['predicted_funding_rate_pct', { 'predicted_funding_rate@binance': 0.06 }],
    ['basis_pct', { 'basis@okx': 0.06 }],
    ['long_short_ratio', { 'long_short@okx': 0.09, 'long_short@gate': 0.03 }],
  ])('%s is that of the first venue, or their mean', (name, figures) => {
    expect(rang({ metric: name, operator: 'above', value: 0.05 }, metric(10, 'funding', figures))).toEqual([10])
  })

  it('is a class that it becomes, from another', () => {
    const when = { metric: 'cvd_signal', window: '1h', operator: 'becomes', value: 'neutral' }
    const of = (at: number, place: number) => metric(at, 'cvd', { cvd_class_1h: place })
    expect(rang(when, of(10, 2), of(20, 1), of(30, 2), mark(95), of(100, 0), of(110, 2))).toEqual([30, 110])
    const funding = { metric: 'funding_signal', operator: 'becomes', value: 'extreme_bullish' }
    const rate = (at: number, percent: number) => metric(at, 'funding', { 'funding_rate@okx': percent })
    expect(rang(funding, rate(10, 0.05), rate(20, 0.0501))).toEqual([20])
    const sentiment = { metric: 'sentiment', operator: 'becomes', value: 'Bullish' }
    const ratio = (at: number, okx: number) => metric(at, 'funding', { 'long_short@okx': okx, 'long_short@gate': 1 })
    expect(rang(sentiment, ratio(10, 1), ratio(20, 2.6))).toEqual([20])
    expect(rang({ metric: 'cascade_risk', operator: 'becomes', value: 'high' }, risk(10, 5), risk(20, 11))).toEqual([
      20,
    ])
    expect(rang({ metric: 'liquidation_risk_pct', operator: 'above', value: 10 }, risk(10, 5), risk(20, 11))).toEqual([
      20,
    ])
  })

  it('at a candle’s close is what it was before its end', () => {
    const when = cvdAbove(5, { close: '1m' })
    expect(rang(when, cvd(10, 6), cvd(50, 4), cvd(70, 9), mark(110), cvd(119, 8), mark(120))).toEqual([120])
    expect(rang(when, cvd(50, 6), cvd(61, 4))).toEqual([61])
  })

  it('is told by a core that was built again for nobody', () => {
    expect(rang(cvdAbove(5), cvd(30, 1), cvd(20, 9), cvd(30, 9))).toEqual([])
  })
})

/**
 * What the cvd core tells rules of a trade of 1 BTC each second for `trading` seconds, of which those from `outage[0]` to
 * `outage[1]` are missed, which is told 2 s later, and by marks while it lasts; marks come for `seconds`, the alerts' own
 * `ahead` of it. From `still[0]` to `still[1]` the core stands still, and then catches up.
 */
function traded(
  seconds: number,
  { trading = seconds, ahead = 0.5, outage = [Infinity, 0], still = [Infinity, 0] } = {},
): Message[] {
  const cvdCore = new CvdTestDriver().batch(longAgo())
  const [from = Infinity, to = 0] = outage
  const [stops = Infinity, goesOn = 0] = still
  return Array.from({ length: seconds }, (_, at) => at + 1).flatMap((now) => {
    const time = T0 + (now - 0.5) * SECOND
    if (now <= trading && (now <= from || now > to)) cvdCore.batch(trade({ first_id: now, time }))
    if (now === to + 2) cvdCore.batch(gap({ from_time: T0 + from * SECOND, to_time: T0 + to * SECOND }))
    const state = now > from && now <= to ? 'down' : 'live'
    cvdCore.batch(markOf(T0 + (now + 0.2) * SECOND, { binance: state }))
    const isStill = now > stops && now <= goesOn
    const told = (isStill ? [] : cvdCore.emitted.splice(0)).flatMap(({ topic, message }) => {
      return topic === 'alerts.inputs' && message !== null ? [message] : []
    })
    return [...told, mark(now + 0.2 + ahead)]
  })
}

describe('a window of trades', () => {
  it('is saved where something was traded or has left it, and not where time alone has passed', () => {
    const driver = given(createRule({ metric: 'volume', window: '5m', operator: 'above', value: 100 }))
    const trade = metric(10, 'cvd', { 'buy@okx': 5 })
    const written = (seconds: number): boolean => {
      driver.batch(mark(seconds))
      return driver.save().includes('series|btc|volume||5m||')
    }
    driver.batch(mark(400), { ...trade, value: { ...trade.value, time: T0 + 400 * SECOND } })
    expect([400, 440, 480, 520, 720, 760].map(written)).toEqual([true, false, false, false, true, false])
  })

  const volume = (operator: string, value: number, more: object = {}) => {
    return { metric: 'volume', window: '1m', operator, value, ...more }
  }
  const spike = (operator: string, value: number) => ({ ...volume(operator, value), metric: 'volume_spike' })
  const change = (operator: string, value: number) => ({ ...volume(operator, value), metric: 'cvd_change' })

  it.each([0, 0.5, 6])('is as full in a steady market as it is, told %d s behind the time', (ahead) => {
    const log = traded(1_200, { ahead })
    expect(given(createRule(volume('above', 59.5), { resolved: true }), ...log).rang).toEqual([60])
    expect(given(createRule(change('above', 59.5), { held_for: '5m' }), ...log).rang).toEqual([360])
    for (const when of [volume('below', 59.5), change('below', 59.5), spike('below', 0.8), spike('above', 1.2)])
      expect(given(createRule(when), ...log).rang).toEqual([])
  })

  it('empties by time where nobody trades, 10 s behind it', () => {
    const log = traded(400, { trading: 120 })
    expect(given(createRule(volume('below', 59.5), { repeat: false }), ...log).rang).toEqual([140.7])
    expect(given(createRule(volume('below', 0.5)), ...log).rang).toEqual([190.7])
    expect(given(createRule(volume('below', 0.5)), ...marks(1, 80)).rang).toEqual([71])
  })

  it('closes with what was traded up to the end of its candle', () => {
    const close = (length: string) => ({ close: length })
    const rangIn = (trading: number) =>
      given(createRule(volume('above', 59.5, close('1m')), { resolved: true }), ...traded(400, { trading })).rang
    expect([rangIn(62), rangIn(355), rangIn(345)]).toEqual([
      [60, 130.7],
      [60, 360],
      [60, 370.7],
    ])
    expect(given(createRule(volume('above', 299.5, { window: '5m', ...close('5m') })), ...traded(303)).rang).toEqual([
      300,
    ])
  })

  describe('while who tells it stands still and others go on', () => {
    const [from, to] = [600, 2_000]
    const log = traded(2_600, { still: [from, to] })
    const placeOf = (second: number): number =>
      log.findIndex(({ value }) => 'time' in value && value.time > T0 + second * SECOND)

    it('does not empty, and goes on as if nothing had been, behind a restart as well', () => {
      for (const when of [volume('below', 59.5), change('below', 59.5), spike('below', 0.8), spike('above', 1.2)]) {
        expect(given(createRule(when), ...log).rang).toEqual([])
        const restarted = given(createRule(when), ...log.slice(0, placeOf(800))).restart()
        expect(restarted.batch(...log.slice(placeOf(800))).rang).toEqual([])
      }
      const closes = volume('below', 299.5, { window: '5m', close: '5m' })
      expect(given(createRule(closes), ...log).rang).toEqual([])
    })

    it('is what it was for 15 minutes, and then not known', () => {
      const keeps = createRule(volume('above', 60.5), { id: 'keeps' })
      const rangOf = (second: number): number[] => {
        const [before, behind] = [log.slice(0, placeOf(second)), log.slice(placeOf(second), placeOf(to))]
        return given(keeps, ...before, createRule(volume('above', 59.5)), ...behind).rang
      }
      expect(rangOf(1_300)).toEqual([1_300.7])
      expect(rangOf(1_600)).toEqual([])
    })

    it('empties where nobody trades when that is told', () => {
      const quiet = traded(2_600, { trading: 550, still: [from, to] })
      const [rangAt = 0] = given(createRule(volume('below', 0.5), { repeat: false }), ...quiet).rang
      expect(rangAt).toBeGreaterThan(to)
      expect(rangAt).toBeLessThan(to + 20)
    })

    it('does so of liquidations, by the marks of their processor', () => {
      const when = { metric: 'liquidated_usd', window: '1m', operator: 'below', value: 1 }
      const told = [20, 40, 60, 80].flatMap((at) => [
        metric(at, 'liquidated', { 'liquidated_long@okx': 5 }),
        mark(at, 'liquidated'),
        ...marks(at, at + 10),
      ])
      expect(rang(when, ...told, ...marks(100, 600))).toEqual([])
      expect(rang(when, ...told, ...marks(100, 600), mark(600, 'liquidated'), mark(610))).toEqual([610])
    })
  })

  it('is not moved back by marks that are behind what was told', () => {
    const told = Array.from({ length: 12 }, (_, at) => metric((at + 1) * 10, 'cvd', { 'buy@okx': 10 }))
    const fed = given(createRule(volume('above', 59), { resolved: true }), ...told, ...marks(10, 130))
    expect(fed.rang).toEqual([60])
    expect(fed.restart().batch(metric(130, 'cvd', { 'buy@okx': 10 }), ...marks(140, 180)).rang).toEqual([60, 150])
  })

  /** A steady hundred an hour and more: each ten seconds or each candle of `length` what was traded in it; three times as much in hour 20. */
  const steady = (hours: number, length = 10, behind = 0): Message[] =>
    Array.from({ length: (hours * HOUR) / length }, (_, at) => (at + 1) * length).flatMap((end) => {
      const units = (end > 20 * HOUR && end <= 21 * HOUR ? 3 : 1) * (length / 10)
      return [metric(end - behind, 'cvd', { 'buy@okx': units }), mark(end + 2)]
    })
  const rings = (whens: readonly object[], log: readonly Message[]) => {
    const { triggers } = given(...whens.map((when, at) => createRule(when, { id: `r${at}` })), ...log)
    return whens.map((_, at) =>
      triggers.filter(({ alert_id: id }) => id === `r${at}`).map(({ time }) => (time - T0) / SECOND),
    )
  }

  it.each(['1m', '5m', '15m', '30m', '1h'])(
    'of %s misses nothing of a steady market, whenever it is looked at',
    (window) => {
      const units = { '1m': 6, '5m': 30, '15m': 90, '30m': 180, '1h': 360 }[window] ?? NaN
      const bounds = (metric: string, mean: number) => [
        { metric, window, operator: 'below', value: mean * 0.9999 },
        { metric, window, operator: 'above', value: mean * 1.0001 },
        { metric, window, close: '5m', operator: 'below', value: mean * 0.9999 },
        { metric, window, close: '5m', operator: 'above', value: mean * 1.0001 },
      ]
      const whens = [...bounds('volume', units), ...bounds('volume_spike', 1)]
      expect(rings(whens, steady(20))).toEqual(whens.map(() => []))
    },
  )

  it('is whole at the close of its candle, told by the bucket or by the candle', () => {
    const whens = [
      { metric: 'volume_spike', window: '1h', close: '1h', operator: 'above', value: 2.999 },
      { metric: 'volume_spike', window: '15m', close: '15m', operator: 'above', value: 2.999 },
      { metric: 'volume', window: '1h', close: '1h', operator: 'above', value: 1_079.9 },
      { metric: 'volume', window: '1h', close: '1h', operator: 'below', value: 359.9 },
    ]
    const closes = [[21 * HOUR], [20.25 * HOUR], [21 * HOUR], []]
    expect(rings(whens, steady(22))).toEqual(closes)
    const byMinutes = rings(whens, steady(22, 60, 1))
    expect(byMinutes.map((times) => times.map((time) => Math.floor(time / 900) * 900))).toEqual(closes)
  })

  it('is compared with those before it exactly, whatever its market did within', () => {
    const when = (operator: string, value: number) => ({ metric: 'volume_spike', window: '1h', operator, value })
    const whens = [when('above', 2.999), when('above', 3.001), when('below', 0.97)]
    expect(rings(whens, steady(20.99)).map(({ length }) => length)).toEqual([0, 0, 0])
    const [highest = [], over] = rings(whens, steady(22))
    expect([highest, over]).toEqual([[21 * HOUR], []])
  })

  describe('of which trades were missed', () => {
    const spikes = (log: readonly Message[], series = new Series('volume_spike||1m||', fresh(T0))) =>
      log.flatMap((message): (readonly [second: number, value: number | undefined])[] => {
        if (message.type !== 'metric') return []
        const { time } = message.value
        series.take(new InputFigures(message))
        return [[(time - T0) / SECOND, series.at(time)]]
      })

    it.each([
      [1_500, 1_560],
      [1_504, 1_560],
      [1_509, 1_570],
    ])('spikes by the time alone of which they are known: an outage to %d s', (end, first) => {
      const log = traded(4_500, { outage: [600, end] })
      expect(given(createRule(spike('above', 1.2)), ...log).rang).toEqual([])
      const behind = spikes(log).filter(([second]) => second > end + 10)
      const known = behind.filter(([, value]) => value !== undefined)
      expect(known.map(([, value]) => Math.abs((value ?? NaN) - 1) < 0.05)).toEqual(known.map(() => true))
      expect([known[0]?.[0], known.length]).toEqual([first, (4_490 - first) / 10 + 1])
    })

    it('is not known to spike while its venue is away, before a gap is told', () => {
      const log = traded(1_400, { outage: [600, 1_500] })
      expect(given(createRule(spike('below', 0.95)), ...log).rang).toEqual([])
      const unknown = spikes(log).filter(([second, value]) => second > 360 && value === undefined)
      expect([unknown[0]?.[0], unknown.length]).toEqual([610, 79])
    })

    it('is not known to spike while fewer than five windows before are known', () => {
      const behind = spikes(traded(4_500, { outage: [200, 2_000] })).filter(([second]) => second > 2_010)
      expect(behind.find(([, value]) => value !== undefined)).toEqual([2_360, 1])
    })

    it('spikes where less than a tenth of the newest window is missing', () => {
      const log = traded(900, { outage: [700, 705] })
      expect(spikes(log).flatMap(([second, value]) => (value === undefined && second > 360 ? [second] : []))).toEqual(
        [],
      )
      expect(given(createRule(spike('above', 1.02)), ...log).rang).toEqual([])
    })

    it('leaves out what other venues traded meanwhile, and of one venue counts its own alone', () => {
      const told = (at: number, figures: Readonly<Record<string, number>>) => metric(at, 'cvd', figures)
      const missed = { 'missed_from@okx': T0 + 600 * SECOND, 'missed_to@okx': T0 + 1_500 * SECOND }
      const log = Array.from({ length: 200 }, (_, at) => (at + 1) * 10).map((at) =>
        told(at, {
          'buy@binance': at > 1_560 ? 1 : 3,
          ...((at <= 600 || at > 1_500) && { 'buy@okx': at > 1_560 ? 9 : 7 }),
          ...(at === 1_510 && missed),
        }),
      )
      const last = (name: string) => spikes(log, new Series(name, fresh(T0))).find(([second]) => second === 1_620)?.[1]
      expect(last('volume_spike||1m||')).toBe(1)
      expect(last('volume_spike|binance|1m||')).toBeCloseTo(1 / 3, 2)
      expect(last('volume_spike|okx|1m||')).toBeCloseTo(9 / 7, 2)
    })

    describe('while a venue stays away', () => {
      /** From second 10 on, as cvd tells it: so much of each venue that is there, told each ten seconds. */
      const told = (
        seconds: number,
        isThere: (venue: Venue, second: number) => boolean,
        rate: Rate = rates,
      ): Message[] =>
        Array.from({ length: seconds / 10 }, (_, at) => (at + 1) * 10).map((end) => {
          const figures: Record<string, number> = {}
          for (const venue of venues) {
            const before = Array.from({ length: 10 }, (_, at) => end - 10 + at)
            const traded = before.filter((second) => isThere(venue, second)).length
            if (traded > 0) figures[`buy@${venue}`] = traded * rate(venue, end)
            let to = end
            while (to > 0 && end - to < 20 && isThere(venue, to - 1)) to -= 1
            if (to === 0 || isThere(venue, to - 1)) continue // what it missed was told before
            let from = to
            while (from > 0 && !isThere(venue, from - 1)) from -= 1
            figures[`missed_from@${venue}`] = T0 + from * SECOND
            figures[`missed_to@${venue}`] = T0 + to * SECOND
          }
          return metric(end, 'cvd', figures)
        })
      const venues = ['binance', 'bybit', 'okx'] as const
      type Venue = (typeof venues)[number]
      type Rate = (venue: Venue, end: number) => number
      const rates = (venue: Venue): number => ({ binance: 3, bybit: 1, okx: 7 })[venue]
      const knownOf = (log: readonly Message[], from: number): (readonly [number, number | undefined])[] =>
        spikes(log).filter(([second]) => second > from)
      const okxAway =
        (from: number, to: number) =>
        (venue: Venue, second: number): boolean =>
          venue !== 'okx' || second < from || second >= to

      it('is that of the others, once six windows without it are known, and of all again after its return', () => {
        const changes = (log: readonly Message[]): number[] =>
          knownOf(log, 590).flatMap(([second, value], at, all) => {
            return at > 0 && (all[at - 1]?.[1] === undefined) !== (value === undefined) ? [second] : []
          })
        const log = told(4_000, okxAway(600, 2_400))
        expect(changes(log)).toEqual([610, 970, 2_410, 2_760])
        expect(changes(told(4_000, okxAway(600, 1_000)))).toEqual([610, 970, 1_010, 1_060])
        expect(knownOf(log, 590).filter(([, value]) => value !== undefined && Math.abs(value - 1) > 0.01)).toEqual([])
      })

      it('rings by what the others trade', () => {
        const tripled = (venue: Venue, end: number): number => rates(venue) * (end > 1_500 && end <= 1_560 ? 3 : 1)
        const log = told(2_400, okxAway(600, 2_400), tripled)
        expect(given(createRule(spike('above', 2.99)), ...log).rang).toEqual([1_560])
      })

      it('goes on behind a restart, and in a window that was filled from history', () => {
        const log = told(2_400, okxAway(600, 2_400))
        const whole = spikes(log)
        const saved = new Series('volume_spike||1m||', fresh(T0))
        spikes(log.slice(0, 90), saved)
        const past = readPast(pastText({ since: T0, series: [[saved.name, saved.saved()]] }))
        expect(spikes(log.slice(90), new Series(saved.name, saved.saved()))).toEqual(whole.slice(90))
        const cold = new Series(saved.name, fresh(T0 + 900 * SECOND))
        spikes(log.slice(90, 92), cold)
        for (const [, one] of past?.series ?? []) cold.warm(one)
        const warmed = spikes(log.slice(92), cold)
        const known = warmed.filter(([, value]) => value !== undefined)
        expect([known[0]?.[0], known.length]).toEqual([980, 143]) // the bucket in which it began it does not know
        expect(known.filter(([, value]) => value !== undefined && Math.abs(value - 1) > 0.01)).toEqual([])
      })

      it('is about one in a steady market, whichever venues come and go', () => {
        const outage = fc.record({
          venue: fc.constantFrom(...venues),
          from: fc.integer({ min: 0, max: 3_500 }),
          length: fc.oneof(fc.integer({ min: 20, max: 200 }), fc.integer({ min: 200, max: 2_500 })),
        })
        let known = 0
        fc.assert(
          fc.property(fc.array(outage, { maxLength: 5 }), (outages) => {
            const log = told(3_600, (venue, second) =>
              outages.every((one) => one.venue !== venue || second < one.from || second >= one.from + one.length),
            )
            const values = spikes(log).flatMap(([, value]) => value ?? [])
            expect(values.filter((value) => Math.abs(value - 1) > 0.1)).toEqual([])
            known += values.length
          }),
          { numRuns: 20 },
        )
        expect(known).toBeGreaterThan(1_500)
      })
    })

    it('is so behind a restart, in a window that was filled from history and one that began meanwhile', () => {
      const log = traded(4_500, { outage: [600, 1_500] })
      const at = log.findIndex(({ type, value }) => type === 'metric' && value.time >= T0 + 1_000 * SECOND)
      const whole = spikes(log).filter(([second]) => second > 1_510)
      for (const cut of [at, at + 300]) {
        const [before, after] = [log.slice(0, cut), log.slice(cut)]
        const saved = new Series('volume_spike||1m||', fresh(T0))
        spikes(before, saved)
        const restarted = spikes(after, new Series(saved.name, saved.saved())).filter(([second]) => second > 1_510)
        expect(restarted).toEqual(whole.slice(-restarted.length))
        const cold = new Series(saved.name, fresh(T0 + 1_000 * SECOND))
        const past = readPast(pastText({ since: T0, series: [[saved.name, saved.saved()]] }))
        const half = after.length / 10
        spikes(after.slice(0, half), cold)
        for (const [, one] of past?.series ?? []) cold.warm(one)
        const warmed = spikes(after.slice(half), cold).filter(([second]) => second > 1_510)
        expect(warmed).toEqual(whole.slice(-warmed.length))
      }
    })
  })

  it('goes on from a state that has a sample where now there are several', () => {
    const time = T0 + 30 * HOUR * SECOND
    const samples = Array.from({ length: 100 }, (_, at): [number, number] => [time - (100 - at) * 900 * SECOND, 90])
    const saved = { since: T0, samples, value: 1, time, venues: '', raw: null }
    const series = new Series('volume_spike||1h||', saved)
    const values = steady(56).flatMap((message) => {
      if (message.type !== 'metric' || message.value.time <= time) return []
      series.take(new InputFigures(message))
      return [series.at(message.value.time) ?? NaN]
    })
    const first = values.slice(0, 360)
    expect([Math.min(...first) >= 0.74, Math.max(...values) < 1.011, values.at(-1)]).toEqual([true, true, 1])
    expect(series.saved().samples.length).toBeLessThan(165)
  })

  it('is in a trial what it is in life', () => {
    const log = traded(600).filter(({ type }) => type === 'metric') as Message<'metric'>[]
    const when = { ...volume('above', 59.5), exchange: null, close: null }
    const terms = readRuleTerms({ when, resolved: true }) as RuleTerms
    const trial = new WhatIf({ asset: 'btc', symbol: 'BTC', terms }, T0)
    for (const [offset, message] of log.entries()) trial.feed({ partition: 0, offset, message })
    expect(trial.rang.map(({ time }) => (time - T0) / SECOND)).toEqual([60])
  })
})

describe('a candle', () => {
  it.each(['1m', '5m', '1h'])(
    'of %s closes with nothing known where nothing was told for 15 minutes before',
    (close) => {
      const both = { all: [cvdAbove(5, { close }), { metric: 'price', operator: 'above', value: 100 }] }
      const log = [...marks(10, 2_700), cvd(2_705, 6), ...marks(2_710, 3_600), ...marks(3_610, 7_200)]
      expect(rang(both, ...log.slice(0, -360), price(3_601, 101))).toEqual([3_601])
      expect(rang(both, ...log, price(7_201, 101))).toEqual([])
    },
  )

  it('that closes with nothing known is not over by that', () => {
    const rule = createRule(cvdAbove(5, { close: '5m' }), { resolved: true })
    const fed = given(rule, cvd(10, 6), ...marks(20, 2_400)).restart()
    expect([fed.rang, fed.triggers.length]).toEqual([[300], 1])
    expect(fed.batch(cvd(2_410, 4), ...marks(2_420, 2_700)).rang).toEqual([300, 2_700])
  })
})

describe('joined conditions', () => {
  const both = { all: [cvdAbove(5), { metric: 'price', operator: 'above', value: 100 }] }
  const either = { any: both.all }
  it('ring when all are met, in whatever order', () => {
    expect(rang(both, cvd(10, 6), price(20, 99), price(30, 101))).toEqual([30])
    expect(rang(both, price(10, 101), cvd(20, 4), cvd(30, 6))).toEqual([30])
    expect(rang(both, price(10, 101), price(15, 99), cvd(20, 6), price(30, 101))).toEqual([30])
  })

  it('ring when one is met, and are back when none is', () => {
    const log = [cvd(10, 6), price(20, 101), cvd(30, 4), mark(80), price(81, 102), price(90, 99), price(91, 101)]
    expect(rang(either, ...log)).toEqual([10, 91])
  })

  it('may be joined again', () => {
    const when = { all: [either, { metric: 'cvd', operator: 'below', value: 8 }] }
    expect(rang(when, cvd(10, 9), price(11, 99), cvd(20, 7))).toEqual([20])
  })
})

describe('a rule that has to hold', () => {
  const holding = (...log: readonly Message[]) => given(createRule(cvdAbove(5), { held_for: '1m' }), ...log)
  it('rings when it has, by time alone', () => {
    expect(holding(cvd(10, 6), mark(69)).rang).toEqual([])
    expect(holding(cvd(10, 6), mark(40), cvd(50, 7), mark(70)).rang).toEqual([70])
  })

  it('begins anew when it was not met between', () => {
    expect(holding(cvd(10, 6), mark(40), cvd(50, 5), cvd(60, 6), mark(70), mark(119)).rang).toEqual([])
    expect(holding(cvd(10, 6), mark(40), cvd(50, 5), cvd(60, 6), mark(70), mark(120)).rang).toEqual([120])
  })
})

describe('a message', () => {
  const told = (fed: AlertsTestDriver) =>
    fed.triggers.map((trigger) => JSON.parse(payloadOf(trigger, 'live').toString()) as Record<string, unknown>)

  it('names the figures that met it, in words and as data', () => {
    const rule = createRule(
      { all: [cvdAbove(5), { metric: 'cvd_signal', window: '1h', operator: 'becomes', value: 'neutral' }] },
      {
        note: 'look here',
      },
    )
    const log = [
      metric(10, 'cvd', { 'cvd@okx': 6, cvd_class_1h: 1 }),
      price(11, 101),
      metric(20, 'cvd', { 'cvd@okx': 7, cvd_class_1h: 2 }),
    ]
    const [body] = told(given(rule, ...log))
    expect(body).toMatchObject({
      event: 'rule_alert',
      alert_id: 'a',
      trigger_id: 'a_1',
      data: {
        triggered: true,
        status: 'triggered',
        current_price: 101,
        note: 'look here',
        figures: [
          { metric: 'cvd', exchange: null, window: null, value: 7 },
          { metric: 'cvd_signal', window: '1h', value: 'neutral' },
        ],
        condition_met: 'BTC: CVD above 5 and CVD signal over 1h becomes neutral; now CVD 7, CVD signal over 1h neutral',
      },
    })
  })

  it.each([
    [5, 5.0000004, '5.0000004'],
    [1_000.004, 1_000.0049, '1,000.0049'],
    [5, 5.12345678, '5.12346'],
    [1_000, 1_234.5678, '1,234.57'],
  ])('says a figure that is above %d with as many digits as show it: %d', (bound, value, shown) => {
    const [body] = told(given(createRule(cvdAbove(bound)), cvd(10, value)))
    const condition_met = `BTC: CVD above ${bound.toLocaleString('en', { maximumFractionDigits: 9 })}; now CVD ${shown}`
    expect(body).toMatchObject({ data: { condition_met } })
  })

  it('says that it is over where that is wanted, once', () => {
    const log = [cvd(10, 6), cvd(20, 4), cvd(30, 3), mark(100)]
    expect(told(given(createRule(cvdAbove(5)), ...log))).toHaveLength(1)
    const fed = given(createRule(cvdAbove(5), { resolved: true }), ...log)
    expect(told(fed)).toMatchObject([
      { trigger_id: 'a_1', data: { status: 'triggered' } },
      { trigger_id: 'a_1_over', data: { triggered: false, status: 'resolved', figures: [{ value: 4 }] } },
    ])
    expect(fed.told).toEqual(['created', 'triggered', 'rearmed'])
  })
})

describe('a rule that is changed', () => {
  const edit = (when: object, more: object = {}) =>
    command({
      action: 'edit',
      alert: newAlert({ kind: 'rule', condition: JSON.stringify({ kind: 'rule', when, ...more }) }),
    })

  it('waits for its new terms, and for its old ones no more', () => {
    const fed = given(createRule(cvdAbove(5)), edit({ metric: 'price', operator: 'above', value: 100 }), cvd(10, 6))
    expect([fed.told, fed.rang, fed.state.seriesCount]).toEqual([['created', 'edited'], [], 1])
    expect(fed.restart().batch(price(20, 101))).toMatchObject({ rang: [20] })
  })

  it('rings no sooner than its cooldown after the last ring', () => {
    const log = [cvd(10, 6), edit(cvdAbove(6)), cvd(20, 7), mark(69), cvd(69, 8), mark(70), cvd(75, 7)]
    expect(given(createRule(cvdAbove(5)), ...log).rang).toEqual([10, 75])
  })

  describe('and has to see the other side first', () => {
    const crosses = (value: number) => ({ metric: 'cvd', operator: 'crosses_above', value })
    const rung = [createRule(crosses(10)), cvd(1, 1), cvd(10, 11)]
    const beyond = [mark(90), cvd(95, 12)]

    it.each([30, 75])('does so too where it is changed at %i s of a cooldown to 70 s', (at) => {
      const fed = given(...rung, mark(at), edit(crosses(5))).restart()
      expect(fed.batch(mark(78), cvd(80, 11), ...beyond).rang).toEqual([10])
      expect(fed.batch(cvd(100, 4), cvd(110, 6)).rang).toEqual([10, 110])
    })

    it.each([40, 79])('does so too where it rests meanwhile, to %i s', (until) => {
      const fed = given(...rung, mark(30), edit(crosses(5)), pause(until), mark(until), mark(79)).restart()
      expect(fed.batch(cvd(80, 11), ...beyond).rang).toEqual([10])
      expect(fed.batch(cvd(100, 4), cvd(110, 6)).rang).toEqual([10, 110])
    })

    it('needs to see it once for each ring', () => {
      const fed = given(...rung, mark(30), edit(crosses(5)), mark(78), cvd(80, 4), cvd(90, 6), cvd(100, 4))
      expect(fed.batch(mark(160), cvd(170, 6)).rang).toEqual([10, 90, 170])
    })
  })

  it('that is to ring once from now on waits out its cooldown, and does', () => {
    const log = [
      cvd(10, 6),
      edit(cvdAbove(5), { repeat: false }),
      cvd(20, 4),
      mark(70),
      cvd(75, 7),
      cvd(76, 4),
      cvd(77, 8),
    ]
    expect(given(createRule(cvdAbove(5)), ...log).rang).toEqual([10, 75])
  })

  it('is refused where it has ended, or the terms are of another kind', () => {
    const once = createRule(cvdAbove(5), { repeat: false })
    expect(given(once, cvd(10, 6), edit(cvdAbove(7))).told.at(-1)).toBe('rejected alert_not_active')
    const other = command({ action: 'edit', alert: newAlert() })
    expect(given(createRule(cvdAbove(5)), other).told.at(-1)).toBe('rejected invalid_body')
  })
})

describe('a rule that rests', () => {
  const above = (more: object = {}): Message => createRule(cvdAbove(5), { ...more })

  it('neither rings nor is over, and goes on at its time or at a word of its owner', () => {
    const waits = [above(), pause(30), cvd(10, 6), cvd(20, 4), mark(30), cvd(31, 6)]
    expect(given(...waits)).toMatchObject({ rang: [31], told: ['created', 'paused', 'resumed', 'triggered'] })
    const rang = [above({ resolved: true }), cvd(10, 6), pause(null), cvd(20, 4), mark(100), cvd(101, 6), resume()]
    const fed = given(...rang)
    expect([fed.rang, fed.told.at(-1), fed.events.at(-1)?.alert?.status]).toEqual([[10], 'resumed', 'triggered'])
    fed.restart().batch(cvd(110, 4))
    expect([fed.rang, fed.told.at(-1)]).toEqual([[10, 110], 'rearmed']) // its incident is over now
  })

  it('holds from the beginning, and keeps what hysteresis it has', () => {
    const holds = [above({ held_for: '30s' }), cvd(10, 6), pause(20), mark(20), cvd(21, 6), mark(40), mark(51)]
    expect(given(...holds).rang).toEqual([51])
    const wide = createRule(cvdAbove(5, { hysteresis: 2 }), { resolved: true })
    const log = [wide, cvd(10, 6), pause(20), mark(20), cvd(30, 4), mark(80), cvd(81, 6), cvd(90, 2)]
    expect(given(...log).triggers.map(({ trigger_id: id }) => id)).toEqual(['a_1', 'a_1_over'])
  })

  it('has to see first what has to come first, again', () => {
    const crosses = createRule({ ...cvdAbove(5), operator: 'crosses_above' })
    expect(given(crosses, cvd(1, 4), pause(20), cvd(10, 6), mark(20), cvd(21, 7), cvd(22, 4), cvd(23, 6)).rang).toEqual(
      [23],
    )
  })

  it('expires all the same, can be cancelled, changed and extended, and is refused where that makes no sense', () => {
    expect(given(above(), pause(null), mark(DAY)).told).toEqual(['created', 'paused', 'expired'])
    expect(given(above(), pause(2 * DAY), mark(DAY), mark(2 * DAY)).told).toEqual(['created', 'paused', 'expired'])
    const ended = ['created', 'paused', 'cancelled', 'rejected alert_not_active']
    expect(given(above(), pause(null), cancel(), resume()).told).toEqual(ended)
    const refused = ['created', 'rejected invalid_until', 'rejected alert_not_found', 'resumed']
    expect(given(above(), mark(10), pause(10), resume('b'), resume()).told).toEqual(refused)
  })
})

describe('the state of a rule', () => {
  const rules = [
    createRule({ metric: 'cvd_change', window: '1m', operator: 'above', value: 3 }, { id: 'sum' }),
    createRule(
      { all: [cvdAbove(5), { metric: 'price', operator: 'above', value: 100 }] },
      { id: 'both', held_for: '10s', resolved: true },
    ),
    createRule({ metric: 'price_change_pct', window: '1m', operator: 'above', value: 1 }, { id: 'change' }),
    createRule(cvdAbove(2, { close: '1m' }), { id: 'close' }),
  ]
  const log = Array.from({ length: 30 }, (_, at) => [
    mark(at * 10),
    metric(at * 10 + 1, 'cvd', { 'buy@okx': at % 4, 'sell@okx': at % 3, 'cvd@okx': at % 9 }),
    price(at * 10 + 2, 95 + ((at * 7) % 10)),
  ]).flat()

  it('goes on after any restart as if there had been none', () => {
    const whole = given(...rules, ...log)
    expect(new Set(whole.triggers.map(({ alert_id: id }) => id)).size).toBe(4)
    for (let at = 1; at < log.length; at += 7) {
      const fed = given(...rules, ...log.slice(0, at)).restart()
      fed.batch(...log.slice(at))
      expect(fed.emitted).toEqual(whole.emitted)
    }
  })

  it('forgets series that nobody looks at any more', () => {
    const fed = given(...rules, cvd(1, 1))
    expect(fed.state.seriesCount).toBe(5)
    fed.batch(mark(DAY + 1))
    expect([fed.state.seriesCount, fed.state.series.size]).toEqual([0, 0])
    expect(fed.restart().state.seriesCount).toBe(0)
  })

  it('that was made before its hysteresis would be refused is read', () => {
    const fed = given(createRule({ metric: 'price', operator: 'above', value: 5, hysteresis: 6 }), price(10, 6))
    expect(fed.restart().rang).toEqual([10])
  })

  it('lives for ever where no end is asked for', () => {
    const fed = given(createRule(cvdAbove(5), { hours: 0 }), mark(400 * DAY), cvd(400 * DAY + 1, 6))
    expect(fed.rang).toEqual([400 * DAY + 1])
    expect(T0 + 400 * DAY).toBeGreaterThan(T0 + HOUR)
  })

  it('is refused where it is not whole', () => {
    const wrong = [
      { metric: 'weather' },
      { all: [] },
      cvdAbove(5, { window: '1h' }),
      { ...cvdAbove(5), operator: 'becomes' },
    ]
    expect(given(...wrong.map((when, at) => createRule(when, { id: `a${at}` }))).told).toEqual(
      wrong.map(() => 'rejected invalid_body'),
    )
  })
})
