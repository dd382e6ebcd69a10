import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { connectClickhouse, type Clickhouse } from '../../infra/clickhouse/client.ts'
import { createWorld, type World } from '../../infra/clickhouse/testing/world.ts'
import { flow } from '../../processors/audit/testing/records.ts'
import { noBuckets } from './buckets.ts'
import { noHole } from './compare.ts'
import { compareMinutes } from './minutes.ts'
import type { Report } from './reconcile.ts'
import { Candles } from './source-candles.ts'
import { nothing } from './totals.ts'

const MINUTE = 60_000_000
const M = 1_786_060_800_000_000
const instrument = 'binance:perp:BTCUSDT'

let world: World
let clickhouse: Clickhouse
let venue: Server
let url: string
beforeAll(async () => {
  world = await createWorld('minutes')
  const access = { ...inject('parts').clickhouse, database: world.database }
  clickhouse = connectClickhouse(access)
  const klines = [
    [M / 1000, '1', '1', '1', '1', '3.5', 0, '0', 7, '2', '0', '0'],
    [(M + MINUTE) / 1000, '1', '1', '1', '1', '3.001', 0, '0', 7, '2', '0', '0'],
  ]
  venue = createServer((_request, answer) => answer.end(JSON.stringify(klines)))
  await new Promise<void>((resolve) => venue.listen(0, '127.0.0.1', resolve))
  const address = venue.address()
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
})
afterAll(async () => {
  await clickhouse.close()
  await new Promise((resolve) => venue.close(resolve))
  await world.end()
})

it('compares our minutes in ClickHouse with what the venue answers', async () => {
  const rows = [
    flow({ bucket: M, buy: 1.5, sell: 0.5 }),
    flow({ bucket: M + 50_000_000, buy: 0.5, sell: 1 }),
    flow({ bucket: M + MINUTE, buy: 2, sell: 1 }),
  ]
  await world.append(
    'derived.flow',
    rows.map(({ value }) => world.codec.encode('derived.flow', 'flow', value)),
  )
  await world.soon('SELECT count() AS rows FROM flow_10s', [{ rows: 3 }])
  const accounts = {
    log: nothing,
    clickhouse: nothing,
    flow: nothing,
    gaps: [],
    leftOut: [],
    inGaps: noHole,
  }
  const report: Report = {
    window: { from: M, to: M + 2 * MINUTE },
    rows: [{ instrument, source: nothing, ...accounts, verdict: 'OK', differences: [], buckets: noBuckets }],
    duplicates: 0,
    refused: 0,
    stale: 0,
    sumsOff: 0,
    logGaps: [],
  }
  expect(await compareMinutes(clickhouse, new Candles({ binance: url }), report)).toMatchObject({
    compared: 2,
    explained: 0,
    methods: [{ venue: 'binance', minutes: 2 }],
    unexplained: [{ instrument, minute: M + MINUTE, comparison: { ours_volume: 3, theirs_volume: 3.001 } }],
  })
})
