import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { connectClickhouse, type Clickhouse } from '../client.ts'
import { fillSmallWorld } from '../testing/small-world/fill.ts'
import { createWorld, type World } from '../testing/world.ts'
import { answers } from './answers.ts'
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
