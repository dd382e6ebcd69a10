import { describe, expect, it } from 'vitest'
import { hoursOf, mean, ofClass, sweptShare, type Hour } from './cascade.ts'

const TEST_MS = 120_000
/** A market in which the weights were not chosen. */
const SEED = 11

describe('the classes of cascade risk, over nine days of a simulated market', () => {
  const hours: Hour[] = []
  const liquidated = (own: readonly Hour[]): number => mean(own.map((hour) => hour.liquidated))
  const lift = (name: 'low' | 'medium' | 'high'): number => liquidated(ofClass(hours, name)) / liquidated(hours)
  const share = (name: 'low' | 'medium' | 'high'): number => ofClass(hours, name).length / hours.length

  it('are the same each time', { timeout: TEST_MS }, () => {
    hours.push(...hoursOf({ days: 9, seed: SEED }))
    const again = { days: 3, seed: SEED, assets: ['BTC', 'DOGE'] }
    expect(hoursOf(again)).toEqual(hoursOf(again))
  })

  it('are low mostly, and high seldom', () => {
    expect(share('low')).toBeGreaterThan(0.5)
    expect(share('medium')).toBeGreaterThan(0.1)
    expect(share('high')).toBeGreaterThan(0.01)
    expect(share('high')).toBeLessThan(0.12)
  })

  it('differ among symbols at one time', () => {
    const moments = [...Map.groupBy(hours, ({ risk }) => risk.time).values()]
    const apart = moments.filter((all) => new Set(all.map(({ risk }) => risk.cascade_risk)).size > 1)
    expect(apart.length).toBeGreaterThan(moments.length / 2)
  })

  it('are followed by the more liquidations, the higher they are', () => {
    expect(lift('low')).toBeLessThan(0.75)
    expect(lift('medium')).toBeGreaterThan(1)
    expect(lift('high')).toBeGreaterThan(2 * lift('medium'))
  })

  it('rest on a mass that agrees with what was liquidated of it', () => {
    const { value } = sweptShare(hours)
    expect(value).toBeGreaterThan(0.6)
    expect(value).toBeLessThan(1.6)
  })
})
