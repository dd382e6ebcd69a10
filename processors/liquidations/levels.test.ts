import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tiers, type Tier } from './leverage.ts'
import { bucketOf, Levels, priceOf, sides, type Side } from './levels.ts'

interface Level {
  readonly tier: Tier
  readonly side: Side
  readonly price: number
  readonly size: number
}

function all(levels: Levels): Level[] {
  const found: Level[] = []
  levels.each((tier, side, price, size) => found.push({ tier, side, price, size }))
  return found
}

const total = (levels: Levels, side?: Side): number =>
  all(levels).reduce((sum, level) => sum + (side === undefined || level.side === side ? level.size : 0), 0)

const price = fc.double({ min: 80, max: 120, noNaN: true })
const given = fc.array(
  fc.record({
    tier: fc.constantFrom(...tiers),
    side: fc.constantFrom(...sides),
    price,
    size: fc.integer({ min: 1, max: 1_000 }),
  }),
)

function levelsOf(added: readonly Level[]): Levels {
  const levels = new Levels()
  for (const { tier, side, price, size } of added) levels.add(tier, side, price, size)
  return levels
}

describe('levels', () => {
  it('stand within 0.05 % of their price', () => {
    fc.assert(fc.property(price, (value) => Math.abs(priceOf(bucketOf(value)) / value - 1) < 0.000501))
  })

  it('lose only what a mark has crossed, and all of that', () => {
    fc.assert(
      fc.property(given, price, (added, mark) => {
        const levels = levelsOf(added)
        const before = all(levels)
        const at = bucketOf(mark)
        const isCrossed = (level: Level): boolean =>
          level.side === 'long' ? bucketOf(level.price) >= at : bucketOf(level.price) <= at
        const swept = levels.sweep(mark)
        expect(all(levels)).toEqual(before.filter((level) => !isCrossed(level)))
        for (const side of sides) {
          const crossed = before.filter((level) => level.side === side && isCrossed(level))
          expect(swept[side]).toBe(crossed.reduce((sum, { size }) => sum + size, 0))
        }
      }),
    )
  })

  it('keep the same share of each, however small it gets', () => {
    const levels = levelsOf([
      { tier: 5, side: 'long', price: 80, size: 100 },
      { tier: 10, side: 'short', price: 110, size: 300 },
    ])
    for (let n = 0; n < 40; n++) levels.scale(0.5)
    expect(total(levels, 'long') * 2 ** 40).toBeCloseTo(100, 6)
    expect(total(levels, 'short') * 2 ** 40).toBeCloseTo(300, 6)
    expect(levels.factor).toBeGreaterThanOrEqual(1e-6)
    levels.add(5, 'long', 80, 7)
    expect(total(levels, 'long')).toBeCloseTo(7, 6)
  })

  it('give what a mark has crossed as large as it is by then', () => {
    const levels = levelsOf([{ tier: 5, side: 'long', price: 80, size: 100 }])
    levels.scale(0.25)
    expect(levels.sweep(80)).toEqual({ long: 25, short: 0 })
  })

  it('are saved anew where their common factor has gone into them', () => {
    const levels = levelsOf([{ tier: 5, side: 'long', price: 80, size: 100 }])
    levels.changes()
    levels.scale(1e-7)
    const restored = new Levels(levels.factor)
    for (const [, cells] of levels.changes()) restored.load(cells)
    expect(all(restored)).toEqual(all(levels))
  })

  it('let go of what is over a factor of 4 from the mark', () => {
    const levels = levelsOf([
      { tier: 5, side: 'long', price: 24.9, size: 1 },
      { tier: 5, side: 'long', price: 25.1, size: 2 },
      { tier: 5, side: 'short', price: 398, size: 4 },
      { tier: 5, side: 'short', price: 402, size: 8 },
    ])
    levels.forgetFar(100)
    expect(total(levels)).toBe(6)
  })

  it('come back as they were saved, in whatever order', () => {
    fc.assert(
      fc.property(given, fc.double({ min: 0.01, max: 1, noNaN: true }), (added, share) => {
        const levels = levelsOf(added)
        levels.scale(share)
        const restored = new Levels(levels.factor)
        for (const [, cells] of levels.changes().toReversed()) restored.load(cells)
        expect(all(restored)).toEqual(all(levels))
        expect(levels.changes()).toEqual([])
      }),
    )
  })

  it('are gone after a clear, and say so of each chunk', () => {
    const levels = levelsOf([{ tier: 5, side: 'long', price: 80, size: 100 }])
    levels.changes()
    levels.clear()
    expect(levels.count).toBe(0)
    expect(levels.changes().map(([, cells]) => cells)).toEqual([[]])
  })
})
