import { describe, expect, it } from 'vitest'
import type { LiquidationRisk, Signal } from '../../schemas/records.ts'
import { CoreTestDriver, only } from '../kernel/testing/core-test-driver.ts'
import { binance, bybit, mark, okx, says, SECOND, T0, terms } from './testing/records.ts'
import { leverageShares, liquidationPrices, STANDING, tiers } from './leverage.ts'
import { liquidations } from './liquidations.ts'

type TestDriver = CoreTestDriver<ReturnType<typeof liquidations.empty>>

const fed = (): TestDriver => new CoreTestDriver(liquidations, 'market.funding')
const risks = (given: TestDriver): LiquidationRisk[] => only(given.take(), 'liquidation_risk')
const risk = (given: TestDriver): LiquidationRisk | undefined => risks(given).at(-1)
const signals = (given: TestDriver): Signal[] => only(given.take(), 'signal')
const sumOf = (rows: readonly { long_usd: number; short_usd: number }[] | undefined): number =>
  (rows ?? []).reduce((sum, { long_usd, short_usd }) => sum + long_usd + short_usd, 0)
const cluster = (given: LiquidationRisk | undefined, leverage: number, side: 'long' | 'short') =>
  given?.clusters.find((candidate) => candidate.leverage === leverage && candidate.side === side)

/** 1,000 contracts that were there at first sight, at a mark of 100: 100,000 USD. */
const seeded = (): TestDriver => fed().batch(says(0, { mark: 100 }), says(0, { size: 1_000 }))
/** The same, all of them opened before our eyes. */
const built = (): TestDriver => fed().batch(says(-1, { mark: 100, size: 0 }), says(0, { mark: 100, size: 1_000 }))
/** What is at risk of what is built up. */
const ALL = tiers.reduce((sum, tier) => sum + leverageShares[tier], 0)

describe('at the first sight of open interest', () => {
  it('little of it is taken for leveraged, around the mark, and nothing that the mark has reached', () => {
    const seen = risk(seeded().batch(mark(1)))
    for (const tier of tiers) {
      for (const side of ['long', 'short'] as const) {
        const { usd, price } = cluster(seen, tier, side) ?? { usd: NaN, price: NaN }
        expect(usd).toBeGreaterThan(0)
        expect(usd).toBeLessThanOrEqual((100_000 * leverageShares[tier] * STANDING) / 2 + 1e-9)
        expect(side === 'long' ? price < 100 : price > 100).toBe(true)
      }
    }
    // At 5 times even the highest of the sixteen entries would be liquidated below the mark.
    expect(cluster(seen, 5, 'long')?.usd).toBeCloseTo((100_000 * leverageShares[5] * STANDING) / 2, 6)
  })

  it('no class is given but low: what is known begins with the service', () => {
    expect(risk(seeded().batch(mark(1)))).toMatchObject({ cascade_risk: 'low', since: T0 })
  })

  it('terms that come later still shape what was only laid out, and what opens from then on', () => {
    const seen = risk(seeded().batch(terms(20, 0.01), mark(1)))
    expect(cluster(seen, 25, 'long')).toEqual({ leverage: 25, side: 'long', price: 100, usd: 0 })
    expect(cluster(seen, 10, 'long')?.usd).toBeGreaterThan(
      cluster(risk(seeded().batch(mark(1))), 10, 'long')?.usd ?? NaN,
    )
  })

  it.each<[string, number, Parameters<typeof says>[1]]>([
    ['a mark has crossed longs', 1, { mark: 99 }],
    ['a mark has crossed shorts', 1, { mark: 101 }],
    ['more was opened', 1, { size: 1_100 }],
    ['an hour has passed', 3_600, { mark: 100, size: 1_000 }],
  ])('terms that come later shape nothing that was laid out where %s since', (_, seconds, said) => {
    const seen = risk(seeded().batch(says(seconds, said), terms(20, 0.01), mark(seconds + 1)))
    expect(cluster(seen, 25, 'short')?.usd).toBeGreaterThan(0)
  })

  it('the levels are the same, whether it came before the mark or behind it', () => {
    const first = fed().batch(says(0, { size: 1_000 }), says(0, { mark: 100 }), mark(1))
    expect(risk(first)?.levels).toEqual(risk(seeded().batch(mark(1)))?.levels)
  })
})

describe('what is built up', () => {
  it('is laid out at the mark: a half of each tier’s share long, a half short', () => {
    const seen = risk(built().batch(mark(1)))
    for (const tier of tiers) {
      for (const side of ['long', 'short'] as const) {
        const { usd, price } = cluster(seen, tier, side) ?? { usd: NaN, price: NaN }
        expect(usd).toBeCloseTo((100_000 * leverageShares[tier]) / 2, 6)
        expect(price).toBeCloseTo(liquidationPrices(100, tier, 0.005)[side], 0)
      }
    }
  })

  it('is told whole: price, open interest, levels out to 25 % nearest first, what is at risk', () => {
    const seen = risk(built().batch(mark(1)))
    expect(seen).toMatchObject({ price: 100, open_interest_usd: 100_000, since: T0 - SECOND, time: T0 + SECOND })
    expect(seen?.exchanges).toEqual([{ exchange: 'binance', open_interest_usd: 100_000, mark: 100, time: T0 }])
    const distances = seen?.levels.map(({ price }) => Math.abs(price - 100)) ?? []
    expect(distances).toEqual(distances.toSorted((a, b) => a - b))
    expect(distances.every((distance) => distance < 25)).toBe(true)
    const near = leverageShares[25] + leverageShares[50] + leverageShares[100]
    expect(sumOf(seen?.levels)).toBeCloseTo(100_000 * ALL, 6)
    expect(seen?.at_risk_5_usd).toBeCloseTo(100_000 * near, 6)
    expect(seen?.at_risk_5_pct).toBeCloseTo(100 * near, 9)
    expect(seen?.at_risk_10_pct).toBeCloseTo(100 * (near + leverageShares[10]), 9)
    expect(seen?.cascade_risk).toBe('high')
  })

  it('has ten clusters, nearest price first', () => {
    const seen = risk(built().batch(mark(1)))
    const distances = seen?.clusters.map(({ price }) => Math.abs(price - 100)) ?? []
    expect(distances).toHaveLength(10)
    expect(distances).toEqual(distances.toSorted((a, b) => a - b))
  })

  it.each([
    ['a twentieth more', 1_050, 'low'],
    ['a tenth more', 1_100, 'medium'],
    ['a third more', 1_340, 'high'],
  ])('decides the class: %s open interest than is usual, %d, is %s', (_, size, expected) => {
    expect(risk(seeded().batch(says(1, { size }), mark(2)))?.cascade_risk).toBe(expected)
  })
})

describe('positions', () => {
  const HOUR = 3_600
  const atRisk = (given: TestDriver): number => sumOf(risk(given)?.levels)
  const hours = (count: number): TestDriver =>
    built().batch(says(count * HOUR, { mark: 100, size: 1_000 }), mark(count * HOUR + 1))

  it('are replaced: a day later 35 % of the levels are gone, and others stand at a twenty-fifth of their shares', () => {
    expect(atRisk(hours(24))).toBeCloseTo(100_000 * ALL * (0.65 + 0.35 * STANDING), 4)
  })

  it('are replaced in whole hours', () => {
    expect(atRisk(hours(0.999))).toBeCloseTo(100_000 * ALL, 6)
    expect(atRisk(hours(1))).toBeLessThan(100_000 * ALL - 1)
    expect(atRisk(hours(1.999))).toBe(atRisk(hours(1)))
  })

  it('are replaced alike, however often the venue speaks', () => {
    const often = built()
    for (let hour = 1.5; hour <= 24; hour += 1.5) often.batch(says(hour * HOUR, { mark: 100, size: 1_000 }))
    expect(atRisk(often.batch(mark(24 * HOUR + 1)))).toBeCloseTo(atRisk(hours(24)), 6)
  })
})

describe('open interest', () => {
  it('that grows opens levels at the mark of then', () => {
    const given = built().batch(says(1, { mark: 110 }), says(1, { size: 2_000 }), mark(2))
    const seen = risk(given)
    const left = 500 * leverageShares[5]
    expect(cluster(seen, 5, 'long')?.usd).toBeCloseTo((left + 500 * leverageShares[5]) * 110, 4)
    const [old, fresh] = [100, 110].map((entry) => (entry * 0.8) / 0.995)
    expect(cluster(seen, 5, 'long')?.price).toBeCloseTo(((old ?? 0) + (fresh ?? 0)) / 2, 1)
  })

  it('that grows back to what is usual is like what stood; beyond it, it is built up', () => {
    const opened = (from: number, to: number): number => {
      const known = (given: TestDriver): number => sumOf(risk(given)?.levels)
      const fallen = (): TestDriver => seeded().batch(says(1, { size: from }))
      return known(fallen().batch(says(2, { size: to }), mark(2))) - known(fallen().batch(mark(2)))
    }
    const standing = opened(800, 1_000)
    expect(standing).toBeGreaterThan(0)
    expect(standing).toBeLessThanOrEqual(20_000 * ALL * STANDING + 1e-6)
    expect(opened(800, 1_150)).toBeCloseTo(opened(800, 1_050) + 10_000 * ALL, 4)
  })

  it('that stays where it is becomes usual, by two thirds in three days', () => {
    const [DAY, first] = [86_400, { mark: 100, size: 1_000 }]
    const given = fed().batch(says(0, first), says(1, { size: 2_000 }), says(3 * DAY, { mark: 100, size: 2_000 }))
    const usual = 2_000 - 1_000 * Math.exp(-1)
    const [contract] = [...given.state.assets.values()].flatMap(({ contracts }) => [...contracts.values()])
    expect(contract?.aged?.usual).toBeCloseTo(usual, 6)
    given.restart().batch(says(3 * DAY + 1, { size: usual }), mark(3 * DAY + 1))
    const before = sumOf(risk(given)?.levels)
    const beyond = says(3 * DAY + 10, { size: 1.15 * usual })
    expect(sumOf(risk(given.batch(beyond, mark(3 * DAY + 10)))?.levels)).toBeCloseTo(
      before + 100 * usual * (0.1 + 0.05 * STANDING) * ALL,
      3,
    )
  })

  it('that falls takes the same share of every level', () => {
    const before = risk(built().batch(mark(1)))
    const after = risk(built().batch(says(1, { size: 250 }), mark(1)))
    expect(after?.open_interest_usd).toBe(25_000)
    expect(after?.clusters.map(({ price }) => price)).toEqual(before?.clusters.map(({ price }) => price))
    for (const [n, { usd }] of (before?.clusters ?? []).entries())
      expect(after?.clusters[n]?.usd).toBeCloseTo(usd / 4, 9)
  })

  it('that hardly changes moves nothing, until the changes add up to half a percent', () => {
    const given = built().batch(says(1, { mark: 101 }), says(1, { size: 1_004.9 }), mark(1))
    expect(cluster(risk(given), 100, 'short')?.usd).toBe(0)
    given.batch(says(2, { size: 1_005 }), mark(6))
    expect(cluster(risk(given), 100, 'short')?.usd).toBeGreaterThan(0)
  })

  it('that falls too little to be followed still bounds what is told', () => {
    const seen = risk(built().batch(says(1, { size: 996 }), mark(1)))
    expect(sumOf(seen?.levels)).toBeCloseTo(ALL * 99_600, 6)
  })

  it('that is gone leaves no level, and may come again', () => {
    const given = built().batch(says(1, { size: 0 }), mark(1))
    expect(risk(given)).toMatchObject({ open_interest_usd: 0, levels: [], at_risk_5_pct: 0, cascade_risk: 'low' })
    expect(sumOf(risk(given.batch(says(10, { size: 10 }), mark(10)))?.levels)).toBeCloseTo(1_000 * ALL, 6)
  })
})

describe('a mark', () => {
  it('clears the levels that it crosses, and their sum is told', () => {
    const seen = risk(built().batch(says(1, { mark: 98 }), says(2, { mark: 100 }), mark(3)))
    expect(cluster(seen, 100, 'long')).toMatchObject({ price: 100, usd: 0 })
    expect(cluster(seen, 50, 'long')).toMatchObject({ price: 100, usd: 0 })
    expect(cluster(seen, 25, 'long')?.usd).toBeCloseTo(50_000 * leverageShares[25], 6)
    expect(cluster(seen, 100, 'short')?.usd).toBeCloseTo(50_000 * leverageShares[100], 6)
    expect(seen?.swept_long_usd).toBeCloseTo(500 * (leverageShares[50] + leverageShares[100]) * 98, 6)
    expect(seen?.swept_short_usd).toBe(0)
  })

  it('of one venue clears only its own levels', () => {
    const other = [says(-1, { mark: 100, size: 0, instrument: bybit }), says(0, { size: 1_000, instrument: bybit })]
    const given = built().batch(...other, says(1, { mark: 98 }), mark(1))
    expect(cluster(risk(given), 100, 'long')?.usd).toBeCloseTo(50_000 * leverageShares[100], 6)
  })

  it('that is not newer is ignored, as is one without a price', () => {
    const given = built().batch(says(0, { mark: 50 }), says(-1, { mark: 50 }), says(1, { mark: 0 }), mark(1))
    expect(risk(given)).toMatchObject({ price: 100, swept_long_usd: 0 })
    expect(given.core.counts?.(given.state)).toMatchObject({ old: 2, bad_value: 1, levels: 10 })
  })
})

describe('several venues', () => {
  it('are summed, at the median of their marks', () => {
    const given = seeded().batch(
      says(0, { mark: 101, size: 100, instrument: bybit }),
      says(0, { mark: 103, size: 10, instrument: okx }),
      mark(1),
    )
    expect(risk(given)).toMatchObject({ price: 101, open_interest_usd: 100_000 + 10_100 + 1_030 })
  })

  it.each([
    ['its mark is older than 60 s', 60, 61, 0, 61],
    ['its open interest is older than 120 s', 120, 121, 121, 0],
  ])('leave one out when %s', (_, last, gone, markAt, sizeAt) => {
    const alive = (seconds: number) => says(seconds, { mark: 101, size: 100, instrument: bybit })
    const given = seeded()
    if (markAt > 0) given.batch(says(last, { mark: 100 }))
    if (sizeAt > 0) given.batch(says(last, { size: 1_000 }))
    given.batch(alive(last), mark(last))
    expect(risk(given)?.exchanges.map(({ exchange }) => exchange)).toEqual(['binance', 'bybit'])
    given.batch(alive(gone + 5), mark(gone + 5))
    expect(risk(given)?.exchanges.map(({ exchange }) => exchange)).toEqual(['bybit'])
  })

  it('of which none tells its open interest give no record', () => {
    expect(risks(fed().batch(says(0, { mark: 100 }), mark(1)))).toEqual([])
  })
})

describe('a record', () => {
  it('comes at most once in 5 s of partition time, and only when something changed', () => {
    const given = seeded().batch(mark(1), says(2, { mark: 101 }), mark(2), mark(5.999))
    expect(risks(given)).toHaveLength(1)
    expect(risks(given.batch(mark(6), mark(60)))).toMatchObject([{ time: T0 + 6 * SECOND, price: 101 }])
  })

  it('stands before the mark that it follows from, in both topics', () => {
    const outputs = seeded().batch(mark(1), mark(1)).take()
    expect(outputs.map(({ topic, message }) => `${topic} ${message?.type}`)).toEqual([
      'alerts.inputs liquidation_risk',
      'derived.signals signal',
      'alerts.inputs mark',
      'derived.signals mark',
    ])
  })

  it('comes with a signal when the cascade risk changes', () => {
    const given = seeded().batch(mark(1))
    const first = { kind: 'cascade_risk', from: 'insufficient_data', to: 'low', exchange: null, period: '' }
    expect(signals(given)).toMatchObject([first])
    expect(signals(given.batch(says(10, { mark: 99.9 }), mark(10)))).toEqual([])
    expect(signals(given.batch(says(20, { size: 1_100 }), mark(20)))).toMatchObject([{ from: 'low', to: 'medium' }])
  })
})

describe('a saved state', () => {
  it('holds only what changed: few cells of a contract', () => {
    const given = built()
    expect(given.save().filter((key) => key.startsWith('levels'))).toHaveLength(10)
    given.batch(says(1, { mark: 100.01 }))
    expect(given.save()).toEqual(['clock', `contract|${binance}`])
    given.batch(says(2, { size: 900 }))
    expect(given.save()).toEqual(['clock', `contract|${binance}`])
    given.batch(says(3, { mark: 99.2 }))
    expect(given.save().filter((key) => key.startsWith('-levels'))).toHaveLength(1)
  })

  it('forgets a contract that nobody has spoken of for 7 days', () => {
    const given = seeded().restart()
    given.batch(mark(7 * 86_400 + 1))
    given.save()
    expect(given.core.counts?.(given.state)).toMatchObject({ assets: 0, levels: 0 })
    expect(given.bytes).toBeLessThan(200)
  })

  it('stays bounded, however the price wanders', () => {
    const given = fed()
    for (let n = 0; n < 3_000; n++) {
      const price = 100 * (1 + 0.3 * Math.sin(n / 50) + 0.05 * Math.sin(n))
      given.batch(says(n, { mark: price, size: 1_000 + n * 5 }))
    }
    given.save()
    expect(given.core.counts?.(given.state)?.['levels']).toBeLessThan(4_000)
    expect(given.bytes).toBeLessThan(300_000)
  })
})
