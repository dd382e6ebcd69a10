import { describe, expect, it } from 'vitest'
import { fit, type Sample } from './fit.ts'

const sample = (x: readonly number[], value: number, scale = 1): Sample => ({ x: [1, ...x], value, scale })
/** Deviations that do not repeat, from -1 to 1. */
const noise = (n: number): number => 2 * ((n * 0.618_033_988_7) % 1) - 1

describe('a fit', () => {
  it('finds the slopes of points that have no error, and says that there is none', () => {
    const loads = [
      [100, 0],
      [1_000, 0],
      [1_000, 300],
      [4_000, 100],
      [4_000, 0],
    ] as const
    const found = fit(
      loads.map(([trades, requests]) => sample([trades, requests], 0.3 + trades / 1e4 + requests / 1e3)),
    )
    for (const [index, slope] of [0.3, 1e-4, 1e-3].entries()) expect(found.slopes[index]).toBeCloseTo(slope, 9)
    const { value, offBy } = found.tell([1, 20_000, 5_000], 1)
    expect(value).toBeCloseTo(7.3)
    expect(offBy).toBeCloseTo(0)
  })

  it('lets nothing cost less than nothing', () => {
    const falling = [0, 1, 2, 3].map((x) => sample([x], 2 - x / 10))
    expect(fit(falling).slopes).toEqual([1.85, 0])
  })

  it('is off by more the farther it looks', () => {
    const found = fit([0, 1, 2, 3, 4].map((x) => sample([x], 1 + x + noise(x) / 10)))
    const [near, far] = [found.tell([1, 2], 1), found.tell([1, 40], 1)]
    expect(near.offBy).toBeGreaterThan(0)
    expect(far.offBy).toBeGreaterThan(5 * near.offBy)
  })

  it('counts a point by its scale', () => {
    const points = [sample([0], 1), sample([0], 1), sample([1], 2), sample([1], 4, 1_000)]
    expect(fit(points).slopes[1]).toBeCloseTo(1, 4)
  })

  it('has a range that holds about 95 of 100 further values', () => {
    let within = 0
    const runs = 2_000
    for (let run = 0; run < runs; run++) {
      const drawn = (n: number): number => [0, 1, 2, 3].reduce((sum, k) => sum + noise(run * 41 + n * 5 + k + 1), 0)
      const { value, offBy } = fit([0, 1, 2, 3, 4, 5].map((x) => sample([x], 5 + x + drawn(x)))).tell([1, 2.5], 1)
      within += Number(Math.abs(5 + 2.5 + drawn(7) - value) <= offBy)
    }
    expect(within / runs).toBeGreaterThan(0.9)
  })

  it('refuses points that say too little', () => {
    expect(() => fit([sample([0], 1), sample([1], 2)])).toThrow('2 slopes need more than 2 points')
    expect(() => fit([1, 2, 3].map((value) => sample([5], value)))).toThrow('do not tell the slopes apart')
  })
})
