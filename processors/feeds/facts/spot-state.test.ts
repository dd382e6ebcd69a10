import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Throttle } from './spot-state.ts'

const INTERVAL = 1_000

/** When records go out that are ready at `times`; one that is not due waits for a look, one each 100. */
function outOf(times: readonly number[]): number[] {
  const pace = new Throttle()
  const out: number[] = []
  let waiting = false
  const end = (times.at(-1) ?? 0) + 3 * INTERVAL
  for (let now = 0; now <= end; now++) {
    const ready = times.includes(now)
    waiting ||= ready
    if (!waiting || !(ready || now % 100 === 0) || !pace.due(now, INTERVAL)) continue
    pace.take(now, INTERVAL)
    out.push(now)
    waiting = false
  }
  return out
}

describe('a pace', () => {
  it('does not let what comes once an interval wait, however uneven it comes', () => {
    const times = [0, 1_100, 1_990, 3_200, 3_950, 5_040, 6_000]
    expect(outOf(times)).toEqual(times)
  })

  it('begins anew where the clock was set back', () => {
    const pace = new Throttle()
    pace.take(7_200_000, INTERVAL)
    expect(pace.due(10, INTERVAL)).toBe(true)
    pace.take(10, INTERVAL)
    expect([500, 1_010].map((now) => pace.due(now, INTERVAL))).toEqual([false, true])
  })

  it('lets one an interval out of many', () => {
    const times = Array.from({ length: 300 }, (_, n) => n * 20)
    expect(outOf(times).slice(0, 7)).toEqual([0, 500, 1_500, 2_500, 3_500, 4_500, 5_500])
  })

  it('never lets out more than one an interval and one more', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(6_000), { minLength: 1, maxLength: 60 }), (times) => {
        const out = outOf(times.toSorted((a, b) => a - b))
        for (const [index, first] of out.entries()) {
          for (const [further, last] of out.slice(index).entries())
            expect(further).toBeLessThanOrEqual((last - first) / INTERVAL + 1)
        }
      }),
      { numRuns: 50 },
    )
  })
})
