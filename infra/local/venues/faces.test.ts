import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { testVenues, type TestSocket, type TestVenues } from './test-client.ts'

let venues: TestVenues

beforeAll(async () => {
  venues = await testVenues({ rate: 1000, fillers: 20 })
})
afterAll(() => venues.close())

type Row = Readonly<Record<string, unknown>>

/** The economy's own numbers. */
async function ledger(query: string): Promise<Row[]> {
  const { status, body } = await venues.get(`/ledger/market?${query}`)
  expect(status).toBe(200)
  // The operator's path answers with rows.
  return body as Row[]
}

function rowsIn(body: unknown, ...path: string[]): Row[] {
  // Each caller knows where its venue has the rows.
  return path.reduce((value, name) => (value as Record<string, unknown>)[name], body) as Row[]
}

test('every face lists what the economy lists', async () => {
  const count = async (query: string): Promise<number> => (await ledger(query)).length
  const bybit = await venues.get('/bybit/v5/market/tickers?category=linear')
  expect(rowsIn(bybit.body, 'result', 'list')).toHaveLength(await count('kind=perp&venue=bybit'))
  const okx = await venues.get('/okx/api/v5/market/tickers?instType=SPOT')
  expect(rowsIn(okx.body, 'data')).toHaveLength(await count('kind=spot&venue=okx'))
  const kraken = await venues.get('/kraken/0/public/Ticker')
  expect(Object.keys(rowsIn(kraken.body, 'result'))).toHaveLength(await count('kind=spot&venue=kraken'))
  const gate = await venues.get('/gate/api/v4/futures/usdt/tickers')
  expect(gate.body).toHaveLength(await count('kind=perp&venue=gate'))
  const registry = await venues.get('/coingecko/api/v3/coins/markets?vs_currency=usd&per_page=250')
  expect(registry.body).toHaveLength(await count('kind=tokens'))
})

test('settled rates and ratios are the economy’s to the last decimal that is shown', async () => {
  const now = Date.now() * 1000
  const settled = await ledger(`kind=settlements&venue=okx&symbol=BTC&from=${now - 3 * 86_400_000_000}`)
  expect(settled.length).toBeGreaterThan(5)
  const history = await venues.get(
    `/okx/api/v5/public/funding-rate-history?instId=BTC-USDT-SWAP&limit=${settled.length}`,
  )
  expect(rowsIn(history.body, 'data').map((row) => [Number(row['fundingTime']), Number(row['realizedRate'])])).toEqual(
    settled.map(({ time, rate }) => [Number(time) / 1000, Number(Number(rate).toFixed(16))]),
  )
  // Five minutes may end between the two questions.
  await vi.waitFor(async () => {
    const ratios = await ledger(`kind=ratios&venue=gate&symbol=BTC&from=${now - 3_600_000_000}`)
    const stats = await venues.get('/gate/api/v4/futures/usdt/contract_stats?contract=BTC_USDT&interval=5m&limit=3')
    expect(rowsIn(stats.body).map((row) => [row['time'], row['top_lsr_size'], row['top_lsr_account']])).toEqual(
      ratios.slice(-3).map(({ time, positions, accounts }) => [Number(time) / 1_000_000, positions, accounts]),
    )
  })
})

test('every liquidation is told once by both venues that stream them, as the economy knows it', async () => {
  const listed = rowsIn((await venues.get('/bybit/v5/market/tickers?category=linear')).body, 'result', 'list')
  const args = listed.map(({ symbol }) => `allLiquidation.${String(symbol)}`)
  const bybit = venues.open('/bybit/v5/public/linear', [JSON.stringify({ op: 'subscribe', args })])
  const channel = { channel: 'liquidation-orders', instType: 'SWAP' }
  const okx = venues.open('/okx/ws/v5/public', [JSON.stringify({ op: 'subscribe', args: [channel] })])
  await vi.waitFor(() => expect([bybit.json().length > 0, okx.json().length > 0]).toEqual([true, true]))
  const from = (Date.now() + 1000) * 1000
  await vi.waitFor(
    () => {
      expect(bybitClosings(bybit).filter(({ ms }) => ms * 1000 >= from).length).toBeGreaterThan(0)
      expect(okxClosings(okx).filter(({ ms }) => ms * 1000 >= from).length).toBeGreaterThan(0)
    },
    { timeout: 50_000 },
  )
  const to = (Date.now() - 1500) * 1000
  const within = (closings: Closing[]): Closing[] =>
    closings.filter(({ ms }) => ms * 1000 >= from && ms * 1000 < to).sort(byText)
  // A busy process may read late what was told before.
  await vi.waitFor(async () => {
    expect(within(bybitClosings(bybit))).toEqual(await closings('bybit', from, to))
    expect(within(okxClosings(okx))).toEqual(await closings('okx', from, to))
  })
})

test('a delisting and a changed contract show in lists and streams', async () => {
  const list = (body: object): Promise<{ status: number; body: unknown }> => venues.post('/listings', body)
  const swap = { venue: 'okx', market: 'perp', symbol: 'UNI-USDT-SWAP' }
  expect(await list({ ...swap, action: 'change', factor: 1 })).toMatchObject({ status: 200 })
  const changed = await venues.get('/okx/api/v5/public/instruments?instType=SWAP&instId=UNI-USDT-SWAP')
  expect(rowsIn(changed.body, 'data')).toMatchObject([{ ctVal: '10' }])
  const [state] = await ledger('kind=perp&venue=okx&symbol=UNI')
  const interest = await venues.get('/okx/api/v5/public/open-interest?instType=SWAP&instId=UNI-USDT-SWAP')
  const [row] = rowsIn(interest.body, 'data')
  expect(Number(row?.['oi']) * 10).toBeCloseTo(Number(row?.['oiCcy']), 0)
  expect(Number(row?.['oiCcy']) / Number(state?.['openInterest'])).toBeCloseTo(1, 2)

  expect(await list({ venue: 'kraken', market: 'spot', symbol: 'UNIUSD', action: 'delist' })).toMatchObject({
    status: 200,
  })
  expect(JSON.stringify((await venues.get('/kraken/0/public/AssetPairs')).body)).not.toContain('UNIUSD')
  const params = { channel: 'ticker', symbol: ['UNI/USD'] }
  const socket = venues.open('/kraken/v2', [JSON.stringify({ method: 'subscribe', params })])
  await vi.waitFor(() => expect(socket.json()[1]).toMatchObject({ success: false, symbol: 'UNI/USD' }))
})

interface Closing {
  readonly symbol: string
  readonly ms: number
  readonly side: 'long' | 'short'
  /** In the venue's units. */
  readonly size: number
}

function byText(left: Closing, right: Closing): number {
  return JSON.stringify(left) < JSON.stringify(right) ? -1 : 1
}

function bybitClosings(socket: TestSocket): Closing[] {
  const told = socket.json().filter((frame) => String(frame['topic']).startsWith('allLiquidation.'))
  return told.flatMap((frame) =>
    rowsIn(frame, 'data').map(({ s, T, S, v }) => {
      return { symbol: String(s), ms: Number(T), side: S === 'Buy' ? 'long' : 'short', size: Number(v) }
    }),
  )
}

function okxClosings(socket: TestSocket): Closing[] {
  const told = socket.json().filter((frame) => 'data' in frame)
  return told
    .flatMap((frame) => rowsIn(frame, 'data'))
    .flatMap((row) =>
      rowsIn(row, 'details').map(({ ts, side, sz }) => {
        return {
          symbol: String(row['instId']),
          ms: Number(ts),
          side: side === 'sell' ? 'long' : 'short',
          size: Number(sz),
        }
      }),
    )
}

/** As the economy knows them, in the venue's units. */
async function closings(venue: 'bybit' | 'okx', from: number, to: number): Promise<Closing[]> {
  const markets = new Map(
    (await ledger(`kind=perp&venue=${venue}`)).map((row) => [row['symbol'], Number(row['factor'])]),
  )
  const rows = await ledger(`kind=liquidations&venue=${venue}&from=${from}&to=${to}`)
  return rows
    .map(({ symbol, time, side, size }): Closing => {
      const units = Number(size) * 10 ** -(markets.get(symbol) ?? 0)
      const position = side === 'long' ? 'long' : 'short'
      return { symbol: String(symbol), ms: Number(time) / 1000, side: position, size: Number(units.toPrecision(12)) }
    })
    .sort(byText)
}
