import { setTimeout as delay } from 'node:timers/promises'
import { connectClickhouse, type Clickhouse } from '../../infra/clickhouse/client.ts'
import { incomingOf } from '../../infra/clickhouse/incoming.ts'
import { loadMigrations, statementsOf } from '../../infra/clickhouse/migrations.ts'
import { ingestedTopics } from '../../infra/clickhouse/readings.ts'
import { workedQueries } from '../../infra/clickhouse/queries/queries.ts'
import type { BenchParts, Figure } from '../figure.ts'
import { percentiles } from './system/cost.ts'

/** Of all instruments together; `BENCH_TRADES=100000000` is what the figures of ranges in the README were made with. */
const TRADES = Number(process.env['BENCH_TRADES'] ?? 2_000_000)
const DAYS = 30
const START = Date.UTC(2026, 5, 1) * 1_000
const LENGTH = DAYS * 86_400_000_000
const RUNS = 100
/** Runs before them: they fill caches, and the third one has the query's expressions compiled. */
const WARM_UP_RUNS = 10
/** Of one statement: the largest fills an instrument with millions of trades. */
const DEADLINE_MS = 600_000
/** What such a question may take, milliseconds. */
const LIMIT_MS = 50

const assets: readonly (readonly [asset: string, price: number])[] = [
  ['btc', 61_800],
  ['eth', 2_685],
  ['sol', 154],
  ['xrp', 0.61],
  ['doge', 0.21],
]
const venues = ['binance:perp:', 'bybit:perp:', 'okx:perp:', 'coinbase:spot:']

/** Thirty days of one asset's hourly candles and volume delta among all trades, as worked queries read them. */
export default async function bench(parts: () => Promise<BenchParts>): Promise<readonly Figure[]> {
  const { clickhouse: access } = await parts()
  const database = `bench_queries_${process.pid}`
  const server = connectClickhouse({ ...access, deadlineMs: DEADLINE_MS })
  const clickhouse = connectClickhouse({ ...access, database, deadlineMs: DEADLINE_MS })
  try {
    await server.run(`CREATE DATABASE ${database} ENGINE = Atomic`)
    await fill(clickhouse)
    await settle(clickhouse)
    return await measure(clickhouse)
  } finally {
    await server.run(`DROP DATABASE IF EXISTS ${database}`)
    await Promise.all([server.close(), clickhouse.close()])
  }
}

/** Tables without ingestion; trades as numbers make them, and the flow, by buckets and hours, that follows from them. */
async function fill(clickhouse: Clickhouse): Promise<void> {
  const incoming = ingestedTopics.flatMap((topic) => incomingOf(topic, new Map()))
  const statements = loadMigrations().flatMap(({ text }) => statementsOf(text))
  for (const statement of [...incoming, ...statements]) await clickhouse.run(statement)
  const count = Math.ceil(TRADES / (assets.length * venues.length))
  for (const [asset, price] of assets) {
    for (const venue of venues) {
      const instrument = `${venue}${asset.toUpperCase()}USDT`
      const ids = venue.startsWith('bybit') ? 'cityHash64(number, 3) % 9007199254740992' : '1000000 + number'
      await clickhouse.run(tradesSql(ids), { asset, instrument, price, count })
      await clickhouse.run(flowSql, { asset, instrument })
    }
  }
  await clickhouse.run(hoursSql)
}

/** Waits until nothing is merged any more: so much is not written at once in life. */
async function settle(clickhouse: Clickhouse): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS
  for (;;) {
    const [row] = await clickhouse.rows<{ merges: number }>('SELECT count() AS merges FROM system.merges')
    if (row?.merges === 0) return
    if (performance.now() > deadline) throw new Error(`still merging after ${DEADLINE_MS / 1000} s`)
    await delay(500)
  }
}

const tradesSql = (
  ids: string,
): string => `INSERT INTO trades_log (asset, instrument, time, first_id, span, count, price,
  size, quote_bits, size_factor, price_factor, taker, received, origin, partition, offset)
SELECT {asset:String}, {instrument:String},
  fromUnixTimestamp64Micro(toInt64(${START} + intDiv(number * ${LENGTH}, {count:UInt64})), 'UTC') AS time,
  ${ids}, 0, 1,
  round({price:Float64} * (1 + 0.05 * sin(number / 1200000) + 0.0002 * (toInt64(cityHash64(intDiv(number, 4), 1) % 9) - 4)), 5),
  (1 + cityHash64(number, 5) % 4000) / 1000, 0, 1, 1, if(cityHash64(number, 7) % 2 = 0, 'buy', 'sell'),
  time + toIntervalMicrosecond(15000 + cityHash64(number, 9) % 30000), 'stream', 0, number
FROM numbers({count:UInt64})`

const flowSql = `INSERT INTO flow_log (asset, instrument, bucket, part, buy, sell, buy_quote, sell_quote, buy_count, sell_count,
  open, high, low, close, open_time, close_time, first_id, last_id, final, v, partition, offset)
SELECT asset, instrument, toDateTime64(intDiv(toUnixTimestamp64Micro(time), 10000000) * 10, 6, 'UTC') AS bucket, 0,
  sumIf(size, taker = 'buy'), sumIf(size, taker = 'sell'), sumIf(quote, taker = 'buy'), sumIf(quote, taker = 'sell'),
  countIf(taker = 'buy'), countIf(taker = 'sell'), argMin(price, (time, first_id)), max(price), min(price),
  argMax(price, (time, first_id)), min(time), max(time), min(first_id), max(first_id), true, max(offset), 0, max(offset)
FROM trades_log WHERE asset = {asset:String} AND instrument = {instrument:String} GROUP BY asset, instrument, bucket`

const hoursSql = `INSERT INTO flow_hours_log (asset, instrument, hour, part, buy, sell, buy_quote, sell_quote, buy_count,
  sell_count, open, high, low, close, open_time, close_time, first_id, last_id, final, v, partition, offset)
SELECT asset, instrument, toStartOfHour(flow.bucket) AS hour, 0, sum(flow.buy), sum(flow.sell), sum(flow.buy_quote),
  sum(flow.sell_quote), sum(flow.buy_count), sum(flow.sell_count), argMin(flow.open, (flow.open_time, flow.first_id)),
  max(flow.high), min(flow.low), argMax(flow.close, (flow.close_time, flow.last_id)), min(flow.open_time),
  max(flow.close_time), argMin(flow.first_id, (flow.open_time, flow.first_id)),
  argMax(flow.last_id, (flow.close_time, flow.last_id)), true, 0, 0, 0
FROM flow_log AS flow FINAL GROUP BY asset, instrument, hour`

const iso = (micros: number): string => new Date(micros / 1000).toISOString().replace('T', ' ').slice(0, 19)
const range = { asset: 'btc', venue: 'all', start: iso(START), end: iso(START + LENGTH), seconds: 3_600 }

async function measure(clickhouse: Clickhouse): Promise<Figure[]> {
  const [row] = await clickhouse.rows<{ value: number }>('SELECT count() AS value FROM trades_log')
  const n = row?.value ?? 0
  return [
    ...figures('a query that reads nothing', await times(clickhouse, 'SELECT 1'), n),
    ...figures('30 days of hourly candles', await times(clickhouse, sqlOf('01_ohlcv')), n),
    ...figures('30 days of hourly CVD of each venue', await times(clickhouse, cvdSql('time, venue, delta, cvd')), n),
    ...figures('the same with all columns', await times(clickhouse, cvdSql('*')), n),
  ]
}

const cvdSql = (
  columns: string,
): string => `SELECT ${columns} FROM cvd(asset = {asset:String}, seconds = {seconds:UInt32},
  start = {start:DateTime64(6, 'UTC')}, end = {end:DateTime64(6, 'UTC')})`

function sqlOf(name: string): string {
  const query = workedQueries().find((candidate) => candidate.name === name)
  if (query === undefined) throw new Error(`no worked query ${name}`)
  return query.sql
}

function figures(metric: string, taken: readonly number[], n: number): Figure[] {
  return percentiles(metric, taken).map((figure) => ({ ...figure, baseline: LIMIT_MS, n }))
}

/** Milliseconds. */
async function times(clickhouse: Clickhouse, sql: string): Promise<number[]> {
  const taken: number[] = []
  for (let run = 0; run < WARM_UP_RUNS + RUNS; run++) {
    const before = performance.now()
    await clickhouse.rows(sql, range)
    taken.push(performance.now() - before)
  }
  return taken.slice(WARM_UP_RUNS)
}
