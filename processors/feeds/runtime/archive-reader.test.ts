import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { type Simulator, startVenues } from '../../../infra/simulator/simulator.ts'
import { localCodec } from '../../../schemas/codec.ts'
import type { Backfill, Instrument, Message, VenueCandle } from '../../../schemas/records.ts'
import { MemoryBroker, stillClock } from '../../kernel/testing/memory-log.ts'
import { quietMeter, quietReport } from '../../kernel/quiet.ts'
import { tradeStreams, venues } from '../venues/venues.ts'
import { resolveInstruments } from '../venues/instruments.ts'
import { ArchiveReader } from './archive-reader.ts'
import type { TradeArchive } from '../venues/venue.ts'
import { type KnownPast, readKnownPast } from './past-job.ts'
import { MarketLog } from './market-log.ts'
import { hostTime } from './process-clock.ts'

const DAY = 86_400_000_000
const HOUR = 3_600_000_000
const PARTITIONS = 2
const codec = localCodec()
/** A day that is over and published. */
const FROM = Math.floor((Date.now() * 1_000) / DAY) * DAY - 3 * DAY
const SPAN = { from: FROM, to: FROM + DAY }
/** Where the end of a day is in the next one's file. */
const ONE_FILE = { from: FROM, to: FROM }

let simulator: Simulator
let dataDir: string
beforeAll(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'archives-'))
  simulator = await startVenues({ dataDir, host: '127.0.0.1', port: 0, seed: 7, rate: 150 })
})
afterAll(async () => {
  await simulator.close()
  rmSync(dataDir, { recursive: true, force: true })
})

let broker: MemoryBroker
const cleanups: (() => void)[] = []
beforeEach(() => {
  broker = new MemoryBroker(stillClock)
})
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup()
})

type Name = 'binance' | 'binance_spot' | 'bybit' | 'okx'
const symbols = { binance: '1000PEPEUSDT', binance_spot: 'BTCUSDT', bybit: 'BTCUSDT', okx: 'BTC-USDT-SWAP' }

function instrumentOf(venue: Name): Instrument {
  const { market, listing } = tradeStreams[venue]
  const row = listing.seed.find(({ symbol }) => symbol === symbols[venue])
  if (row === undefined) throw new Error(`${venue} has no seed row of ${symbols[venue]}`)
  const lists = [{ venue, market, source: 'seed' as const, rows: [row], prices: [] }]
  const [instrument] = resolveInstruments(lists, new Map(), 0).instruments
  if (instrument === undefined) throw new Error(`${venue} has no instrument`)
  return instrument
}

interface Own {
  readonly read?: TradeArchive['read']
  readonly known?: KnownPast
}

/** A process that reads the archive of one market and day. */
function start(venue: Name, spans = [venue === 'okx' ? ONE_FILE : SPAN], own: Own = {}) {
  const kafka = broker.connect()
  const trouble = vi.fn<(what: string, about: unknown) => void>()
  const log = new MarketLog(codec, kafka.writer(), PARTITIONS, {
    error: vi.fn<(error: unknown) => void>(),
    lost: () => reader.lost(),
  })
  const ports = {
    codec,
    lookUp: () => Promise.resolve(false),
    writer: kafka.writer(),
    meter: quietMeter,
    report: quietReport,
  }
  const instrument = instrumentOf(venue)
  const archive = venues.find(({ name }) => name === venue)?.archive
  if (archive === undefined) throw new Error(`${venue} has no archive`)
  const reader = new ArchiveReader({
    archive: { ...archive, ...(own.read && { read: own.read }) },
    base: `${simulator.url}/${venue === 'binance_spot' ? 'binance' : venue}-archive`,
    file: path.join(dataDir, 'files', venue),
    days: 0,
    instrumentOf: () => instrument,
    log,
    known: () => (own.known === undefined ? readKnownPast(kafka.reader(), ports) : Promise.resolve(own.known)),
    report: { written: vi.fn<() => void>(), refused: trouble.bind(null, 'refused'), trouble, left: trouble },
  })
  reader.want(new Map([[instrument.symbol, { isStreamed: false, spans }]]))
  const timer = setInterval(() => reader.tick(Date.now()), 5)
  const kill = (): void => {
    clearInterval(timer)
    reader.stop()
    log.close()
  }
  cleanups.push(kill)
  const isDone = (): void => expect([reader.isKnown, reader.isIdle(Date.now())]).toEqual([true, true])
  return { reader, trouble, kill, done: () => vi.waitFor(isDone, { timeout: 15_000 }) }
}

/** What the broker has of a topic. */
async function read<Value>(topic: string, partitions: number): Promise<Value[]> {
  const found: Message[] = []
  for (let partition = 0; partition < partitions; partition++) {
    for await (const records of broker.connect().reader().toEnd(topic, partition))
      for (const { value } of records) if (value !== null) found.push(codec.decode(value))
  }
  return found.map(({ value }) => value as Value)
}

const candles = (): Promise<VenueCandle[]> => read('market.history', PARTITIONS)
const covered = (): Promise<Backfill[]> => read('control.backfill', 1)

/** The day is there once so many milliseconds have gone by. */
function after(ms: number): Promise<void> {
  const now = hostTime.ticks.bind(hostTime)
  const ticks = vi.spyOn(hostTime, 'ticks').mockImplementation(() => now() + ms)
  const all = async (): Promise<void> => expect(await candles()).toHaveLength(1_464)
  return vi.waitFor(all, { timeout: 15_000, interval: 50 }).finally(() => ticks.mockRestore())
}

async function fault(order: object): Promise<void> {
  const answer = await fetch(`${simulator.url}/faults`, { method: 'POST', body: JSON.stringify(order) })
  expect(answer.status).toBe(200)
}

it.each(['binance', 'binance_spot', 'bybit', 'okx'] as const)('folds a day of %s, hours and minutes', async (venue) => {
  const { done, trouble } = start(venue)
  await done()
  expect(trouble.mock.calls).toEqual([])
  const begin = venue === 'okx' ? FROM - 8 * HOUR : FROM
  const rows = await candles()
  const hours = rows.filter(({ seconds }) => seconds === 3_600)
  const minutes = rows.filter(({ seconds }) => seconds === 60)
  expect(hours.map(({ start: time }) => time)).toEqual(Array.from({ length: 24 }, (_, hour) => begin + hour * HOUR))
  expect(minutes).toHaveLength(1_440)
  for (const row of rows) expect(row).toMatchObject({ source: 'archive', instrument: instrumentOf(venue).instrument })
  const sum = (of: readonly VenueCandle[], name: 'volume' | 'taker_buy' | 'quote'): number =>
    of.reduce((total, row) => total + (row[name] ?? 0), 0)
  for (const name of ['volume', 'taker_buy', 'quote'] as const)
    expect(sum(hours, name)).toBeCloseTo(sum(minutes, name), 3)
  await vi.waitFor(async () => expect(await covered()).toHaveLength(1))
  expect(await covered()).toEqual([
    {
      instrument: instrumentOf(venue).instrument,
      series: `archive_${new Date(FROM / 1_000).toISOString().slice(0, 10)}`,
      covered_from: begin,
      covered_to: begin + DAY,
      rows: 1_464,
      time: expect.any(Number) as number,
    },
  ])
  expect(readdirSync(path.join(dataDir, 'files'))).toEqual([])
})

it('gives of the same hours what the venue’s candles say', async () => {
  await start('binance').done()
  const url = `${simulator.url}/binance/fapi/v1/klines?symbol=1000PEPEUSDT&interval=1h&startTime=${FROM / 1_000}&limit=24`
  const rows = (await (await fetch(url)).json()) as string[][]
  const hours = (await candles()).filter(({ seconds }) => seconds === 3_600)
  for (const [index, hour] of hours.entries()) {
    const [, open, high, low, close, volume, , , , buy] = (rows[index] ?? []).map(Number)
    const prices = [open, high, low, close].map((price) => (price ?? 0) / 1_000)
    const own = [hour.open, hour.high, hour.low, hour.close]
    for (const [place, price] of own.entries()) expect(price / (prices[place] ?? 0)).toBeCloseTo(1, 9)
    expect(hour.volume / ((volume ?? 0) * 1_000)).toBeCloseTo(1, 9)
    expect((hour.taker_buy ?? 0) / ((buy ?? 0) * 1_000)).toBeCloseTo(1, 9)
  }
})

it('folds nothing of a damaged archive, says so, and takes the one that is whole', async () => {
  await fault({ kind: 'archive_damaged', venue: 'binance', count: 1 })
  const { trouble } = start('binance')
  await vi.waitFor(() =>
    expect(trouble).toHaveBeenCalledWith(
      'an archive is damaged',
      expect.objectContaining({ instrument: 'binance:perp:1000PEPEUSDT' }),
    ),
  )
  expect([await candles(), await covered()]).toEqual([[], []])
  // The next try is due in 10 s.
  await after(11_000)
})

it('waits as long as it is told to, and goes on after a cut', async () => {
  await fault({ kind: 'rest_418', venue: 'okx', count: 1, duration_ms: 60_000 })
  const banned = start('okx')
  await vi.waitFor(() =>
    expect(banned.trouble).toHaveBeenCalledWith(
      'the venue’s archive lets us wait',
      expect.objectContaining({ status: 418 }),
    ),
  )
  banned.kill()
  await fault({ kind: 'archive_cut', venue: 'okx', count: 1 })
  const cut = start('okx')
  await vi.waitFor(() => expect(cut.trouble).toHaveBeenCalledWith('an archive could not be fetched', expect.anything()))
  await after(16_000)
})

it('says of a full disk what is to be done, and goes on when there is room', async () => {
  // What is written there finds no room; the link is gone with the failed file.
  mkdirSync(path.join(dataDir, 'files'), { recursive: true })
  symlinkSync('/dev/full', path.join(dataDir, 'files', 'bybit.gz'))
  const { trouble } = start('bybit')
  const mend = expect.stringContaining('the disk is full: free some room') as unknown
  await vi.waitFor(() =>
    expect(trouble).toHaveBeenCalledWith('an archive could not be fetched', expect.objectContaining({ why: mend })),
  )
  expect(await candles()).toEqual([])
  await after(16_000)
})

it('goes on where a killed process was, and tells a day that came twice the same', async () => {
  const spans = [{ from: FROM - 2 * DAY, to: FROM + DAY }]
  const first = start('bybit', spans)
  await vi.waitFor(async () => expect(await covered()).toHaveLength(1), { timeout: 15_000 })
  first.kill()
  await start('bybit', spans).done()
  await vi.waitFor(async () => expect(new Set((await covered()).map(({ series }) => series)).size).toBe(3))
  const byTime = Map.groupBy(await candles(), ({ start: time, seconds }) => `${seconds} ${time}`)
  expect(byTime.size).toBe(3 * 1_464)
  for (const rows of byTime.values()) {
    const told = rows.map(({ received: _received, ...rest }) => JSON.stringify(rest))
    expect(new Set(told).size).toBe(1)
  }
})

it('takes it that the venue never had a day that is long over and not there', async () => {
  const old = FROM - 500 * DAY
  const { done, trouble } = start('bybit', [{ from: old, to: old + DAY }])
  await done()
  expect(trouble).toHaveBeenCalledWith(expect.stringContaining('no archive of the day'), expect.anything())
  await vi.waitFor(async () => expect([await candles(), await covered()]).toMatchObject([[], [{ rows: 0 }]]))
})

it('asks again for a day that the venue did not have when a day has passed, and not before', async () => {
  const key = `${instrumentOf('bybit').instrument}|archive_${new Date(FROM / 1_000).toISOString().slice(0, 10)}`
  const told = (time: number): Own => ({ known: new Map([[key, { from: FROM, to: FROM + DAY, rows: 0, time }]]) })
  const now = Date.now() * 1_000
  const soonAgain = start('bybit', [SPAN], told(now - HOUR))
  await soonAgain.done()
  expect(await candles()).toEqual([])
  soonAgain.kill()
  await start('bybit', [SPAN], told(now - DAY)).done()
  expect(await candles()).toHaveLength(1_464)
})

it('goes on with other days while one cannot be fetched', async () => {
  await fault({ kind: 'archive_cut', venue: 'bybit', count: 1 })
  const { trouble } = start('bybit', [{ from: FROM - DAY, to: FROM + DAY }])
  await vi.waitFor(async () => expect(await covered()).toMatchObject([{ covered_from: FROM - DAY }]), {
    timeout: 10_000,
  })
  expect(trouble).toHaveBeenCalledWith('an archive could not be fetched', expect.anything())
})

it('says so where a file is beyond it in any way, and goes on', async () => {
  const read = (): never => {
    throw new RangeError('odd')
  }
  const { trouble } = start('bybit', [SPAN], { read })
  await vi.waitFor(() => expect(trouble).toHaveBeenCalledWith(expect.stringMatching('an archive'), expect.anything()))
})
