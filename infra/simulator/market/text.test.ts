import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decimalsOf, fixedText, trimmedText, unitsOf } from './text.ts'

test.each([
  [12_345, 2, '123.45', '123.45'],
  [12_300, 2, '123.00', '123'],
  [5, 3, '0.005', '0.005'],
  [0, 2, '0.00', '0'],
  [7, 0, '7', '7'],
  [7, -3, '7000', '7000'],
  [-150, 2, '-1.50', '-1.5'],
  [10n ** 20n, 10, '10000000000.0000000000', '10000000000'],
])('%s units of 10^-%i are %s, or %s without trailing zeros', (units, decimals, fixed, trimmed) => {
  expect(fixedText(units, decimals)).toBe(fixed)
  expect(trimmedText(units, decimals)).toBe(trimmed)
})

test.each([
  ['1.30', 2, 130],
  ['0.0000178', 8, 1780],
  ['1.234', 2, undefined],
  ['1.230', 2, 123],
  ['abc', 2, undefined],
  ['-1', 2, undefined],
  ['99999999999999999', 0, undefined],
])('%s with %i decimals is %s units', (text, decimals, units) => {
  expect(unitsOf(text, decimals)).toBe(units)
})

test('units survive being written and read back', () => {
  fc.assert(
    fc.property(fc.nat({ max: 2 ** 50 }), fc.nat({ max: 12 }), (units, decimals) => {
      expect(unitsOf(fixedText(units, decimals), decimals)).toBe(units)
      expect(unitsOf(trimmedText(units, decimals), decimals)).toBe(units)
      expect(decimalsOf(fixedText(units, decimals))).toBe(decimals)
    }),
  )
})
