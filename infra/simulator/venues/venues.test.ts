import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { Faults } from '../faults/faults.ts'
import { World } from '../ledger/world.ts'
import type { SimulatedEconomy } from '../market/simulated-economy.ts'
import { serve } from '../server.ts'
import { openSocket, testVenues, type TestSocket, type TestVenues } from '../testing/client.ts'
import { letTrade, openEconomy, START } from '../testing/market.ts'
import { bybitApi } from './bybit/api.ts'
import { okxApi } from './okx/api.ts'

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

test('every venue lists what the economy lists', async () => {
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
  const folder = mkdtempSync(join(tmpdir(), 'liquidations-'))
  const economy = openEconomy(join(folder, 'economy'))
  const world = new World(join(folder, 'market'), [], START)
  const apis = [bybitApi({ world, economy }), okxApi({ world, economy })]
  const failed = (error: unknown): void => expect.unreachable(String(error))
  const hooks = { faults: new Faults(1), operator: () => ({ status: 404, body: {} }), failed }
  const listening = await serve(apis, hooks, { host: '127.0.0.1', port: 0 })
  const open = (path: string, args: readonly unknown[]): TestSocket =>
    openSocket(listening.url.replace('http', 'ws') + path, [JSON.stringify({ op: 'subscribe', args })])
  const bybit = open(
    '/bybit/v5/public/linear',
    economy.perps('bybit').map(({ symbol }) => `allLiquidation.${symbol}`),
  )
  const okx = open('/okx/ws/v5/public', [{ channel: 'liquidation-orders', instType: 'SWAP' }])
  await vi.waitFor(() => expect([bybit.frames.length, okx.frames.length].every((count) => count > 0)).toBe(true))
  letTrade(economy, 150, (now) => {
    world.now = now
    for (const api of apis) api.beat?.(now / 1000)
  })
  // What was told before the market began to trade is an old one, as the venue has it.
  const told = (closings: Closing[]): Closing[] => closings.filter(({ ms }) => ms * 1000 >= START).sort(byText)
  expect(closings(economy, 'bybit', world.now).length).toBeGreaterThan(0)
  expect(closings(economy, 'okx', world.now).length).toBeGreaterThan(0)
  await vi.waitFor(() => {
    expect(told(bybitClosings(bybit))).toEqual(closings(economy, 'bybit', world.now))
    expect(told(okxClosings(okx))).toEqual(closings(economy, 'okx', world.now))
  })
  for (const socket of [bybit, okx]) socket.close()
  await listening.close()
  economy.close()
  world.close()
  rmSync(folder, { recursive: true })
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

/** As the economy knows them since the start, in the venue's units. */
function closings(economy: SimulatedEconomy, venue: 'bybit' | 'okx', to: number): Closing[] {
  return economy
    .perps(venue)
    .flatMap((market) =>
      economy.liquidations(market, START, to).map(({ time, side, size }): Closing => {
        const units = Number((size * 10 ** -market.factor).toPrecision(12))
        return { symbol: market.symbol, ms: Math.floor(time / 1000), side, size: units }
      }),
    )
    .sort(byText)
}
