import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { classifyFunding, fundingClasses, fundingLabels, classifySentiment, sentiments } from './classes.ts'

describe('the class of a funding rate', () => {
  it.each([
    ['just above 0.05 %', 0.000500001, 'extreme_bullish'],
    ['exactly 0.05 %', 0.0005, 'bullish'],
    ['just above 0.01 %', 0.000100001, 'bullish'],
    ['exactly 0.01 %', 0.0001, 'slightly_bullish'],
    ['just above 0.003 %', 0.00003001, 'slightly_bullish'],
    ['exactly 0.003 %', 0.00003, 'neutral'],
    ['nothing', 0, 'neutral'],
    ['exactly -0.003 %', -0.00003, 'neutral'],
    ['just below -0.003 %', -0.00003001, 'slightly_bearish'],
    ['exactly -0.01 %', -0.0001, 'slightly_bearish'],
    ['just below -0.01 %', -0.000100001, 'bearish'],
    ['exactly -0.05 %', -0.0005, 'bearish'],
    ['just below -0.05 %', -0.000500001, 'extreme_bearish'],
  ])('of %s is the milder one of a bound', (_, rate, expected) => {
    expect(classifyFunding(rate)).toBe(expected)
  })

  it('takes a bound for itself when it is a venue’s text', () => {
    expect(classifyFunding(Number('0.00010000'))).toBe('slightly_bullish')
    expect(classifyFunding(Number('0.05e-2'))).toBe('bullish')
  })

  it('mirrors when longs and shorts change places, and always has a label', () => {
    fc.assert(
      fc.property(fc.double({ min: -0.02, max: 0.02, noNaN: true }), (rate) => {
        const at = fundingClasses.indexOf(classifyFunding(rate))
        expect(fundingClasses.indexOf(classifyFunding(-rate))).toBe(fundingClasses.length - 1 - at)
        expect(fundingLabels[classifyFunding(rate)]).not.toBe('')
      }),
    )
  })
})

describe('the sentiment of a long/short ratio', () => {
  it.each([
    [2.0001, 'Extremely bullish'],
    [2, 'Bullish'],
    [1.5001, 'Bullish'],
    [1.5, 'Slightly bullish'],
    [1.0201, 'Slightly bullish'],
    [1.02, 'Neutral'],
    [1, 'Neutral'],
    [0.98, 'Neutral'],
    [0.9799, 'Slightly bearish'],
    [0.67, 'Slightly bearish'],
    [0.6699, 'Bearish'],
    [0.5, 'Bearish'],
    [0.4999, 'Extremely bearish'],
    [0, 'Extremely bearish'],
  ])('of %s is %s', (ratio, expected) => {
    expect(classifySentiment(ratio)).toBe(expected)
    expect(sentiments).toContain(expected)
  })
})
