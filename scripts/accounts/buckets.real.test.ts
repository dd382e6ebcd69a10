import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { connectClickhouse, type Clickhouse } from '../../infra/clickhouse/client.ts'
import { createWorld, T, type World } from '../../infra/clickhouse/testing/world.ts'
import { bucketOf, clickhouseBuckets } from './buckets.ts'
import { BUCKET_MICROS } from './totals.ts'

const first = bucketOf(T)

let world: World
let clickhouse: Clickhouse
beforeAll(async () => {
  world = await createWorld('buckets')
  clickhouse = connectClickhouse({ ...inject('parts').clickhouse, database: world.database })
})
afterAll(async () => {
  await clickhouse.close()
  await world.end()
})

it('adds up the trades of each ten seconds in ClickHouse, by side, and leaves out what is not in the window', async () => {
  const rows = [
    { first_id: 1, time: first, taker: 'buy', price: 100, size: 2 },
    { first_id: 2, time: first + BUCKET_MICROS - 1, taker: 'sell', price: 101, size: 3 },
    { first_id: 3, time: first + BUCKET_MICROS, taker: 'buy', price: 99, size: 0.5 },
    { first_id: 4, time: first + 2 * BUCKET_MICROS, taker: 'buy', price: 99, size: 1 },
  ] as const
  await world.append(
    'market.trades',
    rows.map((row) => world.trade({ ...row, last_id: row.first_id })),
  )
  await world.soon('SELECT count() AS rows FROM trades', [{ rows: 4 }])
  const found = await clickhouseBuckets(clickhouse, { from: first, to: first + 2 * BUCKET_MICROS })
  expect([...(found.get('binance:perp:BTCUSDT') ?? [])].sort(([a], [b]) => a - b)).toEqual([
    [
      first,
      { count: 2, buy: 2, sell: 3, buyQuote: 200, sellQuote: 303, low: 100, high: 101, times: BUCKET_MICROS - 1 },
    ],
    [first + BUCKET_MICROS, { count: 1, buy: 0.5, sell: 0, buyQuote: 49.5, sellQuote: 0, low: 99, high: 99, times: 0 }],
  ])
})
