import type { Micros } from '../../../schemas/records.ts'
import type { VenueTrade } from '../venues/events.ts'
import type { Backfill, Rest, RestCall } from '../venues/venue.ts'
import { type NoRows, tradesOf } from './gaps.ts'
import type { Interval } from './intervals.ts'

/** More than any market trades in an hour. */
const hourOfIds = 2 ** 20
/** Enough for 2^40 ids; more calls would mean that the answers contradict each other. */
const maxProbes = 42

type Found = { readonly kind: 'found'; readonly id: number } | NoRows
/** `newest`: the highest id that the venue tells of. `none`: it tells of no trade, or not yet of the first. */
type Start =
  NoRows | { readonly kind: 'found'; readonly id: number; readonly newest: number } | { readonly kind: 'none' }

/**
 * The first id of a market whose trade is not older than `since`; where it has not traded since, the id that comes next.
 * `first`: the lowest that is known to have come since; undefined: none is.
 */
export async function findStart(
  backfill: Backfill,
  rest: Rest,
  symbol: string,
  first: number | undefined,
  since: Micros,
): Promise<Start> {
  let lowest = first
  let newest = -Infinity
  for (const call of startCalls(backfill, symbol, first, since)) {
    const outcome = await rest.get(call, (body) => backfill.parse(symbol, body))
    if (outcome.kind !== 'rows') return outcome
    const trades = tradesOf(outcome.rows)
    newest = Math.max(newest, ...trades.map(({ id }) => id))
    if (outcome.rows.length < backfill.pageSize || trades.some(({ time }) => time < since)) {
      const id = startOn(trades, first, since)
      return id === undefined ? { kind: 'none' } : { kind: 'found', id, newest }
    }
    lowest = Math.min(lowest ?? Infinity, ...trades.map(({ id }) => id))
  }
  if (lowest === undefined || !Number.isFinite(lowest)) return { kind: 'none' }
  const find = backfill.direction === 'since' ? findPageSince : findFirstSince
  const range = { from: Math.max(0, lowest - hourOfIds), to: lowest - 1 }
  const found = await find(backfill, rest, symbol, range, since)
  return found.kind === 'found' ? { ...found, newest } : found
}

/** The newest page, which reaches back far enough in a quiet market; in a busy one that before the first known trade. */
function startCalls(backfill: Backfill, symbol: string, first: number | undefined, since: Micros): RestCall[] {
  const newest = backfill.newest(symbol)
  if (first === undefined || first === 0 || backfill.direction === 'since') return [newest]
  return [newest, backfill.page(symbol, Math.max(0, first - backfill.pageSize), first - 1, since)]
}

/** Of a page that reaches back to `since`. */
function startOn(trades: readonly VenueTrade[], first: number | undefined, since: Micros): number | undefined {
  const own = trades.filter(({ id, time }) => time >= since && id < (first ?? Infinity))
  if (own.length > 0) return Math.min(...own.map(({ id }) => id))
  if (trades.length === 0) return first
  const next = Math.max(...trades.map(({ id }) => id)) + 1
  // A page that does not come up to the first trade lags behind the stream.
  return first !== undefined && next < first ? undefined : (first ?? next)
}

/** The first id of `range` whose trade is not older than `since`. Ids that the venue does not serve count as older. */
export async function findFirstSince(
  backfill: Backfill,
  rest: Rest,
  symbol: string,
  range: Interval,
  since: Micros,
): Promise<Found> {
  return findFirst(backfill, rest, symbol, range, ({ time }) => time >= since)
}

/** The first id of `range` from which on trades are `wanted`, by bisection: by the trade nearest to an id on a page around it. */
export async function findFirst(
  backfill: Backfill,
  rest: Rest,
  symbol: string,
  range: Interval,
  wanted: (trade: VenueTrade) => boolean,
): Promise<Found> {
  let [low, high] = [range.from, range.to + 1]
  for (let probe = 0; low < high && probe < maxProbes; probe++) {
    const middle = Math.floor((low + high) / 2)
    const call = backfill.page(symbol, middle, middle, 0)
    const outcome = await rest.get(call, (body) => backfill.parse(symbol, body))
    if (outcome.kind !== 'rows') return outcome
    const near = nearest(tradesOf(outcome.rows), middle)
    if (near !== undefined && wanted(near)) high = Math.min(middle, near.id)
    else low = middle + 1
  }
  return { kind: 'found', id: low }
}

/** The same where the venue pages by time: the first of the page that begins then. */
export async function findPageSince(
  backfill: Backfill,
  rest: Rest,
  symbol: string,
  { from, to }: Interval,
  since: Micros,
): Promise<Found> {
  const outcome = await rest.get(backfill.page(symbol, from, to, since), (body) => backfill.parse(symbol, body))
  if (outcome.kind !== 'rows') return outcome
  const ids = tradesOf(outcome.rows).map(({ id }) => id)
  return { kind: 'found', id: Math.max(from, Math.min(to + 1, ...ids)) }
}

function nearest(trades: readonly VenueTrade[], id: number): VenueTrade | undefined {
  let best: VenueTrade | undefined
  for (const trade of trades) {
    if (best === undefined || Math.abs(trade.id - id) < Math.abs(best.id - id)) best = trade
  }
  return best
}
