import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SECOND, T0 } from './given.ts'
import { periods } from './periods.ts'
import { Ring, type RingSlot } from './ring.ts'

const HOUR = 3_600 * SECOND
const BUCKET = 10 * SECOND

describe('a ring', () => {
  it('holds exactly its period: from its start on, up to its end', () => {
    const ring = new Ring(periods['1h'], T0 + HOUR)
    ring.add(T0 - BUCKET, 1, 0)
    ring.add(T0, 2, 0)
    ring.add(T0 + HOUR - BUCKET, 0, 4)
    ring.add(T0 + HOUR, 8, 0)
    expect(ring.sums()).toEqual({ buy: 2, sell: 4 })
  })

  it('includes its open bucket where the end is not on a bucket’s bound', () => {
    const ring = new Ring(periods['7d'], T0 + BUCKET)
    ring.add(T0, 1, 0)
    ring.add(T0 - 7 * 24 * HOUR, 2, 0)
    ring.add(T0 - 7 * 24 * HOUR + HOUR / 2, 4, 0)
    expect(ring.sums().buy).toBe(5)
  })

  it('forgets everything when time jumps over its whole length', () => {
    const ring = new Ring(periods['1h'], T0)
    ring.add(T0 - BUCKET, 1, 1)
    ring.advance(T0 + 100 * HOUR)
    expect(ring.sums()).toEqual({ buy: 0, sell: 0 })
    expect([...ring.changes()].map(([, slots]) => slots)).toEqual([[]])
  })

  it('is the same after it was saved and loaded, and sums what its period holds', () => {
    const add = fc.record({
      at: fc.integer({ min: -400, max: 800 }),
      volume: fc.double({ min: 0.001, max: 10, noNaN: true }),
    })
    const step = fc.oneof({ weight: 5, arbitrary: add }, { weight: 1, arbitrary: fc.record({ to: fc.nat(800) }) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100, size: 'max' }), fc.nat(100), (steps, savedAfter) => {
        let end = T0
        let ring = new Ring(periods['1h'], end)
        const saved = new Map<number, RingSlot[]>()
        const save = (from: Ring): void => {
          for (const [chunk, slots] of from.changes()) {
            if (slots.length === 0) saved.delete(chunk)
            else saved.set(chunk, slots)
          }
          from.forgetChanges()
        }
        const straight = new Ring(periods['1h'], end)
        for (const [index, what] of steps.entries()) {
          if ('to' in what) {
            end = Math.max(end, T0 + what.to * BUCKET)
            ring.advance(end)
            straight.advance(end)
          } else {
            ring.add(T0 + what.at * BUCKET, what.volume, 0)
            straight.add(T0 + what.at * BUCKET, what.volume, 0)
          }
          if (index % 7 === 0) save(ring)
          if (index === savedAfter) {
            save(ring)
            ring = new Ring(periods['1h'], end)
            for (const slots of saved.values()) ring.load(slots)
          }
        }
        expect(ring.sums()).toEqual(straight.sums())
      }),
    )
  })
})
