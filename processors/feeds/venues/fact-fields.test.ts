import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { amountOf, changeOf, isSigned, minuteOf, percentOf, plain, priceOf, tickerOf } from './fact-fields.ts'

describe('what a venue writes', () => {
  it.each([
    ['65114.30', '65114.30'],
    ['', null],
    ['0', null],
    ['0.000', null],
    [undefined, null],
    [null, null],
    ['-1', undefined],
    ['1e5', undefined],
    [65114.3, undefined],
  ])('as the price %o is %o', (value, price) => {
    expect(priceOf(value)).toBe(price)
  })

  it.each([
    ['0', '0'],
    ['96399695.809999716', '96399695.809999716'],
    ['', null],
    [undefined, null],
    ['-1', undefined],
    ['1,000', undefined],
  ])('as the amount %o is %o', (value, amount) => {
    expect(amountOf(value)).toBe(amount)
  })

  it.each([
    ['-0.0000037995722708', true],
    ['0', true],
    ['+1', false],
    ['', false],
    ['--1', false],
  ])('as the rate %o is one: %o', (value, is) => {
    expect(isSigned(value)).toBe(is)
  })

  it.each([
    [0.10025, '0.10025'],
    [1e-7, '0.0000001'],
    [1.23e-9, '0.00000000123'],
    [-0.17, '-0.17'],
    [0, '0'],
    [1e21, '1e+21'],
    ['5', '5'],
  ])('as the number %o is the text %o', (value, text) => {
    expect(plain(value)).toBe(text)
  })

  it('as a number is the same number in text, however small', () => {
    const small = fc.double({ min: 1e-9, max: 1e12, noNaN: true })
    fc.assert(
      fc.property(small, (value) => {
        const text = plain(value)
        expect(text).toMatch(/^\d+(?:\.\d+)?$/)
        expect(Math.abs(Number(text) / value - 1)).toBeLessThan(1e-10)
      }),
    )
  })

  it('as a fraction is that many percent, without a rounding of ours', () => {
    expect([percentOf('0.001624'), percentOf('-0.0179'), percentOf('0')]).toEqual([0.1624, -1.79, 0])
  })
})

describe('a ticker', () => {
  it('says what the message says, and of an empty side that it is empty', () => {
    expect(tickerOf('A', 1, { bid: '', last: '2', volume24h: '0' })).toEqual({
      kind: 'ticker',
      symbol: 'A',
      time: 1,
      bid: null,
      last: '2',
      volume24h: '0',
    })
  })

  it('does not say a last price, a change or a volume that is missing', () => {
    expect(tickerOf('A', null, { bid: '1', ask: '3', last: '0', change24h: null, volume24h: '' })).toEqual({
      kind: 'ticker',
      symbol: 'A',
      time: null,
      bid: '1',
      ask: '3',
    })
  })

  it.each(['bid', 'ask', 'last', 'volume24h', 'quoteVolume24h'])('with a %s that is no number is refused', (field) => {
    expect(tickerOf('A', 1, { last: '2', [field]: 'x' })).toEqual({ refused: 'bad-field' })
  })

  it('has the volume of a coin of which a dollar buys a billion', () => {
    expect(tickerOf('A', 1, { last: '0.0000000012', volume24h: '1250000000000000.5' })).toMatchObject({
      last: '0.0000000012',
      volume24h: '1250000000000000.5',
    })
  })

  it('of a price that rose from 80 to 100 changed by 25 %; of one without a past it is not told', () => {
    expect([changeOf('80', '100'), changeOf('', '100'), changeOf(undefined, '100')]).toEqual([25, null, null])
    expect([changeOf('100', '101'), changeOf('3000', '2970'), changeOf('100', '100.01')]).toEqual([1, -1, 0.01])
  })

  it('is of the minute that it is in', () => {
    expect([60_000_000, 119_999_999, 120_000_000].map(minuteOf)).toEqual([60_000_000, 60_000_000, 120_000_000])
  })
})
