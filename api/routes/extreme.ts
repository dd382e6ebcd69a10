import { symbolOf } from '../../schemas/catalogue.ts'
import type { Micros } from '../../schemas/records.ts'
import type { Draft } from '../route.ts'
import { keptOf, type Kept } from '../kept.ts'
import { dataClock, type Services } from '../services.ts'
import { readAllFunding } from '../views/funding.ts'
import { percentAYear, percentOf } from '../views/percent.ts'
import { perpetualsOf, type Perpetual } from '../views/perpetuals.ts'
import { iso } from '../views/time.ts'
import { answerCut, draft, noData, type Row } from './answers.ts'

/** Markets that are further behind the newest one than this have been delisted, or their venue is down. */
const BEHIND_MAX: Micros = 120_000_000

/** All perpetual markets at one moment: one query, from which every threshold is answered. */
export interface Scan {
  readonly asOf: Micros
  readonly freshUntil: Micros
  readonly scannedAt: string
  readonly markets: number
  /** Markets known, but too old to count. */
  readonly stale: number
  /** |rate| in percent, largest first, and each market's result as JSON text. */
  readonly sizes: readonly number[]
  readonly results: readonly string[]
}

/** `/funding-rate/extreme`: `threshold` is the least |rate|, percent. */
export async function extremeAnswer(services: Services, row: Row, threshold: number): Promise<Draft> {
  return draft(async () => {
    const board = await services.boards.scans.get('all', row.ttlMs, () => scan(services))
    const clock = dataClock(services, await services.world())
    return answerCut(services, row, { key: [threshold], clock, board }, () => cut(board.value, threshold))
  })
}

function cut({ scannedAt, markets, stale, sizes, results, ...times }: Scan, threshold: number): Kept {
  const first = sizes.findIndex((size) => size < threshold)
  const count = first < 0 ? sizes.length : first
  const counts = `"total_markets_scanned":${markets},"stale_markets":${stale},"extreme_markets":${count}`
  const list = results.slice(0, count).join(',')
  return keptOf(`{"scanned_at":"${scannedAt}","threshold":${threshold},${counts},"results":[${list}]`, '}', times)
}

async function scan(services: Services): Promise<Scan> {
  const [all, world] = await Promise.all([readAllFunding(services.database), services.world()])
  const clock = dataClock(services, world)
  const known = perpetualsOf(all)
  if (known.length === 0) throw noData('funding rate of any market')
  const last = known.reduce((newest, row) => Math.max(newest, row.freshUntil), 0)
  const since = last >= clock ? clock : last - BEHIND_MAX
  const counted = known.filter((row) => row.freshUntil >= since)
  const sorted = counted
    .map((row) => ({ row, size: Math.abs(percentOf(row.rate)) }))
    .toSorted((a, b) => b.size - a.size || compare(keyOf(a.row), keyOf(b.row)))
  return {
    asOf: counted.reduce((newest, row) => Math.max(newest, row.asOf), 0),
    freshUntil: last,
    scannedAt: new Date(services.now()).toISOString(),
    markets: counted.length,
    stale: known.length - counted.length,
    sizes: sorted.map(({ size }) => size),
    results: sorted.map(({ row }) => JSON.stringify(resultOf(row))),
  }
}

function resultOf({ asset, exchange, rate, intervalHours, mark, nextSettlement }: Perpetual): object {
  return {
    symbol: `${symbolOf(asset)}USDT`,
    exchange,
    funding_rate: rate,
    funding_rate_pct: percentOf(rate),
    annualized_pct: percentAYear(rate, intervalHours),
    // Nobody pays at zero; it is listed only where the threshold is zero.
    direction: rate >= 0 ? 'longs_paying' : 'shorts_paying',
    signal: rate >= 0 ? 'extreme_bullish' : 'extreme_bearish',
    mark_price: mark,
    interval_hours: intervalHours,
    next_funding_time: iso(nextSettlement),
  }
}

function keyOf({ asset, exchange }: Perpetual): string {
  return `${asset}|${exchange}`
}

/** By code unit, whatever the host's language. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
