import { periods, windowOf, type PeriodName } from '../../processors/cvd/periods.ts'
import type { Services } from '../services.ts'
import { aggregate, readSums, type VenueSums } from '../views/cvd.ts'
import { coverageOf, readGaps, type GapRow } from '../views/gaps.ts'
import { iso } from '../views/time.ts'
import { ageOf, isHole, viewVenues } from '../views/venues.ts'
import { openSockets } from '../views/world.ts'
import type { Built } from './answers.ts'
import type { Subject } from './data.ts'

/** Reads and builds the answer of `/cvd/:symbol`. */
export async function buildCvd(services: Services, subject: Subject, period: PeriodName): Promise<Built> {
  const window = windowOf(periods[period], subject.now)
  const [sums, gaps] = await Promise.all([
    readSums(services.database, subject.asset, window),
    readGaps(services.database, subject.asset, window.from, window.to),
  ])
  return cvdAnswer(subject, period, sums, gaps)
}

/** The answer that follows from the rows. */
export function cvdAnswer(subject: Subject, period: PeriodName, sums: VenueSums[], gaps: GapRow[]): Built {
  const { symbol, world, clock, now } = subject
  const window = windowOf(periods[period], now)
  const newest = new Map(sums.map((row) => [row.venue, row.newest]))
  const venues = viewVenues({ ...subject, partitionTime: now, newest, gaps })
  const { total, markets, exchanges, signal } = aggregate(sums)
  const since = sums.length === 0 ? null : Math.min(...sums.map((row) => row.first))
  const listed = venues.filter((venue) => venue.listed)
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
    coverage: coverageOf({
      asked: window,
      since,
      now,
      holes: gaps.filter(isHole),
      allHeard: listed.every(({ status }) => status === 'live' || status === 'gap'),
    }),
    since: since === null ? null : iso(since),
  }
  return { body, ...ageOf(venues) }
}
