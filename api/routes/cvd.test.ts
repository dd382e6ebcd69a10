import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { periods, windowOf, type PeriodName } from '../../processors/cvd/periods.ts'
import { partitionOf } from '../../schemas/catalogue.ts'
import { usualTradeVenues } from '../../schemas/venues.ts'
import type { FakeCandle } from '../testing/fake-database.ts'
import type { Harness } from '../testing/harness.ts'
import { flow, listAsset, lostTrades, mark, NOW, startHarness, streamAsset } from '../testing/harness.ts'

const SECOND = 1_000_000
const MINUTE = 60 * SECOND

interface Figures {
  cvd: number
  period_cvd: number
  buy_volume: number
  sell_volume: number
  status: string
}

let api: Harness
beforeEach(async () => {
  api = await startHarness()
})
afterEach(() => api.stop())

async function cvd(path = '/cvd/BTC'): Promise<Record<string, unknown> & { exchanges: Record<string, Figures> }> {
  const { status, body } = await api.get(path)
  expect(status).toBe(200)
  return { ...body, exchanges: body['exchanges'] as Record<string, Figures> }
}

describe('/cvd/:symbol', () => {
  it('sums the period over venues and gives each its own', async () => {
    api.database.flows = [
      flow({ buy: 30, sell: 10 }),
      flow({ venue: 'okx', buy: 1, sell: 2, price: 50 }),
      flow({ venue: 'coinbase', buy: 4, sell: 4 }),
      flow({ bucket: NOW - 5 - 3_600_000_000 * 2, buy: 100, sell: 0 }),
    ]
    expect(await cvd()).toMatchObject({
      symbol: 'BTC',
      cvd: 119,
      period_cvd: 19,
      buy_volume: 35,
      sell_volume: 16,
      period_cvd_usd: 30 * 100 - 10 * 100 + 50 - 100,
      signal: 'strong_bullish_pressure',
      period: '1h',
      active_ws_connections: 5,
      exchanges: {
        binance: { cvd: 120, buy_volume: 30, sell_volume: 10, status: 'live' },
        bybit: { cvd: 0, buy_volume: 0, sell_volume: 0, status: 'live' },
        okx: { cvd: -1, buy_volume: 1, sell_volume: 2 },
        coinbase: { cvd: 0, buy_volume: 4, sell_volume: 4 },
      },
      markets: { perp: { cvd: 119, buy_volume: 31 }, spot: { cvd: 0, buy_volume: 4 } },
    })
  })

  it('counts a further venue where it is switched on, and only there', async () => {
    const counted = [...usualTradeVenues, { venue: 'kraken', market: 'spot', ids: 'contiguous' } as const]
    const further = await startHarness({ counted })
    const flows = [flow({ buy: 30, sell: 10 }), flow({ venue: 'kraken', buy: 1, sell: 3 })]
    api.database.flows = flows
    further.database.flows = flows
    const usual = await cvd()
    const { body } = await further.get('/cvd/BTC')
    await further.stop()
    expect([usual['cvd'], Object.keys(usual.exchanges)]).toEqual([20, ['binance', 'bybit', 'okx', 'coinbase']])
    expect(body).toMatchObject({
      cvd: 18,
      exchanges: { kraken: { cvd: -2, buy_volume: 1, sell_volume: 3, status: 'live' } },
      markets: { perp: { cvd: 20 }, spot: { cvd: -2 } },
    })
  })

  it('is asked for, and warms up, where a further venue alone lists the asset', async () => {
    const counted = [...usualTradeVenues, { venue: 'gate', market: 'perp', ids: 'none' } as const]
    const further = await startHarness({ counted })
    const listing = { asset: 'solo', venue: 'gate', market: 'perp', base: 'SOLO', live: true }
    for (const { database } of [api, further]) database.instruments.push(listing)
    const [unknown, known] = [await api.get('/cvd/SOLO'), await further.get('/cvd/SOLO')]
    await further.stop()
    expect([unknown.status, known.status, known.body['status'], further.wanted]).toEqual([
      404,
      202,
      'warming_up',
      ['solo'],
    ])
  })

  it.each(Object.keys(periods) as PeriodName[])('counts exactly the buckets of %s', async (period) => {
    const { from } = windowOf(periods[period], NOW)
    const open = NOW - (NOW % (10 * SECOND))
    api.database.flows = [
      flow({ bucket: from - 10 * SECOND, buy: 1000, sell: 0 }),
      flow({ bucket: from, buy: 1, sell: 0 }),
      flow({ bucket: open, buy: 10, sell: 0 }),
      flow({ bucket: open + 10 * SECOND, buy: 100, sell: 0 }),
    ]
    expect(await cvd(`/cvd/BTC?period=${period}`)).toMatchObject({ buy_volume: 11, cvd: 1011 })
  })

  it('gives venue figures that add up to the totals, to the last digit', async () => {
    const size = fc.double({ min: 1e-8, max: 1e6, noNaN: true })
    const venue = fc.constantFrom('binance', 'bybit', 'okx', 'coinbase')
    const row = fc.record({ venue, buy: size, sell: size, age: fc.nat(400) })
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 30 }), async (rows) => {
        api.advance(6_000) // past the cache
        api.database.flows = rows.map(({ age, ...given }) =>
          flow({ ...given, bucket: NOW - (NOW % 10_000_000) - age * 10_000_000 }),
        )
        api.database.flows.push(flow({ bucket: NOW - 7_200_000_000, buy: 0, sell: 0 }))
        const { exchanges, ...total } = await cvd()
        for (const name of ['cvd', 'period_cvd', 'buy_volume', 'sell_volume'] as const)
          expect(Object.values(exchanges).reduce((sum, figures) => sum + figures[name], 0)).toBe(total[name])
      }),
      { numRuns: 40 },
    )
  })

  it('says insufficient_data with zeros where nothing traded', async () => {
    expect(await cvd()).toMatchObject({ signal: 'insufficient_data', buy_volume: 0, sell_volume: 0, period_cvd: 0 })
  })

  it('says since when it counts and that the log does not reach back', async () => {
    api.database.flows = [flow({ bucket: NOW - 605 * SECOND })]
    const body = await cvd('/cvd/BTC?period=7d')
    expect(body).toMatchObject({
      since: '2026-01-02T02:54:01.000Z',
      coverage: { from: '2026-01-02T02:54:01.000Z', to: '2026-01-02T03:04:05.000Z', complete: false, gaps: [] },
    })
  })

  describe('coverage', () => {
    const buysFrom = (...minutes: number[]): void => {
      const { database } = api
      database.flows = minutes.map((ago) =>
        flow({ bucket: NOW - (NOW % (10 * SECOND)) - ago * MINUTE, buy: 9, sell: 0 }),
      )
    }
    const covered = async (period: string): Promise<unknown[]> => {
      const body = await cvd(`/cvd/BTC?period=${period}`)
      return [body['signal'], Number((body['coverage'] as { share: number }).share.toFixed(3))]
    }

    it('of seven minutes says how little it is, and there is no signal', async () => {
      buysFrom(7, 0)
      const shares = { '1h': 0.118, '4h': 0.03, '24h': 0.005, '7d': 0.001 }
      for (const [period, share] of Object.entries(shares))
        expect(await covered(period)).toEqual(['insufficient_data', share])
    })

    it.each([
      [14, 'insufficient_data', 0.235],
      [15, 'strong_bullish_pressure', 0.251],
    ])('of %i minutes of an hour: %s', async (minutes, signal, share) => {
      buysFrom(minutes, 0)
      expect(await covered('1h')).toEqual([signal, share])
    })

    it('is the mean over the instruments, less what is missing', async () => {
      buysFrom(90, 0)
      const { database } = api
      database.flows.push(flow({ venue: 'okx', bucket: NOW - 30 * MINUTE }))
      const gap = { asset: 'btc', missing: null, from: NOW - 24 * MINUTE, to: NOW - 12 * MINUTE }
      database.gaps = [
        { ...gap, venue: 'binance', state: 'unfillable' },
        { ...gap, venue: 'okx', state: 'filled' },
      ]
      // Of an hour Binance has 48 minutes, OKX 30.
      expect(await covered('1h')).toEqual(['strong_bullish_pressure', 0.65])
    })

    it('lacks the time in which nobody was subscribed', async () => {
      buysFrom(600, 9, 0)
      const ended = { asset: 'btc', venue: 'binance', from: NOW - 300 * MINUTE }
      api.database.unsubscribed = [{ ...ended, next: NOW - 9 * MINUTE }]
      expect(await covered('1h')).toEqual(['insufficient_data', 0.15])
      api.advance(6_000) // past the cache
      api.database.unsubscribed = [{ ...ended, next: 0 }]
      expect(await covered('1h')).toEqual(['insufficient_data', 0])
    })
  })

  describe('before our first trades', () => {
    const HOUR = 60 * MINUTE
    const BEGUN = NOW - (NOW % HOUR) - 2 * HOUR
    const candle = (hours: number, takerBuy: number | null, isArchive?: true): FakeCandle => {
      const prices = { open: 100, close: 100, volume: 10 }
      const about = { asset: 'btc', venue: 'binance', start: BEGUN + hours * HOUR, seconds: 3600 }
      return { ...about, ...prices, takerBuy, ...(isArchive && { isArchive }) }
    }
    beforeEach(() => {
      api.database.flows = [
        flow({ bucket: BEGUN + 20 * MINUTE, buy: 3, sell: 1 }),
        flow({ bucket: BEGUN + HOUR, buy: 5, sell: 1 }),
        flow({ bucket: BEGUN + HOUR, venue: 'okx', buy: 1, sell: 0 }),
      ]
    })

    it('has the venue’s past in front, each hour of one source, and says how much of which', async () => {
      const hours = Array.from({ length: 30 }, (_, index) => candle(-index - 1, 6))
      api.database.pasts = [...hours, candle(0, 8), candle(-1, 7, true), candle(1, 9)]
      expect(await cvd('/cvd/BTC?period=24h')).toMatchObject({
        cvd: 7, // of trades alone
        period_cvd: 5 + 6 + 4 + 20 * 2,
        buy_volume: 6 + 8 + 7 + 20 * 6,
        source: 'mixed',
        sources: {
          trades: { period_cvd: 5, buy_volume: 6, sell_volume: 1 },
          archive: { period_cvd: 4, buy_volume: 7, buy_volume_usd: 700 },
          venue_candles: { period_cvd: 46, buy_volume: 128, sell_volume: 82 },
        },
        exchanges: {
          binance: { cvd: 6, period_cvd: 54, source: 'mixed' },
          okx: { period_cvd: 1, source: 'trades' },
          bybit: { period_cvd: 0, source: null },
        },
        since: '2026-01-02T01:20:01.000Z',
        coverage: { from: '2026-01-01T04:00:00.000Z', complete: false },
      })
    })

    it('counts an hour that nobody tells as missing, and its trades where no candle stands for them', async () => {
      api.database.flows = api.database.flows.filter(({ venue }) => venue === 'binance')
      api.database.pasts = [-26, -24, -22, -21, -1].map((hours) => candle(hours, 6))
      const { sources, coverage, ...body } = await cvd('/cvd/BTC?period=24h')
      // Two hours of candles lie wholly within it, and the trades of 1 h 44 min.
      expect(body).toMatchObject({ period_cvd: 2 + 4 + 2 * 2 })
      const told = [sources, { coverage }] as [Record<string, { share: number }>, { coverage: { share: number } }]
      const shares = ['trades', 'archive', 'venue_candles'].map((name) => told[0][name]?.share ?? NaN)
      expect(shares[2]).toBeCloseTo(2 / 24, 3)
      expect(shares[0]).toBeCloseTo((104 + 4 / 60) / (24 * 60), 3)
      expect(shares.reduce((sum, share) => sum + share)).toBeCloseTo(told[1].coverage.share, 12)
    })

    it('says of a gap that the venue’s past tells its hours, and counts the trades of these', async () => {
      const gap = { asset: 'btc', venue: 'binance', state: 'unfillable', missing: null }
      const from = BEGUN + HOUR + MINUTE
      api.database.gaps = [{ ...gap, from, to: from + MINUTE }]
      api.database.pasts = [candle(0, 5, true), candle(1, 6)]
      const told = async (): Promise<unknown> => {
        api.advance(6_000) // past the cache
        const { buy_volume, coverage } = await cvd('/cvd/BTC?period=24h')
        return [buy_volume, (coverage as { gaps: { past: unknown }[] }).gaps.map(({ past }) => past)]
      }
      expect(await told()).toEqual([5 + 5 + 1, ['venue_candles']])
      api.database.gaps = [{ ...gap, from: from - HOUR, to: from + MINUTE }]
      expect(await told()).toEqual([5 + 5 + 1, ['mixed']])
      api.database.gaps = [{ ...gap, from: from - 2 * HOUR, to: from + MINUTE }]
      expect(await told()).toEqual([5 + 5 + 1, [null]])
    })

    it('says a signal of the figures as soon as our own trades hold a quarter, and not before', async () => {
      api.database.pasts = Array.from({ length: 30 }, (_, index) => candle(-index - 1, 10))
      expect(await cvd('/cvd/BTC?period=24h')).toMatchObject({ signal: 'insufficient_data', period_cvd: 21 * 10 + 7 })
      api.advance(6_000) // past the cache
      api.database.flows.push(flow({ bucket: NOW - 7 * HOUR, buy: 1, sell: 1 }))
      api.database.flows.push(flow({ bucket: NOW - 7 * HOUR, venue: 'okx', buy: 1, sell: 1 }))
      expect(await cvd('/cvd/BTC?period=24h')).toMatchObject({ signal: 'strong_bullish_pressure' })
    })

    it('is told of a venue that we have not heard yet', async () => {
      api.database.flows = []
      api.database.pasts = [candle(-2, 6), candle(-1, 6)]
      expect(await cvd('/cvd/BTC?period=24h')).toMatchObject({
        cvd: 0,
        period_cvd: 4,
        since: null,
        signal: 'insufficient_data',
        exchanges: { binance: { source: 'venue_candles' }, okx: { source: null } },
      })
    })
  })

  it('is complete where the log reaches back and has no hole', async () => {
    expect(await cvd()).toMatchObject({ coverage: { from: '2026-01-02T02:04:10.000Z', complete: true, gaps: [] } })
  })

  it.each([
    ['opened', 'gap', false],
    ['unfillable', 'gap', false],
    ['filled', 'live', true],
  ])('with a gap that is %s the venue is %s', async (state, status, complete) => {
    const gap = { asset: 'btc', venue: 'okx', from: NOW - 100 * SECOND, to: NOW - 90 * SECOND, missing: 7 }
    api.database.gaps = [{ ...gap, state }]
    const body = await cvd()
    expect(body.exchanges['okx']?.status).toBe(status)
    expect(body).toMatchObject({ coverage: { complete } })
    const shown = {
      exchange: 'okx',
      state,
      from: '2026-01-02T03:02:25.000Z',
      to: '2026-01-02T03:02:35.000Z',
      missing: 7,
      past: null,
    }
    expect(body['coverage']).toMatchObject({ gaps: complete ? [] : [shown] })
  })

  it.each(['retention', 'cut', 'replaced'])('is not complete where the log lost trades: %s', async (reason) => {
    api.database.logGaps = [lostTrades({ reason, from: NOW - 24 * MINUTE, to: NOW - 12 * MINUTE })]
    const body = await cvd()
    const shown = { exchange: 'all', state: 'lost', missing: null, to: '2026-01-02T02:52:05.000Z' }
    expect(body).toMatchObject({
      coverage: { complete: false, share: expect.closeTo(0.8, 3) as number, gaps: [shown] },
    })
    expect(Object.values(body.exchanges).map(({ status }) => status)).toEqual(['gap', 'gap', 'gap', 'gap'])
  })

  it.each([
    ['of another partition', { partition: partitionOf('eth', 12) }],
    ['of another topic', { topic: 'market.tickers' }],
    ['of another reader', { reader: 'audit' }],
    ['of what was written', { topic: 'derived.flow', reason: 'output_cut' }],
    ['before the period', { from: NOW - 90 * MINUTE, to: NOW - 80 * MINUTE }],
  ])('does not mind a gap of the log %s', async (_, given) => {
    api.database.logGaps = [lostTrades({ from: NOW - 24 * MINUTE, to: NOW - 12 * MINUTE, ...given })]
    expect(await cvd()).toMatchObject({ coverage: { complete: true, gaps: [] } })
  })

  it('does not mind a gap that ended before the period', async () => {
    const from = windowOf(periods['1h'], NOW).from
    api.database.gaps = [{ asset: 'btc', venue: 'okx', state: 'unfillable', from: 0, to: from - 1, missing: null }]
    expect((await cvd()).exchanges['okx']?.status).toBe('live')
  })

  it('calls a venue unlisted that has no such market', async () => {
    api.database.instruments = api.database.instruments.filter((row) => row.venue !== 'coinbase')
    api.database.subscriptions = api.database.subscriptions.filter((row) => row.venue !== 'coinbase')
    const body = await cvd()
    expect(body.exchanges['coinbase']).toMatchObject({ status: 'unlisted', cvd: 0, buy_volume: 0 })
    expect(body).toMatchObject({ coverage: { complete: true } })
  })

  it.each(['unavailable', 'off'])('calls a venue unavailable that is %s', async (state) => {
    api.database.reports = api.database.reports.map((row) => (row.venue === 'bybit' ? { ...row, state } : row))
    const body = await cvd()
    expect(body.exchanges['bybit']?.status).toBe('unavailable')
    expect(body).toMatchObject({ coverage: { complete: false } })
  })

  it.each([
    [30_000_000, 'live'],
    [30_000_001, 'stale'],
  ])('a venue that is down with a last trade %i µs ago is %s', async (age, status) => {
    api.database.reports = api.database.reports.map((row) => (row.venue === 'okx' ? { ...row, state: 'down' } : row))
    api.database.flows.push(flow({ venue: 'okx', close_time: NOW - age }))
    expect((await cvd()).exchanges['okx']?.status).toBe(status)
  })

  it('counts the sockets of feed processes that are alive, and only theirs', async () => {
    const report = { writer: 'feeds-b', venue: 'okx', state: 'live', sockets: 7, since: NOW }
    api.database.reports.push({ ...report, time: NOW - 10_000_000 })
    api.database.reports.push({ ...report, writer: 'feeds-c', sockets: 100, time: NOW - 10_000_001 })
    expect(await cvd()).toMatchObject({ active_ws_connections: 12 })
  })

  it.each([
    [30_000, false],
    [30_001, true],
  ])('with feeds silent for %i ms stale is %s', async (ms, stale) => {
    api.hang(ms)
    expect(await cvd()).toMatchObject({ stale, age_ms: ms, as_of: '2026-01-02T03:04:05.000Z' })
  })

  it('is stale when the processors stand still though the feeds go on', async () => {
    api.advance(40_000)
    const { database } = api
    database.times = database.times.map((row) => (row.topic === 'derived.flow' ? { ...row, time: NOW } : row))
    expect(await cvd()).toMatchObject({ stale: true, age_ms: 40_000 })
  })

  it('tells time by the tape on a tape', async () => {
    await api.stop()
    api = await startHarness({ mode: 'tape' })
    api.hang(365 * 86_400_000)
    expect(await cvd()).toMatchObject({ stale: false, age_ms: 0, active_ws_connections: 5 })
  })

  it('is of the moment of its question, and asks no database', async () => {
    await cvd()
    api.database.flows.push(flow({ buy: 7 }))
    api.hang(4_999)
    expect(await cvd()).toMatchObject({ cached: false, buy_volume: 7, age_ms: 4_999 })
    expect(api.database.asked).toEqual([])
  })

  it.each(['btc', 'BTC', 'Btc', 'BTCUSDT', 'btcusdt', 'XBT'])('takes %s for BTC', async (symbol) => {
    expect(await cvd(`/cvd/${symbol}`)).toMatchObject({ symbol: 'BTC' })
  })

  it('shows an asset that we do not know by name in upper case', async () => {
    listAsset(api.database, 'wif')
    streamAsset(api.database, 'wif', NOW - 60 * SECOND)
    api.database.flows.push(flow({ asset: 'wif', bucket: NOW - 60 * SECOND }))
    mark(api.database, NOW)
    expect(await cvd('/cvd/wifusdt')).toMatchObject({ symbol: 'WIF' })
  })

  it('has no data to give where nothing was ever marked', async () => {
    api.database.times = []
    const { status, body, headers } = await api.get('/cvd/BTC')
    expect([status, body['error'], headers.get('retry-after')]).toEqual([503, 'data_unavailable', '10'])
  })
})
