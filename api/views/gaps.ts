import { coveredShare, type Covered, type Stretch } from '../../processors/cvd/covered-time.ts'
import type { Micros } from '../../schemas/records.ts'
import { partsOf } from '../../schemas/venues.ts'
import type { Present } from '../present/present.ts'
import { Row, type Database } from './database.ts'
import { readLostTrades } from './log-gaps.ts'
import { iso, microsSql, timeParam } from './time.ts'

/** Most gaps that are looked at for one answer; in the order of `byState`. */
const GAPS_MAX = 1000
/** Most gaps that an answer lists; the newest. */
const GAPS_SHOWN_MAX = 50

/** One interval whose trades did not come by the stream, or were lost with a part of the log. */
export interface GapRow {
  /** Both null: the log itself lost what it had, of every instrument of its partition. */
  readonly instrument: string | null
  readonly venue: string | null
  /** opened, filled, unfillable, or lost. */
  readonly state: string
  readonly from: Micros
  readonly to: Micros
  readonly missing: number | null
}

const gapsSql = `SELECT instrument, venue, toString(state) AS state, ${microsSql('from_time')} AS from_us,
  ${microsSql('to_time')} AS to_us, missing FROM gaps
  WHERE asset = {asset:String} AND to_time >= ${timeParam('from')} AND from_time < ${timeParam('to')}
  ORDER BY state = 'filled', from_us DESC, venue LIMIT ${GAPS_MAX}`

/**
 * Gaps of an asset and what the log itself lost of it, that touch the time from `from` up to `to`; behind what stays missing
 * what was filled, each newest first.
 */
export async function readGaps(
  log: { readonly database: Database; readonly partitions: number },
  asset: string,
  from: Micros,
  to: Micros,
): Promise<GapRow[]> {
  const [rows, lost] = await Promise.all([
    log.database.query(gapsSql, { asset, from, to }),
    readLostTrades(log, asset, from, to),
  ])
  return [...rows.map(gapOf), ...lost.map((stretch) => ({ ...everywhere, ...stretch }))].sort(byState)
}

/** The same of the last eight days, from memory. */
export function gapsOf(present: Present, asset: string, { from, to }: Stretch): GapRow[] {
  const { byAsset, lost } = present.of(asset)
  const touches = (one: Stretch): boolean => one.to >= from && one.from < to
  const rows: GapRow[] = []
  for (const { instrument, state, from_time, to_time, missing } of byAsset.gap.get(asset)?.values() ?? []) {
    const row = { instrument, venue: partsOf(instrument).venue, state, from: from_time, to: to_time, missing }
    if (touches(row)) rows.push(row)
  }
  for (const stretch of lost.values()) if (touches(stretch)) rows.push({ ...everywhere, ...stretch })
  return rows.sort(byState).slice(0, GAPS_MAX)
}

/** As `gapsSql` has them. */
function byState(a: GapRow, b: GapRow): number {
  const filled = Number(a.state === 'filled') - Number(b.state === 'filled')
  return filled || b.from - a.from || (a.venue ?? '').localeCompare(b.venue ?? '')
}

const everywhere = { instrument: null, venue: null, state: 'lost', missing: null }

function gapOf(raw: unknown): GapRow {
  const row = new Row(raw)
  return {
    instrument: row.text('instrument'),
    venue: row.text('venue'),
    state: row.text('state'),
    from: row.number('from_us'),
    to: row.number('to_us'),
    missing: row.nullableNumber('missing'),
  }
}

/** Whether trades of a venue are missing by it. */
export function isOfVenue(gap: GapRow, venue: string): boolean {
  return gap.venue === null || gap.venue === venue
}

export interface Coverage {
  readonly from: string
  readonly to: string
  readonly complete: boolean
  /** How much of the time asked for the log holds, 0 to 1: the mean over the instruments. */
  readonly share: number
  readonly gaps: readonly {
    exchange: string
    state: string
    from: string
    to: string
    missing: number | null
    past: string | null
  }[]
}

/**
 * What of the time asked for the log really has.
 *
 * `asked`: what the figures are meant to cover; `instruments`: which time the log holds of each; `now`: how far the log is.
 * `toldOver`: what of a venue's past tells a hole's time. Complete: the log of every instrument reaches back to the start, no hole is in it and every venue that lists the asset was
 * heard to the end.
 */
export function coverageOf(facts: {
  asked: { from: Micros; to: Micros }
  instruments: readonly Covered[]
  now: Micros
  holes: readonly GapRow[]
  allHeard: boolean
  toldOver: (hole: GapRow) => string | null
}): Coverage {
  const { asked, instruments, now, holes, allHeard, toldOver } = facts
  const since = Math.min(Infinity, ...instruments.map((instrument) => instrument.since))
  const to = Math.min(asked.to, now)
  const from = Math.min(to, Math.max(asked.from, since))
  const share = coveredShare(instruments, { from: asked.from, to })
  return {
    from: iso(from),
    to: iso(to),
    complete: share === 1 && holes.length === 0 && allHeard,
    share,
    gaps: holes.slice(0, GAPS_SHOWN_MAX).map((gap) => ({
      exchange: gap.venue ?? 'all',
      state: gap.state,
      from: iso(gap.from),
      to: iso(gap.to),
      missing: gap.missing,
      past: toldOver(gap),
    })),
  }
}
