import { describe, expect, it } from 'vitest'
import { readTime } from '../command/command.ts'
import { readDuration, readOptions } from './options.ts'

describe('the command line of a backtest', () => {
  it('has defaults for everything', () => {
    expect(readOptions([])).toMatchObject({
      symbols: undefined,
      from: 0,
      to: Infinity,
      mode: 'lived',
      latencyMs: 500,
      leadInMs: 7 * 24 * 3_600_000,
      source: 'kafka',
      checkLive: false,
    })
    expect(readOptions(['--help'])).toBeUndefined()
  })

  it('reads symbols in any case and once, times as ISO 8601 or milliseconds, durations with units', () => {
    expect(readOptions(['--symbols', 'btc,ETH,BTC'])?.symbols).toEqual(['BTC', 'ETH'])
    expect(readTime('--from', '2026-03-01T00:00:00Z')).toBe(1_772_323_200_000)
    expect(readTime('--from', '1772323200000')).toBe(1_772_323_200_000)
    expect(['500ms', '10s', '5m', '1h', '7d', '3'].map((text) => readDuration('x', text))).toEqual([
      500, 10_000, 300_000, 3_600_000, 604_800_000, 3,
    ])
  })

  it.each([
    [['--mode', 'fast'], /--mode must be lived, corrected, archive/],
    [['--from', 'yesterday'], /--from must be ISO 8601/],
    [['--from', '2', '--to', '1'], /--from must lie before --to/],
    [['--lead-in', '8d'], /at most 7d/],
    [['--latency', 'soon'], /--latency must be a duration/],
    [['--symbols', 'BTC,,ETH'], /an empty symbol is no symbol/],
    [['--check-live', '--alerts', 'a.json'], /compares what was lived/],
    [['--wat'], /see npm run backtest -- --help/],
  ])('refuses %j', (argv, message) => {
    expect(() => readOptions(argv)).toThrow(message)
  })
})
