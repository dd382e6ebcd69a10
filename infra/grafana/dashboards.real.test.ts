import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { connectClickhouse, type Clickhouse } from '../clickhouse/client.ts'
import { attempt, trigger } from '../clickhouse/testing/small-world/business.ts'
import { risk } from '../clickhouse/testing/small-world/derived.ts'
import { fillSmallWorld } from '../clickhouse/testing/small-world/fill.ts'
import { M, SECOND } from '../clickhouse/testing/small-world/time.ts'
import { flow } from '../clickhouse/testing/small-world/trades.ts'
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

async function shown<Row>(file: string, title: string, look: object = {}): Promise<Row[]> {
  const dashboard = readDashboards().find((one) => one.file === file)
  const panel = dashboard?.panels.find((one) => one.title === title)
  return analyst.rows<Row>(fillIn(panel?.targets[0]?.rawSql ?? '', { ...range, variables: { asset: 'btc' }, ...look }))
}

it('tells funding by the year of the interval of its own time', async () => {
  const rows = await shown<{ series: string; annual_pct: number }>('market', 'Funding')
  // As 03_funding_heat: Binance had terms of 8 h then, and has some of 4 h now.
  const yearly = rows.map(({ series, annual_pct }) => [series, Math.round(annual_pct * 100) / 100] as const)
  expect(Object.fromEntries(yearly)).toEqual({ binance: 21.9, okx: -43.8 })
  expect(rows).toHaveLength(2)
})

it('draws all levels of the last estimate before the range ends', async () => {
  const estimate = (seconds: number, prices: readonly number[]) => {
    const levels = prices.map((price) => ({ price, long_usd: 1, short_usd: 2 }))
    return world.codec.encode('alerts.inputs', 'liquidation_risk', { ...risk(seconds, 0), asset: 'sol', levels })
  }
  await world.append('alerts.inputs', [estimate(0, [98]), estimate(200, [99, 101]), estimate(600, [102])])
  await world.soon("SELECT count() AS n FROM liquidation_risk WHERE asset = 'sol'", [{ n: 3 }])
  expect(await shown('market', 'Liquidation levels', { variables: { asset: 'sol' } })).toEqual([
    { price: '99', long_usd: 1, short_usd: 2 },
    { price: '101', long_usd: 1, short_usd: 2 },
  ])
})

/** A day before the small world. */
const B = Math.floor(M / (10 * SECOND)) * 10 * SECOND - 86_400 * SECOND
const before = { from: B / SECOND, to: B / SECOND + 599 }

it('tells trades a second as they were, in whole buckets of ten seconds, however near one looks', async () => {
  const instrument = 'okx:perp:SOL-USDT-SWAP'
  const flows = Array.from({ length: 60 }, (_, at) => {
    const told = { bucket: B + at * 10 * SECOND, buy_count: 60, sell_count: 40 }
    return { ...flow(instrument, 0, [1, 1, 1, 1], [1, 1]), asset: 'sol', ...told }
  })
  await world.append(
    'derived.flow',
    flows.map((value) => world.codec.encode('derived.flow', 'flow', value)),
  )
  await world.soon("SELECT count() AS n FROM flow_10s WHERE asset = 'sol'", [{ n: 60 }])
  const panel = readDashboards()
    .find(({ file }) => file === 'health')
    ?.panels.find(({ title }) => title === 'Trades')
  expect(panel?.interval).toBe('10s')
  for (const intervalSeconds of [1, 10, 15, 60]) {
    const rows = await shown<{ per_second: number }>('health', 'Trades', { ...before, intervalSeconds })
    expect([intervalSeconds, new Set(rows.map(({ per_second: rate }) => rate))]).toEqual([
      intervalSeconds,
      new Set([10]),
    ])
  }
})

describe('alerts', () => {
  beforeAll(async () => {
    const rang = { ...trigger, alert_id: 'alert_o', trigger_id: 'alert_o_1', kind: 'rule', time: B } as const
    const triggers = [rang, { ...rang, trigger_id: 'alert_o_1_over', time: B + 60 * SECOND }]
    const tried = { ...attempt, outcome: 'retry', status: null, error: 'timeout' } as const
    const attempts = [
      { alert_id: 'alert_o', trigger_id: 'alert_o_1', triggered: B, started: B + SECOND },
      { alert_id: 'alert_o', trigger_id: 'alert_o_1_over', triggered: B + 60 * SECOND, started: B + 360 * SECOND },
      ...['btc', 'eth'].map((asset, at) => {
        const id = `alert_p.${at + 1}.${asset}`
        return { alert_id: id, trigger_id: `${id}_1`, triggered: B, started: B + SECOND }
      }),
    ].map((one) => ({ ...tried, ...one, finished: one.started + SECOND }))
    // Its owner asked for the first of them again, and it was taken.
    const again = { started: B + 120 * SECOND, finished: B + 121 * SECOND }
    const resent = { ...attempt, alert_id: 'alert_o', trigger_id: 'alert_o_1', triggered: B, ...again }
    const active = ['alert_o', 'alert_p.1.btc', 'alert_p.2.eth', 'alert_q.a3', 'alert_q.a3.btc']
    const events = [...active.map((id) => [id, 'active'] as const), ['alert_r', 'cancelled'] as const]
    const rows = events.map(([id, status]) => `('${id}', 'created', 'rule', 'btc', '${status}', now64(6), 1)`)
    await Promise.all([
      world.append(
        'alerts.triggers',
        triggers.map((value) => world.codec.encode('alerts.triggers', 'trigger', value)),
      ),
      world.append(
        'webhooks.attempts',
        [...attempts, resent].map((value) => world.codec.encode('webhooks.attempts', 'attempt', value)),
      ),
      world.run(
        `INSERT INTO alert_events_log (alert_id, event, kind, asset, status, time, v) VALUES ${rows.join(', ')}`,
      ),
    ])
    await world.soon("SELECT count() AS n FROM triggers WHERE alert_id = 'alert_o'", [{ n: 2 }])
    await world.soon("SELECT count() AS n FROM webhook_attempts WHERE error = 'timeout'", [{ n: 4 }])
    await world.soon("SELECT count() AS n FROM webhook_attempts WHERE trigger_id = 'alert_o_1'", [{ n: 2 }])
  })

  it('that rang are told without what tells that a ring is over', async () => {
    expect(await shown('alerts', 'Triggers', before)).toEqual([{ triggers: 1 }])
    expect(await shown('alerts', 'Newest triggers', before)).toHaveLength(1)
    const [latency] = await shown('alerts', 'From price to first attempt', { ...before, intervalSeconds: 3_600 })
    expect(latency).toMatchObject({ p50_ms: 1_000, p99_ms: 1_000 })
  })

  it('tell of first attempts without what was sent again', async () => {
    expect(await shown('alerts', 'Delivered at once', before)).toEqual([{ pct: 0 }])
    const later = { ...before, from: B / SECOND + 30 }
    expect(await shown('alerts', 'From price to first attempt', later)).toEqual([])
  })

  it('for several symbols count once, whatever their parts', async () => {
    expect(await shown('alerts', 'Active alerts')).toEqual([{ active: 3 }])
    expect(await shown('alerts', 'Why attempts fail', before)).toEqual([
      { http_status: '', reason: 'timeout', attempts: 4, alerts: 2 },
    ])
  })
})
