import type { BackfillOrder, Instrument, Micros } from '../../../schemas/records.ts'
import type { Market } from '../../../schemas/venues.ts'
import type { PastFacts, PastPages, TradeArchive } from '../venues/venue.ts'
import { venues } from '../venues/venues.ts'
import { startsEarly } from './archive-plan.ts'
import type { CoveredPast } from './backfill-plan.ts'

const HOUR: Micros = 3_600_000_000
const DAY: Micros = 24 * HOUR
/** What a row takes, in the log and in ClickHouse, bytes: measured, see decision 0014 (api/docs/decisions). */
const CANDLE_BYTES = 108 + 26
const FACT_BYTES = 90 + 23
/** Rows of a day's archive: of each minute and each hour. */
const ARCHIVE_ROWS = 1_464
/** Candles that are brought in a second, and bytes of packed archives that are folded: some 20 a trade, 40,000 trades. */
const CANDLES_PER_SECOND = 1_400
const PACKED_PER_SECOND = 8e5

/** A market whose past was ordered. */
export interface Subject {
  readonly instrument: Instrument
  readonly order: BackfillOrder
  /** Undefined: the venue has none. */
  readonly past: Pick<PastPages, 'depth'> | undefined
  /** Settled rates, open interest, marks, ratios, takers. */
  readonly facts: readonly Pick<PastFacts, 'name' | 'seconds' | 'depth'>[]
  /** Undefined: the venue has none, or they are not wanted. */
  readonly archive: TradeArchive | undefined
}

/** The market of a venue that is listed for an asset; undefined: none is. */
export type FindInstrument = (venue: string, market: Market, asset: string) => Instrument | undefined

/** The markets that orders are about, of the venues whose trades count. */
export function subjectsOf(
  orders: readonly BackfillOrder[],
  counted: readonly string[],
  instrumentOf: FindInstrument,
): Subject[] {
  return venues.flatMap(({ name, trades, past, pastFacts: facts = [], archive }) => {
    if (trades === undefined || !counted.includes(name)) return []
    return orders.flatMap((order): Subject[] => {
      const instrument = instrumentOf(name, trades.market, order.asset)
      const wanted = order.archives ? archive : undefined
      return instrument === undefined ? [] : [{ instrument, order, past, facts, archive: wanted }]
    })
  })
}

/** What an order comes to, of which nothing is in the log yet. */
export interface Estimate {
  readonly candles: number
  /** Rows of all else, at most: one each of their steps. */
  readonly facts: number
  /** Files. */
  readonly archives: number
  /** On the disk, at the end. */
  readonly bytes: number
}

/** `known`: what the log has, by `instrument|series`. `now`: microseconds. */
export function estimateOf(
  subjects: readonly Subject[],
  known: ReadonlyMap<string, CoveredPast>,
  now: Micros,
): Estimate {
  let [candles, facts, archives] = [0, 0, 0]
  for (const subject of subjects) {
    if (subject.past !== undefined)
      candles += missingRows(subject, { name: 'candles_1h', seconds: 3_600, depth: subject.past.depth }, known, now)
    for (const series of subject.facts) facts += missingRows(subject, series, known, now)
    archives += missingDays(subject, known, now).length
  }
  const bytes = (candles + archives * ARCHIVE_ROWS) * CANDLE_BYTES + facts * FACT_BYTES
  return { candles, facts, archives, bytes }
}

/** How long it takes beside the line. `packed`: bytes of the files. */
export function secondsOf({ candles, facts }: Estimate, packed: number): number {
  return Math.ceil((candles + facts) / CANDLES_PER_SECOND + packed / PACKED_PER_SECOND)
}

function missingRows(
  { instrument, order }: Subject,
  { name, seconds, depth }: { readonly name: string; readonly seconds: number; readonly depth?: number | undefined },
  known: ReadonlyMap<string, CoveredPast>,
  now: Micros,
): number {
  const width = seconds * 1_000_000
  const from = Math.max(order.from, now - (depth ?? Infinity) * width)
  const all = Math.floor((now - from) / width)
  const covered = known.get(`${instrument.instrument}|${name}`)
  const has = covered === undefined ? 0 : (Math.min(covered.to, now) - Math.max(covered.from, from)) / width
  return Math.max(0, all - Math.max(0, Math.round(has)))
}

/** Dates of files that are over and not in the log. */
export function missingDays(
  { instrument, order, archive }: Subject,
  known: ReadonlyMap<string, CoveredPast>,
  now: Micros,
): string[] {
  if (archive === undefined) return []
  const days = Math.max(0, Math.floor((Math.min(order.to + (startsEarly(archive) ? DAY : 0), now) - order.from) / DAY))
  const dates = Array.from({ length: days }, (_, day) =>
    new Date((order.from + day * DAY) / 1_000).toISOString().slice(0, 10),
  )
  return dates.filter((date) => !known.has(`${instrument.instrument}|archive_${date}`))
}
