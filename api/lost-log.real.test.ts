import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Child } from '../infra/local/child.ts'
import { partitionOf } from '../schemas/catalogue.ts'
import type { Mark, Message, Micros } from '../schemas/records.ts'
import type { TopicName } from '../schemas/topics.ts'
import { textOf } from './testing/alert-calls.ts'
import { ownLog, PARTITIONS, type OwnLog } from './testing/own-log.ts'
import { call, priceAlert, priceMessages } from './testing/real-calls.ts'

const PARTITION = partitionOf('btc', PARTITIONS)
const SECOND: Micros = 1_000_000
const HOUR = 3_600 * SECOND
const INSTRUMENT = 'binance:perp:BTCUSDT'
const PATIENCE = { timeout: 60_000, interval: 200 }

/** A moment of this run; what is written lies around it. */
const begun = Date.now() * 1_000

let own: OwnLog
let processors: Child | undefined
let api: Child | undefined

beforeAll(async () => {
  own = await ownLog('lost', 'cvd,alerts')
  api = await own.start('api', 'api')
}, 180_000)

afterAll(() => own.close(api, processors))

/** A record as of `time`, which is its Kafka time too. */
async function write(topic: TopicName, message: Message, time: Micros): Promise<void> {
  const value = own.codec.encode(topic, message.type, message.value)
  await own.log.writer().send(topic, PARTITION, [{ key: 'btc', value, time: Math.floor(time / 1_000) }])
}

/** What the feeds say once a second: Binance is there, and streams BTC. */
function marked(time: Micros): Promise<void> {
  const since = begun - 3 * HOUR
  const changes: Mark['changes'] = [{ instrument: INSTRUMENT, asset: 'btc', state: 'acknowledged', time: since }]
  const venues: Mark['venues'] = [{ venue: 'binance', state: 'live', sockets: 1, since }]
  return write(
    'market.trades',
    { type: 'mark', value: { writer: 'feeds', run: since, time, venues, changes, venue_time: time, positions: [] } },
    time,
  )
}

function traded(id: number, time: Micros): Promise<void> {
  const ids = { instrument: INSTRUMENT, asset: 'btc', first_id: id, last_id: id, count: 1, sequence: null }
  const figures = { price: 100, size: 1, quote: 100, size_factor: 1, price_factor: 1, taker: 'buy' } as const
  const value = { ...ids, ...figures, time, received: time, origin: 'stream', gap_id: null } as const
  return write('market.trades', { type: 'trade', value }, time)
}

function running(): Child {
  if (api === undefined) throw new Error('the API did not start')
  return api
}

/** An answer as of now: the feeds have marked the time. */
async function answer(target: string): Promise<Record<string, unknown>> {
  await marked(Date.now() * 1_000)
  return (await call(running(), 'GET', target)).body
}

/** The processors are stopped, a part of a topic comes and goes before they are there again. */
async function lose(topic: TopicName, write: () => Promise<void>): Promise<void> {
  await processors?.stop()
  await write()
  const offset = (await own.log.reader().offsets(topic, [PARTITION], 'end')).get(PARTITION) ?? 0
  await own.log.trim({ topic, partition: PARTITION, offset })
  processors = await own.start('processors', 'processors')
}

it('a log that lost trades before they were counted is told in every answer over that time', async () => {
  await marked(begun - 3 * HOUR)
  await traded(1, begun - 3 * HOUR)
  await marked(begun - 120 * SECOND)
  await traded(2, begun - 119 * SECOND)
  processors = await own.start('processors', 'processors')
  const whole = { buy_volume: 1, coverage: { complete: true, gaps: [] } }
  await expect.poll(() => answer('/cvd/BTC'), PATIENCE).toMatchObject(whole)
  const lost = Date.now() * 1_000
  await lose('market.trades', () => traded(3, lost))
  const shown = { exchange: 'all', state: 'lost', missing: null }
  await expect
    .poll(() => answer('/cvd/BTC'), PATIENCE)
    .toMatchObject({
      buy_volume: 1,
      coverage: { complete: false, gaps: [shown] },
      exchanges: { binance: { status: 'gap' } },
    })
  const minute = new Date(Math.floor(lost / 60 / SECOND) * 60_000).toISOString()
  const bucket = expect.objectContaining({ time: minute, complete: false, completeness: 'gap' }) as object
  const coverage = { complete: false, gaps: [shown] }
  await expect
    .poll(() => answer('/cvd/history/BTC?interval=1m&limit=9'), PATIENCE)
    .toMatchObject({ points: expect.arrayContaining([bucket]) as object, coverage })
  await expect.poll(() => answer('/ohlcv/BTC?interval=1m&limit=9'), PATIENCE).toMatchObject({ coverage })
  const newest = { reader: 'cvd', topic: 'market.trades', partition: PARTITION, reason: 'retention' }
  await expect.poll(() => answer('/healthz'), PATIENCE).toMatchObject({ log_gaps: { count: 1, newest } })
}, 180_000)

it('an alert tells of the time in which the log lost what it watches', async () => {
  const created = await call(running(), 'POST', '/price-alert', { body: priceAlert() })
  expect(created.status).toBe(201)
  const target = `/price-alert/${textOf(created.body['alert_id'])}`
  await expect.poll(() => answer(target), PATIENCE).toMatchObject({ status: 'active', gaps: [] })
  await lose('alerts.inputs', async () => {
    for (const message of priceMessages(200_000)) await write('alerts.inputs', message, Date.now() * 1_000)
  })
  const at = expect.any(String) as string
  await expect.poll(() => answer(target), PATIENCE).toMatchObject({ trigger_count: 0, gaps: [{ from: at, to: at }] })
  expect(await answer('/price-alerts?symbol=BTC')).toMatchObject({ alerts: [{ gaps: [{ from: at, to: at }] }] })
}, 180_000)
