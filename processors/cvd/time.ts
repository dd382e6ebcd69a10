import type { FlowFive, FlowHour, Metric, Micros, Signal } from '../../schemas/records.ts'
import { BUCKET } from './bucket.ts'
import { coveredShare } from './covered-time.ts'
import { periods, windowOf, type PeriodName } from './periods.ts'
import { classify } from './signal.ts'
import { addToHour, letHoursGo, takeHours, type Cause } from './hours.ts'
import { fivesOf } from './five-minutes.ts'
import {
  fiveStart,
  HORIZON,
  indicesWithin,
  periodNames,
  setTime,
  type AssetState,
  type Bucket,
  type CvdState,
} from './state.ts'
import { metricsOf, missAway } from './metrics.ts'
import { touch } from './trades.ts'
import { count, tell } from './volumes.ts'

/** Buckets that are kept behind the newest that is closed. */
const KEPT = HORIZON / BUCKET

export interface Moment {
  readonly time: Micros
  /** As in the context of an entry. */
  readonly isUnread: boolean
}

/** What follows from a mark. */
export interface TimeOutputs {
  readonly hours: readonly FlowHour[]
  readonly fives: readonly FlowFive[]
  readonly signals: readonly Signal[]
  /** Of each asset with a trade in what was closed. */
  readonly metrics: readonly Metric[]
}

/**
 * Moves partition time on to a moment that is later: closes buckets, sums hours up, lets old ones go, looks at the
 * signals. A mark that closes several buckets is one look, at the end of the last.
 */
export function advanceTime(state: CvdState, { time, isUnread }: Moment, { offset, v }: Cause): TimeOutputs {
  const wasClosed = state.closed
  setTime(state, time)
  const { closed } = state
  if (closed === wasClosed) return { hours: [], fives: fivesOf(state, closed), signals: [], metrics: [] }
  for (const asset of state.awake)
    if (isAtRest(asset)) state.awake.delete(asset)
    else advance(state, asset, v)
  const closedNow = closing(state, wasClosed, closed)
  for (const bucket of closedNow) close(state, bucket, { offset, v })
  missAway(state)
  const hours = takeHours(state, wasClosed, v, isUnread)
  const fives = fivesOf(state, wasClosed)
  letGo(state, fiveStart(wasClosed - KEPT), state.gone) // what is older was let go when `wasClosed` was closed
  letHoursGo(state)
  const assets = [...state.awake].sort((a, b) => compare(a.asset, b.asset)) // who traded in what has closed is awake again
  const signals = assets.flatMap((asset) => lookAt(asset, closed * BUCKET, v))
  return { hours, fives, signals, metrics: metricsOf(assets, closedNow, { time: closed * BUCKET, v }) }
}

/**
 * Whether no period had a trade of it at the last look, so that it was told so then: until something is counted it stays
 * that way. It follows from what is saved, so that it is the same behind a restart.
 */
function isAtRest({ instruments, isAsLooked }: AssetState): boolean {
  if (!isAsLooked) return false
  return instruments.every(({ counted, rings }) => counted === undefined || rings['7d'].hasLeft(counted.newest))
}

function advance(state: CvdState, asset: AssetState, v: number): void {
  const end = state.closed * BUCKET
  for (const { rings, covered } of asset.instruments) {
    for (const name of periodNames) rings[name].advance(end)
    covered.forget(end)
  }
  tell(state, asset, v)
  asset.isAsLooked = true
}

/** In an order that follows from the log alone, since sums in the rings depend on it. */
function closing(state: CvdState, from: number, to: number): Bucket[] {
  return indicesWithin(state, from, to).flatMap((index) =>
    (state.buckets.get(index) ?? []).toSorted((a, b) => compare(a.owner.instrument, b.owner.instrument)),
  )
}

function close(state: CvdState, bucket: Bucket, cause: Cause): void {
  const instrument = bucket.owner
  for (const part of bucket.parts) {
    touch(state, bucket, part, cause.v)
    addToHour(state, instrument, bucket.index, { volume: part }, cause)
    count(state, instrument, bucket.index, part, cause.v)
  }
  bucket.ids?.seal()
}

/** Parts that are held back just now keep what they need; only the state forgets them. */
function letGo(state: CvdState, from: number, to: number): void {
  for (const index of indicesWithin(state, from, to)) {
    const buckets = state.buckets.get(index) ?? []
    state.buckets.delete(index)
    for (const bucket of buckets) forget(state, bucket)
  }
}

function forget(state: CvdState, bucket: Bucket): void {
  const { owner } = bucket
  owner.buckets.delete(bucket.index)
  if (owner.current === bucket) owner.current = undefined
  state.changed.gone.push(bucket)
}

function lookAt(asset: AssetState, end: Micros, v: number): Signal[] {
  const changes: Signal[] = []
  const known = asset.instruments.map((instrument) => instrument.covered)
  for (const period of periodNames) {
    const { buy, sell } = sumsOf(asset, period)
    const covered = coveredShare(known, { from: windowOf(periods[period], end - 1).from, to: end })
    const from = asset.classes[period]
    const to = classify(buy - sell, buy + sell, covered)
    if (from === to) continue
    asset.classes[period] = to
    asset.areClassesChanged = true
    const value = to === 'insufficient_data' ? 0 : (buy - sell) / (buy + sell)
    changes.push({
      asset: asset.asset,
      kind: 'cvd',
      period,
      from,
      to,
      value,
      evidence: { buy, sell },
      time: end,
      v,
      exchange: null,
    })
  }
  return changes
}

function sumsOf({ instruments }: AssetState, period: PeriodName): { buy: number; sell: number } {
  let [buy, sell] = [0, 0]
  for (const { rings } of instruments) {
    const [sums] = rings[period].sums()
    buy += sums?.buy ?? 0
    sell += sums?.sell ?? 0
  }
  return { buy, sell }
}

/** By code units: the same on every machine. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
