import type { FlowHour } from '../../schemas/records.ts'
import { BUCKET, type Part } from './bucket.ts'
import type { CvdState, Hour, InstrumentState } from './state.ts'

/** Width of an hour, in buckets. */
const HOUR_BUCKETS = 360

/** What a change follows from. */
export interface Cause {
  readonly offset: number
  readonly v: number
}

/** The hour that a bucket lies in, in hours since the Unix epoch. */
function hourIndex(bucket: number): number {
  return Math.floor(bucket / HOUR_BUCKETS)
}

/**
 * Adds a part of a bucket that closes, or a trade that came after that: then `prices` is the part that it went into. Where
 * not all buckets of its hour are known it is a row of its own.
 */
export function addToHour(
  state: CvdState,
  owner: InstrumentState,
  bucket: number,
  { volume, prices = volume }: { readonly volume: Part; readonly prices?: Part },
  cause: Cause,
): void {
  const index = hourIndex(bucket)
  if (index < state.firstHour) {
    addLateHour(state, owner, bucket, volume, cause)
    return
  }
  const known = owner.hours.get(index)
  if (known === undefined) {
    const sum = { ...volume, part: 0, isHeldBack: false }
    holdBack(state, addHour(state, { owner, index, sum, isChanged: false }))
    return
  }
  addVolume(known.sum, volume)
  addPrices(known.sum, prices)
  holdBack(state, known)
}

/** A trade that its hour does not hold: a row of its own, held back until the batch or the next mark ends. */
export function addLateHour(
  state: CvdState,
  owner: InstrumentState,
  bucket: number,
  trade: Part,
  { offset, v }: Cause,
): void {
  state.lateHours.push(rowOf(owner, hourIndex(bucket), { ...trade, part: -1 - offset, v }, true))
}

/** Makes an hour known, as it was saved or with its first part. */
export function addHour(state: CvdState, hour: Hour): Hour {
  hour.owner.hours.set(hour.index, hour)
  const others = state.hours.get(hour.index)
  if (others === undefined) state.hours.set(hour.index, [hour])
  else others.push(hour)
  if (hour.sum.isHeldBack) state.heldBackHours.push(hour)
  return hour
}

export function addVolume(sum: Part, { buy, sell, buy_quote, sell_quote, buy_count, sell_count }: Part): void {
  sum.buy += buy
  sum.sell += sell
  sum.buy_quote += buy_quote
  sum.sell_quote += sell_quote
  sum.buy_count += buy_count
  sum.sell_count += sell_count
}

/**
 * Of equal times the part with the lower id opens and that with the higher closes, as readers order the rows of buckets. A
 * part may come again after a late trade.
 */
export function addPrices(sum: Part, { open, high, low, close, open_time, close_time, first_id, last_id }: Part): void {
  if (high > sum.high) sum.high = high
  if (low < sum.low) sum.low = low
  if (open_time < sum.open_time || (open_time === sum.open_time && first_id <= sum.first_id)) {
    sum.open = open
    sum.open_time = open_time
    sum.first_id = first_id
  }
  if (close_time > sum.close_time || (close_time === sum.close_time && last_id >= sum.last_id)) {
    sum.close = close
    sum.close_time = close_time
    sum.last_id = last_id
  }
}

function holdBack(state: CvdState, hour: Hour): void {
  if (!hour.sum.isHeldBack) state.heldBackHours.push(hour)
  hour.sum.isHeldBack = true
  note(state, hour)
}

function note(state: CvdState, hour: Hour): void {
  if (!hour.isChanged) state.changed.hours.push(hour)
  hour.isChanged = true
}

/**
 * Rows of the hours that have changed, once more of those that have closed since `closed`, in an order that follows from
 * the log alone. `isUnread`: those that are not final may wait for `takeUnread`.
 */
export function takeHours(state: CvdState, closed: number, v: number, isUnread: boolean): FlowHour[] {
  for (const [index, hours] of state.hours)
    if (closesWithin(index, closed, state.closed)) for (const hour of hours) holdBack(state, hour)
  const rows: FlowHour[] = []
  for (const hour of state.heldBackHours) {
    hour.sum.isHeldBack = false
    hour.sum.v = v
    note(state, hour)
    state.unreadHours.delete(hour)
    const final = isClosed(hour.index, state.closed)
    if (isUnread && !final) state.unreadHours.add(hour)
    else rows.push(rowOf(hour.owner, hour.index, hour.sum, final))
  }
  state.heldBackHours.length = 0
  return rows.sort((a, b) => compare(a.instrument, b.instrument) || a.hour - b.hour)
}

/** Rows that were held back because nobody reads them before the last. */
export function takeUnread({ unreadHours }: CvdState): FlowHour[] {
  if (unreadHours.size === 0) return nothing
  const rows = [...unreadHours].map(({ owner, index, sum }) => rowOf(owner, index, sum, false))
  unreadHours.clear()
  return rows
}

const nothing: FlowHour[] = []

/** Before an hour changes between two marks: what the last has left unread of it may be the last that is said. */
export function tellUnread(state: CvdState, owner: InstrumentState, bucket: number): void {
  const hour = owner.hours.get(hourIndex(bucket))
  if (hour === undefined || !state.unreadHours.delete(hour)) return
  state.lateHours.push(rowOf(owner, hour.index, hour.sum, false))
}

/** Rows of the hours that are kept, as they were last said. */
export function hoursAgain({ hours, closed }: CvdState): FlowHour[] {
  const said = [...hours.values()].flat().filter(({ sum }) => !sum.isHeldBack)
  return said.map(({ owner, index, sum }) => rowOf(owner, index, sum, isClosed(index, closed)))
}

/** Forgets hours of which no bucket is kept. */
export function letHoursGo(state: CvdState): void {
  state.firstHour = Math.max(state.firstHour, hourIndex(state.gone))
  for (const [index, hours] of state.hours) {
    if (index >= state.firstHour) continue
    state.hours.delete(index)
    for (const hour of hours) hour.owner.hours.delete(index)
    state.changed.goneHours.push(...hours)
  }
}

function isClosed(index: number, closed: number): boolean {
  return (index + 1) * HOUR_BUCKETS <= closed
}

function closesWithin(index: number, from: number, to: number): boolean {
  return isClosed(index, to) && !isClosed(index, from)
}

/** Field by field, as the row of a bucket is made. */
function rowOf(owner: InstrumentState, index: number, sum: Part, final: boolean): FlowHour {
  return {
    asset: owner.asset,
    instrument: owner.instrument,
    hour: index * HOUR_BUCKETS * BUCKET,
    part: sum.part,
    buy: sum.buy,
    sell: sum.sell,
    buy_quote: sum.buy_quote,
    sell_quote: sum.sell_quote,
    buy_count: sum.buy_count,
    sell_count: sum.sell_count,
    open: sum.open,
    high: sum.high,
    low: sum.low,
    close: sum.close,
    open_time: sum.open_time,
    close_time: sum.close_time,
    first_id: sum.first_id,
    last_id: sum.last_id,
    final,
    v: sum.v,
  }
}

/** Kafka key of an hour's record: never that of a bucket. */
export function hourKey({ asset, instrument, hour, part }: FlowHour): string {
  return `${asset}|${instrument}|${hour}|${part}|hour`
}

/** By code units: the same on every machine. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
