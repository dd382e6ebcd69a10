import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Child } from '../../infra/local/child.ts'
import { cvdKey } from '../../processors/cvd/volumes.ts'
import { BUCKET, flowKey } from '../../processors/cvd/bucket.ts'
import { connectClickhouse, type Clickhouse } from '../../infra/clickhouse/client.ts'
import { loadCodec } from '../../infra/kafka/codec.ts'
import { connectLog } from '../../infra/kafka/kafkajs.ts'
import { plainCvd } from '../../api/testing/plain-cvd.ts'
import { PRICES } from '../../processors/prices/prices.ts'
import { emptyFields } from '../../schemas/codec.ts'
import { partitionOf } from '../../schemas/catalogue.ts'
import type { RecordType, Records, Flow, Micros } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { instrumentId, usualTradeVenues } from '../../schemas/venues.ts'
import type { Bench, Figure, BenchParts } from '../figure.ts'
import { prepareApi, program, startServer, type BenchEnvironment } from './system/api.ts'
import { percentiles } from './system/cost.ts'

const PARTITIONS = 4
const QUESTIONS = 60
/** What a first question may take, milliseconds. */
const LIMIT_MS = 50
/** Of one API, so that its code is compiled, as that of a service is. */
const WARM_UP = 15

/** A question that nobody asked before: nothing of its answer is kept. */
type Question = (n: number) => { readonly path: string; readonly body?: object }

const symbolOf = (n: number): string => symbols[n % symbols.length] ?? ''
/** `rows` and fewer, so that no two questions are equal. */
const fewer = (rows: number, n: number): number => rows - Math.floor(n / symbols.length)

/** What an answer is made of: rows of one table, in so many stretches of its order. */
interface Made {
  readonly rows: number
  readonly stretches: number
  /** Rows of the table that are read at once; a stretch begins and ends within one. */
  readonly granule: number
}

const venues = usualTradeVenues.length
const HOURS_OF_WEEK = 7 * 24
const BUCKETS_OF_HOUR = 360
const BUCKETS_OF_FIVE = 30
const FIVES_OF_HOUR = 12
const hoursOf = (days: number): number => days * 24
/** Of the table that says which hours of the past there are, in as many parts as are not merged at a time. */
const daysOf = (days: number): Made => ({ rows: (days + 1) * venues, stretches: 4, granule: 256 })
const buckets = (count: number, of = venues): Made => ({ rows: count * of, stretches: of, granule: 1_024 })
/** Of all venues, which the table has side by side. */
const fives = (count: number): Made => ({ rows: count * venues, stretches: 1, granule: 1_024 })
const hours = (count: number): Made => ({ rows: count * venues, stretches: venues, granule: 1_024 })
/** Of all venues: those that do not count are left out as they are read. */
const candles = (count: number): Made => ({ rows: count * venues, stretches: 1, granule: 1_024 })
/** Of the five minutes that run, and of the hour that runs. */
const newest = buckets(BUCKETS_OF_FIVE)
const running: readonly Made[] = [newest, fives(FIVES_OF_HOUR)]

interface Asked {
  readonly ask: Question
  /** What its answer is made of; left out: of as many prices as come near its target. */
  readonly made?: readonly Made[]
}

const questions: Readonly<Record<string, Asked>> = {
  'ohlcv, 1 h by 1m, one venue': {
    ask: (n) => ({ path: `/ohlcv/${symbolOf(n)}?interval=1m&limit=${fewer(60, n)}` }),
    made: [daysOf(1), buckets(BUCKETS_OF_HOUR, 1)],
  },
  'ohlcv, 24 h by 5m, all venues': {
    ask: (n) => ({ path: `/ohlcv/${symbolOf(n)}?interval=5m&exchange=all&limit=${fewer(288, n)}` }),
    made: [daysOf(1), fives(24 * FIVES_OF_HOUR), newest],
  },
  'ohlcv, 7 d by 15m, all venues': {
    ask: (n) => ({ path: `/ohlcv/${symbolOf(n)}?interval=15m&exchange=all&limit=${fewer(672, n)}` }),
    made: [daysOf(1), fives(HOURS_OF_WEEK * FIVES_OF_HOUR), newest],
  },
  'ohlcv, 7 d by 1h, all venues': {
    ask: (n) => ({ path: `/ohlcv/${symbolOf(n)}?interval=1h&exchange=all&limit=${fewer(168, n)}` }),
    made: [daysOf(90), hours(HOURS_OF_WEEK), ...running, candles(2)],
  },
  'ohlcv, 90 d by 4h, all venues': {
    ask: (n) => ({ path: `/ohlcv/${symbolOf(n)}?interval=4h&exchange=all&limit=${fewer(540, n)}` }),
    made: [daysOf(90), hours(HOURS_OF_WEEK), ...running, candles(hoursOf(90))],
  },
  // What the console's chart of a new installation asks for, page by page.
  'ohlcv, a page of 1,000 hours, all venues': {
    ask: (n) => ({ path: `/ohlcv/${symbolOf(n)}?interval=1h&exchange=all&limit=${fewer(1_000, n)}` }),
    made: [daysOf(90), hours(HOURS_OF_WEEK), ...running, candles(1_000)],
  },
  // Beside its range the hours before it since the first trade, from which the running total comes.
  'cvd/history, 1 h by 1m': {
    ask: (n) => ({ path: `/cvd/history/${symbolOf(n)}?interval=1m&limit=${fewer(60, n)}` }),
    made: [daysOf(1), hours(HOURS_OF_WEEK), ...running, buckets(BUCKETS_OF_HOUR)],
  },
  'cvd/history, 24 h by 5m': {
    ask: (n) => ({ path: `/cvd/history/${symbolOf(n)}?interval=5m&limit=${fewer(288, n)}` }),
    made: [daysOf(1), hours(HOURS_OF_WEEK), fives(25 * FIVES_OF_HOUR), newest],
  },
  'cvd/history, 7 d by 1h': {
    ask: (n) => ({ path: `/cvd/history/${symbolOf(n)}?interval=1h&limit=${fewer(168, n)}` }),
    made: [daysOf(90), hours(HOURS_OF_WEEK), ...running, candles(2)],
  },
  'cvd/history, 90 d by 4h': {
    ask: (n) => ({ path: `/cvd/history/${symbolOf(n)}?interval=4h&limit=${fewer(540, n)}` }),
    made: [daysOf(90), hours(HOURS_OF_WEEK), ...running, candles(hoursOf(90))],
  },
  // The first symbol has prices of a week, the others of 96 minutes.
  'alerts/backtest, 96 min of prices': { ask: (n) => whatIf(symbols[1 + (n % (symbols.length - 1))] ?? '', n) },
  'alerts/backtest, 7 d of prices': { ask: (n) => whatIf(symbolOf(0), n) },
}

/** Most rows that are read for it: of each stretch the granules at both ends are read whole. */
function explained(made: readonly Made[]): number {
  return made.reduce((sum, { rows, stretches, granule }) => sum + rows + 2 * stretches * granule, 0)
}

/** Targets over all of the range in which prices move, and a little beyond. */
function whatIf(symbol: string, n: number): { path: string; body: object } {
  const body = {
    symbol,
    days: 7,
    condition: n % 2 === 0 ? 'above' : 'crosses_below',
    target_price: 97.9 + (n % 41) * 0.1 + n / 1e4,
  }
  return { path: '/alerts/backtest', body }
}

/** First questions about ranges: how long each takes against its limit, and what ClickHouse reads for it. */
const bench: Bench = async (getParts) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-ranges-'))
  let api: Child | undefined
  try {
    const parts = await getParts()
    const place = await prepareApi(parts, { name: 'ranges', partitions: PARTITIONS, symbols })
    await fillRanges(parts, place, PARTITIONS)
    api = await startServer('api', program('api/main.ts'), folder, { ...place.env, TRUST_PROXY: '1' })
    const { url } = api
    const figures: Figure[] = []
    for (const [name, asked] of Object.entries(questions)) figures.push(...(await measure(url, name, asked)))
    return figures
  } finally {
    await api?.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

export default bench

async function measure(url: string, name: string, { ask: question, made }: Asked): Promise<Figure[]> {
  const count = QUESTIONS
  for (let n = count; n < count + WARM_UP; n++) await ask(url, question(n), n)
  const before = await readSoFar(url)
  const tookMs: number[] = []
  for (let n = 0; n < count; n++) {
    const sent = performance.now()
    await ask(url, question(n), n)
    tookMs.push(performance.now() - sent)
  }
  const after = await readSoFar(url)
  const each = (what: keyof Read): Figure => {
    const metric = `${name}, ${what === 'queries' ? what : `${what} read`}`
    return { metric, value: (after[what] - before[what]) / count, unit: 'a question', n: count }
  }
  return [
    ...percentiles(name, tookMs).map((figure) => ({ ...figure, baseline: LIMIT_MS })),
    each('queries'),
    { ...each('rows'), ...(made !== undefined && { baseline: explained(made) }) },
    each('bytes'),
  ]
}

/** Asks as a caller of its own, so that nobody is limited. */
async function ask(url: string, { path: target, body }: ReturnType<Question>, n: number): Promise<void> {
  const from = { 'x-forwarded-for': `10.0.${Math.floor(n / 200)}.${n % 200}` }
  const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const headers = { ...from, 'content-type': 'application/json' }
  const response = await fetch(url + target, { ...sent, headers })
  const text = await response.text()
  const answer = JSON.parse(text) as { cached?: unknown }
  if (response.status !== 200 || answer.cached !== false)
    throw new Error(`${target}: ${response.status} ${text.slice(0, 300)}`)
}

/** What the API's queries have read since it began. */
interface Read {
  readonly queries: number
  readonly rows: number
  readonly bytes: number
}

async function readSoFar(url: string): Promise<Read> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const value = (name: string): number => Number(new RegExp(`^${name}\\{service="api"\\} (\\S+)$`, 'm').exec(text)?.[1])
  return {
    queries: value('mda_api_query_seconds_count'),
    rows: value('mda_api_query_rows_total'),
    bytes: value('mda_api_query_bytes_total'),
  }
}

const SECOND: Micros = 1_000_000
const FIVE: Micros = 300 * SECOND
const DAY: Micros = 86_400 * SECOND
const WEEK: Micros = 7 * DAY
/** What a new installation reads back of each market: hours of 90 days, minutes of one. */
const past = [
  { seconds: 3_600, days: 90 },
  { seconds: 60, days: 1 },
] as const
/** Of one statement. */
const DEADLINE_MS = 120_000
const PRICES_PER_SECOND = 5
const SOME_PRICES: Micros = 96 * 60 * SECOND
/** Flow that is also in the log: the first rows, and those of the five minutes that run and half a minute before. */
const NEWEST_BUCKETS = 40

/** Twelve assets; each trades on all venues that count where nothing else is said, in every bucket of a week. */
export const symbols: readonly string[] = 'BTC ETH SOL XRP DOGE BNB ADA LINK AVAX LTC DOT UNI'.split(' ')
const assets = symbols.map((symbol) => symbol.toLowerCase())
const instrumentsOf = (asset: string): string[] =>
  usualTradeVenues.map(({ venue, market }) => instrumentId(venue, market, `${asset.toUpperCase()}USDT`))

/**
 * A week of flow by buckets, five minutes and hours of all assets, the venues' candles of 90 days, and prices: a week of the first asset,
 * 96 minutes of the others.
 */
export async function fillRanges(parts: BenchParts, place: BenchEnvironment, partitions: number): Promise<void> {
  const now = Math.floor((Date.now() * 1000) / BUCKET) * BUCKET + BUCKET / 2
  const clickhouse = connectClickhouse({ ...parts.clickhouse, database: place.database, deadlineMs: DEADLINE_MS })
  try {
    await fillTables(clickhouse, now)
    await fillLog(parts, place, { now, partitions })
    await arrived(clickhouse, now, partitions)
  } finally {
    await clickhouse.close()
  }
}

async function fillTables(clickhouse: Clickhouse, now: Micros): Promise<void> {
  const first = firstBucket(now)
  for (const [index, asset] of assets.entries()) {
    for (const instrument of instrumentsOf(asset)) {
      await clickhouse.run(flowSql, { asset, instrument, first, count: WEEK / BUCKET })
      for (const { seconds, days } of past)
        await clickhouse.run(pastSql, { asset, instrument, ...candlesOf(now, seconds, days) })
    }
    const from = now - (index === 0 ? WEEK : SOME_PRICES)
    const every = SECOND / PRICES_PER_SECOND
    await clickhouse.run(pricesSql, { asset, from, every, count: Math.floor((now - from) / every) })
  }
  const closed = bucketOf(now) - BUCKET
  await clickhouse.run(hoursSql, { closed })
  await clickhouse.run(fivesSql, { closed: closed - (closed % FIVE) })
}

/** The first of so many days, and how many there are; Binance's say what takers bought. */
function candlesOf(now: Micros, seconds: number, days: number): { first: Micros; seconds: number; count: number } {
  const width = seconds * SECOND
  const count = (days * DAY) / width
  return { first: Math.floor(now / width) * width - count * width, seconds, count }
}

const bucketOf = (time: Micros): Micros => time - (time % BUCKET)
const firstBucket = (now: Micros): Micros => bucketOf(now) - WEEK + BUCKET

const flowSql = `INSERT INTO flow_log (asset, instrument, bucket, part, buy, sell, buy_quote, sell_quote, buy_count,
  sell_count, open, high, low, close, open_time, close_time, first_id, last_id, final, v, partition, offset)
SELECT {asset:String}, {instrument:String}, fromUnixTimestamp64Micro({first:Int64} + toInt64(number) * ${BUCKET}, 'UTC') AS at, 0,
  (number * 7919 % 40961) / 1024 AS buy, (number * 6007 % 40961) / 1024 AS sell, buy * 100, sell * 100, 5, 6,
  100, 101, 99, 100.5, at + toIntervalSecond(1), at + toIntervalSecond(9), number * 20, number * 20 + 19, true, 1, 0, number
FROM numbers({count:UInt64})`

const pastSql = `INSERT INTO venue_candles_log (asset, instrument, seconds, start, open, high, low, close, volume, taker_buy,
  quote, taker_buy_quote, trades, source, received, partition, offset)
SELECT {asset:String}, {instrument:String}, {seconds:UInt32},
  fromUnixTimestamp64Micro({first:Int64} + toInt64(number) * {seconds:UInt32} * ${SECOND}, 'UTC') AS at, 100, 101, 99, 100.5,
  (number * 7919 % 40961) / 16 AS size, if(startsWith({instrument:String}, 'binance'), size / 2, NULL), NULL, NULL, NULL,
  'venue_candles', at, 0, number FROM numbers({count:UInt64})`

/** One row as the log has it, of which ClickHouse was given the same. */
function flowOf(asset: string, instrument: string, now: Micros, number: number): Flow {
  const bucket = firstBucket(now) + number * BUCKET
  const [buy, sell] = [((number * 7919) % 40961) / 1024, ((number * 6007) % 40961) / 1024]
  const volumes = { buy, sell, buy_quote: buy * 100, sell_quote: sell * 100, buy_count: 5, sell_count: 6 }
  const prices = { open: 100, high: 101, low: 99, close: 100.5 }
  const times = { open_time: bucket + SECOND, close_time: bucket + 9 * SECOND }
  const ids = { first_id: number * 20, last_id: number * 20 + 19, final: true, v: 1 }
  return { asset, instrument, bucket, part: 0, ...volumes, ...prices, ...times, ...ids }
}

const sums = `0 AS part, sum(flow.buy) AS buy, sum(flow.sell) AS sell, sum(flow.buy_quote) AS buy_quote,
  sum(flow.sell_quote) AS sell_quote, sum(flow.buy_count) AS buy_count, sum(flow.sell_count) AS sell_count,
  argMin(flow.open, flow.open_time) AS open, max(flow.high) AS high, min(flow.low) AS low,
  argMax(flow.close, flow.close_time) AS close, min(flow.open_time) AS open_time, max(flow.close_time) AS close_time,
  min(flow.first_id) AS first_id, max(flow.last_id) AS last_id, 1 AS v, 0 AS partition, 0 AS offset`
const columns = `part, buy, sell, buy_quote, sell_quote, buy_count, sell_count, open, high, low, close, open_time, close_time,
  first_id, last_id, v, partition, offset`
const closedFlow = `FROM flow_log AS flow FINAL WHERE flow.bucket < fromUnixTimestamp64Micro({closed:Int64}, 'UTC')`
const hoursSql = `INSERT INTO flow_hours_log (asset, instrument, hour, final, ${columns})
SELECT asset, instrument, toStartOfHour(flow.bucket) AS hour, true, ${sums} ${closedFlow} GROUP BY asset, instrument, hour`
const fivesSql = `INSERT INTO flow_fives_log (asset, instrument, start, ${columns})
SELECT asset, instrument, toStartOfFiveMinutes(flow.bucket) AS start, ${sums} ${closedFlow} GROUP BY asset, instrument, start`

/** Prices that go up and down between 98 and 102 some four times a day, with jitter, low and high. */
const pricesSql = `INSERT INTO prices_log (asset, time, price, low, high, quality, late, v, partition, offset)
SELECT {asset:String}, fromUnixTimestamp64Micro({from:Int64} + toInt64(number) * {every:Int64}, 'UTC'),
  100 + 2 * sin(number / 25000) + (cityHash64(number) % 40) / 1000 AS usd, usd - 0.001, usd + 0.001, 'good', 0,
  number + 1, 0, number FROM numbers({count:UInt64})`

interface Filled {
  readonly now: Micros
  readonly partitions: number
}

/** What the API holds in memory: venues, subscriptions, times, what has closed, the newest rows. */
async function fillLog({ brokers, registryUrl }: BenchParts, place: BenchEnvironment, filled: Filled): Promise<void> {
  const { now, partitions } = filled
  const codec = await loadCodec(registryUrl)
  const log = await connectLog({ brokers, namespace: place.namespace, clientId: 'bench-ranges' })
  const writer = log.writer()
  const put = async <Type extends RecordType>(
    topic: TopicName,
    partition: number,
    type: Type,
    rows: readonly (readonly [string, Records[Type]])[],
  ): Promise<void> => {
    const records = rows.map(([key, value]) => ({ key, value: codec.encode(topic, type, value), time: now / 1000 }))
    await writer.send(topic, partition, records)
  }
  try {
    for (const asset of assets) {
      const partition = partitionOf(asset, partitions)
      await put('market.instruments', 0, 'instrument', instrumentsOf(asset).map(listing(asset, now)))
      const told = numbersTold().flatMap((number) =>
        instrumentsOf(asset).map((instrument) => flowOf(asset, instrument, now, number)),
      )
      const counted = plainCvd(asset, told, { now })
      await put(
        'derived.flow',
        partition,
        'flow',
        told.map((row) => [flowKey(row), row]),
      )
      await put('derived.flow', partition, 'cvd', [[cvdKey(counted), counted]])
    }
    for (let partition = 0; partition < partitions; partition++) {
      const mark = {
        ...emptyFields('mark'),
        writer: 'bench',
        run: now - WEEK,
        time: now,
      }
      await put('derived.flow', partition, 'mark', [['bench', mark]])
      await put('alerts.inputs', partition, 'mark', [[PRICES, { ...mark, writer: PRICES, run: 0 }]])
      const mine = assets.filter((asset) => partitionOf(asset, partitions) === partition)
      await put('market.trades', partition, 'mark', [['feeds', { ...mark, writer: 'feeds', ...saidOf(mine, now) }]])
    }
  } finally {
    await log.close()
  }
}

function numbersTold(): number[] {
  const last = WEEK / BUCKET
  return [0, ...Array.from({ length: NEWEST_BUCKETS }, (_, index) => last - NEWEST_BUCKETS + index)]
}

function listing(asset: string, now: Micros): (instrument: string) => readonly [string, Records['instrument']] {
  return (instrument) => {
    const [venue = '', market = '', symbol = ''] = instrument.split(':')
    const names = { instrument, asset, venue, market, symbol, base: asset.toUpperCase() }
    const money = { quote: 'USDT', settle: 'USDT', size_factor: 1, price_factor: 1, tick: null }
    return [instrument, { ...names, ...money, status: 'live', source: 'venue', valid_from: now }]
  }
}

/** All venues are alive, all instruments acknowledged since a week. */
function saidOf(mine: readonly string[], now: Micros): Pick<Records['mark'], 'venues' | 'changes'> {
  const since = now - WEEK
  return {
    venues: usualTradeVenues.map(({ venue }) => ({ venue, state: 'live', sockets: 1, since })),
    changes: mine.flatMap((asset) =>
      instrumentsOf(asset).map((instrument) => ({ instrument, asset, state: 'acknowledged' as const, time: since })),
    ),
  }
}

/** ClickHouse has read the newest marks. */
async function arrived(clickhouse: Clickhouse, now: Micros, partitions: number): Promise<void> {
  const deadline = AbortSignal.timeout(DEADLINE_MS)
  const sql = `SELECT count() AS told FROM partition_times WHERE topic = 'derived.flow' AND toUnixTimestamp64Micro(time) = {now:Int64}`
  for (;;) {
    const [row] = await clickhouse.rows<{ told: number }>(sql, { now })
    if (row?.told === partitions) return
    if (deadline.aborted) throw new Error('ClickHouse has not read the marks: look into its log')
  }
}
