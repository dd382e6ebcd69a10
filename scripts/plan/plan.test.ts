import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { fitLine, planOf, type Load, type MeasuredPoint } from './plan.ts'

describe('a line', () => {
  it('goes through points that lie on one', () => {
    const line = fitLine([
      [100, 0.3],
      [1_000, 1.2],
      [2_000, 2.2],
    ])
    expect(line.base).toBeCloseTo(0.2)
    expect(line.slope).toBeCloseTo(0.001)
    expect(line.error).toBeCloseTo(0)
  })

  it('says how far it is off at worst, and falls nowhere below nothing', () => {
    expect(
      fitLine([
        [0, 1],
        [10, 2],
        [20, 1],
      ]).error,
    ).toBeGreaterThan(0.3)
    expect(
      fitLine([
        [0, 2],
        [10, 1],
      ]),
    ).toMatchObject({ slope: 0 })
    expect(() => fitLine([[5, 1]])).toThrow('two rates')
  })
})

const point = (trades: number, cores: number): MeasuredPoint => ({
  tradesPerSecond: trades,
  cores: { processors: cores, api: 0.1, simulator: 5 },
  residentBytes: { processors: 1e9 },
  logBytesPerSecond: trades * 100,
})
const load: Load = { symbols: 10, venues: 4, alerts: 1_000_000, requests: 1_000, trades: 20_000, days: 1 }
const prices = {
  coresPerRequest: 1e-4,
  bytesPerAlert: 1_000,
  bytesPerTrade: 7,
  coresPerMachine: 4,
  bytesPerMachine: 16e9,
  usdPerMachineMonth: 100,
  usdPerGigabyteMonth: 0.1,
  used: 0.5,
}

describe('a plan', () => {
  it('follows the lines beyond what was measured, and says how far', () => {
    const plan = planOf(load, [point(0, 0), point(500, 0.25), point(1_000, 0.5)], prices)
    expect(plan.parts.map(({ part }) => part)).toEqual(['processors', 'api'])
    expect(plan.cores).toBeCloseTo(10 + 0.1 + 0.1)
    expect(plan.machines).toBe(6)
    expect(plan.partitions).toBe(40)
    expect(plan.memoryBytes).toBe(2e9)
    expect(plan.diskBytes).toBeCloseTo(86_400 * 20_000 * (100 * 3 + 7 * 2))
    expect(plan.beyond).toBe(20)
  })

  it('says what the others tell of its largest point, and doubts all cores by as much', () => {
    const { heldOut, parts } = planOf(load, [point(0, 0), point(500, 0.25), point(1_000, 0.75)], prices)
    expect(heldOut.tradesPerSecond).toBe(1_000)
    expect(heldOut.said).toBeCloseTo(0.6)
    expect(heldOut.measured).toBeCloseTo(0.85)
    for (const { cores, coresMost } of parts) expect(coresMost).toBeGreaterThanOrEqual(cores * (1 + 0.25 / 0.6) - 1e-9)
  })

  it('never takes fewer than three machines', () => {
    expect(
      planOf({ ...load, trades: 1, requests: 1 }, [point(0, 0), point(5, 0.05), point(10, 0.1)], prices).machines,
    ).toBe(3)
  })
})

it('the points that were measured make a plan whose lines are near them', () => {
  const text = readFileSync(new URL('points.json', import.meta.url), 'utf8')
  const points = JSON.parse(text) as readonly MeasuredPoint[]
  expect(points.length).toBeGreaterThanOrEqual(3)
  const largest = points.reduce((a, b) => (a.tradesPerSecond > b.tradesPerSecond ? a : b))
  const plan = planOf({ ...load, trades: largest.tradesPerSecond, requests: 0 }, points, prices)
  const taken = Object.entries(largest.cores).reduce(
    (sum, [part, cores]) => sum + (part === 'simulator' ? 0 : cores),
    0,
  )
  expect(Math.abs(plan.cores - taken) / taken).toBeLessThan(0.25)
})
