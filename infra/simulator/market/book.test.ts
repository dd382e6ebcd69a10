import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LeverageBook } from './book.ts'

const terms = { maxLeverage: 125, maintenance: 0.004 }
const middle = (): number => 0.5

/** Openings, closings and moves of the mark, as a market sees them. */
const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('open' as const), size: fc.double({ min: 0.001, max: 500, noNaN: true }) }),
    fc.record({ kind: fc.constant('close' as const), size: fc.double({ min: 0.001, max: 500, noNaN: true }) }),
    fc.record({ kind: fc.constant('move' as const), size: fc.double({ min: -0.03, max: 0.03, noNaN: true }) }),
  ),
  { maxLength: 60 },
)

test('what was opened less what was closed and liquidated is what the interest has changed by', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const book = new LeverageBook(terms, { interest: 1000, mark: 100 })
      let mark = 100
      for (const { kind, size } of all) {
        if (kind === 'open') book.open(mark, size, 'building', middle)
        else if (kind === 'close') book.close(size)
        else {
          mark *= 1 + size
          for (const swept of book.move(mark)) book.liquidated(swept.side, swept.size)
        }
        const { opened, closed, liquidated } = book.sums
        expect(book.interest).toBeCloseTo(1000 + opened - closed - liquidated, 6)
        for (const side of ['long', 'short'] as const) {
          expect(book.mass(side)).toBeGreaterThanOrEqual(0)
          expect(book.mass(side)).toBeLessThanOrEqual(book.interest)
        }
      }
    }),
  )
})

test('the mass of a side is the sum of its levels', () => {
  const book = new LeverageBook(terms, { interest: 1000, mark: 100 })
  book.open(100, 50, 'building', middle)
  book.close(30)
  book.open(101, 20, 'building', middle)
  const { long, short } = book.state()
  const sum = (levels: readonly (readonly [number, number])[]): number =>
    levels.reduce((all, [, size]) => all + size, 0)
  expect(sum(long)).toBeCloseTo(book.mass('long'), 4)
  expect(sum(short)).toBeCloseTo(book.mass('short'), 4)
})

describe('positions opened at 100 with up to 125 times leverage', () => {
  const opened = (): LeverageBook => {
    const book = new LeverageBook(terms, { interest: 1000, mark: 100 })
    book.open(100, 100, 'building', middle)
    return book
  }

  test('are not liquidated before the mark reaches the first level', () => {
    const book = opened()
    expect(book.move(99.65)).toEqual([])
    expect(book.move(100.35)).toEqual([])
  })

  test('are liquidated tier by tier, longs below and shorts above', () => {
    const book = opened()
    // 125 times: 100 x (1 - 1/125) / (1 - 0.004) = 99.598.
    const [first, ...more] = book.move(99.5)
    expect(more).toEqual([])
    expect(first).toMatchObject({ side: 'long' })
    expect(first?.size).toBeCloseTo(0.9, 9)
    expect(first?.price).toBeCloseTo(99.598, 1)
    const [short] = book.move(100.8)
    expect(short?.side).toBe('short')
    // 125 and 100 times: 100.398 and 100.598.
    expect(short?.size).toBeCloseTo(3.6, 9)
  })

  test('are liquidated less, when they only took the place of others', () => {
    const [building, replacing] = (['building', 'replacing'] as const).map((opening) => {
      const book = new LeverageBook(terms, { interest: 1000, mark: 100 })
      book.open(100, 100, opening, middle)
      return book.move(95)[0]?.size ?? 0
    })
    expect(building).toBeCloseTo(43.2, 9)
    expect(replacing).toBeCloseTo(1.35, 9)
  })

  test('are liquidated once', () => {
    const book = opened()
    expect(book.move(99.5)).toHaveLength(1)
    expect(book.move(100)).toEqual([])
    expect(book.move(99.5)).toEqual([])
  })

  test('shrink with what is closed', () => {
    const book = opened()
    book.close(550)
    expect(book.move(99.5)[0]?.size).toBeCloseTo(0.45, 9)
  })
})

test('a book goes on from what was written down, without what the mark has passed', () => {
  const book = new LeverageBook(terms, { interest: 1000, mark: 100 })
  book.open(100, 100, 'replacing', middle)
  const same = new LeverageBook(terms, { interest: 0, mark: 100 })
  same.restore(book.state(), 100)
  expect(same.interest).toBe(1100)
  expect(same.move(99.5)).toEqual(book.move(99.5))
  const later = new LeverageBook(terms, { interest: 0, mark: 99.5 })
  later.restore({ ...same.state(), mark: 100 }, 99)
  expect(later.move(98.9)).toEqual([])
})
