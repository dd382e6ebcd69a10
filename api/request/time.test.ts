import { describe, expect, it } from 'vitest'
import { parseTime } from './time.ts'

describe('a time', () => {
  it.each([
    ['2026-01-02', '2026-01-02T00:00:00.000Z'],
    ['2026-01-02T03:04', '2026-01-02T03:04:00.000Z'],
    ['2026-01-02T03:04:05', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02T03:04:05.678Z', '2026-01-02T03:04:05.678Z'],
    ['2026-01-02T03:04:05+02:00', '2026-01-02T01:04:05.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['0', '1970-01-01T00:00:00.000Z'],
  ])('%s is %s', (text, expected) => {
    expect(new Date(parseTime(text) ?? NaN).toISOString()).toBe(expected)
  })

  it.each([
    '',
    '2026-02-29',
    '2026-13-01',
    '2026-01-02T25:00Z',
    '2026-1-2',
    '2026-01-02T03:04:05 02:00',
    'BTC 5',
    '-5',
    '1e12',
    '9'.repeat(16),
    'now',
  ])('%s is none', (text) => {
    expect(parseTime(text)).toBeUndefined()
  })
})
