import { KEPT, type Covered, type Stretch } from '../../processors/cvd/covered-time.ts'
import type { Micros } from '../../schemas/records.ts'
import type { Present } from '../present/present.ts'
import { Row, type Database } from './database.ts'
import { gapsOf, readGaps, type GapRow } from './gaps.ts'
import { microsSql } from './time.ts'

/** Most ends of subscriptions of an asset that are looked at; the newest. */
const ENDS_MAX = 1000

/** The first trade of one instrument, or the first candle of its past. */
export interface First {
  readonly instrument: string
  readonly first: Micros
  /** Times of its past that were not read back. */
  readonly unread?: readonly Stretch[]
}

/** A time in which nobody was subscribed to an instrument. */
export interface Unsubscribed extends Stretch {
  readonly instrument: string
}

/** By instruments, by which the table is sorted. */
const endedOf = `instrument IN {instruments:Array(String)} AND asset = {asset:String} AND state = 'ended'`
/** Of most assets none has ended, and then nothing else is asked. */
const endedSql = `SELECT count() AS ended FROM subscription_changes_log WHERE ${endedOf}`
/** A subscription that ended goes on with the first trade behind it that begins a bucket. */
const unsubscribedSql = `SELECT ended.instrument AS instrument, ${microsSql('ended.time')} AS from_us,
  ${microsSql('flow.open_time')} AS next_us
  FROM (SELECT instrument, time FROM subscription_changes WHERE ${endedOf}
    ORDER BY time DESC LIMIT ${ENDS_MAX}) AS ended
  ASOF LEFT JOIN (SELECT instrument, open_time FROM flow_10s WHERE asset = {asset:String} AND instrument IN
    (SELECT instrument FROM subscription_changes WHERE ${endedOf})) AS flow
  ON flow.instrument = ended.instrument AND flow.open_time > ended.time`

/** When nobody was subscribed to trades of an asset's instruments; without an end where that is still so. */
export async function readUnsubscribed(
  database: Database,
  asset: string,
  instruments: readonly string[],
): Promise<Unsubscribed[]> {
  const [counted] = await database.query(endedSql, { asset, instruments })
  if (new Row(counted).number('ended') === 0) return []
  const rows = await database.query(unsubscribedSql, { asset, instruments })
  return rows.map((raw) => {
    const row = new Row(raw)
    const [from, next] = [row.number('from_us'), row.number('next_us')]
    return { instrument: row.text('instrument'), from, to: next > from ? next : Infinity }
  })
}

/** When nobody was subscribed to an asset's trades; without an end where that is still so. */
export function unsubscribedOf(present: Present, asset: string): Unsubscribed[] {
  const instruments = present.of(asset).cvd.get(asset)?.instruments ?? []
  return instruments.flatMap(({ instrument, unsubscribed }) =>
    unsubscribed.map(({ from, to }) => ({ instrument, from, to: to ?? Infinity })),
  )
}

/** What is known to be missing in a range of an asset's trades. */
export interface Missing {
  /** Filled ones too, behind the others; each newest first. */
  readonly gaps: readonly GapRow[]
  readonly unsubscribed: readonly Unsubscribed[]
}

interface Heard {
  readonly present: Present
  readonly asset: string
  /** The time of the data. */
  readonly now: Micros
  /** Instruments of the asset with a trade in the log; none: nothing of it can be missing. */
  readonly traded: readonly First[]
}

/** What is missing: from memory, unless the range and the asset's trades begin before what memory holds. */
export async function missingOf(
  log: { readonly database: Database; readonly partitions: number },
  { present, asset, now, traded }: Heard,
  range: Stretch,
): Promise<Missing> {
  const first = Math.min(now, ...traded.map((one) => one.first))
  if (Math.max(range.from, first) >= now - KEPT)
    return { gaps: gapsOf(present, asset, range), unsubscribed: unsubscribedOf(present, asset) }
  const [gaps, unsubscribed] = await Promise.all([
    readGaps(log, asset, range.from, range.to),
    readUnsubscribed(
      log.database,
      asset,
      traded.map(({ instrument }) => instrument),
    ),
  ])
  return { gaps, unsubscribed }
}

/** Which time the log holds of each instrument that ever traded. `holes`: trades that are missing. */
export function coveredOf(
  firsts: readonly First[],
  { holes, unsubscribed }: { holes: readonly GapRow[]; unsubscribed: readonly Unsubscribed[] },
): Covered[] {
  return firsts.map(({ instrument, first, unread = [] }) => ({
    since: first,
    holes: [...holes.filter((hole) => hole.instrument === null || hole.instrument === instrument), ...unread],
    unsubscribed: unsubscribed.filter((stretch) => stretch.instrument === instrument),
  }))
}
