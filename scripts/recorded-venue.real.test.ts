import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { urlOf } from '../infra/local/run-file.ts'
import { startVenues, type Simulator } from '../infra/simulator/simulator.ts'
import { venueEnv } from '../infra/simulator/start.ts'
import { startOwnSystem, type OwnSystem } from './own-system.ts'

/** What Binance's spot market answered to questions of candles; beside the repository, and not everywhere at hand. */
const recorded = path.resolve(import.meta.dirname, '../../shared/data/binance/rest-spot-klines/gct_http_mock.jsonl.gz')
const START_MS = 300_000
const HOUR_MS = 3_600_000
/** Of what was recorded: BTC by the hour, 61 days of 2020 in two answers. */
const before = Date.UTC(2021, 0, 1)

type Kline = readonly [number, string, string, string, string, string, number, string, number, string, ...unknown[]]

/** The recorded hours, moved by whole hours so that the last of them is the last that is over. */
function recordedHours(): Kline[] {
  const answers = gunzipSync(readFileSync(recorded))
    .toString()
    .split('\n')
    .filter((line) => /symbol=BTCUSDT/.test(line) && /interval=1h/.test(line))
    .map((line) => (JSON.parse(line) as { raw: Kline[] }).raw)
  const rows = answers.flat().filter(([start]) => start < before)
  const known = [...new Map(rows.map((row) => [row[0], row])).values()].toSorted((a, b) => a[0] - b[0])
  const moved = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - HOUR_MS - (known.at(-1)?.[0] ?? 0)
  return known.map(([start, open, high, low, close, volume, end, ...rest]) => {
    return [start + moved, open, high, low, close, volume, end + moved, ...rest]
  })
}

/** Binance's spot REST: its hours are the recorded ones, all else is what the simulated market says. */
async function startVenue(hours: readonly Kline[], simulator: string): Promise<Server> {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://venue')
    const [symbol, interval] = [url.searchParams.get('symbol'), url.searchParams.get('interval')]
    const isRecorded = url.pathname === '/api/v3/klines' && symbol === 'BTCUSDT' && interval === '1h'
    const [start, end, limit] = ['startTime', 'endTime', 'limit'].map((name) => Number(url.searchParams.get(name)))
    const page = hours.filter(([time]) => time >= (start ?? 0) && time <= (end ?? 0)).slice(0, limit)
    const answer = isRecorded
      ? Promise.resolve(JSON.stringify(page))
      : fetch(`${simulator}/binance-spot${request.url}`).then((told) => told.text())
    void answer.then((text) => response.setHeader('content-type', 'application/json').end(text))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

interface ChartCandle extends Readonly<Record<'open' | 'high' | 'low' | 'close' | 'volume', number>> {
  readonly time: string
  readonly buy_volume: number | null
  readonly source: string
}

describe.runIf(existsSync(recorded))('a start against a venue whose answers were recorded', () => {
  let [simulator, venue, system]: [Simulator?, Server?, OwnSystem?] = []
  let began = NaN
  let hours: readonly Kline[] = []
  const folder = path.join(tmpdir(), `recorded-${process.pid}`)
  beforeAll(async () => {
    hours = recordedHours()
    mkdirSync(folder)
    simulator = await startVenues({ dataDir: folder, host: '127.0.0.1', port: 0, seed: 1, rate: 20 })
    venue = await startVenue(hours, simulator.url)
    const env = {
      ...venueEnv(simulator.url),
      BINANCE_SPOT_REST_URL: `http://127.0.0.1:${(venue.address() as AddressInfo).port}`,
      VENUES: 'binance_spot',
      CVD_VENUES: 'binance_spot',
      SYMBOLS: 'BTC',
      BACKFILL_DAYS: '70',
      BACKFILL_MINUTE_DAYS: '0',
    }
    began = performance.now()
    system = await startOwnSystem(['--live'], env)
  }, START_MS)
  afterAll(async () => {
    await system?.dispose()
    await simulator?.close()
    venue?.close()
    rmSync(folder, { recursive: true, force: true })
  }, START_MS)

  /** What the chart reads, of the time that was recorded. */
  async function chart(): Promise<ChartCandle[]> {
    if (system === undefined) return []
    const candles: ChartCandle[] = []
    let start: string | null = new Date(hours[0]?.[0] ?? 0).toISOString()
    while (start !== null) {
      const query = new URLSearchParams({ interval: '1h', exchange: 'all', limit: '1000', start })
      const answer = await fetch(`${urlOf(system.run(), 'api')}/ohlcv/BTC?${String(query)}`)
      if (answer.status !== 200) return []
      const page = (await answer.json()) as { candles: ChartCandle[]; next: string | null }
      candles.push(...page.candles)
      start = page.next
    }
    const last = hours.at(-1)?.[0] ?? 0
    return candles.filter(({ time }) => Date.parse(time) <= last)
  }

  it('shows every candle as the venue told it, and says so', async () => {
    await expect.poll(async () => (await chart()).length, { interval: 200 }).toBe(hours.length)
    const seconds = (performance.now() - began) / 1_000
    const size = (value: number): number => Number(value.toFixed(6))
    const shown = (await chart()).map(({ time, open, high, low, close, volume, buy_volume, source }) => {
      return { time, open, high, low, close, volume: size(volume), buy_volume: size(buy_volume ?? NaN), source }
    })
    const told = hours.map(([start, ...row]) => {
      const [open, high, low, close, volume] = row.slice(0, 5).map(Number)
      const time = new Date(start).toISOString()
      return { time, open, high, low, close, volume, buy_volume: Number(row[8]), source: 'venue_candles' }
    })
    expect(shown).toEqual(told)
    console.log(`${hours.length} recorded hours are on the chart ${seconds.toFixed(1)} s after the start`)
  })
})
