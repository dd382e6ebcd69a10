import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { listAsset, NOW, startHarness, type Harness } from '../testing/harness.ts'
import { FakeDatabase } from '../testing/fake-database.ts'
import { fakePresent } from '../testing/fake-present.ts'
import { fillAsset } from '../testing/market-facts.ts'
import { liquidationVenues } from '../../schemas/venues.ts'
import { readLiquidated } from '../views/liquidated.ts'
import { openInterests, readNewest, type Reading } from '../views/readings.ts'
import type { ChannelRow } from '../views/world.ts'

const SECOND = 1_000_000
const HOUR = 3_600 * SECOND

let api: Harness
beforeEach(async () => {
  api = await startHarness()
  api.database.market.live = liquidationVenues.map((venue) => ({ venue, from: NOW - 48 * HOUR, to: NOW }))
})
afterEach(() => api.stop())

interface Point {
  readonly time: string
  readonly complete: boolean
  readonly exchanges: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly [figure: string]: unknown
}

interface Answer {
  readonly points: readonly Point[]
  readonly next: string | null
  readonly coverage: object
}

async function ask(path: string): Promise<Answer> {
  const { status, body } = await api.get(path)
  expect([path, status]).toEqual([path, 200])
  return body as object as Answer
}

const minuteOf = ({ time }: Point): string => time.slice(11, 16)

describe('open interest', () => {
  it('is each venue’s newest word, at its own mark, and their sum', async () => {
    const { body } = await api.get('/futures/open-interest/BTC')
    expect(body).toMatchObject({
      symbol: 'BTC',
      open_interest: 6000,
      venues: 3,
      exchanges: {
        bybit: { open_interest: 2000, open_interest_usd: 200_000, mark_price: 100, status: 'live' },
        okx: { open_interest: 3000, as_of: '2026-01-02T03:04:01.000Z' },
      },
      as_of: '2026-01-02T03:04:03.000Z', // of the marks
      stale: false,
    })
    expect(body['open_interest_usd']).toBeCloseTo(100_000 * (1 - 1 / 1024) + 200_000 + 300_000 * (1 + 1 / 1024), 6)
  })

  it('leaves out of the sum who is stale, and says so', async () => {
    const { market } = api.database
    market.funding = market.funding.map((row) => ({
      ...row,
      exchanges: row.exchanges.map((view) =>
        view.exchange === 'okx' ? { ...view, open_interest_time: NOW - 121 * SECOND } : view,
      ),
    }))
    expect((await api.get('/futures/open-interest/BTC')).body).toMatchObject({
      open_interest: 3000,
      venues: 2,
      exchanges: { okx: { open_interest: null, status: 'stale' } },
    })
  })

  it('does not take a missing mark for a price', async () => {
    const { market } = api.database
    market.funding = market.funding.map((row) => ({
      ...row,
      exchanges: row.exchanges.map((view) => (view.exchange === 'okx' ? { ...view, mark: null } : view)),
    }))
    expect((await api.get('/futures/open-interest/BTC')).body).toMatchObject({
      open_interest: 6000,
      open_interest_usd: null,
      exchanges: { okx: { open_interest: 3000, open_interest_usd: null, mark_price: null } },
    })
  })

  it('is not valued at a mark that is older than a minute', async () => {
    const { market } = api.database
    const markAt = (mark_time: number): void => {
      const exchanges = market.funding[0]?.exchanges.map((view) => ({ ...view, mark_time })) ?? []
      market.funding = market.funding.map((row) => ({ ...row, exchanges }))
    }
    markAt(NOW - 60 * SECOND)
    const valued = { open_interest: 2000, open_interest_usd: 200_000, mark_price: 100, status: 'live' }
    expect((await api.get('/futures/open-interest/BTC')).body).toMatchObject({ exchanges: { bybit: valued } })
    markAt(NOW - 60 * SECOND - 1)
    const unvalued = { open_interest: 2000, open_interest_usd: null, mark_price: null, status: 'live' }
    expect((await api.get('/futures/open-interest/BTC')).body).toMatchObject({
      open_interest: 6000,
      open_interest_usd: null,
      exchanges: { bybit: unvalued },
      as_of: '2026-01-02T03:04:01.000Z',
      stale: false,
    })
  })

  it('is 503 where nobody has said one', async () => {
    api.database.market.funding = []
    expect((await api.get('/futures/open-interest/BTC')).status).toBe(503)
  })
})

describe('a history of readings', () => {
  it('tells in each bucket what each venue said last in it, and their sum', async () => {
    const { points, coverage, next } = await ask('/futures/open-interest/history/BTC')
    expect(points.map((point) => [minuteOf(point), point['open_interest'], point.complete])).toEqual([
      ['00:00', 4200, true],
      ['01:00', 4800, true],
      ['02:00', 5400, true],
      ['03:00', 6000, false],
    ])
    expect(points[0]?.exchanges).toMatchObject({ bybit: { open_interest: 1400, open_interest_usd: 140_000 } })
    expect([next, coverage]).toMatchObject([null, { to: '2026-01-02T03:04:05.000Z', complete: false }])
  })

  it.each([
    ['a start within a bucket', '1h&start=2026-01-02T00:04:05Z&end=2026-01-02T03:00:00Z', 0, ['01:00', '02:00'], 1],
    ['a bucket that is not closed yet', '1m&start=2026-01-02T03:03:00Z', 56_000, ['03:03', '03:04', '03:05'], 1],
    ['nothing but the open bucket', '1h&start=2026-01-02T02:30:00Z', 0, ['03:00'], 0],
  ])('counts the closed buckets that were asked for: %s', async (_, query, wait, buckets, share) => {
    api.advance(wait)
    const { points, coverage } = await ask(`/liquidation/history/BTC?interval=${query}`)
    expect(points.map(minuteOf)).toEqual(buckets)
    expect(coverage).toMatchObject({ share, complete: share === 1 })
  })

  it('tells nothing of a time that is far ahead, from now on', async () => {
    const { points, coverage } = await ask('/futures/open-interest/history/BTC?start=999999999999999')
    const now = '2026-01-02T03:04:05.000Z'
    expect([points, coverage]).toEqual([[], { from: now, to: now, complete: false, share: 0 }])
  })

  it('has in the open bucket what the present says, though ClickHouse has it not yet', async () => {
    const { market } = api.database
    market.derivatives = market.derivatives.filter(({ received }) => received < NOW - HOUR / 2)
    const { points } = await ask('/futures/open-interest/history/BTC?limit=1')
    const { body } = await api.get('/futures/open-interest/BTC')
    expect(points).toMatchObject([
      { open_interest: body['open_interest'], open_interest_usd: body['open_interest_usd'] },
    ])
  })

  it('says null where a venue said nothing, and takes no such bucket for complete', async () => {
    const { market } = api.database
    market.derivatives = market.derivatives.filter(
      ({ instrument, received }) => !(instrument.startsWith('okx') && received < NOW - HOUR / 2),
    )
    const { points, coverage } = await ask('/futures/open-interest/history/BTC?start=2026-01-02T01:00:00Z&limit=2')
    expect(points).toMatchObject([
      { open_interest: 2400, complete: false, exchanges: { okx: { open_interest: null, open_interest_usd: null } } },
      { open_interest: 2700, complete: false },
    ])
    expect(coverage).toMatchObject({ share: 0, complete: false })
    const empty = await ask('/futures/open-interest/history/BTC?interval=30m&limit=2')
    expect(empty.points[0]).toMatchObject({ open_interest: null, open_interest_usd: null })
  })

  it('does not take for complete what ClickHouse may not have yet', async () => {
    const { database } = api
    const query = database.query.bind(database)
    database.query = async (sql, params) =>
      sql.includes('FROM partition_times') ? [{ time_us: NOW - HOUR }] : query(sql, params)
    const { points } = await ask('/futures/open-interest/history/BTC')
    expect(points.map(({ complete }) => complete)).toEqual([true, true, false, false])
  })

  it('holds a basis against the spot price of the same bucket', async () => {
    const { market } = api.database
    const spot = market.tickers.find(({ instrument }) => instrument.startsWith('binance'))
    if (spot === undefined) throw new Error('there is a spot market')
    const before = NOW - 62 * 60 * SECOND
    market.tickers.unshift({ ...spot, price: 80, time: before, received: before })
    const { points } = await ask('/futures/basis/history/BTC?limit=3')
    expect(points).toMatchObject([
      {
        spot_price: null,
        complete: true,
        exchanges: { bybit: { perp_price: 100, index_price: 100, against: 'index', basis_usd: 0, basis_pct: 0 } },
      },
      {
        spot_price: 80,
        complete: true,
        exchanges: { bybit: { against: 'spot', basis_usd: 20, basis_pct: 25, direction: 'contango' } },
      },
      { spot_price: 100, exchanges: { bybit: { basis_usd: 0 }, binance: { direction: 'backwardation' } } },
    ])
    const now = (await api.get('/futures/basis/BTC')).body['exchanges'] as Record<string, { basis_pct: number }>
    expect(points[2]?.exchanges['okx']?.['basis_pct']).toBe(now['okx']?.basis_pct)
  })

  it('says no basis of a mark that nothing is known beside', async () => {
    const { market } = api.database
    market.derivatives = market.derivatives.map((row) => ({ ...row, index: null }))
    const { points } = await ask('/futures/basis/history/BTC?limit=3')
    const nothing = { index_price: null, against: null, basis_usd: null, basis_pct: null, direction: null }
    expect(points[0]).toMatchObject({ complete: false, exchanges: { bybit: { perp_price: 100, ...nothing } } })
  })

  it('has the mean of the venues’ ratios', async () => {
    const { points } = await ask('/futures/long-short/history/BTC?interval=5m&limit=2')
    expect(points).toMatchObject([
      { time: '2026-01-02T02:55:00.000Z', avg_ls_ratio: 2, complete: true, exchanges: { okx: { ls_ratio: 2 } } },
      { time: '2026-01-02T03:00:00.000Z', avg_ls_ratio: null, complete: false, exchanges: { okx: { ls_ratio: null } } },
    ])
    const { body } = await api.get('/futures/long-short/history/BTC?interval=1m')
    expect(body).toMatchObject({ error: 'invalid_interval' })
  })

  it('looks at a month of marks at most, and says where the next page begins', async () => {
    const { points, next } = await ask('/futures/basis/history/BTC?interval=1d&limit=1000')
    expect(points.length).toBeLessThanOrEqual(31)
    expect(next).toBeNull()
    const { market } = api.database
    const [first] = market.derivatives
    if (first === undefined) throw new Error('there are derivatives')
    const long = NOW - 50 * 24 * HOUR
    market.derivatives.push({ ...first, mark_time: long, open_interest_time: long })
    await api.stop()
    api = await startHarness()
    api.database.market.derivatives = market.derivatives
    const page = await ask('/futures/basis/history/BTC?interval=1d&limit=1000&start=2025-01-01')
    expect([page.points.length, page.next]).toEqual([31, '2025-12-14T00:00:00.000Z'])
    const rest = await ask(`/futures/basis/history/BTC?interval=1d&limit=1000&start=${page.next}`)
    expect([rest.points.length, rest.next]).toEqual([20, null])
  })

  it('is of no time where nobody has said anything, and 404 where nobody lists it', async () => {
    listAsset(api.database, 'eth')
    const { points, coverage } = await ask('/futures/basis/history/ETH')
    expect(points).toMatchObject([{ spot_price: null, complete: false }])
    expect(coverage).toMatchObject({ complete: false, share: 0 })
    api.database.instruments = api.database.instruments.filter(
      ({ asset, market }) => asset !== 'eth' || market !== 'perp',
    )
    expect((await api.get('/futures/basis/history/ETH?limit=5')).status).toBe(404)
  })
})

describe('readings of ClickHouse and of memory', () => {
  const row = (venue: string, at: number, is_live: number): object => ({ venue, newest: [at], at_us: at, is_live })
  const held = (venue: string, time: number): Reading => ({ venue, time, values: [time], source: 'live' })

  it('give of a bucket what is live before what was read back, and of what is live the newest', async () => {
    const database = { query: () => Promise.resolve([row('okx', 50, 0), row('bybit', 50, 0), row('binance', 20, 1)]) }
    const query = { asset: 'btc', from: 0, to: HOUR, width: HOUR }
    const newest = async (own: readonly Reading[]): Promise<unknown[]> => {
      const read = await readNewest(database, openInterests, { ...query, held: own })
      return [...(read.values().next().value?.values() ?? [])]
        .toSorted((a, b) => a.venue.localeCompare(b.venue))
        .map(({ venue, time, source }) => [venue, time, source])
    }
    expect(await newest([held('okx', 40), held('binance', 30)])).toEqual([
      ['binance', 30, 'live'],
      ['bybit', 50, 'venue_history'],
      ['okx', 40, 'live'],
    ])
    expect(await newest([held('binance', 10)])).toContainEqual(['binance', 20, 'live'])
  })
})

describe('the history of liquidations', () => {
  /** The channels of these venues as the newest marks have them. */
  function channelsAre(state: 'live' | 'down', since: number, venues: readonly string[]): void {
    const isMeant = ({ topic, venue }: ChannelRow): boolean => topic === 'market.liquidations' && venues.includes(venue)
    api.database.channels = api.database.channels.map((row) => (isMeant(row) ? { ...row, state, since } : row))
  }

  it('is complete where every venue’s channel was live all the time, as marks say', async () => {
    const hour = NOW - (NOW % HOUR)
    const told = async (): Promise<unknown> => {
      const { points, coverage } = await ask('/liquidation/history/BTC?limit=4&interval=1h')
      return [...points.map(({ complete }) => complete), coverage]
    }
    const from = hour - 6 * HOUR
    channelsAre('live', hour - HOUR / 2, liquidationVenues)
    // Known of the time before: OKX with a hole in 01:00, Binance over two feeds, Bybit up to a fall of its own.
    api.database.market.live = [
      { venue: 'okx', from, to: hour - 2 * HOUR + 1 },
      { venue: 'okx', from: hour - 2 * HOUR + 2, to: hour },
      { venue: 'binance', from, to: hour - 3 * HOUR },
      { venue: 'binance', from: hour - 4 * HOUR, to: hour - HOUR / 2 },
      { venue: 'bybit', from, to: hour - HOUR / 2 },
    ]
    expect(await told()).toMatchObject([true, false, true, false, { complete: false, share: 2 / 3 }])
    expect(api.database.count('live')).toBe(1)
    api.advance(60_000)
    channelsAre('live', from, liquidationVenues)
    expect(await told()).toMatchObject([true, true, true, false, { complete: true, share: 1 }])
    expect(api.database.count('live')).toBe(1)
  })

  it('says nothing of complete where a channel is down', async () => {
    channelsAre('down', NOW - 20 * HOUR, ['okx'])
    api.database.market.live = api.database.market.live.filter(({ venue }) => venue !== 'okx')
    const { points, coverage } = await ask('/liquidation/history/BTC?limit=3')
    expect(points.map(({ complete }) => complete)).toEqual([false, false, false])
    expect(coverage).toMatchObject({ complete: false, share: 0 })
  })

  it('counts and sums by side and venue, and has zeros where there were none', async () => {
    const { points, next } = await ask('/liquidation/history/BTC?limit=3')
    const of = (long: number, short: number): object => ({ long_usd: long, short_usd: short })
    expect(points).toMatchObject([
      { time: '2026-01-02T01:00:00.000Z', ...of(49, 0), complete: true, exchanges: { bybit: of(49, 0) } },
      { time: '2026-01-02T02:00:00.000Z', ...of(0, 49.5), complete: true, exchanges: { okx: of(0, 0) } },
      { time: '2026-01-02T03:00:00.000Z', ...of(50, 0), long_count: 1, short_count: 0, complete: false },
    ])
    expect(next).toBe('2026-01-02T01:00:00.000Z')
  })

  it.each(['1m', '1h', '8h', '1w'])(
    'adds up to what there was, in buckets of %s, from ClickHouse and memory',
    async (name) => {
      fillAsset(api.database.market, 'eth', { now: NOW, price: 7 })
      const pages: Point[] = []
      for (let next: string | null = '2025-12-01'; next !== null;) {
        const page: Answer = await ask(`/liquidation/history/BTC?interval=${name}&start=${next}&limit=700`)
        pages.push(...page.points)
        next = page.next
      }
      const sum = (figure: string): number => pages.reduce((total, point) => total + Number(point[figure]), 0)
      expect(['long_count', 'short_count', 'long_usd', 'short_usd'].map(sum)).toEqual([2, 2, 99, 98])
      expect(new Set(pages.map(({ time }) => time)).size).toBe(pages.length)
    },
  )
})

describe('liquidations from memory and ClickHouse', () => {
  it.each([0, 60, 40 * 60, 100 * 60])(
    'are each counted once where memory holds those of the last %i s',
    async (kept) => {
      const stored = new FakeDatabase()
      fillAsset(stored.market, 'btc', { now: NOW, price: 100 })
      const young = new FakeDatabase()
      young.market.liquidations = stored.market.liquidations.filter(({ time }) => time > NOW - kept * SECOND)
      const present = fakePresent(young, 12).now
      if (present === undefined) throw new Error('facts are there at once')
      const range = { asset: 'btc', from: NOW - 48 * HOUR, to: NOW + HOUR, now: NOW }
      const rows = await readLiquidated(stored, present, { ...range, width: 60 * SECOND })
      const counts = rows.map(({ long, short }) => long.count + short.count)
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(stored.market.liquidations.length)
    },
  )
})

describe.each(['/futures/open-interest', '/futures/basis', '/futures/long-short', '/liquidation'])(
  '%s/history',
  (at) => {
    it.each([1, 2, 7])('is the same in pages of %i, walked from either end', async (limit) => {
      const whole = await ask(`${at}/history/BTC?interval=30m&limit=1000`)
      for (const [side, from] of [
        ['start', '2025-01-01'],
        ['end', '2027-01-01'],
      ] as const) {
        const pages: (readonly Point[])[] = []
        for (let next: string | null = from; next !== null;) {
          const page: Answer = await ask(`${at}/history/BTC?interval=30m&${side}=${next}&limit=${limit}`)
          pages.push(page.points)
          next = page.next
        }
        expect((side === 'start' ? pages : pages.toReversed()).flat()).toEqual(whole.points)
      }
    })

    it('is kept for its time to live, and 503 while ClickHouse is away', async () => {
      expect((await api.get(`${at}/history/BTC`)).body).toMatchObject({ cached: false, stale: false })
      expect((await api.get(`${at}/history/BTC`)).body).toMatchObject({ cached: true })
      api.database.failure = new Error('away')
      expect((await api.get(`${at}/history/BTC?limit=7&start=2026-01-01`)).status).toBeGreaterThanOrEqual(500)
    })
  },
)
