import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { IntervalSet, sizeOf } from './intervals.ts'

const operation = fc.record({
  kind: fc.constantFrom('add' as const, 'remove' as const),
  from: fc.integer({ min: 0, max: 60 }),
  length: fc.integer({ min: 0, max: 12 }),
})

describe('a set of intervals', () => {
  it('holds the same numbers as a set, whatever was added and removed', () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 60 }), (operations) => {
        const intervals = new IntervalSet()
        const numbers = new Set<number>()
        for (const { kind, from, length } of operations) {
          intervals[kind](from, from + length)
          for (let id = from; id <= from + length; id++) numbers[kind === 'add' ? 'add' : 'delete'](id)
        }
        const all = Array.from({ length: 80 }, (_, id) => id)
        expect(all.filter((id) => intervals.has(id))).toEqual(all.filter((id) => numbers.has(id)))
        expect(sizeOf(intervals.intervals)).toBe(numbers.size)
        const holes = intervals.holes(0, 79).flatMap(({ from, to }) => all.slice(from, to + 1))
        expect(holes).toEqual(all.filter((id) => !numbers.has(id)))
      }),
    )
  })

  it('keeps its intervals apart and in order', () => {
    const set = new IntervalSet([
      { from: 5, to: 6 },
      { from: 1, to: 2 },
      { from: 3, to: 3 },
      { from: 8, to: 9 },
    ])
    expect(set.intervals).toEqual([
      { from: 1, to: 3 },
      { from: 5, to: 6 },
      { from: 8, to: 9 },
    ])
    expect(set.last).toBe(9)
  })

  it('forgets the lowest intervals beyond its bound and says from where it knows', () => {
    const set = new IntervalSet([1, 3, 5, 7].map((id) => ({ from: id, to: id })))
    expect(set.keepHighest(2)).toBe(5)
    expect(set.keepHighest(2)).toBeUndefined()
    expect(set.has(3)).toBe(false)
  })
})
