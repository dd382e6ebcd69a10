import { describe, expect, it } from 'vitest'
import type { RiskLevel } from '../../schemas/records.ts'
import { Replay, type Observation } from './replay.ts'

const HOUR = 3_600_000_000
const T0 = 1_786_060_800_000_000

function said(openInterest: number | null, low: number, high = low, close = low): Observation {
  return { venue: 'binance', marks: { low, high, close }, openInterest }
}

function sum(levels: readonly RiskLevel[]): { long: number; short: number } {
  return {
    long: levels.reduce((total, { long_usd }) => total + long_usd, 0),
    short: levels.reduce((total, { short_usd }) => total + short_usd, 0),
  }
}

describe('a replay of liquidation levels', () => {
  it('has more at risk where open interest was built up, longs below and shorts above', () => {
    const replay = new Replay(new Map())
    replay.step(T0, [said(1_000, 100)])
    const before = replay.now(T0)
    replay.step(T0 + HOUR, [said(1_400, 100)])
    const after = replay.now(T0 + HOUR)
    expect(after).toMatchObject({ price: 100, openInterestUsd: 140_000 })
    expect(sum(after.levels).long).toBeGreaterThan(2 * sum(before.levels).long)
    for (const { price, long_usd, short_usd } of after.levels.filter((row) => Math.abs(row.price - 100) > 0.5))
      expect(price < 100 ? short_usd : long_usd).toBe(0)
    const all = sum(after.levels)
    expect(all.long + all.short).toBeLessThanOrEqual(after.openInterestUsd)
  })

  it('sweeps what the price has reached within a step, though it came back', () => {
    const replay = new Replay(new Map())
    replay.step(T0, [said(1_000, 100)])
    replay.step(T0 + HOUR, [said(2_000, 100)])
    replay.step(T0 + 2 * HOUR, [said(2_000, 95, 100, 100)])
    const { levels } = replay.now(T0 + 2 * HOUR)
    // What is left there was opened after the sweep, in place of what time replaced.
    const near = levels.filter(({ price }) => price > 95.5 && price < 100)
    const mirrored = levels.filter(({ price }) => price < 104.5 && price > 100)
    expect(sum(near).long).toBeLessThan(0.1 * sum(mirrored).short)
  })

  it('tells nothing of a venue that has been silent for hours, and uses the rows of every other step', () => {
    const replay = new Replay(new Map([['binance', { maxLeverage: 10, margin: 0.01 }]]))
    replay.step(T0, [said(1_000, 100)])
    replay.step(T0 + HOUR, [said(null, 103)])
    const rows = replay.now(T0 + HOUR).levels.map(({ price }) => Math.log(price) / Math.log(1.001))
    for (const row of rows) expect((row / 5) % 1).toBeCloseTo(0.5, 6)
    expect(replay.now(T0 + 4 * HOUR)).toEqual({ price: null, openInterestUsd: 0, levels: [] })
  })
})
