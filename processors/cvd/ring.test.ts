import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SECOND, T0 } from './testing/records.ts'
import { Ring, type RingSlot, type Volume } from './ring.ts'

const HOUR = 3_600 * SECOND
const BUCKET = 10 * SECOND

function volume(buy: number, sell: number): Volume {
  return { buy, sell, buy_quote: buy * 100, sell_quote: sell * 100 }
}

describe('a ring', () => {
  it('holds exactly its period: from its start on, up to its end', () => {
    const ring = new Ring('1h', T0 + HOUR)
    ring.add(T0 - BUCKET, volume(1, 0))
    ring.add(T0, volume(2, 0))
    ring.add(T0 + HOUR - BUCKET, volume(0, 4))
    ring.add(T0 + HOUR, volume(8, 0))
    expect(ring.sums()).toEqual([{ period: '1h', to: T0 + HOUR, ...volume(2, 4) }])
  })

  it('includes its open bucket where the end is not on a bucket’s bound', () => {
    const ring = new Ring('7d', T0 + BUCKET)
    ring.add(T0, volume(1, 0))
    ring.add(T0 - 7 * 24 * HOUR, volume(2, 0))
    ring.add(T0 - 7 * 24 * HOUR + HOUR / 2, volume(4, 0))
    expect(ring.sums()).toEqual([{ period: '7d', to: T0 + HOUR / 2, ...volume(5, 0) }])
  })

  it('says what it holds once it has moved on by one slot and by two', () => {
    const ring = new Ring('1h', T0 + HOUR)
    for (const at of [0, 1, 2]) ring.add(T0 + at * BUCKET, volume(10 ** at, 0))
    expect(ring.sums(2).map(({ buy }) => buy)).toEqual([111, 110, 100])
  })

  it('forgets everything when time jumps over its whole length', () => {
    const ring = new Ring('1h', T0)
    ring.add(T0 - BUCKET, volume(1, 1))
    ring.advance(T0 + 100 * HOUR)
    expect(ring.sums()).toEqual([{ period: '1h', to: T0 + 100 * HOUR, ...volume(0, 0) }])
    expect([...ring.changes()].map(([, slots]) => slots)).toEqual([[]])
  })

  it('drops what was saved of a time that has left, also where it was loaded behind that', () => {
    const ring = new Ring('1h', T0 + BUCKET)
    ring.add(T0, volume(1, 0))
    const saved = [...ring.changes()].flatMap(([, slots]) => slots)
    const loaded = new Ring('1h', T0 + HOUR + BUCKET)
    loaded.load(saved)
    loaded.advance(T0 + HOUR + 24 * BUCKET)
    expect([...loaded.changes()].map(([, slots]) => slots)).toEqual([[]])
    expect(loaded.hasLeft(T0)).toBe(true)
  })

  it('sums to the last bit alike, whether or not it was saved and loaded, and summed up before', () => {
    const add = fc.record({
      at: fc.integer({ min: -400, max: 800 }),
      volume: fc.double({ min: 0.001, max: 10, noNaN: true }),
    })
    const step = fc.oneof({ weight: 5, arbitrary: add }, { weight: 1, arbitrary: fc.record({ to: fc.nat(800) }) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100, size: 'max' }), fc.nat(100), (steps, savedAfter) => {
        let end = T0
        let ring = new Ring('1h', end)
        const saved = new Map<number, RingSlot[]>()
        const save = (from: Ring): void => {
          for (const [chunk, slots] of from.changes()) {
            if (slots.length === 0) saved.delete(chunk)
            else saved.set(chunk, slots)
          }
          from.forgetChanges()
        }
        const straight = new Ring('1h', end)
        for (const [index, what] of steps.entries()) {
          if ('to' in what) {
            end = Math.max(end, T0 + what.to * BUCKET)
            ring.advance(end)
            straight.advance(end)
          } else {
            ring.add(T0 + what.at * BUCKET, volume(what.volume, 0))
            straight.add(T0 + what.at * BUCKET, volume(what.volume, 0))
          }
          straight.sums(index % 3) // the other has nothing summed up before the end
          if (index % 7 === 0) save(ring)
          if (index === savedAfter) {
            save(ring)
            ring = new Ring('1h', end)
            for (const slots of saved.values()) ring.load(slots)
          }
        }
        expect(ring.sums(2)).toEqual(straight.sums(2))
      }),
    )
  })
})
