import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startBroker } from '../local/broker.ts'
import type { Child } from '../local/child.ts'
import { cutTail } from '../local/cut-tail.ts'
import { createWorld, PARTITION, type World } from './testing/world.ts'

/** Longer than a reader that is no member by name keeps its partitions. */
const AWAY_MS = 8_000

let dataDir: string
let broker: Child
let world: World
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'cut-log-'))
  broker = await start(0)
  world = await createWorld('cut', [broker.url])
})
afterAll(async () => {
  await world.end()
  await broker.stop()
  await rm(dataDir, { recursive: true, force: true })
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

it('reads what a broker that lost its tail writes at the places of what was lost', async () => {
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
