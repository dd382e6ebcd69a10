import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { bucketRange, bucketsOf, floorTo, intervals, type IntervalName } from '../views/range.ts'
import type { FakeCandle } from '../testing/fake-database.ts'
import { iso } from '../views/time.ts'
import { flow, lostTrades, NOW, startHarness, type Harness } from '../testing/harness.ts'

const MINUTE = 60_000_000
/** Start of the open minute. */
const OPEN = NOW - (NOW % MINUTE)

interface Point {
  time: string
  delta: number
  cvd: number
  buy_volume: number
  complete: boolean
  completeness: string
  source: string | null
  exchanges: Record<string, { cvd: number; delta: number; source: string | null }>
}

let api: Harness
beforeEach(async () => {
  api = await startHarness()
  api.database.flows = []
})
afterEach(() => api.stop())

async function history(query: string): Promise<Point[]> {
  const { status, body } = await api.get(`/cvd/history/BTC?interval=1m&${query}`)
  expect(status).toBe(200)
  return body['points'] as Point[]
}

/** All pages from there on, as their answers say. */
async function pages(side: 'start' | 'end', from: string, limit: number): Promise<Point[][]> {
  const given: Point[][] = []
  for (let next: unknown = from; typeof next === 'string';) {
    const { body } = await api.get(`/cvd/history/BTC?interval=1m&${side}=${next}&limit=${limit}`)
    given.push(body['points'] as Point[])
    next = body['next']
  }
  return given
}

describe('/cvd/history/:symbol', () => {
  it('has a point for every bucket since the first trade, oldest first, with running totals', async () => {
    api.database.flows = [
      flow({ bucket: OPEN - 3 * MINUTE, buy: 5, sell: 2 }),
      flow({ bucket: OPEN - 3 * MINUTE + 50_000_000, venue: 'okx', buy: 0, sell: 4 }),
      flow({ bucket: OPEN - MINUTE, buy: 1, sell: 0 }),
    ]
    expect(await history('')).toMatchObject([
      { time: '2026-01-02T03:01:00.000Z', delta: -1, cvd: -1, completeness: 'gap', complete: false },
      { time: '2026-01-02T03:02:00.000Z', delta: 0, cvd: -1, buy_volume: 0, completeness: 'complete', complete: true },
      { time: '2026-01-02T03:03:00.000Z', delta: 1, cvd: 0, exchanges: { binance: { cvd: 4 }, okx: { cvd: -4 } } },
      { time: '2026-01-02T03:04:00.000Z', delta: 0, cvd: 0, complete: false },
    ])
  })

  it('counts what lies before the range into the running total', async () => {
    api.database.flows = [
      flow({ bucket: OPEN - 90 * MINUTE, buy: 9, sell: 0 }),
      flow({ bucket: OPEN, buy: 1, sell: 0 }),
    ]
    expect(await history('limit=2')).toMatchObject([
      { delta: 0, cvd: 9 },
      { delta: 1, cvd: 10 },
    ])
  })

  it('starts at the start, inclusive, and ends at the end, exclusive', async () => {
    api.database.flows = [flow({ bucket: OPEN - 10 * MINUTE })]
    const points = await history('start=2026-01-02T03:00:00Z&end=2026-01-02T03:02:00Z')
    expect(points.map(({ time }) => time)).toEqual(['2026-01-02T03:00:00.000Z', '2026-01-02T03:01:00.000Z'])
    expect(await history('start=2026-01-02T02:59:00.001Z&end=2026-01-02T03:01:00.001Z')).toEqual(
      expect.arrayContaining([expect.objectContaining({ time: '2026-01-02T03:01:00.000Z' })]),
    )
  })

  it('pages on from the start and back from the end', async () => {
    api.database.flows = [flow({ bucket: OPEN - 10 * MINUTE })]
    const first = await history('start=2026-01-02T02:55:00Z&limit=3')
    expect(first.map(({ time }) => time.slice(14, 16))).toEqual(['55', '56', '57'])
    const last = await history('end=2026-01-02T03:00:00Z&limit=3')
    expect(last.map(({ time }) => time.slice(14, 16))).toEqual(['57', '58', '59'])
  })

  it.each([1, 2, 5])('is the same in pages of %i, walked from either end', async (limit) => {
    api.database.flows = [flow({ bucket: OPEN - 9 * MINUTE }), flow({ bucket: OPEN - 2 * MINUTE, buy: 7 })]
    const all = await history('')
    expect(all).toHaveLength(10)
    const forwards = await pages('start', '2026-01-02T02:00:00Z', limit)
    expect(forwards.flat()).toEqual(all)
    const backwards = await pages('end', '2027-01-01', limit)
    expect(backwards.toReversed().flat()).toEqual(all)
  })

  it('counts from an anchor on, and begins there', async () => {
    api.database.flows = [
      flow({ bucket: OPEN - 90 * MINUTE, buy: 9, sell: 0 }),
      flow({ bucket: OPEN - 5 * MINUTE, buy: 4, sell: 0 }),
      flow({ bucket: OPEN - 2 * MINUTE, buy: 2, sell: 0 }),
      flow({ bucket: OPEN, buy: 1, sell: 0 }),
    ]
    const { body } = await api.get('/cvd/history/BTC?interval=1m&since=2026-01-02T02:59:30Z')
    expect(body['since']).toBe('2026-01-02T02:59:00.000Z')
    expect((body['points'] as Point[]).map(({ time, cvd }) => [time.slice(14, 16), cvd])).toEqual([
      ['59', 4],
      ['00', 4],
      ['01', 4],
      ['02', 6],
      ['03', 6],
      ['04', 7],
    ])
    expect(await history('since=2026-01-02T02:59:00Z&limit=2')).toMatchObject([{ cvd: 6 }, { cvd: 7 }])
    expect(await history('since=2026-01-02T02:10:00Z&limit=1')).toMatchObject([{ cvd: 7 }])
    expect(await history('since=2025-01-01&limit=1')).toMatchObject([{ cvd: 16 }])
    expect(await history('since=2030-01-01')).toMatchObject([{ time: '2026-01-02T03:04:00.000Z', cvd: 1 }])
  })

  it('begins weeks with their Monday', async () => {
    api.database.flows = [flow({ bucket: OPEN - 10 * 1440 * MINUTE }), flow({ bucket: OPEN })]
    const { body } = await api.get('/cvd/history/BTC?interval=1w')
    const weeks = (body['points'] as Point[]).map(({ time }) => time)
    expect(weeks).toEqual(['2025-12-22T00:00:00.000Z', '2025-12-29T00:00:00.000Z'])
    const candles = await api.get('/ohlcv/BTC?interval=1w')
    expect((candles.body['candles'] as Point[]).map(({ time }) => time)).toEqual(weeks)
  })

  it('is empty before the first trade and after now', async () => {
    api.database.flows = [flow({ bucket: OPEN - 10 * MINUTE })]
    expect(await history('end=2026-01-01')).toEqual([])
    expect(await history('start=2030-01-01')).toEqual([])
  })

  it('closes a bucket 2 s after its end', async () => {
    api.database.flows = [flow({ bucket: OPEN - 20 * MINUTE })]
    api.advance(55_000 + 1_999)
    expect((await history('limit=2')).map(({ complete }) => complete)).toEqual([false, false])
    api.advance(6_000)
    expect((await history('limit=2')).map(({ complete }) => complete)).toEqual([true, false])
  })

  it.each(['opened', 'unfillable'])('takes no bucket for complete of which trades are missing: %s', async (state) => {
    const at = { asset: 'btc', venue: 'okx', missing: 1, from: OPEN - 2 * MINUTE + 1, to: OPEN - 2 * MINUTE + 2 }
    api.database.flows = [flow({ bucket: OPEN - 9 * MINUTE })]
    api.database.gaps = [{ ...at, state }]
    const points = await history('limit=4')
    expect(points.map(({ complete }) => complete)).toEqual([true, false, true, false])
    expect(points.map(({ completeness }) => completeness)).toEqual(['complete', 'gap', 'complete', 'complete'])
    const candles = await api.get('/ohlcv/BTC?interval=1m&exchange=okx')
    expect(candles.body['coverage']).toMatchObject({ complete: false })
  })

  it('states what stays missing, however many gaps were filled since', async () => {
    const at = OPEN - 5 * MINUTE
    const filled = { asset: 'btc', venue: 'binance', state: 'filled', missing: 0, from: at, to: at + 1 }
    const lost = { ...filled, venue: 'okx', state: 'unfillable', from: at - 2, to: at - 1 }
    api.database.flows = [flow({ bucket: OPEN - 9 * MINUTE })]
    api.database.gaps = [lost, ...Array.from({ length: 1_000 }, () => filled)]
    const { body } = await api.get(`/cvd/history/BTC?interval=1m&start=${iso(at - MINUTE)}&end=${iso(at + MINUTE)}`)
    expect(body).toMatchObject({
      points: [{ completeness: 'gap' }, { completeness: 'backfilled' }],
      coverage: { complete: false, gaps: [{ exchange: 'okx', state: 'unfillable' }] },
    })
  })

  it.each(['', ', though its gap was filled'])(
    'takes no bucket for complete of which the log itself lost something%s',
    async (filled) => {
      const at = { from: OPEN - 2 * MINUTE + 1, to: OPEN - 2 * MINUTE + 2 }
      api.database.flows = [flow({ bucket: OPEN - 9 * MINUTE })]
      if (filled !== '') api.database.gaps = [{ ...at, asset: 'btc', venue: 'okx', missing: 0, state: 'filled' }]
      api.database.logGaps = [lostTrades(at)]
      const points = await history('limit=4')
      expect(points.map(({ complete }) => complete)).toEqual([true, false, true, false])
      expect(points.map(({ completeness }) => completeness)).toEqual(['complete', 'gap', 'complete', 'complete'])
      for (const exchange of ['binance', 'all']) {
        const candles = await api.get(`/ohlcv/BTC?interval=1m&start=2026-01-02T02:55:00Z&exchange=${exchange}`)
        expect(candles.body['coverage']).toMatchObject({ complete: false, gaps: [{ exchange: 'all', state: 'lost' }] })
      }
    },
  )

  it('takes no bucket for complete in which nobody was subscribed, and says nothing of one without a trade', async () => {
    const of = (venue: string, minutes: number[]) =>
      minutes.map((minute) => flow({ bucket: OPEN + minute * MINUTE, venue, buy: 3 }))
    api.database.flows = [...of('binance', [-9, -8, -7, -6, -3, -2, -1]), ...of('okx', [-9, -8, -7, -6, -1])]
    const ended = { asset: 'btc', from: OPEN - 6 * MINUTE + 20_000_000 }
    api.database.unsubscribed = [
      { ...ended, venue: 'binance', next: OPEN - 3 * MINUTE + 1_000_000 },
      { ...ended, venue: 'okx', next: OPEN - MINUTE + 1_000_000 },
    ]
    const points = await history('limit=9')
    const told = points.map(({ time, delta, source, complete, completeness, exchanges: { okx } }) =>
      [time.slice(14, 16), delta, source, okx?.source, complete, completeness].join(' '),
    )
    expect(told).toEqual([
      '56 4 trades trades true complete',
      '57 4 trades trades true complete',
      '58 4 trades trades false gap',
      '59 0   false gap',
      '00 0   false gap',
      '01 2 trades  false gap',
      '02 2 trades  true complete',
      '03 4 trades trades false gap',
      '04 0 trades trades false complete',
    ])
  })

  it('says which buckets lack trades and which got them later', async () => {
    api.database.flows = [flow({ bucket: OPEN - 9 * MINUTE }), flow({ bucket: OPEN - 4 * MINUTE, part: 12 })]
    const gap = { asset: 'btc', venue: 'okx', missing: 1 }
    api.database.gaps = [
      { ...gap, state: 'filled', from: OPEN - 3 * MINUTE + 1, to: OPEN - 3 * MINUTE + 2 },
      { ...gap, state: 'unfillable', from: OPEN - 2 * MINUTE - 1, to: OPEN - 2 * MINUTE },
    ]
    const points = await history('limit=6')
    expect(points.map(({ completeness }) => completeness)).toEqual([
      'complete',
      'backfilled',
      'gap',
      'gap',
      'complete',
      'complete',
    ])
  })
})

describe('the range of buckets', () => {
  const times = fc.option(fc.integer({ min: 0, max: 5_000 }), { nil: undefined })

  it('is never longer than the limit, lies on bounds and within what was asked', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...(Object.keys(intervals) as IntervalName[])),
        times,
        times,
        fc.integer({ min: 1, max: 1000 }),
        fc.nat(4_000),
        (name, start, end, limit, since) => {
          const width = intervals[name]
          const asked = {
            start: start === undefined ? undefined : start * MINUTE,
            end: end === undefined ? undefined : end * MINUTE,
          }
          const now = 4_000 * MINUTE + 7
          const buckets = bucketsOf(bucketRange({ ...asked, limit, width, now, since: since * MINUTE }), width)
          expect(buckets.length).toBeLessThanOrEqual(limit)
          for (const time of buckets) {
            expect(floorTo(time, width)).toBe(time)
            expect(time).toBeGreaterThanOrEqual(asked.start ?? -Infinity)
            expect(time).toBeLessThan(asked.end ?? Infinity)
            expect(time).toBeLessThanOrEqual(now)
            expect(time + width).toBeGreaterThan(since * MINUTE)
          }
        },
      ),
    )
  })

  it('holds every bucket that was asked for, up to the limit', () => {
    fc.assert(
      fc.property(times, times, fc.integer({ min: 1, max: 50 }), (start, end, limit) => {
        const [since, now] = [100 * MINUTE, 200 * MINUTE]
        const query = {
          start: start === undefined ? undefined : start * MINUTE,
          end: end === undefined ? undefined : end * MINUTE,
        }
        const wanted = Array.from({ length: 101 }, (_, index) => since + index * MINUTE).filter(
          (time) => time >= (query.start ?? 0) && time < (query.end ?? Infinity),
        )
        const expected = start === undefined ? wanted.slice(-limit) : wanted.slice(0, limit)
        const range = bucketRange({ ...query, limit, width: MINUTE, now, since })
        expect(bucketsOf(range, MINUTE)).toEqual(expected)
      }),
    )
  })
})

describe('/cvd/history/:symbol before the first trades', () => {
  const HOUR = 60 * MINUTE
  const BEGUN = floorTo(NOW, HOUR) - 2 * HOUR
  const candle = (hours: number, takerBuy: number | null, venue = 'binance'): FakeCandle => {
    const prices = { open: 50, close: 51, volume: 10 }
    return { asset: 'btc', venue, start: BEGUN + hours * HOUR, seconds: 3600, ...prices, takerBuy }
  }
  const hours = async (query = ''): Promise<Record<string, unknown>> =>
    (await api.get(`/cvd/history/BTC?interval=1h${query}`)).body
  beforeEach(() => {
    api.database.flows = [
      flow({ bucket: BEGUN + 20 * MINUTE, buy: 3, sell: 1 }),
      flow({ bucket: BEGUN + HOUR, buy: 5, sell: 1 }),
      flow({ bucket: BEGUN + HOUR, venue: 'okx', buy: 1, sell: 0 }),
    ]
    api.database.pasts = [candle(-2, 4), candle(-1, 6), candle(0, 8), candle(-1, null, 'okx'), candle(0, null, 'okx')]
  })

  it('goes on to the left with the curve of the candles, and ends with the total of all trades', async () => {
    const { points, since } = await hours()
    expect(points).toMatchObject([
      {
        delta: -2,
        cvd: -6,
        source: 'venue_candles',
        completeness: 'gap',
        exchanges: { okx: { source: null, delta: 0 } },
      },
      { delta: 2, cvd: -4, source: 'venue_candles' },
      // The first hour is the venue's: the total at its end is that of the trades, as everywhere.
      { delta: 6, cvd: 2, source: 'venue_candles', exchanges: { binance: { buy_volume: 8, source: 'venue_candles' } } },
      {
        delta: 5,
        cvd: 7,
        source: 'trades',
        exchanges: { okx: { source: 'trades', delta: 1 }, bybit: { source: null } },
      },
      { delta: 0, cvd: 7, source: 'trades' },
    ])
    expect(since).toBe('2026-01-02T01:20:01.000Z')
    expect((await api.get('/cvd/BTC?period=24h')).body['cvd']).toBe(7)
  })

  it('counts hours of which nothing says what takers bought as missing', async () => {
    api.database.flows = api.database.flows.filter(({ venue }) => venue === 'binance')
    const of = async (): Promise<unknown> => {
      api.advance(60_000)
      return (await hours(`&start=${iso(BEGUN - 4 * HOUR)}&end=${iso(BEGUN)}`))['coverage']
    }
    api.database.pasts = [-4, -3, -2, -1, 0].map((at) => candle(at, 4))
    expect(await of()).toMatchObject({ share: 1, complete: true })
    api.database.pasts = [-4, -3, -2, -1, 0].map((at) => candle(at, at === -2 ? null : 4))
    expect(await of()).toMatchObject({ share: 0.75, complete: false })
  })

  it('says of each hour of candles what the coverage says of all', async () => {
    const wholeness = async (): Promise<string[]> => {
      api.advance(60_000)
      const { points } = (await hours(`&start=${iso(BEGUN - 2 * HOUR)}&end=${iso(BEGUN + 2 * HOUR)}`)) as {
        points: Point[]
      }
      return points.map(({ complete, completeness }) => `${complete} ${completeness}`)
    }
    // Nothing says what takers bought on OKX before its first trade.
    expect(await wholeness()).toEqual(['false gap', 'false gap', 'false gap', 'false gap'])
    api.database.flows = api.database.flows.filter(({ venue }) => venue === 'binance')
    const whole = 'true complete'
    expect(await wholeness()).toEqual([whole, whole, whole, whole])
    api.database.pasts = [-2, -1, 0].map((at) => candle(at, at === -1 ? null : 4))
    expect(await wholeness()).toEqual([whole, 'false gap', whole, whole])
  })

  it('gives the same points to whoever asks for a part of them', async () => {
    const all = (await hours())['points'] as { time: string }[]
    for (const limit of [1, 2, 3]) {
      const parts: unknown[] = []
      for (let next: unknown = '2026-01-01'; typeof next === 'string';) {
        const page = await hours(`&limit=${limit}&start=${next}`)
        parts.push(...(page['points'] as unknown[]))
        next = page['next']
      }
      expect(parts).toEqual(all)
    }
  })

  it('counts from an anchor among the candles', async () => {
    const { points, since } = await hours('&since=2026-01-02T00:30:00Z')
    expect(since).toBe('2026-01-02T00:00:00.000Z')
    expect(points).toMatchObject([{ cvd: 2 }, { cvd: 8 }, { cvd: 13 }, { cvd: 13 }])
  })
})
