import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { vectorOf, vectorText } from './vector.ts'

const vectors = fc.array(fc.array(fc.nat({ max: Number.MAX_SAFE_INTEGER }), { maxLength: 30 }), { maxLength: 10 })

describe('the id of an event', () => {
  it('is the position in the log, and reads back as it was written', () => {
    fc.assert(
      fc.property(vectors, (vector) => {
        expect(vectorOf(vectorText(vector))).toEqual(vector)
      }),
    )
  })

  it('is short: a hundred partitions take less than half a kilobyte', () => {
    const vector = Array.from({ length: 8 }, () => Array.from({ length: 12 }, (_, at) => 1_000_000 + at))
    expect(vectorText(vector).length).toBeLessThan(512)
  })

  it('is nothing where it was not written by us', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const vector = vectorOf(text)
        expect(vector === undefined ? vector : vectorOf(vectorText(vector))).toEqual(vector)
      }),
    )
    const whole = vectorText([[1, 2, 300], [4]])
    expect([vectorOf(''), vectorOf('{}'), vectorOf(whole.slice(0, 4)), vectorOf(`${whole}AA`)]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })
})
