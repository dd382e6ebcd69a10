import { describe, expect, it } from 'vitest'
import { cascadeReason, cascadeRisk } from './cascade.ts'

describe('cascade risk', () => {
  it.each([
    ['just over 10 % within 5 %', 10.001, 10.001, 'high'],
    ['exactly 10 % within 5 %', 10, 10, 'medium'],
    ['exactly 5 % within 10 %', 0, 5, 'medium'],
    ['just under 5 % within 10 %', 4.999, 4.999, 'low'],
    ['much within 10 %, little within 5 %', 3, 60, 'medium'],
    ['nothing', 0, 0, 'low'],
  ])('of %s', (_, within5, within10, expected) => {
    expect(cascadeRisk(within5, within10)).toBe(expected)
  })

  it.each([
    [12.345, 30, '12.35 % of open interest is at risk within 5 % of the price, more than 10 %.'],
    [4.3, 19.3, '19.30 % of open interest is at risk within 10 % of the price, 5 % or more.'],
    [10.003, 12, '10.003 % of open interest is at risk within 5 % of the price, more than 10 %.'],
    [1, 4.997, '4.997 % of open interest is at risk within 10 % of the price, less than 5 %.'],
    [1, 4.999_96, '4.99996 % of open interest is at risk within 10 % of the price, less than 5 %.'],
    [0, 5, '5.00 % of open interest is at risk within 10 % of the price, 5 % or more.'],
    [10, 5.001, '5.001 % of open interest is at risk within 10 % of the price, 5 % or more.'],
    [4.3, 4.9, '4.90 % of open interest is at risk within 10 % of the price, less than 5 %.'],
  ])('of %d %% within 5 %% and %d %% within 10 %% names the rule that decided it', (within5, within10, reason) => {
    expect(cascadeReason(within5, within10)).toBe(reason)
  })
})
