import { describe, expect, it } from 'vitest'
import { Lease } from './lease.ts'

describe('a lease', () => {
  const held = (wall: number, steady: number): boolean =>
    new Lease(1_000, { wall: 5_000, steady: 5_000 }, () => ({ wall, steady })).holds

  it('holds for its time', () => {
    expect(held(5_999, 5_999)).toBe(true)
    expect(held(6_000, 6_000)).toBe(false)
  })

  it('ends on a machine that was suspended, where the steady clock stood still', () => {
    expect(held(60_000, 5_001)).toBe(false)
  })

  it('ends though the clock was set back', () => {
    expect(held(1_000, 6_000)).toBe(false)
  })

  it('goes on from the moment before the broker was asked', () => {
    const lease = new Lease(1_000, { wall: 0, steady: 0 }, () => ({ wall: 1_500, steady: 1_500 }))
    expect(lease.holds).toBe(false)
    lease.renewed({ wall: 600, steady: 600 })
    expect(lease.holds).toBe(true)
  })
})
