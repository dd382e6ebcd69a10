import { describe, expect, it } from 'vitest'
import { cascadeRisk } from './cascade.ts'

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
})
