import type { Flow, Micros, Trade } from '../../schemas/records.ts'
import { bucketIndex, flowOf, fold, newPart, type Part } from './bucket.ts'
import { addLateFive } from './five-minutes.ts'
import { addLateHour, addToHour, tellUnread, type Cause } from './hours.ts'
import { bucketOf, instrumentOf, type Bucket, type CvdState, type InstrumentState, type Refusal } from './state.ts'
import { miss } from './metrics.ts'
import { count, tell } from './volumes.ts'

/**
 * Counts a trade once. It is held back in its part until the batch or the next mark ends; one whose bucket has left the
 * state is a row of its own, which is returned.
 */
export function applyTrade(state: CvdState, trade: Trade, offset: number, v: number): Flow | undefined {
  if (trade.taker === 'unknown') return refuse(state, 'no_taker')
  const instrument = instrumentOf(state, trade.asset, trade.instrument)
  const index = bucketIndex(trade.time)
  if (index < state.gone) return applyLate(state, instrument, trade, { offset, v })
  const bucket = bucketOf(state, instrument, index)
  const refusal = admit(state, instrument, bucket, trade)
  if (refusal !== undefined) return refuse(state, refusal)
  cover(state, instrument, trade.time, v)
  const part = partOf(bucket, trade)
  fold(part, trade, v)
  if (!part.isHeldBack) holdBack(state, bucket, part)
  if (!bucket.isChanged) markBucket(state, bucket)
  if (index < state.closed) addToClosed(state, instrument, trade, part, { offset, v })
  return undefined
}

/** A row of its own, because the part that it would belong to is no longer known; readers sum the parts. */
function applyLate(state: CvdState, instrument: InstrumentState, trade: Trade, cause: Cause): Flow | undefined {
  if (instrument.coverage === undefined) return refuse(state, 'unchecked')
  const refusal = admit(state, instrument, undefined, trade)
  if (refusal !== undefined) return refuse(state, refusal)
  state.late += 1
  cover(state, instrument, trade.time, cause.v)
  const index = bucketIndex(trade.time)
  const part = partOfOne(-1 - cause.offset, trade, cause.v)
  count(state, instrument, index, part, cause.v)
  addLateHour(state, instrument, index, part, cause)
  addLateFive(state, instrument, index, part, cause)
  return flowOf(instrument, index, part, true)
}

function cover(state: CvdState, instrument: InstrumentState, time: Micros, v: number): void {
  const { covered, owner } = instrument
  const from = covered.missedBefore(time)
  if (from !== undefined) miss(state, instrument, { from, to: time })
  if (covered.trade(time)) tell(state, owner, v)
}

function refuse(state: CvdState, refusal: Refusal): undefined {
  state.refused[refusal] += 1
}

function admit(
  state: CvdState,
  instrument: InstrumentState,
  bucket: Bucket | undefined,
  { first_id, last_id }: Trade,
): Refusal | undefined {
  const { coverage } = instrument
  if (coverage === undefined) return bucket?.ids?.add(first_id) === true ? undefined : 'duplicate'
  const admission = coverage.admit(first_id, last_id)
  if (admission !== 'new') return admission
  if (!instrument.isCoverageChanged) {
    instrument.isCoverageChanged = true
    state.changed.coverages.push(instrument)
  }
  return undefined
}

/** Part 0 is the stream, and archives with it; a backfill is a part of its own, so that it never overwrites the stream's. */
function partOf(bucket: Bucket, trade: Trade): Part {
  const number = trade.origin === 'backfill' ? (trade.gap_id ?? 0) : 0
  for (const known of bucket.parts) if (known.part === number) return known
  const made = newPart(number, trade)
  bucket.parts.push(made)
  return made
}

function holdBack(state: CvdState, bucket: Bucket, part: Part): void {
  part.isHeldBack = true
  state.heldBack.push({ bucket, part })
}

function markBucket(state: CvdState, bucket: Bucket): void {
  bucket.isChanged = true
  state.changed.buckets.push(bucket)
}

/** What was summed up when the bucket closed gets a trade that comes after that by itself. */
function addToClosed(state: CvdState, instrument: InstrumentState, trade: Trade, prices: Part, cause: Cause): void {
  const index = bucketIndex(trade.time)
  const volume = partOfOne(0, trade, cause.v)
  count(state, instrument, index, volume, cause.v)
  tellUnread(state, instrument, index)
  addToHour(state, instrument, index, { volume, prices }, cause)
}

function partOfOne(number: number, trade: Trade, v: number): Part {
  const part = newPart(number, trade)
  fold(part, trade, v)
  return part
}

/** Hands on the rows of the parts that are held back, or of those alone whose bucket has closed, which are final. */
export function takeHeldBack({ heldBack, closed }: CvdState, which: 'all' | 'final', take: (row: Flow) => void): void {
  let kept = 0
  for (const held of heldBack) {
    const { bucket, part } = held
    const final = bucket.index < closed
    if (final || which === 'all') {
      part.isHeldBack = false
      take(flowOf(bucket.owner, bucket.index, part, final))
    } else heldBack[kept++] = held
  }
  heldBack.length = kept
}

/** Holds a part back because time, not a trade, has changed it. */
export function touch(state: CvdState, bucket: Bucket, part: Part, v: number): void {
  part.v = v
  if (!part.isHeldBack) holdBack(state, bucket, part)
  if (!bucket.isChanged) markBucket(state, bucket)
}
