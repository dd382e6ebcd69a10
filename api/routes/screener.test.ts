import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { listAsset, NOW, startHarness, type Harness } from '../testing/harness.ts'
import { fillAsset } from '../testing/market-facts.ts'

const HOUR = 3_600_000_000

let api: Harness
beforeEach(async () => {
  api = await startHarness()
  for (const [asset, price] of [
    ['eth', 50],
    ['sol', 20],
  ] as const) {
    listAsset(api.database, asset)
    fillAsset(api.database.market, asset, { now: NOW, price })
  }
})
afterEach(() => api.stop())

interface Answer {
  readonly known: number
  readonly matching: number
  readonly symbols: readonly Readonly<Record<string, unknown>>[]
}

async function screen(query = ''): Promise<Answer> {
  const { status, body } = await api.get(`/screener${query}`)
  expect([query, status]).toEqual([query, 200])
  return body as object as Answer
}

const names = ({ symbols }: Answer): unknown[] => symbols.map(({ symbol }) => symbol)

describe('the screener', () => {
  it('has every symbol with the figures that other routes say', async () => {
    const { known, matching, symbols } = await screen()
    expect([known, matching, symbols.length]).toEqual([3, 3, 3])
    const [btc] = symbols
    const [{ body: interest }, { body: funding }, { body: cvd }, { body: seen }] = await Promise.all([
      api.get('/futures/open-interest/BTC'),
      api.get('/funding-rate/BTC'),
      api.get('/cvd/BTC?period=24h'),
      api.get('/liquidation/recent?symbol=BTC'),
    ])
    const { stats } = seen as { stats: { last_24h: { total_value_usd: number }; last_1h: { total_value_usd: number } } }
    expect(btc).toMatchObject({
      symbol: 'BTC',
      funding_exchange: 'binance',
      funding_rate_pct: Number(funding['funding_rate']) * 100,
      open_interest_usd: interest['open_interest_usd'],
      cvd_24h_usd: cvd['period_cvd_usd'],
      liquidated_24h_usd: stats.last_24h.total_value_usd,
      liquidated_1h_usd: stats.last_1h.total_value_usd,
    })
    const { long_liquidated_24h_usd: long, short_liquidated_24h_usd: short } = btc as Record<string, number>
    expect(Number(long) + Number(short)).toBeCloseTo(stats.last_24h.total_value_usd, 6)
    expect(symbols.find(({ symbol }) => symbol === 'ETH')).toMatchObject({ cvd_24h_usd: null, price: 52 })
  })

  it('tells the change of open interest of the venues that said it then, and null where none did', async () => {
    const { market } = api.database
    const [row] = market.derivatives
    if (row === undefined) throw new Error('there is a perpetual')
    const said = { ...row, asset: 'btc', instrument: 'binance:perp:BTCUSDT', open_interest: 800 }
    market.derivatives = [{ ...said, open_interest_time: NOW - HOUR - 60_000_000 }]
    // 1,000 now on Binance; the others said nothing an hour ago.
    const [btc, eth] = (await screen()).symbols
    expect(btc).toMatchObject({ open_interest_change_1h_pct: 25, open_interest_change_24h_pct: null })
    expect(eth).toMatchObject({ open_interest_change_1h_pct: null })
  })

  it('tells a small change of open interest by the decimals that make it', async () => {
    const { market } = api.database
    const [row] = market.derivatives
    if (row === undefined) throw new Error('there is a perpetual')
    const said = { ...row, asset: 'btc', instrument: 'binance:perp:BTCUSDT', open_interest: 100_000 }
    market.derivatives = [{ ...said, open_interest_time: NOW - HOUR - 60_000_000 }]
    const now = (exchange: string, open_interest: number | null): number | null =>
      exchange === 'binance' ? 100_001 : open_interest
    market.funding = market.funding.map((funding) => ({
      ...funding,
      exchanges: funding.exchanges.map((view) => ({ ...view, open_interest: now(view.exchange, view.open_interest) })),
    }))
    const [btc] = (await screen()).symbols
    expect(btc).toMatchObject({ symbol: 'BTC', open_interest_change_1h_pct: 0.001 })
  })

  it('values open interest at marks of the last minute alone', async () => {
    const { market } = api.database
    const byName = '?sort=symbol&order=asc'
    const before = await screen(byName)
    api.hang(1_000)
    const mark_time = NOW - 60_000_000
    const isOld = (asset: string, venue: string): boolean => asset === 'eth' || (asset === 'btc' && venue !== 'bybit')
    market.funding = market.funding.map((row) => ({
      ...row,
      exchanges: row.exchanges.map((view) => (isOld(row.asset, view.exchange) ? { ...view, mark_time } : view)),
    }))
    const figures = ({ symbols }: Answer): unknown[] => symbols.map((row) => row['open_interest_usd'])
    const [, , sol] = figures(before)
    expect(figures(await screen(byName))).toEqual([200_000, null, sol])
  })

  it('has prices that stand alone: none that is older than 15 s', async () => {
    const { market } = api.database
    const since = (seconds: number): number => NOW - seconds * 1_000_000
    const spoke: Readonly<Record<string, number>> = { btc: since(3_600), eth: since(3_601), sol: since(3_601) }
    const at = ({ asset }: { readonly asset: string }): number => spoke[asset] ?? NOW
    market.tickers = market.tickers.map((row) => ({ ...row, received: at(row) }))
    market.prices = market.prices.map((row) => ({ ...row, time: at(row) }))
    const { symbols } = await screen('?sort=symbol&order=asc')
    expect(symbols.map(({ price, change_24h_pct: change }) => [price, change])).toEqual([
      [102, 1.25],
      [null, null],
      [null, null],
    ])
    expect(names(await screen('?where=price>1'))).toEqual(['BTC'])
  })

  it('sorts by any figure either way, and puts last who does not say it', async () => {
    expect(names(await screen('?sort=price'))).toEqual(['BTC', 'ETH', 'SOL'])
    expect(names(await screen('?sort=price&order=asc'))).toEqual(['SOL', 'ETH', 'BTC'])
    expect(names(await screen('?sort=symbol&order=asc&limit=2'))).toEqual(['BTC', 'ETH'])
    for (const order of ['asc', 'desc']) expect(names(await screen(`?sort=cvd_1h_usd&order=${order}`))[0]).toBe('BTC')
  })

  it('filters by conditions, all of which must be met', async () => {
    expect(names(await screen('?where=price>30'))).toEqual(['BTC', 'ETH'])
    const both = await screen('?where=price%3E30,price%3C60.5')
    expect([both.known, both.matching, names(both)]).toEqual([3, 1, ['ETH']])
    expect(names(await screen('?where=cvd_24h_usd>-999999999'))).toEqual(['BTC'])
  })

  it.each(['?where=price', '?where=secret>1', '?where=price>1;', '?sort=secret', '?order=up', '?limit=0'])(
    'refuses %s and says how to mend it',
    async (query) => {
      const { status, body } = await api.get(`/screener${query}`)
      expect([status, body['message']]).toEqual([400, expect.stringMatching(/must be/)])
    },
  )

  it('answers from memory where the views cannot be asked: only the changes are missing', async () => {
    api.database.failure = new Error('ClickHouse is down')
    const [btc] = (await screen()).symbols
    expect(btc).toMatchObject({ funding_rate_pct: 0.01, open_interest_change_1h_pct: null })
  })
})
