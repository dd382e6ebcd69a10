import { periods, windowOf, type PeriodName } from '../../processors/cvd/periods.ts'
import { coveredOf, unsubscribedOf } from '../views/covered.ts'
import { aggregate, flowTime, sumsOf } from '../views/cvd.ts'
import { isCounted } from '../views/flow.ts'
import { coverageOf, gapsOf } from '../views/gaps.ts'
import { iso } from '../views/time.ts'
import { acknowledgedVenues, ageOf, isHole, viewVenues } from '../views/venues.ts'
import { openSockets } from '../views/world.ts'
import type { View } from '../reply.ts'
import { noData, type AssetContext } from './answers.ts'
import { newestByVenue } from './history.ts'

/** `/cvd/:symbol`: what has closed, as the processor counts it, and the buckets that are open. */
export function cvdView(context: AssetContext, period: PeriodName): View {
  const { symbol, asset, present, world, clock, counted } = context
  const now = flowTime(present, asset)
  if (now === undefined) throw noData(`trade of ${symbol}`)
  const window = windowOf(periods[period], now)
  const sums = sumsOf(present, asset, period, now).filter(({ instrument }) => isCounted(instrument, counted))
  if (sums.length === 0 && acknowledgedVenues(asset, world, clock).size === 0) throw noData(`trade of ${symbol}`)
  const gaps = gapsOf(present, asset, window)
  const unsubscribed = unsubscribedOf(present, asset)
  const venues = viewVenues({ ...context, partitionTime: now, newest: newestByVenue(sums), gaps })
  const holes = gaps.filter(isHole)
  const listed = venues.filter((venue) => venue.listed)
  const coverage = coverageOf({
    asked: window,
    instruments: coveredOf(sums, { holes, unsubscribed }),
    now,
    holes,
    allHeard: listed.every(({ status }) => status === 'live' || status === 'gap'),
  })
  const { total, markets, exchanges, signal } = aggregate(sums, { covered: coverage.share, counted })
  const since = sums.length === 0 ? null : Math.min(...sums.map((row) => row.first))
  const body = {
    symbol,
    ...total,
    signal,
    period,
    active_ws_connections: openSockets(world, clock),
    exchanges: Object.fromEntries(
      venues.map(({ venue, status }) => [venue, { ...exchanges.get(venue), status }] as const),
    ),
    markets,
    coverage,
    since: since === null ? null : iso(since),
  }
  return { body, ...ageOf(venues) }
}
