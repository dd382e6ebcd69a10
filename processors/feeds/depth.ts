import type { Micros } from '../../schemas/records.ts'
import type { Interval } from './intervals.ts'
import type { Rest, RestOutcome } from './rest.ts'
import type { Venue, VenueTrade } from './venue.ts'

/** Enough for 2^40 ids; more calls would mean that the answers contradict each other. */
const maxProbes = 42

export type Found = { readonly kind: 'found'; readonly id: number } | Exclude<RestOutcome<unknown>, { kind: 'rows' }>

/**
 * The first id of `range` whose trade is not older than `since`, by bisection: a page around an id says its time. Ids
 * that the venue does not serve count as older.
 */
export async function findFirstSince(
  venue: Venue,
  rest: Rest,
  symbol: string,
  range: Interval,
  since: Micros,
): Promise<Found> {
  let [low, high] = [range.from, range.to + 1]
  for (let probe = 0; low < high && probe < maxProbes; probe++) {
    const middle = Math.floor((low + high) / 2)
    const call = venue.backfill.page(symbol, middle, middle)
    const outcome = await rest.get(call, (body) => venue.backfill.parse(symbol, body))
    if (outcome.kind !== 'rows') return outcome
    const trades = outcome.rows.filter((row): row is VenueTrade => !('refused' in row))
    const near = nearest(trades, middle)
    if (near !== undefined && near.time >= since) high = Math.min(middle, near.id)
    else low = middle + 1
  }
  return { kind: 'found', id: low }
}

function nearest(trades: readonly VenueTrade[], id: number): VenueTrade | undefined {
  let best: VenueTrade | undefined
  for (const trade of trades) {
    if (best === undefined || Math.abs(trade.id - id) < Math.abs(best.id - id)) best = trade
  }
  return best
}
