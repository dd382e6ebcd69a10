import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { connectClickhouse, type Clickhouse } from '../clickhouse/client.ts'
import { fillSmallWorld } from '../clickhouse/testing/small-world/fill.ts'
import { M, SECOND } from '../clickhouse/testing/small-world/time.ts'
import { createWorld, type World } from '../clickhouse/testing/world.ts'
import { fillIn, readDashboards } from './testing/dashboards.ts'

let world: World
let analyst: Clickhouse
beforeAll(async () => {
  world = await createWorld('grafana')
  await fillSmallWorld(world)
  await world.append('control.answers', [world.codec.encode('control.answers', 'answer_count', answered)], 0)
  await world.soon('SELECT count() AS rows FROM answer_counts', [{ rows: 1 }])
  const { url } = inject('parts').clickhouse
  analyst = connectClickhouse({ url, user: 'analyst', password: '', database: world.database })
})
afterAll(async () => {
  await analyst.close()
  await world.end()
})

/** What an API told a moment ago: promises are looked at over the last days, whatever the range. */
const told = Date.now() * 1000 - 60 * SECOND
const answered = { instance: 'a:1', from_time: told, to_time: told + 10 * SECOND, answers: 5, failed: 0, slow: 1 }

/** The four minutes of the small world, looked at by the minute. */
const range = { from: M / SECOND - 60, to: M / SECOND + 300, intervalSeconds: 60 }
/** Of what the small world tells nothing: events of alerts, states of venues, bad records, the last day. */
const silent = new Set([
  'Events of alerts',
  'Venues',
  'Channels that are not live',
  'Records that could not be read',
  'Records set aside',
  'Audit of the last day',
  'Age of trades at receipt',
  'Promises not kept',
])

describe.each(readDashboards().map((dashboard) => [dashboard.file, dashboard] as const))('%s', (_, dashboard) => {
  const { panels, templating } = dashboard
  const variables = Object.fromEntries(templating.list.map(({ name, current }) => [name, current.value]))

  it.each(panels.map((panel) => [panel.title, panel] as const))(
    'has a panel that answers: %s',
    async (title, panel) => {
      for (const { rawSql, format } of panel.targets) {
        const rows = await analyst.rows<Record<string, unknown>>(fillIn(rawSql, { ...range, variables }))
        expect(rows.length > 0).toBe(!silent.has(title))
        if (format !== 0) continue
        const names = Object.keys(rows[0] ?? { time: 0, value: 0 })
        expect([names[0], names.length > 1]).toEqual(['time', true])
      }
    },
  )

  it('fills its variables, with the preset one among them', async () => {
    for (const { name, type, query, current } of templating.list) {
      const values =
        type === 'query'
          ? (await analyst.rows<Record<string, unknown>>(query)).map((row) => String(Object.values(row)[0]))
          : query.split(',')
      expect([name, values]).toEqual([name, expect.arrayContaining([current.value])])
    }
  })
})

it('tells funding by the year of the interval of its own time', async () => {
  const market = readDashboards().find(({ file }) => file === 'market')
  const panel = market?.panels.find(({ title }) => title === 'Funding')
  const sql = fillIn(panel?.targets[0]?.rawSql ?? '', { ...range, variables: { asset: 'btc' } })
  const rows = await analyst.rows<{ series: string; annual_pct: number }>(sql)
  // As 03_funding_heat: Binance had terms of 8 h then, and has some of 4 h now.
  const yearly = rows.map(({ series, annual_pct }) => [series, Math.round(annual_pct * 100) / 100] as const)
  expect(Object.fromEntries(yearly)).toEqual({ binance: 21.9, okx: -43.8 })
  expect(rows).toHaveLength(2)
})
