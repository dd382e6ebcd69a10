import { interestOf } from '../../processors/funding/formula.ts'
import { decimalDifference } from '../../processors/prices/decimal.ts'
import { symbolOf } from '../../schemas/catalogue.ts'
import type { Micros } from '../../schemas/records.ts'
import type { Draft } from '../route.ts'
import { keptOf, type Kept } from '../kept.ts'
import { dataClock, type Services } from '../services.ts'
import { readAllFunding, readInterests } from '../views/funding.ts'
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
  /** Whether each pays its venue's interest and nothing else. */
  readonly baselines: readonly boolean[]
}

/** `/funding-rate/extreme`: `threshold` is the least |rate|, percent. */
export async function extremeAnswer(services: Services, row: Row, threshold: number): Promise<Draft> {
  return draft(async () => {
    const board = await services.boards.scans.get('all', row.ttlMs, () => scan(services))
    const clock = dataClock(services, await services.world())
    return answerCut(services, row, { key: [threshold], clock, board }, () => cut(board.value, threshold))
  })
}

function cut({ scannedAt, markets, stale, sizes, results, baselines, ...times }: Scan, threshold: number): Kept {
  const first = sizes.findIndex((size) => size < threshold)
  const count = first < 0 ? sizes.length : first
  const plain = baselines.slice(0, count).filter(Boolean).length
  const counts = `"total_markets_scanned":${markets},"stale_markets":${stale},"extreme_markets":${count},"baseline_markets":${plain}`
  const list = results.slice(0, count).join(',')
  return keptOf(`{"scanned_at":"${scannedAt}","threshold":${threshold},${counts},"results":[${list}]`, '}', times)
}

async function scan(services: Services): Promise<Scan> {
  const [all, interests, world] = await Promise.all([
    readAllFunding(services.database),
    readInterests(services.database),
    services.world(),
  ])
  const clock = dataClock(services, world)
  const known = perpetualsOf(all)
  if (known.length === 0) throw noData('funding rate of any market')
  const last = known.reduce((newest, row) => Math.max(newest, row.freshUntil), 0)
  const since = last >= clock ? clock : last - BEHIND_MAX
  const counted = known.filter((row) => row.freshUntil >= since)
  const sorted = counted
    .map((row) => {
      const baseline = interestOf(interests.get(row.instrument) ?? null, row.intervalHours)
      return { row, size: Math.abs(percentOf(row.rate)), baseline, isBaseline: row.rate === baseline }
    })
    .toSorted((a, b) => b.size - a.size || order(a, b))
  return {
    asOf: counted.reduce((newest, row) => Math.max(newest, row.asOf), 0),
    freshUntil: last,
    scannedAt: new Date(services.now()).toISOString(),
    markets: counted.length,
    stale: known.length - counted.length,
    sizes: sorted.map(({ size }) => size),
    results: sorted.map(({ row, ...rest }) => JSON.stringify(resultOf(row, rest))),
    baselines: sorted.map(({ isBaseline }) => isBaseline),
  }
}

function resultOf(
  { asset, exchange, rate, intervalHours, mark, nextSettlement }: Perpetual,
  { baseline, isBaseline }: { baseline: number; isBaseline: boolean },
): object {
  return {
    symbol: `${symbolOf(asset)}USDT`,
    exchange,
    funding_rate: rate,
    funding_rate_pct: percentOf(rate),
    annualized_pct: percentAYear(rate, intervalHours),
    baseline_pct: percentOf(baseline),
    excess_pct: percentOf(decimalDifference(rate, baseline)),
    baseline: isBaseline,
    // Nobody pays at zero; it is listed only where the threshold is zero.
    direction: rate >= 0 ? 'longs_paying' : 'shorts_paying',
    signal: rate >= 0 ? 'extreme_bullish' : 'extreme_bearish',
    mark_price: mark,
    interval_hours: intervalHours,
    next_funding_time: iso(nextSettlement),
  }
}

/** Of equal rates those that are no venue's interest first. */
function order(a: Sized, b: Sized): number {
  return Number(a.isBaseline) - Number(b.isBaseline) || compare(keyOf(a.row), keyOf(b.row))
}

interface Sized {
  readonly row: Perpetual
  readonly isBaseline: boolean
}

function keyOf({ asset, exchange }: Perpetual): string {
  return `${asset}|${exchange}`
}

/** By code unit, whatever the host's language. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
