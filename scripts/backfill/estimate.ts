import type { CoveredPast } from '../../processors/feeds/facts/backfill-plan.ts'
import type { TradeArchive } from '../../processors/feeds/venues/venue.ts'
import type { BackfillOrder, Instrument, Micros } from '../../schemas/records.ts'

const HOUR: Micros = 3_600_000_000
const DAY: Micros = 24 * HOUR
/** What a row takes in the log and in ClickHouse, bytes: measured, see processors/feeds/README.md. */
const ROW_BYTES = 90
/** Rows of a day's archive: of each minute and each hour. */
const ARCHIVE_ROWS = 1_464
/** Candles that are brought in a second, and bytes of packed archives that are folded: some 20 a trade, 40,000 trades. */
const CANDLES_PER_SECOND = 1_400
const PACKED_PER_SECOND = 8e5

/** A market whose past was ordered. */
export interface Subject {
  readonly instrument: Instrument
  readonly order: BackfillOrder
  readonly hasCandles: boolean
  /** Undefined: the venue has none, or they are not wanted. */
  readonly archive: TradeArchive | undefined
}

/** What an order comes to, of which nothing is in the log yet. */
export interface Estimate {
  readonly candles: number
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
  let [candles, archives] = [0, 0]
  for (const subject of subjects) {
    candles += missingCandles(subject, known, now)
    archives += missingDays(subject, known, now).length
  }
  return { candles, archives, bytes: (candles + archives * ARCHIVE_ROWS) * ROW_BYTES }
}

/** How long it takes beside the line. `packed`: bytes of the files. */
export function secondsOf({ candles }: Estimate, packed: number): number {
  return Math.ceil(candles / CANDLES_PER_SECOND + packed / PACKED_PER_SECOND)
}

function missingCandles(
  { instrument, order, hasCandles }: Subject,
  known: ReadonlyMap<string, CoveredPast>,
  now: Micros,
): number {
  if (!hasCandles) return 0
  const all = Math.floor((now - order.from) / HOUR)
  const covered = known.get(`${instrument.instrument}|candles_1h`)
  const has = covered === undefined ? 0 : (Math.min(covered.to, now) - Math.max(covered.from, order.from)) / HOUR
  return Math.max(0, all - Math.max(0, Math.round(has)))
}

/** Dates of files that are over and not in the log. */
export function missingDays(
  { instrument, order, archive }: Subject,
  known: ReadonlyMap<string, CoveredPast>,
  now: Micros,
): string[] {
  if (archive === undefined) return []
  const days = Math.max(0, Math.floor((Math.min(order.to, now) - order.from) / DAY))
  const dates = Array.from({ length: days }, (_, day) =>
    new Date((order.from + day * DAY) / 1_000).toISOString().slice(0, 10),
  )
  return dates.filter((date) => !known.has(`${instrument.instrument}|archive_${date}`))
}
