import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { periods, windowOf } from './periods.ts'

const HOUR = 3_600_000_000

describe('rolling periods', () => {
  it('start a new bucket exactly on its bound', () => {
    expect(windowOf(periods['1h'], 2 * HOUR)).toEqual({ from: HOUR + 10_000_000, to: 2 * HOUR + 10_000_000 })
    expect(windowOf(periods['1h'], 2 * HOUR - 1)).toEqual({ from: HOUR, to: 2 * HOUR })
  })

  it.each(Object.entries(periods))('%s is a whole number of buckets and holds now', (_, period) => {
    expect(period.length % period.bucket).toBe(0)
    fc.assert(
      fc.property(fc.integer({ min: 1e15, max: 4e15 }), (now) => {
        const { from, to } = windowOf(period, now)
        expect(to - from).toBe(period.length)
        expect(from % period.bucket).toBe(0)
        expect(to - period.bucket).toBeLessThanOrEqual(now)
        expect(now).toBeLessThan(to)
      }),
    )
  })
})
