import type { FlowFive } from '../../schemas/records.ts'
import { BUCKET, type Part } from './bucket.ts'
import { addPrices, addVolume, type Cause } from './hours.ts'
import { FIVE_BUCKETS, fiveStart, indicesWithin, type Bucket, type CvdState, type InstrumentState } from './state.ts'

/**
 * Rows of the five minutes that have closed since `wasClosed`, and of closed ones of which a part is held back, in an order
 * that follows from the log alone. Their buckets are all kept or all gone, so they need no state of their own.
 */
export function fivesOf(state: CvdState, wasClosed: number): FlowFive[] {
  const closed = fiveStart(state.closed)
  const rows = new Map<string, FlowFive>()
  const take = ({ owner, index, parts }: Bucket): void => {
    if (index >= closed || parts.length === 0) return
    const start = fiveStart(index)
    const key = `${owner.asset}|${owner.instrument}|${start}`
    if (!rows.has(key)) rows.set(key, rowOf(owner, start, sumOf(owner, start)))
  }
  for (const { bucket } of state.heldBack) take(bucket)
  for (const index of indicesWithin(state, fiveStart(wasClosed), closed)) state.buckets.get(index)?.forEach(take)
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
}

/** A trade whose five minutes are gone: a row of its own, held back until the batch or the next mark ends. */
export function addLateFive(
  state: CvdState,
  owner: InstrumentState,
  index: number,
  trade: Part,
  { offset, v }: Cause,
): void {
  state.lateFives.push(rowOf(owner, fiveStart(index), { ...trade, part: -1 - offset, v }))
}

/** Of all parts, one at least, with the version of the newest. */
function sumOf(owner: InstrumentState, start: number): Part {
  const buckets = Array.from({ length: FIVE_BUCKETS }, (_, at) => owner.buckets.get(start + at)?.parts ?? [])
  const [first, ...rest] = buckets.flat()
  if (first === undefined) throw new Error('five minutes without a trade')
  const sum = { ...first, part: 0 }
  for (const part of rest) {
    addVolume(sum, part)
    addPrices(sum, part)
    if (part.v > sum.v) sum.v = part.v
  }
  return sum
}

function rowOf({ asset, instrument }: InstrumentState, index: number, part: Part): FlowFive {
  const { isHeldBack: _, ...sum } = part
  return { asset, instrument, start: index * BUCKET, ...sum }
}

/** Kafka key of the record of five minutes: never that of a bucket or an hour. */
export function fiveKey({ asset, instrument, start, part }: FlowFive): string {
  return `${asset}|${instrument}|${start}|${part}|five`
}
