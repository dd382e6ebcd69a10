import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nextAttempt, retryAfterSeconds, retrySteps } from './attempt.ts'

const NOW = 1_767_323_045_000_000

describe('the retry schedule', () => {
  it('has the steps that are promised', () => {
    expect(retrySteps).toEqual([5, 30, 120, 600, 1800, 7200, 21600, 43200, 86400])
  })

  it('keeps each pause within a fifth of its step', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1, max: retrySteps.length }), (id, attempts) => {
        const step = retrySteps[attempts - 1] ?? 0
        const pause = ((nextAttempt(id, attempts, NOW) ?? 0) - NOW) / 1e6
        expect(pause).toBeGreaterThanOrEqual(step * 0.8 - 1e-6)
        expect(pause).toBeLessThanOrEqual(step * 1.2 + 1e-6)
      }),
    )
  })

  it('plans the same after a restart', () => {
    expect(nextAttempt('trg_1', 3, NOW)).toBe(nextAttempt('trg_1', 3, NOW))
  })

  it('ends after the last step', () => {
    expect(nextAttempt('trg_1', retrySteps.length + 1, NOW)).toBeNull()
  })

  it.each([
    [60, 60],
    [1_000_000, 10],
    [0, 4],
  ])('gives a receiver that asks for %d s at least what twice the step allows', (asked, least) => {
    const pause = ((nextAttempt('trg_1', 1, NOW, asked) ?? 0) - NOW) / 1e6
    expect(pause).toBeGreaterThanOrEqual(Math.min(asked === 0 ? least : asked, 10))
    expect(pause).toBeLessThanOrEqual(10)
  })
})

describe('Retry-After', () => {
  it.each([
    ['120', 120],
    [' 7 ', 7],
    ['Fri, 02 Jan 2026 03:05:05 GMT', 60],
    ['Fri, 02 Jan 2025 03:05:05 GMT', 0],
    ['soon', undefined],
    ['-5', undefined],
    ['', undefined],
    [null, undefined],
  ])('of %s asks for %s s', (header, seconds) => {
    expect(retryAfterSeconds(header, NOW)).toBe(seconds)
  })
})
