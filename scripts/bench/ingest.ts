import { setTimeout as delay } from 'node:timers/promises'
import { connectClickhouse, type Clickhouse } from '../../infra/clickhouse/client.ts'
import { migrate } from '../../infra/clickhouse/migrate.ts'
import type { Log, OutRecord } from '../../infra/kafka/seam.ts'
import { ownTopics } from '../../infra/kafka/testing/topics.ts'
import { partitionOf } from '../../schemas/catalogue.ts'
import type { Codec } from '../../schemas/codec.ts'
import type { Trade } from '../../schemas/records.ts'
import type { BenchParts, Figure } from '../figure.ts'
import { percentiles } from './system/cost.ts'

const PARTITIONS = 12
/** As CLICKHOUSE_FLUSH_MS is unless it is set. */
const FLUSH_MS = 1_000
const RECORDS = 500_000
const BATCH = 1_000
const PROBES = 100
/** Probes come at uneven times, so that they do not keep step with the flushes. */
const PROBE_PAUSE_MS_MAX = 150
/** Often where a delay is measured, seldom where the looking itself would slow the flow. */
const LOOK_MS = 2
const LOOK_SELDOM_MS = 50
const ARRIVES_WITHIN_MS = 120_000
const START = 1_722_850_000_000_000
const markets = [
  { instrument: 'binance:perp:BTCUSDT', asset: 'btc', price: 61_800, tick: 0.1 },
  { instrument: 'okx:perp:ETH-USDT-SWAP', asset: 'eth', price: 2_685, tick: 0.01 },
  { instrument: 'coinbase:spot:SOL-USD', asset: 'sol', price: 154, tick: 0.01 },
  { instrument: 'bybit:perp:XRPUSDT', asset: 'xrp', price: 0.61, tick: 0.0001 },
]

/** Trades from Kafka into ClickHouse: rows a second, bytes a trade, and how long one takes to be found by a query. */
export default async function bench(parts: () => Promise<BenchParts>): Promise<readonly Figure[]> {
  const shared = await parts()
  const { brokers, registryUrl, clickhouse: at } = shared
  const name = `bench_ingest_${process.pid}`
  const { log, codec, namespace } = await ownTopics(shared, 'bench-ingest', PARTITIONS)
  const access = { ...at, database: name }
  const clickhouse = connectClickhouse(access)
  try {
    await fill(log, codec)
    await migrate({ ...access, namespace, brokers, registryUrl, flushMs: FLUSH_MS })
    const figures = [await rate(clickhouse), await size(clickhouse)]
    return [...figures, ...(await delays(log, codec, clickhouse))]
  } finally {
    await clickhouse.run(`DROP DATABASE IF EXISTS ${name}`)
    await clickhouse.close()
    await log.close()
  }
}

async function fill(log: Log, codec: Codec): Promise<void> {
  const writer = log.writer()
  const walk = market(codec)
  for (let written = 0; written < RECORDS; written += BATCH * markets.length) {
    await Promise.all(
      markets.map(({ asset }, index) => {
        const records = Array.from({ length: BATCH }, () => walk(index))
        return writer.send('market.trades', partitionOf(asset, PARTITIONS), records)
      }),
    )
  }
  await writer.close()
}

/** A seeded walk over ticks with bursts in time and sizes over three orders of magnitude, as trades have them. */
function market(codec: Codec): (index: number) => OutRecord {
  let seed = 1
  const random = (): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return seed / 2 ** 32
  }
  const states = markets.map(({ price, tick }) => ({ ticks: Math.round(price / tick), id: 1_000_000, time: START }))
  return (index) => {
    const state = states[index]
    const { instrument, asset, tick } = markets[index] ?? {}
    if (state === undefined || instrument === undefined || asset === undefined || tick === undefined)
      throw new Error(`no market ${index}`)
    if (random() < 0.4) state.ticks += Math.round((random() - 0.5) * 6)
    if (random() < 0.5) state.time += Math.ceil(random() * 80) * 1000
    state.id += 1
    const price = Number((state.ticks * tick).toFixed(4))
    const amount = Number(Math.exp(random() * 7 - 6).toFixed(3)) + 0.001
    const trade = tradeOf({
      instrument,
      asset,
      first_id: state.id,
      last_id: state.id,
      price,
      size: amount,
      time: state.time,
    })
    const taker = random() < 0.5 ? ('buy' as const) : ('sell' as const)
    const received = state.time + 3000 + Math.floor(random() * 4000)
    const value = codec.encode('market.trades', 'trade', { ...trade, taker, received })
    return { key: asset, value, time: Math.floor(received / 1000) }
  }
}

function tradeOf(of: Pick<Trade, 'instrument' | 'asset' | 'first_id' | 'last_id' | 'price' | 'size' | 'time'>): Trade {
  const rest = { count: 1, sequence: null, size_factor: 1, price_factor: 1, gap_id: null, origin: 'stream' } as const
  return { ...of, ...rest, quote: of.price * of.size, taker: 'buy', received: of.time }
}

const count = async (clickhouse: Clickhouse, where = '1'): Promise<number> => {
  const [row] = await clickhouse.rows<{ n: number }>(`SELECT count() AS n FROM trades_log WHERE ${where}`)
  return row?.n ?? 0
}

async function until(done: () => Promise<boolean>, everyMs = LOOK_SELDOM_MS): Promise<void> {
  const deadline = AbortSignal.timeout(ARRIVES_WITHIN_MS)
  while (!(await done())) {
    if (deadline.aborted) throw new Error(`rows did not arrive within ${ARRIVES_WITHIN_MS} ms`)
    await delay(everyMs)
  }
}

/** From the first block on, since joining the consumer group takes seconds; beside the engine storing the same rows. */
async function rate(clickhouse: Clickhouse): Promise<Figure> {
  await until(async () => (await count(clickhouse)) > 0)
  const [first, started] = [await count(clickhouse), performance.now()]
  await until(async () => (await count(clickhouse)) === RECORDS)
  const value = (RECORDS - first) / ((performance.now() - started) / 1000)
  await clickhouse.run('CREATE TABLE copy AS trades_log')
  const copying = performance.now()
  await clickhouse.run('INSERT INTO copy SELECT * FROM trades_log')
  const baseline = RECORDS / ((performance.now() - copying) / 1000)
  const metric = 'Kafka to trades_log, against INSERT SELECT'
  return { metric, value, unit: 'rows/s', baseline, n: RECORDS - first }
}

async function size(clickhouse: Clickhouse): Promise<Figure> {
  await clickhouse.run('OPTIMIZE TABLE trades_log FINAL')
  const [row] = await clickhouse.rows<{ value: number }>(
    `SELECT sum(bytes_on_disk) / sum(rows) AS value FROM system.parts
     WHERE active AND database = currentDatabase() AND table = 'trades_log'`,
  )
  return { metric: 'stored trade, merged', value: row?.value ?? NaN, unit: 'bytes', n: RECORDS }
}

/** One trade at a time: from its Kafka record time to the first query that finds it. */
async function delays(log: Log, codec: Codec, clickhouse: Clickhouse): Promise<Figure[]> {
  const writer = log.writer()
  const found: number[] = []
  const [{ instrument, asset }] = markets as [(typeof markets)[number]]
  for (let probe = 1; probe <= PROBES; probe += 1) {
    await delay(Math.random() * PROBE_PAUSE_MS_MAX)
    const time = Date.now()
    const trade = tradeOf({ instrument, asset, first_id: probe, last_id: probe, price: 1, size: 1, time: time * 1000 })
    const value = codec.encode('market.trades', 'trade', trade)
    await writer.send('market.trades', partitionOf(asset, PARTITIONS), [{ key: asset, value, time }])
    const where = `asset = '${asset}' AND time = fromUnixTimestamp64Micro(${time * 1000}) AND first_id = ${probe}`
    await until(async () => (await count(clickhouse, where)) > 0, LOOK_MS)
    found.push(Date.now() - time)
  }
  await writer.close()
  return percentiles('Kafka record time to queryable', found)
}
