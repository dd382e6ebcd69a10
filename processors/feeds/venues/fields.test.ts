import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countOf, isDecimal, jsonOf, microsOf, microsOfIso, scaledBase } from './fields.ts'

describe('guards', () => {
  it.each(['1', '0.5', '64990.90', '0.000000000000000001', '999999999999999', '007.5'])('%s is a decimal', (text) => {
    expect(isDecimal(text)).toBe(true)
  })

  it.each([
    ['zero', '0'],
    ['zero with decimals', '0.000'],
    ['negative', '-1'],
    ['signed', '+1'],
    ['an exponent', '1e5'],
    ['empty', ''],
    ['blank', ' 1'],
    ['a number', 1],
    ['null', null],
    ['infinite', 'Infinity'],
    ['not a number', 'NaN'],
    ['two points', '1.2.3'],
    ['no digit before the point', '.5'],
    ['no digit behind the point', '5.'],
    ['more than 15 digits before the point', '1234567890123456'],
    ['more than 18 behind it', '0.1234567890123456789'],
    ['a line break at its end', '1\n'],
  ])('refuses as a decimal what is %s', (_, value) => {
    expect(isDecimal(value)).toBe(false)
  })

  it.each([
    ['0', 0],
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', undefined],
    ['01', undefined],
    ['-1', undefined],
    ['1.0', undefined],
    [1, undefined],
  ])('reads %s as the count %s', (text, value) => {
    expect(countOf(text)).toBe(value)
  })

  it.each([
    ['2026-07-07T22:58:17.164892Z', 1_783_465_097_164_892],
    ['2019-08-14T20:42:27.265Z', 1_565_815_347_265_000],
    ['2014-11-07T08:19:28.464459Z', 1_415_348_368_464_459],
    ['2024-02-29T00:00:00Z', 1_709_164_800_000_000],
    ['2026-07-07T22:58:17.123456789Z', 1_783_465_097_123_456],
    ['2026-07-07T22:58:17.5Z', 1_783_465_097_500_000],
    ['2026-07-07T22:58:17', undefined],
    ['2026-07-07T22:58:17+02:00', undefined],
    ['2026-13-07T22:58:17Z', undefined],
    ['2026-00-07T22:58:17Z', undefined],
    ['2026-02-29T22:58:17Z', undefined],
    ['2026-04-31T22:58:17Z', undefined],
    ['2026-04-00T22:58:17Z', undefined],
    ['2026-04-30T24:00:00Z', undefined],
    ['2026-04-30T23:60:00Z', undefined],
    ['1999-04-30T23:00:00Z', undefined],
    ['2300-04-30T23:00:00Z', undefined],
    ['yesterday', undefined],
  ])('reads the time %s as %s', (text, micros) => {
    expect(microsOfIso(text)).toBe(micros)
  })

  it('reads every time from 2009 to the end of 2099 as the engine does', () => {
    const earliest = Date.UTC(2009, 0, 3)
    fc.assert(
      fc.property(fc.integer({ min: earliest, max: Date.UTC(2100, 0) - 1 }), (ms) => {
        expect(microsOfIso(new Date(ms).toISOString())).toBe(ms * 1000)
      }),
    )
    const days = Array.from({ length: 33_235 }, (_, day) => earliest + day * 86_400_000)
    expect(new Date(days.at(-1) ?? 0).toISOString()).toBe('2099-12-31T00:00:00.000Z')
    expect(days.filter((ms) => microsOfIso(new Date(ms).toISOString()) !== ms * 1000)).toEqual([])
    expect(microsOfIso('2009-01-02T23:59:59Z')).toBeUndefined()
    expect(microsOfIso('2100-01-01T00:00:00Z')).toBeUndefined()
  })

  it.each([
    ['milliseconds', 1_786_171_884_471, 1_786_171_884_471_000],
    ['seconds', 1_786_171_884, undefined],
    ['microseconds', 1_786_171_884_471_000, undefined],
    ['zero', 0, undefined],
    ['not a number', NaN, undefined],
  ])('takes a time for milliseconds only: %s', (_, ms, micros) => {
    expect(microsOf(ms)).toBe(micros)
  })

  it('says undefined of what is not JSON', () => {
    expect(jsonOf('{"a":')).toBeUndefined()
    expect(jsonOf('null')).toBeNull()
  })
})

it.each([
  ['BTC', 'BTC', 1],
  ['1000PEPE', 'PEPE', 1000],
  ['SHIB1000', 'SHIB', 1000],
  ['10000SATS', 'SATS', 10_000],
  ['1000000MOG', 'MOG', 1_000_000],
  ['1MBABYDOGE', 'BABYDOGE', 1_000_000],
  ['1000X', 'X', 1000],
  ['1INCH', '1INCH', 1],
  ['0G', '0G', 1],
  ['2Z', '2Z', 1],
  ['4', '4', 1],
  ['42', '42', 1],
  ['1000', '1000', 1],
  ['API3', 'API3', 1],
  ['BANANAS31', 'BANANAS31', 1],
  ['C98', 'C98', 1],
  ['LUNA2', 'LUNA2', 1],
  ['USD1', 'USD1', 1],
  ['SPX6900', 'SPX6900', 1],
  ['10001000', '10001000', 1],
  ['币安人生', '币安人生', 1],
])('%s is %s, %d of it', (ticker, base, factor) => {
  expect(scaledBase(ticker)).toEqual({ base, factor })
})
