import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createWorld, type World } from '../../infra/clickhouse/testing/world.ts'
import { openDatabase } from './clickhouse.ts'
import { createMetrics } from '../metrics.ts'
import type { Database } from './database.ts'
import { marks, openInterests, readFirst, topTraders, type Series } from './readings.ts'

/** Rows that ClickHouse reads at once. */
const GRANULE = 8_192
/** Of an instrument and month. */
const ROWS = 10_000

let world: World
let database: Database & { close(): Promise<void> }
const metrics = createMetrics()
beforeAll(async () => {
  world = await createWorld('readings')
  database = openDatabase({ ...inject('parts').clickhouse, database: world.database }, metrics)
})
afterAll(async () => {
  await database.close()
  await world.end()
})

/** What a table has beside asset, instrument and time: marks are not said at first, ratios of several cohorts. */
const columns = new Map<Series, Readonly<Record<string, string>>>([
  [openInterests, { open_interest: '5' }],
  [marks, { mark: 'if(number < 7, NULL, 100)', index_price: '100' }],
  [
    topTraders,
    { cohort: "if(number % 3 = 0, 'top_traders', 'all')", basis: "if(number % 2, 'positions', 'accounts')" },
  ],
])

/** BTC from the first month on, ETH from the third; OKX, the last by name, a day before the others as its past tells. */
async function fill(series: Series, months: readonly number[]): Promise<void> {
  const own = Object.entries(columns.get(series) ?? {})
  for (const month of months) {
    const start = `toDateTime64('2024-01-05 00:00:00', 6, 'UTC') + toIntervalMonth(${month})`
    const assets = month < 2 ? ['btc', 'sol'] : ['btc', 'eth', 'sol']
    await world.run(`INSERT INTO ${series.view}_log (asset, instrument, time, source, ${own.map(([name]) => name).join()})
      SELECT arrayJoin(${JSON.stringify(assets).replaceAll('"', "'")}), concat(arrayJoin(['binance', 'bybit', 'okx']) AS venue, ':perp:X'),
      ${start} + toIntervalSecond(number * 100) - toIntervalDay(venue = 'okx'), if(venue = 'okx', 'venue_history', 'live'),
      ${own.map(([, value]) => value).join()} FROM numbers(${ROWS})`)
  }
}

const plainFirst = async ({ view, where }: Series, asset: string): Promise<unknown> => {
  const sql = `SELECT toUnixTimestamp64Micro(min(time)) AS first FROM ${view} WHERE asset = '${asset}' AND ${where}`
  const [row] = await world.rows(sql)
  return row?.['first']
}

async function rowsRead(): Promise<number> {
  const [counted] = (await metrics.queryRows.get()).values
  return counted?.value ?? 0
}

describe('the first reading', () => {
  it.each([
    ['open interest', openInterests],
    ['marks', marks],
    ['ratios', topTraders],
  ])('of %s is found in as few rows, however long the history is', async (_, series) => {
    const read = async (asset: string): Promise<number> => {
      // It remembers where nothing was found.
      await world.run('SYSTEM DROP QUERY CONDITION CACHE')
      const before = await rowsRead()
      const first = await readFirst(database, series, asset)
      const rows = (await rowsRead()) - before
      expect([asset, first ?? 0]).toEqual([asset, await plainFirst(series, asset)])
      return rows
    }
    const readAll = async (): Promise<number[]> => {
      const rows = []
      for (const asset of ['btc', 'eth', 'sol']) rows.push(await read(asset))
      return rows
    }
    await read('btc')
    await fill(series, [0, 1, 2, 3, 4, 5])
    await read('none')
    const short = await readAll()
    await fill(series, [6, 7, 8, 9, 10, 11])
    const long = await readAll()
    // Of each part one row says when it begins and ends.
    for (const [index, rows] of long.entries()) expect(rows - (short[index] ?? 0)).toBeLessThan(GRANULE)
  })
})
