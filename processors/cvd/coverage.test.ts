import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Coverage, HOLES_MAX } from './coverage.ts'

type Range = [first: number, last: number]

describe('coverage', () => {
  it.each<[string, Range, string, Range[]]>([
    [
      'a range behind the last',
      [30, 31],
      'new',
      [
        [5, 9],
        [20, 25],
        [30, 31],
      ],
    ],
    [
      'a range that touches the last',
      [26, 28],
      'new',
      [
        [5, 9],
        [20, 28],
      ],
    ],
    [
      'a range before the first',
      [1, 2],
      'new',
      [
        [1, 2],
        [5, 9],
        [20, 25],
      ],
    ],
    [
      'a range that touches the first',
      [1, 4],
      'new',
      [
        [1, 9],
        [20, 25],
      ],
    ],
    [
      'a part of a hole',
      [12, 13],
      'new',
      [
        [5, 9],
        [12, 13],
        [20, 25],
      ],
    ],
    [
      'a hole’s lower end',
      [10, 12],
      'new',
      [
        [5, 12],
        [20, 25],
      ],
    ],
    [
      'a hole’s upper end',
      [12, 19],
      'new',
      [
        [5, 9],
        [12, 25],
      ],
    ],
    ['a whole hole', [10, 19], 'new', [[5, 25]]],
    [
      'what is covered',
      [20, 25],
      'duplicate',
      [
        [5, 9],
        [20, 25],
      ],
    ],
    [
      'what lies within',
      [6, 8],
      'duplicate',
      [
        [5, 9],
        [20, 25],
      ],
    ],
    [
      'what reaches out behind',
      [24, 26],
      'overlap',
      [
        [5, 9],
        [20, 25],
      ],
    ],
    [
      'what reaches out before',
      [19, 20],
      'overlap',
      [
        [5, 9],
        [20, 25],
      ],
    ],
    [
      'what bridges a hole',
      [9, 20],
      'overlap',
      [
        [5, 9],
        [20, 25],
      ],
    ],
    [
      'what holds a whole range',
      [4, 10],
      'overlap',
      [
        [5, 9],
        [20, 25],
      ],
    ],
  ])('takes %s for what it is', (_, [first, last], admission, ranges) => {
    const coverage = new Coverage([
      [5, 9],
      [20, 25],
    ])
    expect(coverage.admit(first, last)).toBe(admission)
    expect(coverage.ranges).toEqual(ranges)
  })

  it('says of any ranges what a set of single ids says', () => {
    const range = fc
      .tuple(fc.integer({ min: 0, max: 60 }), fc.nat(4))
      .map(([first, more]): Range => [first, first + more])
    fc.assert(
      fc.property(fc.array(range, { maxLength: 60, size: 'max' }), (ranges) => {
        const coverage = new Coverage()
        const ids = new Set<number>()
        for (const [first, last] of ranges) {
          const own = Array.from({ length: last - first + 1 }, (_, index) => first + index)
          const known = own.filter((id) => ids.has(id)).length
          const expected = known === 0 ? 'new' : known === own.length ? 'duplicate' : 'overlap'
          expect(coverage.admit(first, last)).toBe(expected)
          if (expected === 'new') for (const id of own) ids.add(id)
        }
        const covered = coverage.ranges.flatMap(([first, last]) =>
          Array.from({ length: last - first + 1 }, (_, i) => first + i),
        )
        expect(covered).toEqual([...ids].sort((a, b) => a - b))
        for (const [index, [first]] of coverage.ranges.slice(1).entries()) {
          expect(first).toBeGreaterThan((coverage.ranges[index]?.[1] ?? 0) + 1)
        }
      }),
    )
  })

  it('closes the oldest hole for good and counts it when there are too many', () => {
    const coverage = new Coverage()
    for (let id = 0; id <= HOLES_MAX; id++) coverage.admit(id * 2, id * 2)
    expect(coverage.closedHoles).toBe(0)
    coverage.admit((HOLES_MAX + 1) * 2, (HOLES_MAX + 1) * 2)
    expect(coverage.closedHoles).toBe(1)
    expect(coverage.ranges).toHaveLength(HOLES_MAX + 1)
    expect(coverage.admit(1, 1)).toBe('duplicate')
    expect(coverage.admit(3, 3)).toBe('new')
  })
})
