import { describe, expect, it } from 'vitest'
import { classifySentiment, sentiments } from './sentiment.ts'

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
