import { HOLES_MAX, type Stretch } from '../../processors/cvd/covered-time.ts'
import type { Micros } from '../../schemas/records.ts'
import { partsOf } from '../../schemas/venues.ts'
import type { TtlCache } from '../request/cache.ts'
import type { First } from './covered.ts'
import { Row, type Database } from './database.ts'
import type { Traded } from './flow.ts'
import type { SourceRange } from './held-past.ts'
import { ceilTo, intervals } from './range.ts'
import { microsSql } from './time.ts'

/** Of one instrument, where its venue's past ends and our trades begin. */
export interface Past {
  readonly instrument: string
  readonly venue: string
  /** Start of its oldest candle. */
  readonly since: Micros
  /** Candles count before it, trades from it on; Infinity: there are no trades. */
  readonly until: Micros
  /** Hours of it of which nothing was read back, before `until`. */
  readonly holes: readonly Stretch[]
}

/** SQL of a candle's place in that order. */
export const sourceSql = "multiIf(source = 'archive', 1, taker_buy IS NULL, 3, 2)"

export function sourceRangeOf(row: Row): SourceRange {
  return { least: row.number('past_least'), most: row.number('past_most') }
}

interface Subject {
  readonly asset: string
  readonly traded: readonly Traded[]
  /** Venues whose trades count: so do their candles, and no others. */
  readonly counted: readonly { readonly venue: string }[]
}

/** How long it is remembered where candles end, milliseconds. */
const PAST_TTL_MS = 5_000
const HOUR = intervals['1h']
const hoursOfDay = Array.from({ length: 24 }, (_, hour) => hour)
/** Of the table of days: which hours there are, a bit each, without reading their candles. A day may come more than once. */
const pastSql = `SELECT instrument, groupArray(toUInt16(day)) AS days, groupArray(past.hours) AS hours, groupArray(past.taker_hours) AS taker_hours,
  ${microsSql('min(first_start)')} AS since, ${microsSql('max(last_start)')} AS newest,
  ${microsSql('min(first_taker)')} AS taker_since, ${microsSql('max(last_taker)')} AS taker_newest
  FROM venue_past_days AS past WHERE asset = {asset:String} AND seconds = {unit:UInt32} GROUP BY instrument`

/** What there is of an instrument's candles: starts of the oldest and the newest, and whole hours between them without one. */
interface Candles {
  readonly since: Micros
  readonly newest: Micros
  readonly missing: readonly Stretch[]
}

interface InstrumentCandles {
  readonly instrument: string
  readonly all: Candles
  /** Of those that say what takers bought; undefined: none does. */
  readonly takers: Candles | undefined
}

/**
 * The past of an asset's instruments as buckets of a width tell it: up to the first whole hour of trades the venue's candle
 * counts, from there on trades; of buckets that are no whole hours the first whole minute. `takers`: of the candles that say
 * what takers bought alone.
 */
export async function readPast(
  services: { readonly cache: TtlCache; readonly database: Database },
  { asset, traded, counted }: Subject,
  width: Micros,
  of: 'all' | 'takers' = 'all',
): Promise<Past[]> {
  const unit = unitOf(width)
  const load = async (): Promise<readonly InstrumentCandles[]> => {
    const rows = await services.database.query(pastSql, { asset, unit })
    return rows.map((raw) => candlesOf(new Row(raw)))
  }
  const { value } = await services.cache.get(`past|${asset}|${unit}`, PAST_TTL_MS, load)
  const firsts = new Map(traded.map(({ instrument, first }) => [instrument, first]))
  const all = value.flatMap(({ instrument, ...told }): Past[] => {
    const candles = told[of]
    if (candles === undefined) return []
    const until = untilOf({ ...candles, first: firsts.get(instrument), unit: unit * 1_000_000 })
    const { venue } = partsOf(instrument)
    return [{ instrument, venue, since: candles.since, until, holes: holesOf(candles, until) }]
  })
  return all.filter(({ venue }) => counted.some((one) => one.venue === venue))
}

function candlesOf(row: Row): InstrumentCandles {
  const days = row.numbers('days')
  const [hours, takerHours] = [row.numbers('hours'), row.numbers('taker_hours')]
  const all = { since: row.number('since'), newest: row.number('newest'), missing: missingOf(days, hours) }
  const [since, newest] = [row.number('taker_since'), row.number('taker_newest')]
  const isSaid = takerHours.some((bits) => bits > 0)
  const takers = isSaid ? { since, newest, missing: missingOf(days, takerHours) } : undefined
  return { instrument: row.text('instrument'), all, takers }
}

/** Stretches of hours that days leave out, the longest. `bits`: of each day its hours, the lowest bit is the first. */
function missingOf(days: readonly number[], bits: readonly number[]): Stretch[] {
  const hours = days
    .flatMap((day, at) => hoursOfDay.filter((hour) => ((bits[at] ?? 0) >> hour) & 1).map((hour) => day * 24 + hour))
    .toSorted((a, b) => a - b)
  return hours
    .slice(1)
    .map((hour, at) => ({ from: ((hours[at] ?? hour) + 1) * HOUR, to: hour * HOUR }))
    .filter(({ from, to }) => from < to)
    .toSorted((a, b) => b.to - b.from - (a.to - a.from))
    .slice(0, HOLES_MAX)
}

/** Stretches of hours without a candle up to `until`. */
function holesOf({ newest, missing }: Candles, until: Micros): Stretch[] {
  const behind = { from: (Math.floor(newest / HOUR) + 1) * HOUR, to: until }
  return [...missing, behind]
    .map(({ from, to }) => ({ from, to: Math.min(to, until) }))
    .filter(({ from, to }) => from < to)
}

/** Seconds of the candles that buckets of a width are made of. */
function unitOf(width: Micros): number {
  return width % HOUR === 0 ? 3_600 : 60
}

interface Ends {
  /** Starts of the oldest and of the newest candle. */
  readonly since: Micros
  readonly newest: Micros
  readonly first: Micros | undefined
  readonly unit: Micros
}

function untilOf({ since, newest, first, unit }: Ends): Micros {
  if (first === undefined) return Infinity
  const begun = Math.floor(first / unit) * unit
  const hasCandle = since <= begun && newest >= begun
  return hasCandle && begun < first ? begun + unit : begun
}

/** The first candle of instruments, or the first trade where that is earlier; null: neither. */
export function sinceOf(first: Micros | null, past: readonly Past[]): Micros | null {
  return past.reduce<Micros | null>((least, { since }) => Math.min(least ?? Infinity, since), first)
}

/**
 * The same instruments, each as if it had traded since its first candle but for the hours that were not read back, and for
 * what lies before the first trade where trades are told.
 */
export function withPast(traded: readonly Traded[], past: readonly Past[]): First[] {
  const byInstrument = new Map(past.map((one) => [one.instrument, one]))
  return traded.map(({ instrument, first }) => {
    const { since = Infinity, until = first, holes = [] } = byInstrument.get(instrument) ?? {}
    const untold = until < first ? [{ from: until, to: first }] : []
    return { instrument, first: Math.min(first, since), unread: [...holes, ...untold] }
  })
}

/** Whether a trade of an instrument at a time counts, or its venue's candle does. */
export function isTold(past: readonly Past[], instrument: string, time: Micros): boolean {
  return time >= (past.find((one) => one.instrument === instrument)?.until ?? 0)
}

/** Those of which something is told behind a time: up to where trades count it is candles that are told. */
export function toldBehind(past: readonly Past[], time: Micros): readonly Past[] {
  return past.filter(({ until }) => until > time)
}

/** The end of the five minutes in which trades of the last of them begin to count; 0: of none they do. */
export function begunOf(past: readonly Past[]): Micros {
  const begun = past.map(({ until }) => until).filter(Number.isFinite)
  return ceilTo(Math.max(0, ...begun), intervals['5m'])
}

/** SQL of from when on the trades of a row's instrument count, microseconds. */
export const untilSql = 'transform(toString(instrument), {past:Array(String)}, {until:Array(Int64)}, toInt64(0))'

/** A time after all others. */
const NEVER = 2 ** 62

export function pastParams(
  past: readonly Past[],
  width: Micros,
): { past: readonly string[]; until: readonly number[]; unit: number } {
  const until = past.map((one) => Math.min(one.until, NEVER))
  return { past: past.map(({ instrument }) => instrument), until, unit: unitOf(width) }
}

/** SQL of the candles that count: of instruments of `past` alone. */
export const candlesOfPast = `FROM venue_candles_log FINAL WHERE asset = {asset:String} AND seconds = {unit:UInt32}
  AND ${microsSql('start')} < ${untilSql}`
