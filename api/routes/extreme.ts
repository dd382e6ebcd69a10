import { jsonOutput, dataRoute, type Run } from '../request/route.ts'
import { interestOf } from '../../processors/funding/formula.ts'
import { decimalDifference } from '../../processors/prices/decimal.ts'
import { symbolOf } from '../../schemas/catalogue.ts'
import type { Micros } from '../../schemas/records.ts'
import type { View } from '../request/reply.ts'
import type { Services } from '../services.ts'
import { allFunding, interestOf as dailyInterest, percentAYear, percentOf } from '../views/funding.ts'
import { iso } from '../views/time.ts'
import { perpetualsOf, type Perpetual } from '../views/perpetuals.ts'
import { noData, replyScanned, viewContext, type Asking, stamped } from './answers.ts'
import { array, boolean, instant, integer, number, object, oneOf, text } from '../request/schema.ts'
import { threshold } from './parameters.ts'
import { fundingVenues } from '../../schemas/venues.ts'
import { aged, intervalHours } from './funding.ts'

const extremeOutput = jsonOutput(
  'All perpetual markets whose rate is at least the threshold',
  object('Extreme funding', {
    scanned_at: instant('When the markets were read'),
    threshold: number('Least size of a rate that is flagged, percent', { minimum: 0 }),
    total_markets_scanned: integer('Perpetuals of the three venues that were looked at', { minimum: 0 }),
    stale_markets: integer('Perpetuals known, but too old to be looked at', { minimum: 0 }),
    extreme_markets: integer('Those that are flagged', { minimum: 0 }),
    baseline_markets: integer('Those of them that pay their venue’s interest and nothing else', { minimum: 0 }),
    results: array(
      object('One perpetual', {
        symbol: text('As BTCUSDT'),
        exchange: oneOf(fundingVenues, 'Its venue'),
        funding_rate: number('Running rate, fraction per interval'),
        funding_rate_pct: number('The same, percent'),
        annualized_pct: number('By the year, percent'),
        baseline_pct: number(
          'What it pays while perpetual and index agree: the venue’s interest, percent per interval',
        ),
        excess_pct: number('funding_rate_pct minus that'),
        baseline: boolean(
          'Whether there is no such excess: flagged, since the threshold is a least size, but not unusual',
        ),
        direction: oneOf(['longs_paying', 'shorts_paying'], 'Who pays'),
        signal: oneOf(['extreme_bullish', 'extreme_bearish'], 'By the sign of the rate'),
        mark_price: number('Mark price, USDT'),
        interval_hours: intervalHours,
        next_funding_time: instant('When the rate is settled'),
      }),
      'Largest first; of equal ones those at their baseline last',
    ),
    ...aged,
    ...stamped,
  }),
)

export const fundingExtreme = dataRoute({
  path: '/funding-rate/extreme',
  name: 'funding_extreme',
  description: 'Perpetuals whose funding is out of the ordinary',
  priceUsdc: 0.02,
  ttlMs: 30_000,
  input: { threshold: threshold },
  outputs: { 200: extremeOutput },
  errors: ['data_unavailable'],
  prepare: (call) => replyExtreme(call, call.input.threshold),
})

/** Markets that are further behind the newest one than this have been delisted, or their venue is down. */
const BEHIND_MAX: Micros = 120_000_000
/** Some thousand markets are looked through at most so often, milliseconds. */
const SCAN_MS = 1_000

/** All perpetual markets at one moment, from which every threshold is answered. */
interface Scan {
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
async function replyExtreme(call: Asking, threshold: number): Promise<Run> {
  const { services } = call
  return replyScanned(call, async () => {
    const { value } = await services.cache.get('extreme_scan', SCAN_MS, async () => scan(services))
    return cut(value, threshold)
  })
}

function cut({ scannedAt, markets, stale, sizes, results, baselines, ...times }: Scan, threshold: number): View {
  const first = sizes.findIndex((size) => size < threshold)
  const count = first < 0 ? sizes.length : first
  const plain = baselines.slice(0, count).filter(Boolean).length
  const counts = `"total_markets_scanned":${markets},"stale_markets":${stale},"extreme_markets":${count},"baseline_markets":${plain}`
  const list = results.slice(0, count).join(',')
  return { body: `{"scanned_at":"${scannedAt}","threshold":${threshold},${counts},"results":[${list}]}`, ...times }
}

function scan(services: Services): Scan {
  const { present, clock } = viewContext(services)
  const known = perpetualsOf(allFunding(present))
  if (known.length === 0) throw noData('funding rate of any market')
  const last = known.reduce((newest, row) => Math.max(newest, row.freshUntil), 0)
  const since = last >= clock ? clock : last - BEHIND_MAX
  const counted = known.filter((row) => row.freshUntil >= since)
  const sorted = counted
    .map((row) => {
      const baseline = interestOf(dailyInterest(present, row), row.interval_hours)
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
  { asset, exchange, rate, interval_hours, mark, next_settlement }: Perpetual,
  { baseline, isBaseline }: { baseline: number; isBaseline: boolean },
): object {
  return {
    symbol: `${symbolOf(asset)}USDT`,
    exchange,
    funding_rate: rate,
    funding_rate_pct: percentOf(rate),
    annualized_pct: percentAYear(rate, interval_hours),
    baseline_pct: percentOf(baseline),
    excess_pct: percentOf(decimalDifference(rate, baseline)),
    baseline: isBaseline,
    // Nobody pays at zero; it is listed only where the threshold is zero.
    direction: rate >= 0 ? 'longs_paying' : 'shorts_paying',
    signal: rate >= 0 ? 'extreme_bullish' : 'extreme_bearish',
    mark_price: mark,
    interval_hours,
    next_funding_time: iso(next_settlement),
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
