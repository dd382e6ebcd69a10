import { periods, windowOf, type PeriodName } from '../../processors/cvd/periods.ts'
import type { Services } from '../services.ts'
import { coveredOf, readUnsubscribed, type Unsubscribed } from '../views/covered.ts'
import { aggregate, readSums, type InstrumentSums } from '../views/cvd.ts'
import { coverageOf, readGaps, type GapRow } from '../views/gaps.ts'
import { iso } from '../views/time.ts'
import { ageOf, isHole, viewVenues } from '../views/venues.ts'
import { openSockets } from '../views/world.ts'
import type { Built } from './answers.ts'
import type { Subject } from './data.ts'
import { newestByVenue } from './history.ts'

/** Reads and builds the answer of `/cvd/:symbol`. */
export async function buildCvd(services: Services, subject: Subject, period: PeriodName): Promise<Built> {
  const window = windowOf(periods[period], subject.now)
  const [sums, gaps, unsubscribed] = await Promise.all([
    readSums(services.database, subject.asset, window),
    readGaps(services.database, subject.asset, window.from, window.to),
    readUnsubscribed(services.database, subject.asset),
  ])
  return cvdAnswer(subject, period, { sums, gaps, unsubscribed })
}

/** The answer that follows from the rows. */
export function cvdAnswer(
  subject: Subject,
  period: PeriodName,
  { sums, gaps, unsubscribed }: { sums: InstrumentSums[]; gaps: GapRow[]; unsubscribed: Unsubscribed[] },
): Built {
  const { symbol, world, clock, now } = subject
  const window = windowOf(periods[period], now)
  const venues = viewVenues({ ...subject, partitionTime: now, newest: newestByVenue(sums), gaps })
  const holes = gaps.filter(isHole)
  const listed = venues.filter((venue) => venue.listed)
  const coverage = coverageOf({
    asked: window,
    instruments: coveredOf(sums, { holes, unsubscribed }),
    now,
    holes,
    allHeard: listed.every(({ status }) => status === 'live' || status === 'gap'),
  })
  const { total, markets, exchanges, signal } = aggregate(sums, coverage.share)
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
