import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, inject, it, vi } from 'vitest'
import { type RegistryCodec } from '../../infra/kafka/codec.ts'
import { ownTopics, type OwnTopics } from '../../infra/kafka/testing/topics.ts'
import type { Log } from '../../infra/kafka/seam.ts'
import { writeRunFile } from '../../infra/local/run-file.ts'
import { programFile } from '../../infra/local/system.ts'
import { startChild, type Child } from '../../infra/local/child.ts'
import { startSimulator, venueEnv } from '../../infra/simulator/start.ts'
import { tradeVenues } from '../../schemas/venues.ts'
import { orderKey, PastOrders } from './facts/past-orders.ts'
import type { Gap, Mark, Trade } from '../../schemas/records.ts'

const PARTITIONS = 4
/** Each with two markets in the ledger. */
const all = tradeVenues.map(({ venue }) => venue)
const unordered: ReadonlySet<string> = new Set(tradeVenues.flatMap(({ venue, ids }) => (ids === 'none' ? [venue] : [])))
const main = fileURLToPath(new URL('main.ts', import.meta.url))

const waiting = { timeout: 120_000, interval: 500 }

let own: OwnTopics
let folder: string
let codec: RegistryCodec
let log: Log
let simulator: Child
let feeds: Child[]

beforeEach(async () => {
  own = await ownTopics(inject('parts'), 'feeds', PARTITIONS)
  ;({ log, codec } = own)
  folder = mkdtempSync(path.join(tmpdir(), 'feeds-'))
  feeds = []
  const env = { SIMULATOR_RATE: '200', LOG_FORMAT: 'json' }
  simulator = await startSimulator({
    dataDir: path.join(folder, 'sim'),
    port: 0,
    logFile: path.join(folder, 'sim.log'),
    env,
  })
})

afterEach(async () => {
  await Promise.all([...feeds.map((feed) => feed.stop()), simulator.stop()])
  await log.close()
  rmSync(folder, { recursive: true, force: true })
})

it(
  'brings what the venues sent exactly once over faults, kill -9 and a second process',
  { timeout: 240_000 },
  async () => {
    const first = await feed('feeds-a', all)
    await grown(1_000)
    await begun()
    for (const kind of ['lost', 'doubled', 'reordered', 'malformed'])
      await fault({ kind, count: 30, duration_ms: 3_000 })
    await fault({ kind: 'disconnect', count: 3 })
    await fault({ kind: 'rest_429', duration_ms: 2_000 })
    await grown(1_000)
    process.kill(first.pid, 'SIGKILL')
    await first.exited
    await feed('feeds-a', all)
    await grown(500)
    // A second process for the same venues writes everything a second time.
    await feed('feeds-b', all)
    await grown(1_000)
    await post('/pause', {})
    await expectAll()
  },
)

it('misses nothing of what had not traded yet when a kill -9 came', { timeout: 240_000 }, async () => {
  await post('/pause', {})
  const first = await feed('feeds-a', all)
  await vi.waitFor(async () => expect(await ledger()).toHaveLength(2 * all.length), waiting)
  process.kill(first.pid, 'SIGKILL')
  await first.exited
  await post('/resume', {})
  await grown(500)
  await feed('feeds-a', all)
  await grown(200)
  await post('/pause', {})
  await expectAll()
})

it('says in its marks which venues are live and which subscriptions it has', async () => {
  await feed('feeds-a')
  const marks = await vi.waitFor(async () => {
    const { marks } = await readLog()
    const newest = marks.at(-1)?.venues.map(({ venue, state, sockets }) => `${venue} ${state} ${sockets}`)
    expect(newest).toEqual(['binance live 1', 'bybit live 2', 'okx live 1', 'coinbase live 1'])
    const acknowledged = marks.flatMap(({ changes }) => changes).filter(({ state }) => state === 'acknowledged')
    expect(new Set(acknowledged.map(({ instrument }) => instrument)).size).toBe(8)
    return marks
  }, waiting)
  expect(marks.every(({ run, writer }) => run > 0 && writer === 'feeds-a')).toBe(true)
})

it('streams an asset while somebody wants it', async () => {
  await feed('feeds-a')
  const wanted = { asset: 'pepe', wanter: 'api', asked: Date.now() * 1_000, until: (Date.now() + 3_600_000) * 1_000 }
  await want('pepe|api', codec.encode('control.subscriptions', 'subscription', wanted))
  await vi.waitFor(async () => expect(await statesOf('pepe')).toContain('acknowledged'), waiting)
  await want('pepe|api', null)
  await vi.waitFor(async () => expect(await statesOf('pepe')).toContain('ended'), waiting)
})

it('forgets the orders of the past that are taken back by the command', async () => {
  const day = 86_400_000_000
  const orders = [
    { asset: 'btc', from: 17_900 * day, to: 17_901 * day, archives: true, time: 1 },
    { asset: 'eth', from: 17_900 * day, to: 17_901 * day, archives: true, time: 1 },
  ]
  const records = orders.map((order) => {
    const value = codec.encode('control.backfill', 'backfill_order', order)
    return { key: orderKey(order), value, time: Date.now() }
  })
  await log.writer().send('control.backfill', 0, records)
  const { brokers, registryUrl } = inject('parts')
  const parts = [
    { name: 'broker', url: brokers.join(',') },
    { name: 'registry', url: registryUrl },
  ]
  writeRunFile(folder, { mode: 'demo', data: folder, partitions: PARTITIONS, parts })
  const args = [programFile('scripts/backfill.ts'), '--symbols', 'BTC', '--cancel', '--data', folder]
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env: { ...process.env, NAMESPACE: own.namespace },
  })
  expect(stdout).toContain('1 orders were taken back')
  const standing = new PastOrders()
  for await (const page of log.reader().toEnd('control.backfill', 0)) {
    for (const { key, value } of page) {
      const message = value === null ? null : codec.decode(value)
      standing.apply(String(key), message?.type === 'backfill_order' ? message.value : null)
    }
  }
  expect([...standing.assets]).toEqual(['eth'])
})

async function feed(name: string, counted: readonly string[] = []): Promise<Child> {
  const child = await startChild({
    name,
    command: [process.execPath, main],
    env: {
      ...own.env,
      ...venueEnv(simulator.url),
      FEED_NAME: name,
      SYMBOLS: 'BTC,ETH',
      ...(counted.length === 0 ? {} : { CVD_VENUES: counted.join(',') }),
    },
    logFile: path.join(folder, `${name}.log`),
    ready: 'message',
    readyWithinMs: 60_000,
    stopWithinMs: 12_000,
  })
  feeds.push(child)
  return child
}

/** Sooner or later the log is what the venues sent, and no gap is open. */
async function expectAll(): Promise<void> {
  await vi.waitFor(
    async () => {
      const { trades, gaps } = await readLog()
      expect(differences(await ledger(), trades, gaps)).toEqual([])
      expect(gaps.filter(({ state }) => state === 'opened')).toEqual([])
    },
    { timeout: 60_000, interval: 1_000 },
  )
}

interface LedgerRow {
  readonly venue: string
  readonly symbol: string
  readonly trades: number
  readonly buy_volume: string
  readonly sell_volume: string
}

async function ledger(range = ''): Promise<LedgerRow[]> {
  const response = await fetch(`${simulator.url}/ledger${range}`)
  return (await response.json()) as LedgerRow[]
}

async function post(where: string, body: unknown): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(simulator.url + where, { method: 'POST', headers, body: JSON.stringify(body) })
  expect(response.ok).toBe(true)
}

function fault(what: Readonly<Record<string, unknown>>): Promise<void> {
  return post('/faults', what)
}

/** Waits until the venues have sent `count` more trades. */
async function grown(count: number): Promise<void> {
  const total = async (): Promise<number> => (await ledger()).reduce((sum, { trades }) => sum + trades, 0)
  const before = await total()
  await vi.waitFor(async () => expect(await total()).toBeGreaterThan(before + count), {
    timeout: 60_000,
    interval: 200,
  })
}

/** Waits until the log has a trade of each market: what is lost before the venue's answer is read is not ours. */
async function begun(): Promise<void> {
  await vi.waitFor(async () => {
    const { trades } = await readLog()
    expect(new Set(trades.map(({ instrument }) => instrument)).size).toBe(2 * all.length)
  }, waiting)
}

async function want(key: string, value: Buffer | null): Promise<void> {
  const writer = log.writer()
  await writer.send('control.subscriptions', 0, [{ key, value, time: Date.now() }])
  await writer.close()
}

async function statesOf(asset: string): Promise<string[]> {
  const { marks } = await readLog()
  return marks.flatMap(({ changes }) => changes.filter((change) => change.asset === asset).map(({ state }) => state))
}

/** All records; of equal trades the first counts, as for every reader. Gaps: the newest state of each. */
async function readLog(): Promise<{ trades: Trade[]; gaps: Gap[]; marks: Mark[] }> {
  const reader = log.reader()
  const trades = new Map<string, Trade>()
  const gaps = new Map<string, Gap>()
  const marks: Mark[] = []
  for (let partition = 0; partition < PARTITIONS; partition++) {
    for await (const records of reader.toEnd('market.trades', partition)) {
      for (const { value } of records) {
        const message = value === null ? undefined : codec.decode(value)
        if (message?.type === 'mark') marks.push(message.value)
        if (message?.type === 'gap') gaps.set(`${message.value.instrument} ${message.value.gap_id}`, message.value)
        if (message?.type !== 'trade') continue
        const key = `${message.value.instrument} ${message.value.first_id}`
        if (!trades.has(key)) trades.set(key, message.value)
      }
    }
  }
  await reader.close()
  return { trades: [...trades.values()], gaps: [...gaps.values()], marks: marks.sort((a, b) => a.time - b.time) }
}

/** Each row of the ledger that the log does not equal; unfillable gaps are only allowed where the venue has no ids. */
function differences(rows: readonly LedgerRow[], trades: readonly Trade[], gaps: readonly Gap[]): string[] {
  expect(rows).toHaveLength(2 * all.length)
  return rows.flatMap((row) => {
    const own = trades.filter((trade) => isOf(trade.instrument, row.venue) && trade.asset === row.symbol.toLowerCase())
    const unknown = gaps.filter((gap) => gap.state === 'unfillable' && isOf(gap.instrument, row.venue))
    if (unordered.has(row.venue) && unknown.length > 0) return []
    const said = `${row.venue} ${row.symbol}`
    const open = gaps.filter((gap) => gap.state === 'opened' && isOf(gap.instrument, row.venue))
    const volume = (taker: string): number => own.filter((t) => t.taker === taker).reduce((sum, t) => sum + t.size, 0)
    return [
      ...(own.length === row.trades
        ? []
        : [`${said}: ${own.length} trades of ${row.trades}, ${open.length} gaps of the venue are open`]),
      ...(near(volume('buy'), Number(row.buy_volume)) ? [] : [`${said}: buy volume`]),
      ...(near(volume('sell'), Number(row.sell_volume)) ? [] : [`${said}: sell volume`]),
      ...unknown.map((gap) => `${said}: unfillable ${gap.reason}`),
    ]
  })
}

function isOf(instrument: string, venue: string): boolean {
  return instrument.startsWith(`${venue}:`)
}

/** Sums of doubles against exact sums. */
function near(a: number, b: number): boolean {
  return Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(b))
}
