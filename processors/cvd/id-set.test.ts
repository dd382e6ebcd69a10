import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { IdSet } from './id-set.ts'

/** Ids of 52 bits, some of them equal in their low 32 bits. */
const ids = fc.oneof(
  fc.nat(40),
  fc.nat(40).map((n) => n * 2 ** 32 + 7),
  fc.constantFrom(0, 2 ** 52 - 1, 2 ** 31, 2 ** 32),
)

describe('a set of ids', () => {
  it('tells new from known as a set does, sealed or not, saved or not', () => {
    const step = fc.oneof(
      { weight: 20, arbitrary: ids.map((id) => ({ id })) },
      { weight: 1, arbitrary: fc.constantFrom('seal' as const, 'save' as const) },
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200, size: 'max' }), fc.nat(100), (steps, expected) => {
        let set = new IdSet(expected)
        const model = new Set<number>()
        const answers: [given: boolean, expected: boolean][] = []
        for (const what of steps) {
          if (what === 'seal') set.seal()
          else if (what === 'save') set = IdSet.of(set.sorted().slice())
          else {
            answers.push([set.add(what.id), !model.has(what.id)])
            model.add(what.id)
          }
        }
        expect(answers.map(([given]) => given)).toEqual(answers.map(([, expected]) => expected))
        expect(set.size).toBe(model.size)
        expect([...set.sorted()]).toEqual([...model].sort((a, b) => a - b))
      }),
    )
  })

  it('grows with what it holds', () => {
    const set = new IdSet()
    for (let id = 0; id < 10_000; id++) expect(set.add(id * 977)).toBe(true)
    for (let id = 0; id < 10_000; id++) expect(set.add(id * 977)).toBe(false)
    expect(set.size).toBe(10_000)
  })
})
