import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { classify, signalClasses } from './signal.ts'

describe('CVD signal', () => {
  it.each([
    ['all buys are strong', 100, 100, 'strong_bullish_pressure'],
    ['just above 15 % is strong', 15.001, 100, 'strong_bullish_pressure'],
    ['exactly 15 % is plain', 15, 100, 'bullish_pressure'],
    ['just above 5 % is plain', 5.001, 100, 'bullish_pressure'],
    ['exactly 5 % is neutral', 5, 100, 'neutral'],
    ['balance is neutral', 0, 100, 'neutral'],
    ['exactly -5 % is neutral', -5, 100, 'neutral'],
    ['just below -5 % is plain', -5.001, 100, 'bearish_pressure'],
    ['exactly -15 % is plain', -15, 100, 'bearish_pressure'],
    ['just below -15 % is strong', -15.001, 100, 'strong_bearish_pressure'],
    ['all sells are strong', -100, 100, 'strong_bearish_pressure'],
    ['no trade says nothing', 0, 0, 'insufficient_data'],
  ])('%s', (_, periodCvd, volume, expected) => {
    expect(classify(periodCvd, volume, 1)).toBe(expected)
  })

  it.each([
    [1.05, 0.95, 'neutral'],
    [0.019, 0.021, 'neutral'],
    [2.3, 1.7, 'bullish_pressure'],
    [0.0425, 0.0575, 'bearish_pressure'],
  ])('of %f bought and %f sold is on its bound: %s', (buy, sell, expected) => {
    expect(classify(buy - sell, buy + sell, 1)).toBe(expected)
  })

  it('of 5 % is neutral, whatever was traded', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000_000 }), fc.integer({ min: 0, max: 8 }), (units, decimals) => {
        const [buy, sell] = [units * 21, units * 19].map((of) => Number(`${of}e-${decimals}`))
        expect(classify((buy ?? 0) - (sell ?? 0), (buy ?? 0) + (sell ?? 0), 1)).toBe('neutral')
      }),
    )
  })

  it('needs a quarter of the period', () => {
    expect(classify(100, 100, 0.25)).toBe('strong_bullish_pressure')
    expect(classify(100, 100, 0.249_999_999)).toBe('insufficient_data')
  })

  it('mirrors when buys and sells change places', () => {
    const volume = fc.double({ min: 0, max: 1e9, noNaN: true })
    fc.assert(
      fc.property(volume, volume, (buy, sell) => {
        const mirrored = classify(sell - buy, buy + sell, 1)
        const expected = classify(buy - sell, buy + sell, 1)
        expect(signalClasses).toContain(expected)
        expect(mirrored).toBe(swap(expected))
      }),
    )
  })
})

function swap(name: string): string {
  return name.includes('bullish') ? name.replace('bullish', 'bearish') : name.replace('bearish', 'bullish')
}
