import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FakeCandle } from '../testing/fake-database.ts'
import { flow, NOW, startHarness, type Harness } from '../testing/harness.ts'
import { floorTo } from '../views/range.ts'

const SECOND = 1_000_000
const MINUTE = 60 * SECOND
const OPEN = NOW - (NOW % MINUTE)

let api: Harness
beforeEach(async () => {
  api = await startHarness()
})
afterEach(() => api.stop())

async function candles(query: string): Promise<Record<string, unknown>[]> {
  const { status, body } = await api.get(`/ohlcv/BTC?interval=1m&${query}`)
  expect(status).toBe(200)
  return body['candles'] as Record<string, unknown>[]
}

describe('/ohlcv/:symbol', () => {
  beforeEach(() => {
    api.database.flows = [
      flow({ bucket: OPEN - 30 * MINUTE, price: 90 }),
      flow({ bucket: OPEN - 2 * MINUTE, price: 100, buy: 2, sell: 1 }),
      flow({ bucket: OPEN - 2 * MINUTE + 10 * SECOND, price: 103, part: 4 }),
      flow({ bucket: OPEN - 2 * MINUTE + 50 * SECOND, price: 101, buy: 0, sell: 3 }),
      flow({ bucket: OPEN, price: 99 }),
      flow({ bucket: OPEN - MINUTE, price: 105, venue: 'coinbase' }),
    ]
  })

  it('puts candles together from buckets, oldest first, and leaves out where nothing traded', async () => {
    expect(await candles('limit=3')).toMatchObject([
      { time: '2026-01-02T02:34:00.000Z', close: 90, complete: false, completeness: 'gap' },
      {
        time: '2026-01-02T03:02:00.000Z',
        open: 100,
        high: 103,
        low: 100,
        close: 101,
        volume: 8,
        buy_volume: 3,
        sell_volume: 5,
        trades: 3,
        complete: true,
        completeness: 'backfilled',
      },
      { time: '2026-01-02T03:04:00.000Z', close: 99, complete: false },
    ])
  })

  it('makes a candle of more rows than a call takes arguments', async () => {
    api.database.flows = Array.from({ length: 130_000 }, (_, at) => flow({ bucket: OPEN, price: 99 + at, part: -at }))
    expect(await candles('limit=1')).toMatchObject([{ low: 99, high: 130_098 }])
  })

  it('finds the newest candles however far back they lie, in one question beside what is in memory', async () => {
    expect(await candles('limit=2')).toHaveLength(2)
    expect(api.database.count('candles')).toBe(1)
    expect(await candles('limit=1')).toHaveLength(1)
    expect(api.database.count('candles')).toBe(1)
  })

  it('takes binance for itself, one venue or all', async () => {
    expect((await api.get('/ohlcv/BTC')).body['exchange']).toBe('binance')
    expect(await candles('exchange=coinbase')).toMatchObject([{ close: 105, completeness: 'gap' }])
    expect(await candles('exchange=all')).toHaveLength(4)
    expect(await candles('exchange=okx')).toEqual([])
  })

  it('pages on from the start', async () => {
    const first = await candles('start=2026-01-02T02:35:00Z&limit=1')
    expect(first).toMatchObject([{ time: '2026-01-02T03:02:00.000Z' }])
    expect(await candles('start=2026-01-02T03:02:00Z&end=2026-01-02T03:04:00Z')).toHaveLength(1)
  })

  it.each([1, 2, 3])('says where the next page of %i begins, from either end', async (limit) => {
    const all = await candles('')
    for (const [side, from] of [
      ['start', '2026-01-02'],
      ['end', '2026-01-03'],
    ] as const) {
      const pages: unknown[][] = []
      for (let next: unknown = from; typeof next === 'string';) {
        const { body } = await api.get(`/ohlcv/BTC?interval=1m&${side}=${next}&limit=${limit}`)
        pages.push(body['candles'] as unknown[])
        next = body['next']
      }
      expect((side === 'start' ? pages : pages.toReversed()).flat()).toEqual(all)
    }
  })

  it('covers what the candles tell of', async () => {
    const covered = async (query: string): Promise<unknown> =>
      (await api.get(`/ohlcv/BTC?interval=1m&${query}`)).body['coverage']
    expect(await covered('limit=2')).toMatchObject({
      from: '2026-01-02T03:02:00.000Z',
      to: '2026-01-02T03:04:05.000Z',
      complete: true,
    })
    expect(await covered('limit=200')).toMatchObject({ from: '2026-01-02T02:34:01.000Z', complete: false })
    expect(await covered('start=2026-01-02T02:40:00Z&limit=1')).toMatchObject({
      from: '2026-01-02T02:40:00.000Z',
      to: '2026-01-02T03:03:00.000Z',
      complete: true,
    })
  })

  it('takes no candle for complete in a part of which nobody was subscribed', async () => {
    const from = OPEN - 2 * MINUTE + 20 * SECOND
    api.database.unsubscribed = [{ asset: 'btc', venue: 'binance', from, next: from + 30 * SECOND }]
    const newest = await candles('limit=2')
    expect(newest).toMatchObject([{ complete: false, completeness: 'gap' }, { completeness: 'complete' }])
    expect(await candles('exchange=coinbase')).toMatchObject([{ complete: false, completeness: 'gap' }])
  })

  it('does not mind the gaps of other venues', async () => {
    api.database.gaps = [{ asset: 'btc', venue: 'okx', state: 'unfillable', from: OPEN, to: OPEN + 1, missing: null }]
    expect((await api.get('/ohlcv/BTC?interval=1m&limit=1')).body['coverage']).toMatchObject({ complete: true })
    expect((await api.get('/ohlcv/BTC?interval=1m&limit=1&exchange=all')).body['coverage']).toMatchObject({
      complete: false,
      gaps: [{ exchange: 'okx' }],
    })
  })
})

describe('/ohlcv/:symbol before the first trades', () => {
  const HOUR = 60 * MINUTE
  /** The hour of the first trade, which came at 20 minutes of it. */
  const BEGUN = floorTo(NOW, HOUR) - 2 * HOUR
  const candle = (hours: number, over: Partial<FakeCandle> = {}): FakeCandle => ({
    asset: 'btc',
    venue: 'binance',
    start: BEGUN + hours * HOUR,
    seconds: 3600,
    open: 50 + hours,
    close: 51 + hours,
    volume: 10,
    takerBuy: 7,
    ...over,
  })
  const hours = async (query = ''): Promise<Record<string, unknown>> =>
    (await api.get(`/ohlcv/BTC?interval=1h${query}`)).body
  beforeEach(() => {
    api.database.flows = [
      flow({ bucket: BEGUN + 20 * MINUTE, price: 90, buy: 1, sell: 2 }),
      flow({ bucket: BEGUN + HOUR, price: 95, buy: 4, sell: 2 }),
    ]
  })

  it('has the venue’s candles up to the first whole hour of trades, each row of one source', async () => {
    api.database.pasts = [-2, -1, 0, 1].map((at) => candle(at))
    const { candles: rows, coverage } = await hours()
    expect(rows).toMatchObject([
      { open: 48, close: 49, volume: 10, buy_volume: 7, sell_volume: 3, source: 'venue_candles', complete: true },
      { open: 49, source: 'venue_candles' },
      { open: 50, source: 'venue_candles', volume: 10, complete: true, completeness: 'complete' },
      { open: 95, source: 'trades', volume: 6, buy_volume: 4 },
    ])
    expect(coverage).toMatchObject({ from: '2026-01-01T23:00:00.000Z' })
    const days = (await api.get('/ohlcv/BTC?interval=1d')).body['candles']
    expect(days).toMatchObject([
      { source: 'venue_candles', volume: 10 },
      { source: 'mixed', volume: 26, open: 49 },
    ])
  })

  it('has the trades of the first hour as long as its candle is not there', async () => {
    api.database.pasts = [candle(-1)]
    const { candles: rows } = await hours()
    expect(rows).toMatchObject([
      { source: 'venue_candles' },
      { open: 90, source: 'trades', volume: 3, trades: 1, complete: false, completeness: 'gap' },
      { open: 95, source: 'trades', complete: true },
    ])
    const { coverage } = await hours('&start=2026-01-02T01:00:00Z&end=2026-01-02T02:00:00Z')
    expect(coverage).toMatchObject({ complete: false, share: (HOUR - 20 * MINUTE - SECOND) / HOUR })
  })

  it('has the candles of a venue that never traded here as they are', async () => {
    api.database.pasts = [candle(-2, { venue: 'okx' }), candle(-1, { venue: 'okx' })]
    const { candles: rows } = await hours('&exchange=okx')
    expect(rows).toMatchObject([{ complete: true }, { complete: true, completeness: 'complete' }])
  })

  it('keeps the trades of a first hour that lies before all candles', async () => {
    api.database.pasts = [candle(1)]
    const { candles: rows } = await hours()
    expect(rows).toMatchObject([
      { open: 90, source: 'trades', volume: 3 },
      { open: 95, source: 'trades' },
    ])
  })

  it('counts hours that were not read back as missing, a minute without a candle not', async () => {
    const share = async (query: string): Promise<unknown> => {
      api.advance(60_000)
      return (await api.get(`/ohlcv/BTC?${query}`)).body['coverage']
    }
    const day = 'interval=1h&start=2026-01-01T00:00:00Z&end=2026-01-02T00:00:00Z'
    api.database.pasts = Array.from({ length: 30 }, (_, back) => candle(-back))
    expect(await share(day)).toMatchObject({ share: 1, complete: true })
    // Of the day 6 hours are there: the candles of its last 18 were left out.
    api.database.pasts = api.database.pasts.filter(({ start }) => start < BEGUN - 19 * HOUR || start >= BEGUN - HOUR)
    expect(await share(day)).toMatchObject({ share: 0.25, complete: false })
    const { candles: days } = (await api.get('/ohlcv/BTC?interval=1d&end=2026-01-02')).body
    expect(days).toMatchObject([
      { complete: false, completeness: 'gap' },
      { complete: false, completeness: 'gap' },
    ])
    // Nothing but an old day: no time up to the first trade is told.
    api.database.pasts = Array.from({ length: 24 }, (_, back) => candle(-back - 240))
    expect(await share(day)).toMatchObject({ share: 0, complete: false })
    const minute = (minutes: number): FakeCandle => candle(0, { seconds: 60, start: BEGUN + minutes * MINUTE })
    api.database.pasts = [-180, -160, -119, -3].map(minute)
    const hour = (from: string, to: string): string => `interval=1m&start=2026-01-01T${from}&end=2026-01-${to}`
    expect(await share(hour('22:00:00Z', '01T23:00:00Z'))).toMatchObject({ share: 1, complete: true })
    api.database.pasts = [-180, -3].map(minute)
    expect(await share(hour('22:00:00Z', '02T01:00:00Z'))).toMatchObject({ complete: false })
  })

  it('looks for gaps from before memory only where the asset already traded then', async () => {
    api.database.pasts = [candle(-24 * 20), candle(-1)]
    const all = '&start=2025-12-01&end=2026-01-03'
    expect((await hours(all))['candles']).toHaveLength(4)
    expect(api.database.count('gaps')).toBe(0)
    api.advance(60_000)
    api.database.flows = [flow({ bucket: BEGUN - 24 * 19 * HOUR, price: 80 }), ...api.database.flows]
    await hours(all)
    expect(api.database.count('gaps')).toBeGreaterThan(0)
  })

  it('does not say what a venue’s candle does not', async () => {
    api.database.pasts = [candle(-1, { venue: 'bybit', takerBuy: null }), candle(-1)]
    expect((await hours('&exchange=bybit'))['candles']).toMatchObject([
      { volume: 10, buy_volume: null, sell_volume: null, trades: null, source: 'venue_candles' },
    ])
    expect((await hours('&exchange=all&limit=3'))['candles']).toMatchObject([
      { volume: 20, buy_volume: null, source: 'venue_candles' },
      { source: 'trades' },
      { source: 'trades' },
    ])
  })

  it('takes minutes for intervals below an hour, and pages through them', async () => {
    const minute = { seconds: 60, start: BEGUN + 18 * MINUTE }
    api.database.pasts = [candle(0, minute), candle(0, { ...minute, start: minute.start + MINUTE }), candle(-1)]
    const { candles: rows, next } = (await api.get('/ohlcv/BTC?interval=1m&limit=2&start=2026-01-01')).body
    expect(rows).toMatchObject([{ source: 'venue_candles' }, { source: 'venue_candles' }])
    expect(next).toBe('2026-01-02T01:20:00.000Z')
    const rest = (await api.get(`/ohlcv/BTC?interval=1m&limit=2&start=${String(next)}`)).body
    expect(rest['candles']).toMatchObject([
      { source: 'trades', open: 90 },
      { source: 'trades', open: 95 },
    ])
  })
})
