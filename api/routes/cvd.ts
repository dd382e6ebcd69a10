import { coveredShare, type Covered, type Stretch } from '../../processors/cvd/covered-time.ts'
import { periods, windowOf, type PeriodName } from '../../processors/cvd/periods.ts'
import type { PastHour } from '../../processors/present/state.ts'
import type { Micros } from '../../schemas/records.ts'
import { coveredOf, unsubscribedOf } from '../views/covered.ts'
import { aggregate, flowTime, sourcesOf, sumsOf, type InstrumentSums } from '../views/cvd.ts'
import { isCounted } from '../views/flow.ts'
import { coverageOf, gapsOf, type GapRow } from '../views/gaps.ts'
import { firstWithPast, heldSource, toldOver } from '../views/held-past.ts'
import { iso } from '../views/time.ts'
import { acknowledgedVenues, ageOf, isHole, viewVenues, type VenueView } from '../views/venues.ts'
import { openSockets } from '../views/world.ts'
import type { View } from '../request/reply.ts'
import { noData, type AssetContext } from './answers.ts'
import { newestByVenue } from './history.ts'

/** What is counted of an asset over a period that ends now. */
export interface PeriodTrades {
  /** How far the derived data are. */
  readonly now: Micros
  readonly window: Stretch
  /** Of the instruments whose trades count. */
  readonly sums: readonly InstrumentSums[]
  readonly gaps: readonly GapRow[]
}

/** Throws `data_unavailable` where nothing is. `gaps`: those of a longer period, where they have been read. */
export function periodTrades(context: AssetContext, period: PeriodName, gaps?: readonly GapRow[]): PeriodTrades {
  const { symbol, asset, present, world, clock, counted } = context
  const now = flowTime(present, asset)
  if (now === undefined) throw noData(`trade of ${symbol}`)
  const window = windowOf(periods[period], now)
  const sums = sumsOf(present, asset, period, now).filter(({ instrument }) => isCounted(instrument, counted))
  if (sums.length === 0 && acknowledgedVenues(asset, world, clock).size === 0) throw noData(`trade of ${symbol}`)
  return { now, window, sums, gaps: gaps ?? gapsOf(present, asset, window) }
}

/** What is known of the venues' streams in that time. */
export function venuesOf(context: AssetContext, { now, sums, gaps }: PeriodTrades): VenueView[] {
  const newest = newestByVenue(sums.filter((row) => row.newest > 0))
  return viewVenues({ ...context, partitionTime: now, newest, gaps })
}

/** `/cvd/:symbol`: what has closed, as the processor counts it, and the buckets that are open. */
export function cvdView(context: AssetContext, period: PeriodName): View {
  const { symbol, asset, present, world, clock, counted } = context
  const trades = periodTrades(context, period)
  const { now, window, sums, gaps } = trades
  const venues = venuesOf(context, trades)
  const unsubscribed = unsubscribedOf(present, asset)
  const holes = gaps.filter(isHole)
  const listed = venues.filter((venue) => venue.listed)
  const missing = { holes, unsubscribed }
  const asked = { from: window.from, to: Math.min(window.to, now) }
  const coveredBy = (told?: (hour: PastHour) => boolean): Covered[] =>
    coveredOf(
      sums.map((row) => firstWithPast(row, told)),
      missing,
    )
  const coverage = coverageOf({
    asked: window,
    instruments: coveredBy(),
    now,
    holes,
    allHeard: listed.every(({ status }) => status === 'live' || status === 'gap'),
    toldOver: (hole) => toldOver(present, asset, hole),
  })
  // A signal is said where our own trades hold enough of the period, as the processor has it.
  const traded = sums.filter(({ first }) => Number.isFinite(first))
  const covered = coveredShare(coveredOf(traded, missing), asked)
  const { total, markets, exchanges, signal } = aggregate(sums, { covered, counted })
  const since = traded.length === 0 ? null : Math.min(...traded.map((row) => row.first))
  const body = {
    symbol,
    ...total,
    signal,
    period,
    active_ws_connections: openSockets(world, clock),
    exchanges: Object.fromEntries(
      venues.map(({ venue, status }) => {
        const source = heldSource(sums.filter((row) => row.venue === venue))
        return [venue, { ...exchanges.get(venue), source, status }] as const
      }),
    ),
    markets,
    source: heldSource(sums),
    sources: sourcesOf(sums, (told) => coveredShare(coveredBy(told), asked)),
    coverage,
    since: since === null ? null : iso(since),
  }
  return { body, ...ageOf(venues) }
}
