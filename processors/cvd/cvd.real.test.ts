import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, inject, it, vi } from 'vitest'
import { hostClock } from '../../infra/clock.ts'
import { type RegistryCodec } from '../../infra/kafka/codec.ts'
import { ownTopics, type OwnTopics } from '../../infra/kafka/testing/topics.ts'
import { groupMembership } from '../../infra/kafka/membership.ts'
import type { Log } from '../../infra/kafka/seam.ts'
import { forgotten } from '../../infra/kafka/testing/owners.ts'
import { startChild, type Child } from '../../infra/local/child.ts'
import { freeze } from '../../infra/local/testing/faults.ts'
import type { Flow, Message, Micros } from '../../schemas/records.ts'
import { catchUpAll, findBesides } from '../kernel/beside.ts'
import { Decoder } from '../kernel/decoder.ts'
import type { ProcessorRow } from '../kernel/processor.ts'
import { quietMeter, quietReport } from '../kernel/quiet.ts'
import { runProcessors } from '../kernel/run.ts'
import { generationOf } from '../kernel/version.ts'
import { takeIn } from '../present/present.ts'
import { emptyPresent } from '../present/state.ts'
import { processorsNamed } from '../topology.ts'
import { CVD } from './cvd.ts'
import { mark, T0, trade } from './testing/records.ts'

const PARTITIONS = 2
/** Above that of the code. */
const GENERATION = 9
const rest = {
  snapshots: { everyMs: 200, everyRecords: 25_000 },
  sessionMs: 6_000,
  onLostLog: 'go-on',
  retentionBytes: 1e12,
} as const
const quietPorts = { hint: () => Promise.resolve(), clock: hostClock, meter: quietMeter, report: quietReport }
const main = fileURLToPath(new URL('../main.ts', import.meta.url))

let own: OwnTopics
let namespace: string
let folder: string
let codec: RegistryCodec
let log: Log
let hosts: Child[]

beforeEach(async () => {
  own = await ownTopics(inject('parts'), 'cvd', PARTITIONS)
  ;({ log, codec, namespace } = own)
  folder = mkdtempSync(path.join(tmpdir(), 'cvd-'))
  hosts = []
})

afterEach(async () => {
  await Promise.all(hosts.map((host) => host.stop()))
  await log.close()
  rmSync(folder, { recursive: true, force: true })
})

it('counts every trade once over kill -9, restart and clean stop', async () => {
  const first = await host()
  await produce(0, 3_000)
  await caughtUp(3_000)
  process.kill(first.pid, 'SIGKILL')
  await first.exited
  await produce(3_000, 6_000)
  const second = await host()
  await caughtUp(6_000)
  await second.stop()
  await produce(6_000, 9_000)
  await host()
  await caughtUp(9_000)
  expect(await totals()).toEqual(expected(9_000))
})

it.each([
  ['at once', () => Promise.resolve()],
  ['when the broker had forgotten it', () => forgotten(inject('parts').brokers)],
])('refuses a frozen host that wakes after another has claimed its partitions, %s', async (_when, away) => {
  const first = await host()
  await produce(0, 2_000)
  await caughtUp(2_000)
  await freeze(first.pid)
  await away()
  await produce(2_000, 4_000)
  await host()
  await caughtUp(4_000)
  process.kill(first.pid, 'SIGCONT')
  await vi.waitFor(async () => expect(await metric(first, 'mda_processor_fenced_total')).toBeGreaterThan(0), 20_000)
  process.kill(first.pid, 'SIGKILL') // with fixed ownership both would claim for ever
  await first.exited
  await produce(4_000, 6_000)
  await caughtUp(6_000)
  expect(await totals()).toEqual(expected(6_000))
})

it('shares partitions among the hosts of a group and takes over those of one that dies', async () => {
  const first = await host({ MEMBERSHIP: 'group' })
  await host({ MEMBERSHIP: 'group' })
  const running = (): Promise<number> => metric(first, 'mda_processor_partitions', 'running')
  await expect.poll(running, { timeout: 20_000 }).toBe(1)
  await produce(0, 2_000)
  await caughtUp(2_000)
  process.kill(first.pid, 'SIGKILL')
  await produce(2_000, 4_000)
  await caughtUp(4_000)
  expect(await totals()).toEqual(expected(4_000))
})

it('hands over to a higher generation under load: it catches up beside two hosts of the older one, which then end', async () => {
  const old = [
    await host({ MEMBERSHIP: 'group', PROCESSORS: CVD }),
    await host({ MEMBERSHIP: 'group', PROCESSORS: CVD }),
  ]
  const running = (): Promise<number[]> =>
    Promise.all(old.map((each) => metric(each, 'mda_processor_partitions', 'running')))
  await expect.poll(running, { timeout: 20_000 }).toEqual([1, 1])
  await produce(0, 6_000)
  await caughtUp(6_000)
  const row = { ...(processorsNamed([CVD])[0] as ProcessorRow), generation: GENERATION }
  const ports = { ...quietPorts, log, reader: log.reader(), codec, lookUp: (id: number) => codec.lookUp(id) }
  const decoder = new Decoder(codec, ports.lookUp)
  // What is derived is told before the state that it came of is written.
  const find = (): ReturnType<typeof findBesides> =>
    findBesides(row, [0, 1], { ports, decoder, partitions: PARTITIONS })
  const besides = await vi.waitUntil(
    async () => {
      const found = await find()
      return found.size === PARTITIONS && found
    },
    { timeout: 20_000, interval: 200 },
  )
  expect([...besides.keys()]).toEqual([0, 1])
  const catchingUp = catchUpAll(besides, quietReport)
  await produce(6_000, 12_000)
  await catchingUp
  const membership = await groupMembership({
    ...inject('parts'),
    namespace,
    clientId: 'newer',
    group: CVD,
    topics: row.inputs,
  })
  const runner = runProcessors({ rows: [{ row, membership, besides }], ports, partitions: PARTITIONS, ...rest })
  try {
    for (const [index, each] of old.entries()) {
      const from = 12_000 + index * 3_000
      await Promise.all([each.stop(), produce(from, from + 3_000)])
      await caughtUp(from + 3_000)
    }
    await expect.poll(() => runner.partitions()[CVD]?.running).toBe(PARTITIONS)
    await produce(18_000, 20_000)
    await caughtUp(20_000)
    expect(await totals()).toEqual(expected(20_000))
    for (const partition of [0, 1]) {
      const { rows, closed } = await derived(partition)
      expect(new Set([...rows.values()].map(({ v }) => generationOf(v)))).toEqual(new Set([GENERATION]))
      expect(closed).toEqual(closed.toSorted((a, b) => a - b))
    }
  } finally {
    await runner.stop()
  }
})

/** A host of the cvd processor as a process of its own. */
async function host(env: Readonly<Record<string, string>> = {}): Promise<Child> {
  const started = await startChild({
    name: 'processors',
    command: [process.execPath, main],
    env: {
      ...own.env,
      SNAPSHOT_SECONDS: '0.2',
      ...env,
    },
    logFile: path.join(folder, 'processors.log'),
    ready: 'message',
    readyWithinMs: 60_000,
    stopWithinMs: 10_000,
  })
  hosts.push(started)
  return started
}

const markets = [
  { partition: 0, asset: 'btc', instrument: 'binance:perp:BTCUSDT' },
  { partition: 0, asset: 'btc', instrument: 'bybit:perp:BTCUSDT' },
  { partition: 1, asset: 'eth', instrument: 'okx:perp:ETH-USDT-SWAP' },
] as const

/** The `n`-th trade: every market in turn, 100 a second; sizes are eighths, so that sums are exact. */
function nth(n: number): { partition: number; message: Message<'trade'> } {
  const { partition, ...market } = markets[n % 3] ?? markets[0]
  const size = (1 + (n % 7)) / 8
  const taker = n % 5 < 2 ? 'buy' : 'sell'
  return { partition, message: trade({ ...market, first_id: n, time: timeOf(n), size, taker }) }
}

function timeOf(n: number): Micros {
  return T0 + n * 10_000
}

/** Writes trades `from` to `to`, every fifth twice, and a mark behind each hundred. */
async function produce(from: number, to: number): Promise<void> {
  const writer = log.writer()
  for (let n = from; n < to; n += 100) {
    for (const partition of [0, 1]) {
      const trades = Array.from({ length: 100 }, (_, index) => nth(n + index)).filter(
        (one) => one.partition === partition,
      )
      const doubled = trades.flatMap((one, index) => (index % 5 === 0 ? [one, one] : [one]))
      const messages = [...doubled.map(({ message }) => message), mark(timeOf(n + 100))]
      await writer.send(
        'market.trades',
        partition,
        messages.map((message) => ({
          key: 'key',
          value: codec.encode('market.trades', message.type, message.value),
          time: timeOf(n) / 1000,
        })),
      )
    }
  }
  await writer.close()
}

/** Waits until the processor has forwarded the mark behind the trade before `n` in every partition. */
async function caughtUp(n: number): Promise<void> {
  await vi.waitFor(
    async () => {
      for (const partition of [0, 1]) expect((await derived(partition)).time).toBe(timeOf(n))
    },
    { timeout: 30_000, interval: 100 },
  )
}

interface Derived {
  readonly rows: Map<string, Flow>
  readonly time: Micros
  /** Of each record of an asset as it is now, what whoever holds the present takes it to be then. */
  readonly closed: readonly Micros[]
}

/** The row of the highest version of each key, and the time of the last mark. */
async function derived(partition: number): Promise<Derived> {
  const rows = new Map<string, Flow>()
  const present = emptyPresent()
  const closed: Micros[] = []
  let time = 0
  const reader = log.reader()
  for await (const records of reader.toEnd('derived.flow', partition)) {
    for (const { key, value, offset } of records) {
      const message = value === null ? undefined : codec.decode(value)
      if (message?.type === 'flow' && message.value.v >= (rows.get(String(key))?.v ?? 0))
        rows.set(String(key), message.value)
      if (message?.type === 'mark') time = Math.max(time, message.value.time)
      if (message?.type !== 'cvd') continue
      takeIn(present, { topic: 'derived.flow', offset, message })
      closed.push(present.cvd.get(message.value.asset)?.closed ?? 0)
    }
  }
  await reader.close()
  return { rows, time, closed }
}

type Totals = Record<string, { buy: number; sell: number; trades: number }>

async function totals(): Promise<Totals> {
  const sums: Totals = {}
  for (const partition of [0, 1]) {
    for (const { instrument, buy, sell, buy_count, sell_count } of (await derived(partition)).rows.values()) {
      add(sums, instrument, buy, sell, buy_count + sell_count)
    }
  }
  return sums
}

function expected(to: number): Totals {
  const sums: Totals = {}
  for (let n = 0; n < to; n++) {
    const { instrument, size, taker } = nth(n).message.value
    add(sums, instrument, taker === 'buy' ? size : 0, taker === 'sell' ? size : 0, 1)
  }
  return sums
}

function add(sums: Totals, instrument: string, buy: number, sell: number, trades: number): void {
  const sum = (sums[instrument] ??= { buy: 0, sell: 0, trades: 0 })
  sum.buy += buy
  sum.sell += sell
  sum.trades += trades
}

/** A metric's first value, of those with a label that reads `label`. */
async function metric({ url }: Child, name: string, label = ''): Promise<number> {
  const text = await (await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(2_000) })).text()
  return Number(new RegExp(`^${name}\\{[^}]*${label}[^}]*\\} (\\S+)$`, 'm').exec(text)?.[1] ?? 0)
}
