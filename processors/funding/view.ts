import type { Funding, FundingView, Micros } from '../../schemas/records.ts'
import { fundingVenues } from '../../schemas/venues.ts'
import { average, type Average, nextOf } from './interval.ts'
import { fundingRate } from './formula.ts'
import { MINUTE, type AssetState, type KnownPerp, type Perp } from './state.ts'

/** Of several perpetuals of a venue one that was silent for this long stands back. */
const SILENT: Micros = 10 * MINUTE
/** Before the first minute after a settlement has closed, a premium that is not older than this stands for the average. */
const PREMIUM_LIFETIME: Micros = 5 * MINUTE

/** Funding of an asset over its venues at partition time `now`. */
export function fundingOf(asset: AssetState, now: Micros, v: number): Funding {
  return { asset: asset.asset, exchanges: perpsOf(asset, now).map((perp) => viewOf(perp, now)), time: now, v }
}

/** One perpetual a venue, of those whose interval is known, in the venues' order. */
function perpsOf({ perps }: AssetState, now: Micros): KnownPerp[] {
  const known = [...perps.values()].filter(isKnown)
  return fundingVenues.flatMap((venue) => {
    const all = known.filter((perp) => perp.venue === venue)
    return all.sort((a, b) => rank(a, now) - rank(b, now) || compare(a.instrument, b.instrument)).slice(0, 1)
  })
}

function isKnown(perp: Perp): perp is KnownPerp {
  return perp.terms !== null
}

/** Heard of lately first, then USDT-margined. */
function rank({ heard, instrument }: Perp, now: Micros): number {
  return (now - heard > SILENT ? 2 : 0) + (/USDT(?:-SWAP)?$/.test(instrument) ? 0 : 1)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : 1
}

function viewOf(perp: KnownPerp, now: Micros): FundingView {
  const { rate, mark, index, premium, settled, openInterest, terms, start } = perp
  const expected = expectedOf(perp, now)
  const mean = averageOf(perp, expected, now)
  return {
    exchange: perp.venue,
    instrument: perp.instrument,
    rate: rate?.rate ?? null,
    rate_time: rate?.time ?? null,
    next_settlement: nextOf(perp, start, now),
    interval_hours: terms.intervalHours,
    mark: mark?.price ?? null,
    index: index?.price ?? null,
    mark_time: (mark ?? index)?.time ?? null,
    premium: premium?.premium ?? null,
    premium_time: premium === null ? null : premium.minute * MINUTE,
    average_premium: mean.average,
    samples: mean.samples,
    expected,
    predicted: mean.average === null ? null : fundingRate(perp.venue, mean.average, terms),
    settled_rate: settled?.rate ?? null,
    settled_time: settled?.time ?? null,
    open_interest: openInterest?.size ?? null,
    open_interest_time: openInterest?.time ?? null,
  }
}

/** Minutes that have closed since the last settlement; none while that is not known. */
function expectedOf({ start }: KnownPerp, now: Micros): number {
  return start === null ? 0 : Math.max(0, Math.floor(now / MINUTE) - start)
}

function averageOf({ minutes, premium, start }: Perp, expected: number, now: Micros): Average {
  const mean = start === null ? { average: null, samples: 0 } : average(minutes, start, expected)
  if (mean.average !== null || premium === null || now - premium.minute * MINUTE > PREMIUM_LIFETIME) return mean
  return { average: premium.premium, samples: 0 }
}
