import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { connectClickhouse, type Clickhouse } from '../client.ts'
import { fillSmallWorld } from '../testing/small-world/fill.ts'
import { createWorld, type World } from '../testing/world.ts'
import { answers } from '../testing/answers.ts'
import { workedQueries } from './queries.ts'

let world: World
let analyst: Clickhouse
beforeAll(async () => {
  world = await createWorld('queries')
  await fillSmallWorld(world)
  const { url } = inject('parts').clickhouse
  analyst = connectClickhouse({ url, user: 'analyst', password: '', database: world.database })
})
afterAll(async () => {
  await analyst.close()
  await world.end()
})

const common = { venue: 'binance', seconds: 60, horizon: 60, start: '2024-08-08 23:54:00', end: '2024-08-08 23:58:00' }
/** What it says depends on how parts have merged. */
const STORAGE = '22_storage'
/** Trades of single seconds are those of ETH. */
const ofEth = new Set(['08_venue_lead_lag', '19_feed_latency', '20_large_trades'])

it.each(
  workedQueries()
    .filter(({ name }) => name !== STORAGE)
    .map(({ name, sql }) => [name, sql] as const),
)('%s answers the small world as worked out by hand, to the user analyst', async (name, sql) => {
  const rows = await analyst.rows<Record<string, unknown>>(sql, { ...common, asset: ofEth.has(name) ? 'eth' : 'btc' })
  const expected = answers[name]
  if (expected === undefined) throw new Error(`nobody has worked out ${name}`)
  expect(rows.map(rounded)).toEqual(expected)
  expect(rows).toHaveLength(expected.length)
})

it('answers histories of perpetuals by minute and by week, which begins with Monday', async () => {
  const range = "asset = 'btc', start = '2024-08-08 00:00:00', end = '2024-08-09 12:00:00'"
  const by = async (view: string, seconds: number): Promise<Record<string, unknown>[]> =>
    (await analyst.rows<Record<string, unknown>>(`SELECT * FROM ${view}(seconds = ${seconds}, ${range})`)).map(rounded)
  const start = (minute: number): string => `2024-08-08T23:5${4 + minute}:00.000000Z`
  const binance = (minute: number, row: object): object => ({ time: start(minute), venue: 'binance', ...row })
  const interest = (open_interest: number, mark: number, open_interest_usd: number): object => ({
    open_interest,
    mark,
    open_interest_usd,
    source: 'live',
  })
  expect(await by('open_interest_history', 60)).toEqual([
    binance(0, interest(1_000, 100, 100_000)),
    binance(1, interest(1_010, 102, 103_020)),
    binance(2, interest(990, 99, 98_010)),
  ])
  expect(await by('basis_history', 60)).toEqual([
    binance(0, { mark: 100, spot: 100, index_price: 100, against: 'spot', basis_usd: 0, basis_pct: 0, source: 'live' }),
    binance(1, {
      mark: 102,
      spot: 101,
      index_price: 102,
      against: 'spot',
      basis_usd: 1,
      basis_pct: 0.990099,
      source: 'live',
    }),
    binance(2, { mark: 99, spot: 99, index_price: 99, against: 'spot', basis_usd: 0, basis_pct: 0, source: 'live' }),
  ])
  expect(await by('long_short_history', 60)).toEqual([
    binance(0, { long_ratio: 0.666667, short_ratio: 0.333333, ls_ratio: 2, source: 'live' }),
    { time: start(0), venue: 'okx', long_ratio: 0.5, short_ratio: 0.5, ls_ratio: 1, source: 'live' },
  ])
  const liquidated = { long_usd: 294.1, short_usd: 103, long_count: 2, short_count: 1 }
  expect(await by('liquidation_history', 60)).toEqual([binance(2, liquidated)])
  const week = { time: '2024-08-05T00:00:00.000000Z', venue: 'binance' }
  expect(await by('liquidation_history', 604_800)).toEqual([{ ...week, ...liquidated }])
  expect(await by('open_interest_history', 604_800)).toEqual([{ ...week, ...interest(990, 99, 98_010) }])
  // Behind the spot prices, and behind the marks: what is missing is null.
  const late = "asset = 'btc', seconds = 60, start = '2024-08-09 12:00:00', end = '2024-08-10 00:00:00'"
  expect(await analyst.rows(`SELECT * FROM basis_history(${late})`)).toEqual([])
})

it('begins weeks of candles and flow with Monday', async () => {
  const range = "asset = 'btc', seconds = 604800, start = '2024-08-08 00:00:00', end = '2024-08-08 23:58:00'"
  const time = '2024-08-05T00:00:00.000000Z'
  const figures = { open: 90, high: 103, low: 90, close: 99, volume: 29, buy_volume: 18, sell_volume: 11, trades: 15 }
  expect(await analyst.rows(`SELECT * FROM ohlcv(venue = 'binance', ${range})`)).toEqual([
    { time, source: 'trades', ...figures },
  ])
  expect(await analyst.rows(`SELECT time, venue, delta, cvd FROM cvd(${range})`)).toEqual([
    { time, venue: 'binance', delta: 7, cvd: 7 },
    { time, venue: 'coinbase', delta: -1, cvd: -1 },
  ])
})

it(`${STORAGE} weighs every base table that has rows`, async () => {
  const query = workedQueries().find(({ name }) => name === STORAGE)
  const rows = await analyst.rows<{ table: string; all_rows: number; bytes_a_row: number }>(query?.sql ?? '')
  const trades = rows.find(({ table }) => table === 'trades_log')
  expect(trades?.all_rows).toBe(14)
  expect(trades?.bytes_a_row).toBeGreaterThan(10)
  expect(rows.length).toBeGreaterThan(20)
})

it('asks for tables and columns that have comments, all of them', async () => {
  const silent = `SELECT table, name FROM system.columns WHERE database = currentDatabase() AND comment = ''
    AND table IN (SELECT name FROM system.tables WHERE database = currentDatabase() AND (engine = 'View' OR name LIKE '%\\_log'))`
  expect(await analyst.rows(silent)).toEqual([])
  const tables = `SELECT name FROM system.tables WHERE database = currentDatabase() AND comment = ''
    AND (engine = 'View' OR name LIKE '%\\_log')`
  expect(await analyst.rows(tables)).toEqual([])
  const [counted] = await analyst.rows<{ columns: number }>(
    "SELECT count() AS columns FROM system.columns WHERE database = currentDatabase() AND table IN (SELECT name FROM system.tables WHERE engine = 'View' AND database = currentDatabase())",
  )
  expect(counted?.columns).toBeGreaterThan(500)
})

/** To six digits: what is worked out by hand has no more. */
function rounded(row: Record<string, unknown>): Record<string, unknown> {
  const round = (value: unknown): unknown => (typeof value === 'number' ? Number(value.toPrecision(6)) : value)
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, round(value)]))
}
