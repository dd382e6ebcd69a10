import type { Micros } from '../../schemas/records.ts'
import { Row, type Database } from './database.ts'
import { iso, microsSql, timeParam } from './time.ts'

/** Most gaps that are looked at for one answer; the newest. */
const GAPS_MAX = 1000
/** Most gaps that an answer lists; the newest. */
const GAPS_SHOWN_MAX = 50

/** One interval whose trades did not come by the stream. */
export interface GapRow {
  readonly venue: string
  readonly state: string
  readonly from: Micros
  readonly to: Micros
  readonly missing: number | null
}

const gapsSql = `SELECT venue, toString(state) AS state, ${microsSql('from_time')} AS from_us,
  ${microsSql('to_time')} AS to_us, missing FROM gaps
  WHERE asset = {asset:String} AND to_time >= ${timeParam('from')} AND from_time < ${timeParam('to')}
  ORDER BY from_us DESC, venue LIMIT ${GAPS_MAX}`

/** Gaps of an asset, filled ones too, that touch the time from `from` up to `to`; newest first. */
export async function readGaps(database: Database, asset: string, from: Micros, to: Micros): Promise<GapRow[]> {
  const rows = await database.query(gapsSql, { asset, from, to })
  return rows.map((raw) => {
    const row = new Row(raw)
    return {
      venue: row.text('venue'),
      state: row.text('state'),
      from: row.number('from_us'),
      to: row.number('to_us'),
      missing: row.nullableNumber('missing'),
    }
  })
}

export interface Coverage {
  readonly from: string
  readonly to: string
  readonly complete: boolean
  readonly gaps: readonly { exchange: string; state: string; from: string; to: string; missing: number | null }[]
}

/**
 * What of the time asked for the log really has.
 *
 * `asked`: what the figures are meant to cover; `since`: the first trade; `now`: how far the log is. Complete: the log
 * reaches back to the start, no hole is in it and every venue that lists the asset was heard to the end.
 */
export function coverageOf(facts: {
  asked: { from: Micros; to: Micros }
  since: Micros | null
  now: Micros
  holes: readonly GapRow[]
  allHeard: boolean
}): Coverage {
  const { asked, since, now, holes, allHeard } = facts
  const to = Math.min(asked.to, now)
  const from = Math.min(to, Math.max(asked.from, since ?? to))
  return {
    from: iso(from),
    to: iso(to),
    complete: since !== null && since <= asked.from && holes.length === 0 && allHeard,
    gaps: holes.slice(0, GAPS_SHOWN_MAX).map((gap) => ({
      exchange: gap.venue,
      state: gap.state,
      from: iso(gap.from),
      to: iso(gap.to),
      missing: gap.missing,
    })),
  }
}
