import { describe, expect, it } from 'vitest'
import type { Funding, FundingView, Signal } from '../../schemas/records.ts'
import { CoreTestDriver, only } from '../kernel/testing/core-test-driver.ts'
import { classifyFunding } from './classes.ts'
import { funding } from './funding.ts'
import {
  binance,
  bybit,
  HOUR,
  mark,
  MINUTE,
  okx,
  premium,
  rate,
  ratio,
  says,
  SECOND,
  settlement,
  T0,
  terms,
} from './testing/records.ts'

type TestDriver = CoreTestDriver<ReturnType<typeof funding.empty>>

const empty = (): TestDriver => new CoreTestDriver(funding, 'market.funding')
/** Told the terms of three venues. */
const fed = (): TestDriver => empty().batch(...[binance, bybit, okx].map((instrument) => terms({ instrument })))
const rows = (given: TestDriver): Funding[] => only(given.take(), 'funding')
const view = (given: TestDriver, exchange = 'binance'): FundingView | undefined =>
  rows(given)
    .at(-1)
    ?.exchanges.find((candidate) => candidate.exchange === exchange)
const signals = (given: TestDriver): Signal[] => only(given.take(), 'signal')
const refused = (given: TestDriver) => given.core.counts?.(given.state)

describe('a venue’s view', () => {
  it('says each group with its own time, and null for what was never said', () => {
    const given = fed().batch(
      rate(0.0001, 0),
      says({ mark: 100, index: 99, mark_time: T0 + SECOND }),
      says({ open_interest: 5, open_interest_time: T0 + 2 * SECOND }),
      mark(10 * SECOND),
    )
    expect(view(given)).toMatchObject({
      instrument: binance,
      rate: 0.0001,
      rate_time: T0,
      next_settlement: T0 + 8 * HOUR,
      interval_hours: 8,
      mark: 100,
      index: 99,
      mark_time: T0 + SECOND,
      open_interest: 5,
      open_interest_time: T0 + 2 * SECOND,
      premium: null,
      average_premium: null,
      predicted: null,
      settled_rate: null,
      samples: 0,
      expected: 0,
    })
  })

  it('ignores a group that is not newer than the one known, however late it comes', () => {
    const given = fed().batch(rate(0.0001, MINUTE), rate(0.0002, MINUTE), rate(0.0003, 0), mark(MINUTE))
    expect(view(given)).toMatchObject({ rate: 0.0001 })
    expect(refused(given)).toMatchObject({ old: 2 })
  })

  it('takes mark and index in messages of their own', () => {
    const given = fed().batch(says({ mark: 100, mark_time: T0 + SECOND }), says({ index: 99, mark_time: T0 }), mark(0))
    expect(view(given)).toMatchObject({ mark: 100, index: 99, mark_time: T0 + SECOND, expected: 0, samples: 0 })
  })

  it('has the newest settled rate, whatever order a back-read has', () => {
    const given = fed().batch(settlement(0.0003, 0), settlement(0.0001, -8 * HOUR), mark(0))
    expect(view(given)).toMatchObject({ settled_rate: 0.0003, settled_time: T0 })
  })

  it('is in the order Binance, Bybit, OKX, one perpetual each: heard of lately, of USDT', () => {
    const usdc = 'binance:perp:BTCUSDC'
    const usd = 'okx:perp:BTC-USD-SWAP'
    const given = fed().batch(
      ...[usdc, usd].map((instrument) => terms({ instrument })),
      ...[usd, okx, usdc, bybit, binance].map((instrument) => says({ instrument, mark: 1, mark_time: T0 })),
      mark(0),
    )
    const instruments = (): string[] | undefined =>
      rows(given)
        .at(-1)
        ?.exchanges.map(({ instrument }) => instrument)
    expect(instruments()).toEqual([binance, bybit, okx])
    const later = T0 + 11 * MINUTE
    given.batch(says({ instrument: usdc, mark: 2, mark_time: later, received: later }), mark(11 * MINUTE))
    expect(instruments()?.[0]).toBe(usdc)
  })

  it('has no place for markets that are not compared', () => {
    const given = empty().batch(says({ instrument: 'gate:perp:BTC_USDT', mark: 1, mark_time: T0 }), mark(0))
    expect(rows(given)).toEqual([])
    expect(refused(given)).toMatchObject({ other: 1 })
  })
})

describe('a perpetual whose interval nobody has told', () => {
  const said = { mark: 100, index: 99, mark_time: T0 }

  it('is in no row, signal or metric: its rate is of a time that is not known', () => {
    const given = empty().batch(rate(0.001, 0, said), premium(0.001, 0), mark(MINUTE))
    expect(given.take().map(({ message }) => message?.type)).toEqual(['funding', 'mark', 'mark'])
    given.batch(terms({ interval_hours: 4 }), mark(2 * MINUTE))
    const outputs = given.take()
    expect(only(outputs, 'funding')).toMatchObject([{ exchanges: [{ rate: 0.001, mark: 100, interval_hours: 4 }] }])
    expect(only(outputs, 'signal')).toMatchObject([{ to: 'extreme_bullish', evidence: { interval_hours: 4 } }])
  })

  it('has the minutes since its settlement once its interval is told', () => {
    const announced = { next_settlement: T0 + 4 * HOUR }
    const given = empty().batch(rate(0, 0, announced), premium(0.009, -1), premium(0.001, 0), premium(0.002, 1))
    given.restart().batch(terms({ interval_hours: 4 }), mark(2 * MINUTE))
    expect(view(given)).toMatchObject({ samples: 2, expected: 2, premium: 0.002, average_premium: 0.001666666667 })
  })

  it('stands back behind another of its venue', () => {
    const usdc = 'binance:perp:BTCUSDC'
    const given = empty().batch(says(said), says({ ...said, instrument: usdc }), terms({ instrument: usdc }), mark(0))
    expect(view(given)).toMatchObject({ instrument: usdc })
    given.batch(terms({}), mark(MINUTE))
    expect(view(given)).toMatchObject({ instrument: binance })
  })
})

describe('the predicted rate', () => {
  const minutes = (count: number, value: number, from = 0) =>
    Array.from({ length: count }, (_, n) => premium(value, from + n))

  it('is the venue’s formula over the average premium since the last settlement: what is running now', () => {
    const given = fed().batch(rate(0, 0), ...minutes(240, 0), ...minutes(240, 0.0012, 240), mark(8 * HOUR - SECOND))
    const seen = view(given)
    expect(seen).toMatchObject({ samples: 479, expected: 479 })
    // 479 of 480 minutes have closed: 239 of them with a premium.
    const exact = (0.0012 * ((479 * 480) / 2 - (240 * 241) / 2)) / ((479 * 480) / 2)
    expect(seen?.average_premium).toBe(Number(exact.toFixed(12)))
    expect(seen?.predicted).toBe(Number((exact - 0.0005).toFixed(12)))
  })

  it.each([
    [binance, 8, -0.0005],
    [binance, 4, -0.00025],
    [bybit, 4, -0.0005],
    [okx, 4, -0.0005],
  ])('of %s with %i h is %s at a premium of -0.1 %%', (instrument, interval_hours, predicted) => {
    const next_settlement = T0 + interval_hours * HOUR
    const given = empty().batch(
      terms({ instrument, interval_hours }),
      rate(0, 0, { instrument, next_settlement }),
      ...Array.from({ length: 10 }, (_, n) => premium(-0.001, n, instrument)),
      mark(10 * MINUTE),
    )
    expect(rows(given).at(-1)?.exchanges[0]).toMatchObject({ predicted, samples: 10, expected: 10 })
  })

  it('of a premium that stands still is on the bound that its decimals make, whenever it is asked', () => {
    const given = fed().batch(rate(0, 0))
    const told = Array.from({ length: 479 }, (_, n) => {
      const { average_premium, predicted } = view(given.batch(premium(-0.001, n), mark((n + 1) * MINUTE))) ?? {}
      return [average_premium, predicted, classifyFunding(predicted ?? NaN)]
    })
    expect(told).toEqual(Array.from({ length: 479 }, () => [-0.001, -0.0005, 'bearish']))
  })

  it('keeps to the contract’s cap, floor and interest', () => {
    const given = fed().batch(terms({ rate_floor: -0.0003, interest_daily: 0 }), rate(0, 0), ...minutes(5, -0.001))
    expect(view(given.batch(mark(5 * MINUTE)))?.predicted).toBe(-0.0003)
  })

  it('puts late and repeated minutes in their own place', () => {
    const ordered = fed().batch(rate(0, 0), premium(0.001, 0), premium(0.002, 1), premium(0.003, 2), mark(3 * MINUTE))
    const mixed = fed().batch(premium(0.009, 2), premium(0.001, 0), rate(0, 0), premium(0.003, 2), premium(0.002, 1))
    const expected = view(ordered)
    expect(view(mixed.batch(mark(3 * MINUTE)))).toEqual(expected)
    expect(expected).toMatchObject({ samples: 3, premium: 0.003, premium_time: T0 + 2 * MINUTE })
  })

  it('tells of minutes that are missing', () => {
    const given = fed().batch(rate(0, 0), premium(0.001, 0), premium(0.001, 9), mark(10 * MINUTE))
    expect(view(given)).toMatchObject({ samples: 2, expected: 10 })
  })

  it('does not count a minute that has not closed', () => {
    const given = fed().batch(rate(0, 0), premium(0.001, 0), premium(0.005, 1), mark(2 * MINUTE - SECOND))
    expect(view(given)).toMatchObject({ samples: 1, expected: 1, average_premium: 0.001, premium: 0.005 })
  })

  it('rests on the newest premium until the first minute has closed, if that is not old', () => {
    const given = fed().batch(rate(0, 0), premium(0.001, -1), mark(SECOND))
    expect(view(given)).toMatchObject({ samples: 0, expected: 0, average_premium: 0.001, predicted: 0.0005 })
    given.batch(rate(0, SECOND), mark(4 * MINUTE + SECOND))
    expect(view(given)).toMatchObject({ samples: 0, expected: 4, average_premium: null, predicted: null })
  })
})

describe('a settlement', () => {
  it('begins the series anew when partition time passes it, before the venue has said so', () => {
    const given = fed().batch(rate(0, 0), premium(0.001, 479), mark(8 * HOUR - SECOND))
    expect(view(given)).toMatchObject({ expected: 479, next_settlement: T0 + 8 * HOUR })
    given.batch(mark(8 * HOUR + 5 * SECOND))
    expect(view(given)).toMatchObject({ samples: 0, expected: 0, next_settlement: T0 + 16 * HOUR })
    given.batch(premium(0.002, 480), mark(8 * HOUR + MINUTE))
    expect(view(given)).toMatchObject({ samples: 1, expected: 1, average_premium: 0.002 })
  })

  it('refuses minutes that it has settled', () => {
    const given = fed().batch(rate(0, 0), mark(8 * HOUR), premium(0.001, 479))
    expect(refused(given)).toMatchObject({ settled_minute: 1 })
  })

  it('bounds the series when an interval has become shorter before its terms tell', () => {
    const given = fed().batch(settlement(0.0001, 0), premium(0.009, -60), premium(0.001, 0))
    given.batch(rate(0, 0, { next_settlement: T0 + 4 * HOUR }), mark(MINUTE))
    expect(view(given)).toMatchObject({ average_premium: 0.001, expected: 1 })
  })

  it('tells where the series begins while the venue does not announce the next', () => {
    const given = fed().batch(rate(0, 0, { next_settlement: null }), premium(0.001, 0), settlement(0, 0), mark(MINUTE))
    expect(view(given)).toMatchObject({ samples: 1, expected: 1, next_settlement: T0 + 8 * HOUR })
  })
})

describe('a record', () => {
  it('comes at most once in 5 s of partition time, and only when something changed', () => {
    const given = fed().batch(rate(0.0001, 0), mark(SECOND), rate(0.0002, SECOND), mark(5 * SECOND))
    expect(rows(given)).toHaveLength(1)
    expect(rows(given.batch(mark(6 * SECOND), mark(60 * SECOND)))).toMatchObject([{ time: T0 + 6 * SECOND }])
  })

  it('comes no sooner where the processor is begun anew', () => {
    const given = fed().batch(rate(0.0001, 0)).restart().batch(mark(SECOND))
    expect(rows(given)).toHaveLength(1)
    expect(rows(given.restart().batch(rate(0.0002, SECOND), mark(3 * SECOND)))).toEqual([])
  })

  it('stands before the mark that it follows from, in all topics', () => {
    const outputs = fed().batch(rate(0.0001, 0), mark(SECOND), mark(SECOND)).take()
    expect(outputs.map(({ topic, message }) => `${topic} ${message?.type}`)).toEqual([
      'derived.funding funding',
      'derived.signals signal',
      'alerts.inputs metric',
      'derived.funding mark',
      'derived.signals mark',
    ])
  })
})

describe('signals', () => {
  it('tell a change of class of each venue’s running rate', () => {
    const given = fed().batch(rate(0.0001, 0), rate(-0.001, 0, { instrument: okx }), mark(SECOND))
    expect(signals(given)).toMatchObject([
      { kind: 'funding', exchange: 'binance', from: 'insufficient_data', to: 'slightly_bullish', value: 0.0001 },
      { kind: 'funding', exchange: 'okx', from: 'insufficient_data', to: 'extreme_bearish', period: '' },
    ])
    given.batch(rate(0.00009, SECOND), rate(0.0001, SECOND, { instrument: okx }), mark(10 * SECOND))
    expect(signals(given)).toMatchObject([{ exchange: 'okx', from: 'extreme_bearish', to: 'slightly_bullish' }])
  })

  it('tell the milder class where the mean of the ratios is on its bound', () => {
    const given = fed().batch(ratio('binance', 2.0001, 0), ratio('okx', 2.0003, 0), ratio('gate', 1.9996, 0))
    expect(signals(given.batch(mark(SECOND)))).toMatchObject([{ to: 'Bullish', value: 2 }])
  })

  it('tell a change of class of the mean of the venues’ top traders', () => {
    const given = fed().batch(ratio('binance', 1, 0), ratio('okx', 1.5, 0), ratio('gate', 2.3, 0), mark(SECOND))
    const [signal] = signals(given)
    expect(signal).toMatchObject({ kind: 'sentiment', exchange: null, from: 'insufficient_data', to: 'Bullish' })
    expect(signal?.value).toBeCloseTo(1.6, 12)
    expect(signal?.evidence).toEqual({ binance: 1, okx: 1.5, gate: 2.3 })
    expect(signals(given.batch(mark(2 * SECOND)))).toEqual([])
  })

  it('are told once, though the processor is begun anew and no perpetual is heard of', () => {
    const given = empty()
      .batch(ratio('okx', 2.1, 0))
      .restart()
      .batch(mark(SECOND))
    expect(signals(given)).toHaveLength(1)
    expect(signals(given.restart().batch(ratio('okx', 2.2, MINUTE), mark(MINUTE)))).toEqual([])
  })

  it('say by how much a rate is by the year, in percent', () => {
    const [signal] = signals(fed().batch(rate(0.0001, 0), mark(SECOND)))
    expect(signal?.evidence['annualized_pct']).toBeCloseTo(10.95, 9)
  })

  it('leave out what is older than 10 minutes, other cohorts and other counts', () => {
    const given = fed().batch(
      ratio('binance', 1, 0),
      ratio('gate', 3, MINUTE),
      ratio('okx', 9, 0, { cohort: 'all' }),
      ratio('okx', 9, 0, { basis: 'accounts' }),
      ratio('bybit', 9, 0),
      mark(10 * MINUTE),
    )
    expect(signals(given)).toMatchObject([{ to: 'Bullish', value: 2 }])
    expect(signals(given.batch(mark(10 * MINUTE + SECOND)))).toMatchObject([{ to: 'Extremely bullish', value: 3 }])
    expect(signals(given.batch(mark(12 * MINUTE)))).toEqual([])
  })
})

describe('a saved state', () => {
  it('holds only what changed: a perpetual, an hour of its premium', () => {
    const given = empty().batch(terms({}), rate(0, 0), premium(0.001, 0), premium(0.001, 61))
    const hour = T0 / HOUR
    expect(given.save()).toEqual([
      'asset|btc',
      'clock',
      `perp|${binance}`,
      `premium|${binance}|${hour}`,
      `premium|${binance}|${hour + 1}`,
    ])
    given.batch(premium(0.002, 62))
    expect(given.save()).toEqual(['clock', `perp|${binance}`, `premium|${binance}|${hour + 1}`])
    given.batch(mark(8 * HOUR))
    expect(given.save()).toEqual(
      [
        `-premium|${binance}|${hour}`,
        `-premium|${binance}|${hour + 1}`,
        'asset|btc',
        'clock',
        `perp|${binance}`,
      ].sort(),
    )
  })

  it('forgets a perpetual that nobody has spoken of for a day, says so, and is empty then', () => {
    const given = fed()
      .batch(rate(0, 0), premium(0.001, 0), ratio('okx', 1, 0), mark(SECOND))
      .restart()
    given.take()
    given.batch(mark(24 * HOUR + 2 * MINUTE))
    expect(rows(given)).toMatchObject([{ exchanges: [] }])
    expect(given.restart().core.counts?.(given.state)).toMatchObject({ assets: 0 })
    expect(given.save()).toEqual(['clock'])
    expect(given.bytes).toBeLessThan(200)
  })

  it('goes on as if nothing had happened', () => {
    const log = [
      terms({ interval_hours: 4 }),
      rate(0.0001, 0, { next_settlement: T0 + 4 * HOUR }),
      premium(0.1 + 0.2, 0),
      mark(MINUTE),
      ratio('okx', 1.7, MINUTE),
      premium(0.002, 1),
      mark(2 * MINUTE),
      mark(4 * HOUR),
      premium(0.003, 241),
      settlement(0.0003, 4 * HOUR),
      mark(4 * HOUR + 3 * MINUTE),
    ]
    const calm = fed()
      .batch(...log)
      .take()
    const restless = fed()
    for (const message of log) restless.batch(message).restart()
    expect(restless.take()).toEqual(calm)
  })
})
