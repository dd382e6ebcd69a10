import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { venueEnv } from '../../../infra/simulator/start.ts'
import { type Simulator, startVenues } from '../../../infra/simulator/simulator.ts'
import { localCodec } from '../../../schemas/codec.ts'
import type { Message } from '../../../schemas/records.ts'
import { MemoryBroker, stillClock } from '../../kernel/testing/memory-log.ts'
import { FactBook } from '../facts/fact-book.ts'
import { RestHosts } from '../transport/rest-client.ts'
import { resolveInstruments } from '../venues/instruments.ts'
import { tradeStreams, venues } from '../venues/venues.ts'
import { PastReader } from './backfill.ts'
import { MarketLog } from './market-log.ts'

const HOUR = 3_600_000_000
const DAYS = 60
/** Pages enough for bans to come between them. */
const PAGE = 100
const codec = localCodec()
const name = 'binance'
const symbol = 'BTCUSDT'

let simulator: Simulator
let dataDir: string
beforeAll(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'bans-'))
  simulator = await startVenues({ dataDir, host: '127.0.0.1', port: 0, seed: 7, rate: 50 })
})
afterAll(async () => {
  await simulator.close()
  rmSync(dataDir, { recursive: true, force: true })
})

/** A process that reads the hours of one market back from the simulated venue. */
function start() {
  const broker = new MemoryBroker(stillClock)
  const venue = venues.find((one) => one.name === name)
  const row = tradeStreams[name].listing.seed.find((one) => one.symbol === symbol)
  if (venue?.past === undefined || row === undefined) throw new Error(`${name} has no past`)
  const lists = [{ venue: name, market: 'perp', source: 'seed', rows: [row], prices: [] }] as const
  const book = new FactBook({ record: () => undefined, clamped: () => undefined })
  book.list(name, 'perp', resolveInstruments(lists, new Map(), 0).instruments)
  const base = venueEnv(simulator.url)['BINANCE_REST_URL'] ?? ''
  const rests = new RestHosts([venue], { address: () => ({ base, replaced: true }), onDate: () => undefined })
  const waits: { kind: string; waitMs: number }[] = []
  const trouble = (_what: string, { outcome }: Readonly<Record<string, unknown>>): void => {
    waits.push(outcome as { kind: string; waitMs: number })
  }
  const log = new MarketLog(codec, broker.connect().writer(), 1, { error: () => undefined, lost: () => undefined })
  const reader = new PastReader({
    source: name,
    market: 'perp',
    past: { ...venue.past, pageSize: PAGE },
    series: { name: 'candles_1h', seconds: 3_600, days: DAYS, least: 1 },
    host: rests.of(name, venue.past.host),
    book,
    log,
    known: () => Promise.resolve(new Map()),
    report: { written: () => undefined, refused: () => undefined, trouble },
  })
  reader.want(new Set([symbol]))
  const timer = setInterval(() => reader.tick(Date.now()), 5)
  const stop = (): void => {
    clearInterval(timer)
    reader.stop()
    rests.close()
    log.close()
  }
  return { reader, broker, waits, stop }
}

async function fault(kind: string, forMs: number): Promise<void> {
  const body = JSON.stringify({ kind, venue: name, duration_ms: forMs })
  expect((await fetch(`${simulator.url}/faults`, { method: 'POST', body })).status).toBe(200)
}

/** How often somebody ran into each fault. */
async function hits(): Promise<Partial<Record<string, number>>> {
  const answer = await fetch(`${simulator.url}/faults`)
  return ((await answer.json()) as { hits: Record<string, number> }).hits
}

async function hours(broker: MemoryBroker): Promise<number[]> {
  const found: Message[] = []
  for await (const records of broker.connect().reader().toEnd('market.history', 0))
    for (const { value } of records) if (value !== null) found.push(codec.decode(value))
  return found.flatMap(({ type, value }) => (type === 'venue_candle' ? [value.start] : []))
}

it('reads all back over 429 and 418, and leaves the venue alone as long as it says', { timeout: 40_000 }, async () => {
  await fault('rest_429', 1_000)
  const { reader, broker, waits, stop } = start()
  try {
    await vi.waitFor(() => expect(waits).toHaveLength(1), { timeout: 10_000 })
    // Behind it the budget fills up again first.
    await fault('rest_418', (waits[0]?.waitMs ?? 0) + 8_000)
    await vi.waitFor(() => expect(reader.progress(Date.now())?.missing).toBe(0), { timeout: 25_000, interval: 50 })
    const times = await hours(broker)
    const first = Math.min(...times)
    expect(times).toHaveLength(DAYS * 24)
    expect(times.toSorted((a, b) => a - b)).toEqual(times.map((_, hour) => first + hour * HOUR))
    expect(waits.every(({ kind }) => kind === 'limited')).toBe(true)
    // Each answer says how long: who waits so long meets a ban once, or again at its very end.
    const met = await hits()
    expect(met['rest_429']).toBeOneOf([1, 2])
    expect(met['rest_418']).toBeOneOf([1, 2])
  } finally {
    stop()
  }
})
