import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Instrument, PriceRange } from '../../../schemas/records.ts'
import { FactBook } from '../facts/fact-book.ts'
import { instrument } from '../trades/testing/market.ts'
import type { PastPages, RestAnswer, RestCall } from '../venues/venue.ts'
import { PriceRanges } from './price-ranges.ts'
import { ticks } from './process-clock.ts'

const SECOND = 1_000_000
const START = 1_790_000_040 * SECOND
const pair: Instrument = { ...instrument, market: 'spot', symbol: 'BTC-USD', quote: 'USD' }

/** What is asked for and told of one pair, as seconds behind the start; the host's clock is that of the test. */
function rangesOf() {
  const asked: string[] = []
  const told: [number, number][] = []
  const written: PriceRange[] = []
  const venue = { isDown: false }
  const seconds = (time: number): number => (time - START) / SECOND
  const pages: PastPages = {
    host: 'rest',
    pageSize: 1_000,
    call: (_symbol, _seconds, from, to) => ({ path: `${seconds(from)} ${seconds(to)}`, cost: 1 }),
    parse: () => {
      const base = { kind: 'candle', symbol: pair.symbol, open: '1', close: '1', volume: '1' } as const
      const first = { ...base, minute: START, low: '1', high: '2', takerBuy: null, trades: 1 }
      return { kind: 'rows', rows: [{ ...first, minute: START + 60 * SECOND, low: '0.5' }, first] }
    },
  }
  const host = {
    unavailable: false,
    get: <Row>({ path }: RestCall, parse: (body: unknown) => RestAnswer<Row>) => {
      asked.push(path)
      if (venue.isDown) return Promise.resolve({ kind: 'failed' as const, message: 'down' })
      const answer = parse(undefined)
      return Promise.resolve(answer.kind === 'rows' ? answer : { kind: 'failed' as const, message: 'no rows' })
    },
  }
  const book = new FactBook({ record: () => undefined, clamped: () => undefined })
  book.list('okx', 'spot', [pair])
  const log = {
    range(range: PriceRange) {
      told.push([seconds(range.from), seconds(range.to)])
      written.push(range)
    },
  }
  const ranges = new PriceRanges('okx', pages, host, { book, log })
  return {
    asked,
    told,
    written,
    venue,
    ranges,
    /** From and to, in seconds; it is told of at its end. */
    missed: (from: number, to: number) => {
      vi.setSystemTime(START / 1_000 + to * 1_000)
      ranges.missed('spot', [pair.symbol], START + from * SECOND, START + to * SECOND)
    },
    /** The time goes on. */
    pass: async (seconds: number) => {
      for (let second = 0; second < seconds; second++) {
        vi.setSystemTime(Date.now() + 1_000)
        ranges.tick(ticks())
        await Promise.resolve().then(() => undefined)
      }
    },
  }
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

describe('what prices did while a channel was still', () => {
  it('is told when the last minute of it is over', async () => {
    const { missed, pass, told } = rangesOf()
    missed(0, 20)
    await pass(64)
    expect(told).toEqual([])
    await pass(1)
    expect(told).toEqual([[0, 20]])
  })

  it('is told with the minutes that it touches, oldest first, and their bounds', async () => {
    const { missed, pass, written } = rangesOf()
    missed(20, 80)
    missed(120, 140)
    await pass(140)
    const [first, second] = [
      { minute: START, low: 1, high: 2 },
      { minute: START + 60 * SECOND, low: 0.5, high: 2 },
    ]
    expect(written).toMatchObject([{ low: 0.5, high: 2, candles: [first, second] }])
  })

  it('is told of a second time that begins where the first ends, before that is told', async () => {
    const { missed, pass, told } = rangesOf()
    missed(0, 20)
    missed(20, 50)
    await pass(120)
    expect(told).toEqual([
      [0, 20],
      [20, 50],
    ])
  })

  it('is told as one of times that overlap, such as of a connection that fell silent as soon as it was there', async () => {
    const { missed, pass, told, asked } = rangesOf()
    missed(0, 40)
    missed(0.1, 40)
    missed(39.9, 72)
    await pass(120)
    expect(told).toEqual([[0, 72]])
    expect(asked).toHaveLength(1)
  })

  it('is asked for as often as ever where the venue did not answer for the first of times that overlap', async () => {
    const { missed, pass, told, venue } = rangesOf()
    venue.isDown = true
    missed(0, 20)
    await pass(100)
    missed(19.9, 120)
    await pass(100)
    expect(told).toEqual([])
    venue.isDown = false
    await pass(10)
    expect(told).toEqual([[0, 120]])
  })

  it('is told as soon where the clock was ahead when it ended, and is corrected', async () => {
    const { ranges, pass, asked } = rangesOf()
    vi.setSystemTime(START / 1_000)
    ranges.missed('spot', [pair.symbol], START + 7_200 * SECOND, START + 7_220 * SECOND)
    await pass(65)
    expect(asked).toEqual(['7200 7260'])
  })

  it('is asked for by the minutes that it touches, the newest page of more than one', async () => {
    const { missed, pass, asked } = rangesOf()
    missed(30, 120)
    await pass(65)
    missed(600, 2_000 * 60 + 1)
    await pass(65)
    expect(asked).toEqual(['0 120', `${1_001 * 60} ${2_001 * 60}`])
  })
})
