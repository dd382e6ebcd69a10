import { expect, it } from 'vitest'
import { listed } from '../../../schemas/testing/instrument.ts'
import { venues } from '../venues/venues.ts'
import { estimateOf, missingDays, secondsOf, subjectsOf } from './past-estimate.ts'

const HOUR = 3_600_000_000
const DAY = 24 * HOUR
const day = (date: number): number => Date.UTC(2026, 2, date) * 1_000
const NOW = day(10) + 7 * HOUR
const instrument = listed('binance:perp:BTCUSDT')
const archive = venues.find(({ name }) => name === 'binance')?.archive
const order = { asset: 'btc', from: day(1), to: day(11), archives: true, time: NOW }
const subject = { instrument, order, past: {}, facts: [], archive }

it('counts what is not in the log: whole days that are over, and hours up to now', () => {
  const known = new Map([
    ['binance:perp:BTCUSDT|candles_1h', { from: day(5), to: day(10), rows: 120 }],
    ['binance:perp:BTCUSDT|archive_2026-03-08', { from: day(8), to: day(9), rows: 1_464 }],
  ])
  expect(missingDays(subject, known, NOW)).toEqual([1, 2, 3, 4, 5, 6, 7, 9].map((date) => `2026-03-0${date}`))
  const { candles, archives } = estimateOf([subject], known, NOW)
  expect([candles, archives]).toEqual([4 * 24 + 7, 8])
  const less = estimateOf([{ ...subject, archive: undefined }], new Map(), day(3) + DAY / 2)
  expect(less).toEqual({ candles: 60, facts: 0, archives: 0, bytes: 60 * 134 })
  expect(secondsOf({ ...less, candles: 1_400 }, 8e6)).toBe(11)
})

it('counts what else is read back, as far as the venue has it', () => {
  const facts = [
    { name: 'prices', seconds: 3_600 },
    { name: 'settlements', seconds: 28_800, depth: 3 },
  ] as const
  const known = new Map([['binance:perp:BTCUSDT|prices', { from: day(9), to: day(10), rows: 24 }]])
  const estimate = estimateOf([{ ...subject, past: undefined, archive: undefined, facts }], known, NOW)
  expect(estimate).toEqual({ candles: 0, facts: 8 * 24 + 7 + 3, archives: 0, bytes: 202 * 113 })
})

it('is about the markets of venues whose trades count, and their archives where these are ordered', () => {
  const at = (venue: string) => (venue === 'okx' ? undefined : { ...instrument, venue })
  const about = (archives: boolean) =>
    subjectsOf([{ ...order, archives }], ['binance', 'okx', 'coinbase'], at).map((one) => [
      one.instrument.venue,
      one.archive !== undefined,
    ])
  expect(about(true)).toEqual([
    ['binance', true],
    ['coinbase', false],
  ])
  expect(about(false)).toEqual([
    ['binance', false],
    ['coinbase', false],
  ])
})
