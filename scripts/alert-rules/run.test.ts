import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { testRules } from './run.ts'

const readme = readFileSync(new URL('README.md', import.meta.url), 'utf8')
const example = JSON.parse(/```json\n([^]*?)```/.exec(readme)?.[1] ?? '') as {
  readonly rules: readonly object[]
  readonly tests: readonly { readonly series: object; readonly expect: object }[]
}
const [first] = example.tests
const run = (change: object) => testRules({ ...example, tests: [{ ...first, ...change }] })

describe('a file of rules', () => {
  it('is as the README says', () => {
    expect(testRules(example)).toEqual([{ test: 'rings once they have held on', faults: [] }])
  })

  it('says what rang otherwise than expected', () => {
    expect(run({ expect: { buyers: ['1m'] } })[0]?.faults).toEqual([
      'expected, but did not ring: buyers 1m',
      'rang, but was not expected: buyers 40s',
      'rang, but was not expected: buyers 1m10s over',
    ])
  })

  it('takes series of prices, risk and perpetuals', () => {
    const leaves = [
      { metric: 'price', exchange: 'okx', operator: 'above', value: 5 },
      { metric: 'cascade_risk', operator: 'becomes', value: 'high' },
      { metric: 'funding_rate_pct', operator: 'below', value: 0 },
    ]
    const rules = leaves.map((when, at) => ({ name: `r${at}`, when }))
    const series = { 'price@okx': [1, 9], cascade_class: '0 2', 'funding_rate@bybit': '1-2x1' }
    const expected = { r0: ['20s'], r1: ['20s'], r2: ['20s'] }
    expect(testRules({ rules, tests: [{ series, expect: expected }] })[0]?.faults).toEqual([])
  })

  it.each([
    [
      { ...example, rules: [{ name: 'a', when: { metric: 'weather' } }] },
      'rules/0 (a)/when/metric: metric must be one of',
    ],
    [{ rules: [] }, 'tests: must be a list'],
    [{ ...example, tests: [{ series: { weather: '1' } }] }, 'series/weather: there is no such figure'],
    [{ ...example, tests: [{ series: { 'cvd@okx': '1 b' } }] }, 'tests/0/series/cvd@okx: "b" is no value'],
    [{ ...example, tests: [{ series: {}, expect: { sellers: [] } }] }, 'tests/0/expect/sellers: there is no such rule'],
  ])('that cannot be read says where: %#', (file, message) => {
    expect(() => testRules(file)).toThrow(message)
  })
})
