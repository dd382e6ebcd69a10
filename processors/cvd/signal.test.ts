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
