import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { COUNTED, put, STRETCH } from '../../processors/present/state.ts'
import { fakePresent } from '../testing/fake-present.ts'
import { fillAsset } from '../testing/market-facts.ts'
import { listAsset, NOW, startHarness, type Harness } from '../testing/harness.ts'
import { percentOf } from '../views/funding.ts'
import type { ChannelRow } from '../views/world.ts'

const HOUR = 3_600_000_000

let api: Harness
beforeEach(async () => {
  api = await startHarness()
})
afterEach(() => api.stop())

describe('percent', () => {
  it.each([
    [0.0003, 0.03],
    [0.00007, 0.007],
    [-0.0001, -0.01],
    [1e-7, 0.00001],
    [-2.5e-10, -2.5e-8],
    [0, 0],
    [0.07, 7],
  ])('of %f is %f', (fraction, percent) => {
    expect(percentOf(fraction)).toBe(percent)
  })

  it('is the decimal text with its point moved', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1_000_000, max: 1_000_000 }), (n) => {
        expect(percentOf(Number(`${n}e-8`))).toBe(Number(`${n}e-6`) + 0)
      }),
    )
  })
})

describe('best arbitrage', () => {
  it('compares by the year, since intervals differ, and spreads the raw rates', async () => {
    const [btc] = api.database.market.funding
    const given = { binance: [0.0004, 8], bybit: [0.0001, 1], okx: [0.0003, 8] } as const
    api.database.market.funding = [
      {
        asset: 'btc',
        time: NOW,
        v: 1,
        exchanges: (btc?.exchanges ?? []).map((view) => {
          const [rate, interval_hours] = given[view.exchange as keyof typeof given]
          return { ...view, rate, interval_hours }
        }),
      },
    ]
    const { best_arb: best, exchanges } = await api.body('/futures/funding-compare/BTC')
    // By the year: 43.8 %, 87.6 %, 32.85 %.
    expect(best).toMatchObject({ long_exchange: 'okx', short_exchange: 'bybit', direction: 'long_okx_short_bybit' })
    expect(best).toMatchObject({ rate_spread: -0.0002 })
    expect((best as { annualized_spread_pct: number }).annualized_spread_pct).toBeCloseTo(54.75, 9)
    expect((exchanges as { okx: { annualized_pct: number } }).okx.annualized_pct).toBeCloseTo(32.85, 9)
  })
})

describe('/futures/predicted-funding', () => {
  it('counts down to the settlement, and never below zero', async () => {
    const first = await api.body('/futures/predicted-funding/BTC')
    const until = Date.parse(String(first['next_funding_time'])) - NOW / 1000
    expect(first['time_to_funding_ms']).toBe(until)
    api.hang(1_500)
    expect((await api.body('/futures/predicted-funding/BTC'))['time_to_funding_ms']).toBe(until - 1_500)
    api.hang(until)
    expect((await api.body('/futures/predicted-funding/BTC'))['time_to_funding_ms']).toBe(0)
  })

  it('has the last ten settlements, newest first', async () => {
    const { funding_history } = await api.body('/futures/predicted-funding/BTC')
    expect((funding_history as { rate: number }[]).map(({ rate }) => Number((rate * 1e4).toFixed(2)))).toEqual([
      -3, -2, -1, 0, 1, 2, 3, 4, 5, 6,
    ])
  })

  it('says so where no premium is known yet, and gives the venue’s own rate', async () => {
    const { market } = api.database
    market.funding = market.funding.map((row) => ({
      ...row,
      exchanges: row.exchanges.map((view) => ({
        ...view,
        predicted: null,
        premium: null,
        average_premium: null,
        mark: 110,
      })),
    }))
    const answer = await api.body('/futures/predicted-funding/BTC')
    expect(answer).toMatchObject({ predicted_funding_rate: 0.0001, predicted_by: 'venue', average_premium_index: null })
    expect(answer['premium_index']).toBeCloseTo(0.1, 12)
  })
})

describe('/funding-rate/history', () => {
  interface Settled {
    time: string
    funding_rate: number
    annualized_pct: number
    interval_hours: number
  }

  async function history(query: string): Promise<Settled[]> {
    return (await api.body(`/funding-rate/history/BTC?${query}`))['history'] as Settled[]
  }

  it('takes the year of each rate’s own interval, the present one where that is not known', async () => {
    const { market } = api.database
    const at = NOW - (NOW % HOUR)
    // Hours before the newest: 8 h apart, then 4 h, then 6 h, then a hole of 12 h, then the first.
    market.settlements = [0, 8, 12, 18, 30].map((age) => ({
      instrument: 'binance:perp:BTCUSDT',
      asset: 'btc',
      settled_rate: 0.0001,
      mark: null,
      time: at - age * HOUR,
      received: NOW,
    }))
    const rows = await history('')
    expect(rows.map(({ interval_hours }) => interval_hours)).toEqual([8, 4, 6, 8, 8])
    expect(rows[1]?.annualized_pct).toBeCloseTo(0.01 * 6 * 365, 9)
  })

  it('tells those of a venue of which nothing but the past is read, stale nine hours after the newest', async () => {
    const { market } = api.database
    const at = NOW - (NOW % HOUR)
    for (const [venue, age] of [
      ['hyperliquid', 1],
      ['bitget', 16],
    ] as const)
      for (const hours of [age, age + 1])
        market.settlements.push({
          instrument: `${venue}:perp:BTCUSDT`,
          asset: 'btc',
          settled_rate: 0.00001,
          mark: null,
          time: at - hours * HOUR,
          received: NOW,
        })
    const told = await api.body('/funding-rate/history/BTC?exchange=hyperliquid')
    expect(told).toMatchObject({ exchange: 'hyperliquid', stale: false, history: [{ interval_hours: 1 }, {}] })
    expect(await api.body('/funding-rate/history/BTC?exchange=bitget')).toMatchObject({ stale: true })
    expect((await api.get('/funding-rate/history/BTC?exchange=gate')).status).toBe(503)
  })

  it('pages from a start, newest first', async () => {
    const settled = (await history('')).toReversed()
    expect(settled).toHaveLength(12)
    const [first, second, third] = settled
    const page = await history(`start=${first?.time}&limit=2`)
    expect(page.map(({ time }) => time)).toEqual([second?.time, first?.time])
    const rest = await history(`start=${third?.time}&end=${settled[4]?.time}`)
    expect(rest.map(({ time }) => time)).toEqual([settled[3]?.time, third?.time])
    expect(await history(`end=${first?.time}`)).toEqual([])
    for (const limit of [1, 5, 12]) {
      const forwards: Settled[][] = []
      for (let next: unknown = '2025-01-01'; typeof next === 'string';) {
        const page = await api.body(`/funding-rate/history/BTC?start=${next}&limit=${limit}`)
        forwards.unshift(page['history'] as Settled[])
        next = page['next']
      }
      expect([forwards.length, forwards.flat()]).toEqual([Math.ceil(12 / limit), settled.toReversed()])
      const backwards: Settled[][] = []
      for (let next: unknown = '2027-01-01'; typeof next === 'string';) {
        const page = await api.body(`/funding-rate/history/BTC?end=${next}&limit=${limit}`)
        backwards.push(page['history'] as Settled[])
        next = page['next']
      }
      expect([backwards.length, backwards.flat()]).toEqual([Math.ceil(12 / limit), settled.toReversed()])
    }
  })
})

describe('a spot market that another of its venue has replaced', () => {
  const MINUTE = 60_000_000

  /** A busier market of Binance beside BTC's own, at another price; anything may be said otherwise. */
  function tell(given: Partial<(typeof api.database.market.tickers)[number]>): void {
    const [own] = api.database.market.tickers
    if (own === undefined) throw new Error('BTC has a market at Binance')
    const instrument = 'binance:spot:OLDBTCUSDT'
    api.database.market.tickers.push({ ...own, instrument, price: 150, quote_volume_24h: 5e7, ...given })
  }

  async function told(): Promise<unknown[]> {
    const { data } = await api.body('/api/v1/prices?symbols=btc')
    const token = await api.body('/api/v1/market/bitcoin')
    const { btc } = data as { btc: { price: number; source: string; volume_24h: number } }
    const { volume_24h } = token['data'] as { volume_24h: number }
    return [btc.source, btc.price, btc.volume_24h, volume_24h]
  }

  it('is not told once it is a minute behind one of the same quote', async () => {
    const alone = await told()
    expect(alone).toEqual(['binance', 100, 10_000, 45_050])
    const [own] = api.database.market.tickers
    const newest = own?.received ?? 0
    tell({ time: newest - MINUTE, received: newest - MINUTE })
    expect(await told()).toEqual(['binance', 150, 5e7, 45_050 + 5e7])
    api.database.market.tickers.pop()
    tell({ time: newest - MINUTE - 1, received: newest - MINUTE - 1 })
    expect(await told()).toEqual(alone)
  })

  it('is not told once its venue lists it no longer, whatever its quote', async () => {
    const alone = await told()
    tell({ quote: 'USDC' })
    expect((await told()).slice(0, 2)).toEqual(['binance', 150])
    const listing = { asset: 'btc', venue: 'binance', market: 'spot', base: 'OLDBTCUSDT' }
    api.database.instruments.push({ ...listing, live: false })
    expect(await told()).toEqual(alone)
  })
})

describe('/liquidation/recent', () => {
  interface Event {
    id: string
    timestamp: string
    exchange: string
  }

  it('counts the log in two windows, whatever is shown', async () => {
    fillAsset(api.database.market, 'eth', { now: NOW, price: 10 })
    listAsset(api.database, 'eth')
    const answer = await api.body('/liquidation/recent?limit=2')
    expect(answer).toMatchObject({
      count: 2,
      symbol_filter: null,
      stats: {
        last_1h: { total_events: 4, long_liquidations: 2, short_liquidations: 2, total_value_usd: 50 + 49.5 + 5 + 4.5 },
        last_24h: { total_events: 6, total_value_usd: 50 + 49.5 + 49 + 5 + 4.5 + 4 },
      },
    })
    const filtered = await api.body('/liquidation/recent?symbol=ETH')
    expect(filtered).toMatchObject({ count: 3, symbol_filter: 'ETHUSDT', stats: { last_1h: { total_events: 2 } } })
  })

  it('names each by its second and its place in the log', async () => {
    const { events } = await api.body('/liquidation/recent')
    const rows = events as Event[]
    const { market } = api.database
    expect(rows.map(({ id }) => id)).toEqual(
      market.liquidations
        .slice(0, 3)
        .map((row) => `liq_${Math.floor(row.time / 1e6)}_${row.offset * 12 + row.partition}`),
    )
    expect(new Set(rows.map(({ exchange }) => exchange))).toEqual(new Set(['BYBIT']))
    expect(
      rows
        .map(({ timestamp }) => timestamp)
        .toSorted()
        .toReversed(),
    ).toEqual(rows.map(({ timestamp }) => timestamp))
  })

  it('counts what left memory early by its sums, from where a stretch of it begins within the window', async () => {
    const present = fakePresent(api.database, 12).now
    const state = present?.of('btc')
    if (present === undefined || state === undefined) throw new Error('facts are there at once')
    const day = Math.floor((NOW - 24 * HOUR) / STRETCH)
    const btc = { asset: 'btc', longs: 3, shorts: 2, longUsd: 1_000, shortUsd: 0.25 }
    for (const [stretch, sums] of [
      [day - 1, [btc]],
      [day, [btc]],
      [day + 1, [btc, { ...btc, asset: 'eth' }]],
      [Math.floor((NOW - HOUR) / STRETCH) + 1, [btc]],
    ] as const)
      put(state, 'early', String(stretch), sums)
    await api.stop()
    api = await startHarness({ source: { now: present, asked: () => undefined } })
    const since = '2026-01-01T03:05:00.000Z'
    const ofHour = { total_events: 2 + 5, long_liquidations: 1 + 3, short_liquidations: 1 + 2 }
    expect(await api.body('/liquidation/recent?symbol=BTC')).toMatchObject({
      stats: {
        last_1h: { ...ofHour, total_value_usd: 50 + 49.5 + 1_000.25, since: '2026-01-02T02:04:05.000Z' },
        last_24h: { total_events: 3 + 10, total_value_usd: 50 + 49.5 + 49 + 2_000.5, since },
      },
    })
    expect(await api.body('/liquidation/recent')).toMatchObject({
      stats: { last_24h: { total_events: 3 + 15, since } },
    })
    const { symbols } = await api.body('/screener')
    expect(symbols).toMatchObject([
      {
        long_liquidated_24h_usd: 50 + 49 + 2_000,
        short_liquidated_24h_usd: 49.5 + 0.5,
        liquidated_1h_usd: 50 + 49.5 + 1_000.25,
        liquidated_24h_usd: 50 + 49.5 + 49 + 2_000.5,
      },
    ])
    put(state, 'begun', COUNTED, NOW - STRETCH)
    api.hang(1_000)
    expect(await api.body('/liquidation/recent')).toMatchObject({
      stats: { last_24h: { total_events: 1, since: new Date((NOW - STRETCH) / 1000).toISOString() } },
    })
  })

  it('says of which time each venue was heard without a break', async () => {
    type Change = (channel: ChannelRow) => Partial<ChannelRow>
    const ofOkx =
      (change: Change): Change =>
      (row) =>
        row.venue === 'okx' ? change(row) : {}
    const complete = async (change: Change): Promise<boolean[]> => {
      api.advance(15_000)
      const { channels } = api.database
      api.database.channels = channels.map((row) => ({ ...row, ...change(row) }))
      const { stats } = (await api.body('/liquidation/recent')) as { stats: Record<string, { complete: boolean }> }
      return Object.values(stats).map((one) => one.complete)
    }
    expect(await complete(({ time }) => ({ since: time - HOUR }))).toEqual([true, false])
    expect(await complete(ofOkx(({ time }) => ({ since: time - HOUR + 1 })))).toEqual([false, false])
    expect(await complete(ofOkx(() => ({ state: 'down' })))).toEqual([false, false])
    expect(await complete(({ time }) => ({ time: time - 1 }))).toEqual([false, false]) // of a feed that says no more
    expect(await complete(({ time }) => ({ since: time - 24 * HOUR }))).toEqual([true, true])
  })

  it('says since when it counts', async () => {
    const { market } = api.database
    market.liquidations = market.liquidations.slice(0, 2)
    const { stats } = await api.body('/liquidation/recent')
    const first = new Date((NOW - 30 * 60_000_000 + 1000) / 1000).toISOString()
    expect(stats).toMatchObject({ last_1h: { since: first }, last_24h: { since: first } })
    market.liquidations = []
    api.advance(15_000)
    expect(await api.body('/liquidation/recent')).toMatchObject({
      count: 0,
      events: [],
      stats: { last_24h: { since: null } },
    })
  })
})
