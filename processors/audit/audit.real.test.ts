import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createWorld, iso, type World } from '../../infra/clickhouse/testing/world.ts'
import { startChild, type Child } from '../../infra/local/child.ts'
import type { Candle, Micros, Trade } from '../../schemas/records.ts'
import { MINUTE, SETTLE } from './state.ts'

const SECOND = 1_000_000
const MINUTES = 6
/** An hour ago, a whole minute: the view of the worst looks at the last day. */
const M: Micros = Math.floor((Date.now() * 1000) / MINUTE) * MINUTE - 60 * MINUTE
const main = fileURLToPath(new URL('../main.ts', import.meta.url))

let world: World
let host: Child
let folder: string
beforeAll(async () => {
  world = await createWorld('planted', { reads: ['derived.flow', 'derived.audit'] })
  folder = mkdtempSync(path.join(tmpdir(), 'audit-'))
  host = await startChild({
    name: 'processors',
    command: [process.execPath, main],
    env: {
      ...world.env,
      PROCESSORS: 'cvd,audit',
    },
    logFile: path.join(folder, 'processors.log'),
    ready: 'message',
    readyWithinMs: 60_000,
    stopWithinMs: 10_000,
  })
})
afterAll(async () => {
  await host.stop()
  await world.end()
  rmSync(folder, { recursive: true, force: true })
})

const binance = 'binance:perp:BTCUSDT'
const bybit = 'bybit:perp:BTCUSDT'
const okx = 'okx:perp:BTC-USDT-SWAP'
const instruments = [binance, bybit, okx]

/** What a venue traded: 100 trades a minute of unlike sizes, no two minutes alike. */
function traded(instrument: string): Trade[] {
  return Array.from({ length: MINUTES * 100 }, (_, n) => {
    const size = (1 + ((n * 7919) % 1000)) / 1000
    const time = M + Math.floor((n * MINUTE) / 100)
    const taker = (n * 31) % 7 < 4 ? ('buy' as const) : ('sell' as const)
    const identity = { instrument, asset: 'btc', first_id: 1000 + n, last_id: 1000 + n, count: 1, sequence: null }
    const factors = { size_factor: 1, price_factor: 1 }
    const came = { time, received: time + 50_000, origin: 'stream' as const, gap_id: null }
    return { ...identity, price: 100, size, quote: 100 * size, ...factors, taker, ...came }
  })
}

/** The venue's candles of what it traded; Binance alone tells takers and fills. */
function candles(instrument: string, trades: readonly Trade[]): Candle[] {
  return Array.from({ length: MINUTES }, (_, index) => {
    const minute = M + index * MINUTE
    const within = trades.filter(({ time }) => time >= minute && time < minute + MINUTE)
    const sum = (some: readonly Trade[]): number => some.reduce((total, { size }) => total + size, 0)
    const buys = within.filter(({ taker }) => taker === 'buy')
    const tells = instrument === binance
    return {
      instrument,
      asset: 'btc',
      minute,
      open: 100,
      high: 100,
      low: 100,
      close: 100,
      volume: sum(within),
      taker_buy: tells ? sum(buys) : null,
      trades: tells ? within.length : null,
      received: minute + MINUTE + 5 * SECOND,
    }
  })
}

it('finds one trade that is missing, one that is there twice and one candle that was changed, and nothing else', async () => {
  const market = new Map(instruments.map((instrument) => [instrument, traded(instrument)]))
  const of = (instrument: string): Trade[] => market.get(instrument) ?? []
  const missing = of(binance)[217]
  const doubled = of(bybit)[340]
  const stream = instruments.flatMap(of).filter((trade) => trade !== missing)
  const extra = { ...doubled, first_id: 99_999, last_id: 99_999 }
  const told = instruments
    .flatMap((instrument) => candles(instrument, of(instrument)))
    .map((one) => (one.instrument === okx && one.minute === M + MINUTE ? { ...one, volume: one.volume + 0.001 } : one))
  await world.append('market.trades', [
    world.mark('market.trades', {
      time: M - 10 * SECOND,
      changes: instruments.map((instrument) => ({
        instrument,
        asset: 'btc',
        state: 'acknowledged',
        time: M - 10 * SECOND,
      })),
    }),
    ...stream.toSorted((a, b) => a.time - b.time).map((one) => world.trade(one)),
    world.trade(extra),
    world.mark('market.trades', { time: M + MINUTES * MINUTE + SETTLE }),
  ])
  await world.append('market.candles', [
    ...told.map((one) => world.codec.encode('market.candles', 'candle', one)),
    world.mark('market.candles', { time: M + MINUTES * MINUTE + SETTLE }),
  ])

  const end = [{ time: iso(M + MINUTES * MINUTE + SETTLE) }]
  await world.soon("SELECT time FROM partition_times WHERE topic = 'derived.audit'", end)
  await world.soon('SELECT count() AS changes FROM subscription_changes', [{ changes: 3 }])
  await world.soon('SELECT count() AS audits, countIf(explained) AS explained FROM audits', [
    { audits: 3 * MINUTES, explained: 0 },
  ])
  const found = await world.rows(
    "SELECT instrument, minute, round(ours_volume - theirs_volume, 9) AS off FROM audits WHERE state = 'different' ORDER BY instrument",
  )
  expect(found).toEqual([
    { instrument: binance, minute: iso(M + 2 * MINUTE), off: -(missing?.size ?? NaN) },
    { instrument: bybit, minute: iso(M + 3 * MINUTE), off: doubled?.size },
    { instrument: okx, minute: iso(M + MINUTE), off: -0.001 },
  ])
  const worst = await world.rows(
    'SELECT venue, compared, different, unexplained, worst_instrument, worst_minute FROM audit_worst',
  )
  expect(worst).toEqual(
    found.map(({ instrument, minute }) => ({
      venue: String(instrument).split(':')[0],
      compared: MINUTES,
      different: 1,
      unexplained: 1,
      worst_instrument: instrument,
      worst_minute: minute,
    })),
  )
})
