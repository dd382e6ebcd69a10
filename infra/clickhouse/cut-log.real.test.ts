import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, inject, it, vi } from 'vitest'
import { startBroker } from '../local/broker.ts'
import type { Child } from '../local/child.ts'
import { cutTail } from '../local/testing/faults.ts'
import { GroupOffsets } from '../kafka/group-offsets.ts'
import { connectLog } from '../kafka/kafkajs.ts'
import type { Log } from '../kafka/seam.ts'
import { createLog } from '../log.ts'
import { Rereader } from './reread.ts'
import { createWorld, FLUSH_MS, PARTITION, type World } from './testing/world.ts'

/** Longer than a reader that is no member by name keeps its partitions. */
const AWAY_MS = 8_000
/** A fetch has come back: it waits for half a second for more. */
const FETCHED_MS = 1_500

let dataDir: string
let broker: Child
let world: World
let log: Log | undefined
let rereader: Rereader | undefined
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'cut-log-'))
  broker = await start(0)
})
afterAll(async () => {
  await broker.stop()
  await rm(dataDir, { recursive: true, force: true })
})

afterEach(async () => {
  await rereader?.stop()
  await log?.close()
  rereader = log = undefined
  await world.end()
})

const start = (port: number): Promise<Child> =>
  startBroker({ dataDir, port, logFile: join(dataDir, 'kafka.log'), onProgress: () => undefined })

/** Trades of which the first has this venue id. */
const trades = (first: number, count: number): Buffer[] =>
  Array.from({ length: count }, (_, place) => {
    const id = first + place
    return world.trade({ first_id: id, last_id: id })
  })

const ids = (first: number, count: number) => Array.from({ length: count }, (_, place) => ({ id: first + place }))
const ID = 'SELECT toUInt32(first_id) AS id FROM trades ORDER BY id'
/** But what the broker lost for good. */
const KEPT = 'SELECT toUInt32(first_id) AS id FROM trades WHERE first_id NOT BETWEEN 40 AND 44 ORDER BY id'
const AFTER = 'SELECT toUInt32(first_id) AS id FROM trades WHERE first_id >= 1000 ORDER BY id'

it('reads what a broker that lost its tail writes at the places of what was lost', async () => {
  world = await createWorld('cut', { brokers: [broker.url] })
  for (let first = 0; first < 50; first += 10) await world.append('market.trades', trades(first, 10))
  await world.soon(ID, ids(0, 50))
  process.kill(broker.pid, 'SIGKILL')
  await broker.exited
  expect(await cutTail(dataDir, `${world.namespace}market.trades`, PARTITION, 20)).toMatchObject({ from: 30, to: 50 })
  await delay(AWAY_MS)
  const written = world.append('market.trades', trades(1_000, 40)) // before anyone reads again
  broker = await start(Number(broker.url.split(':')[1]))
  await written
  await world.soon(ID, [...ids(0, 50), ...ids(1_000, 40)])
}, 120_000)

it('reads again what it had fetched of a broker that came back with less, and dropped', async () => {
  world = await createWorld('dropped', { brokers: [broker.url] })
  await world.append('market.trades', trades(0, 10))
  await world.soon(ID, ids(0, 10))
  await look()
  for (const name of STALLED) await world.run(stalledView(name))
  await world.append('market.trades', trades(10, 10))
  await stalled()
  await world.append('market.trades', trades(20, 20))
  await world.append('market.trades', trades(40, 5))
  await delay(FETCHED_MS)
  process.kill(broker.pid, 'SIGKILL')
  await broker.exited
  expect(await cutTail(dataDir, `${world.namespace}market.trades`, PARTITION, 5)).toMatchObject({ from: 40, to: 45 })
  broker = await start(Number(broker.url.split(':')[1]))
  for (const name of STALLED) await world.run(`DROP VIEW ${name}`)
  await world.append('market.trades', trades(1_000, 10))
  await world.soon(AFTER, ids(1_000, 10))
  await look()
  expect(await world.rows(KEPT)).toEqual([...ids(0, 40), ...ids(1_000, 10)])
  expect(
    await world.rows("SELECT name FROM system.tables WHERE database = currentDatabase() AND name LIKE '%again%'"),
  ).toEqual([])
}, 120_000)

it('reads again what was written, while it was away, at the places of what was lost', async () => {
  world = await createWorld('away', { brokers: [broker.url] })
  for (let first = 0; first < 40; first += 10) await world.append('market.trades', trades(first, 10))
  await world.soon(ID, ids(0, 40))
  await look()
  await world.run('DETACH TABLE market_trades_queue')
  process.kill(broker.pid, 'SIGKILL')
  await broker.exited
  expect(await cutTail(dataDir, `${world.namespace}market.trades`, PARTITION, 20)).toMatchObject({ from: 20, to: 40 })
  broker = await start(Number(broker.url.split(':')[1]))
  await world.append('market.trades', trades(1_000, 40))
  await world.run('ATTACH TABLE market_trades_queue')
  await look()
  expect(await world.rows(ID)).toEqual([...ids(0, 40), ...ids(1_000, 40)])
}, 120_000)

/** As a process does that was started just now. */
async function look(): Promise<void> {
  await rereader?.stop()
  await log?.close()
  const { registryUrl, clickhouse } = inject('parts')
  const { namespace, database } = world
  const brokers = [broker.url]
  log = await connectLog({ brokers, namespace, clientId: 'test' })
  rereader = new Rereader({
    ...clickhouse,
    database,
    namespace,
    brokers,
    registryUrl,
    flushMs: FLUSH_MS,
    partitions: 4,
    reader: log.reader(),
    offsets: new GroupOffsets({ brokers, clientId: 'test' }),
    report: createLog('test'),
  })
  await rereader.look()
}

/** ClickHouse takes 15 s to write what it reads of trades: no statement of its own may wait for more than 3. */
const STALLED = ['a', 'b', 'c', 'd', 'e'].map((letter) => `stalled_${letter}`)
const stalledView = (name: string): string =>
  `CREATE MATERIALIZED VIEW ${name} ENGINE = Null AS SELECT sleep(3) AS slept FROM market_trades_in`

/** Resolves when it writes, and looks for nothing more meanwhile. */
async function stalled(): Promise<void> {
  const query =
    "SELECT now() > last_poll_time + 1 AS stalled FROM system.kafka_consumers WHERE database = currentDatabase() AND table = 'market_trades_queue'"
  await vi.waitFor(async () => expect(await world.rows(query)).toEqual([{ stalled: 1 }]), {
    timeout: 20_000,
    interval: 100,
  })
}
