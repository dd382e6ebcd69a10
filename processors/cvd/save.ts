import { ChangedParts, savedIn } from '../kernel/parts.ts'
import type { Part } from './bucket.ts'
import { Coverage } from './coverage.ts'
import { CoveredTime, type SavedCovered, type Stretch } from './covered-time.ts'
import { addHour } from './hours.ts'
import { IdSet } from './id-set.ts'
import type { PeriodName } from './periods.ts'
import type { RingSlot } from './ring.ts'
import {
  addBucket,
  addInstrument,
  assetOf,
  emptyState,
  instrumentOf,
  periodNames,
  setTime,
  type AssetState,
  type Bucket,
  type Channel,
  type Counted,
  type CvdState,
  type Hour,
  type InstrumentState,
} from './state.ts'

/**
 * Parts of the saved state. Their text is JSON: it writes doubles exactly. Small parts, since only what changed is
 * written: one bucket, one instrument's coverage, twelve slots of one of its rings.
 */
type Saved =
  | ({ readonly kind: 'clock' } & Pick<CvdState, 'time' | 'refused' | 'late' | 'firstHour'> & SavedChannels)
  | ({ readonly kind: 'coverage' } & Named & Pick<Coverage, 'ranges' | 'closedHoles'>)
  | ({ readonly kind: 'covered' } & Named & SavedCovered)
  | ({ readonly kind: 'bucket' } & Named & SavedBucket)
  | ({ readonly kind: 'hour' } & Named & SavedHour)
  | ({ readonly kind: 'counted' } & Named & { readonly counted: Counted })
  | ({ readonly kind: 'ring' } & Named & { readonly period: PeriodName; readonly slots: readonly RingSlot[] })
  | ({ readonly kind: 'classes' } & Pick<AssetState, 'asset' | 'v' | 'isAsLooked' | 'classes'> & SavedMissed)

type Named = Pick<InstrumentState, 'asset' | 'instrument'>

interface SavedBucket {
  readonly index: number
  /** Little-endian doubles, ascending, as base64. */
  readonly ids: string | undefined
  readonly parts: readonly (readonly number[])[]
}

interface SavedChannels {
  /** A former release left them out. */
  readonly channels?: readonly (readonly [venue: string, channel: Channel])[]
}

interface SavedMissed {
  /** Left out: nothing is to be told. */
  readonly missed?: readonly (readonly [venue: string, missed: Stretch])[]
}

interface SavedHour {
  readonly index: number
  readonly isHeldBack: boolean
  readonly sum: readonly number[]
}

/** What changed since the last call. Nothing is held back at that time: a batch has ended. */
export function saveState(state: CvdState): ChangedParts<Saved> {
  const changes = new ChangedParts<Saved>()
  const { time, refused, late, firstHour, channels } = state
  changes.put('clock', { kind: 'clock', time, refused, late, firstHour, channels: [...channels] })
  for (const instrument of state.changed.coverages) saveCoverage(instrument, changes)
  for (const bucket of state.changed.buckets) changes.put(bucketKey(bucket), savedBucket(bucket))
  for (const bucket of state.changed.gone) changes.set(bucketKey(bucket), null)
  for (const hour of state.changed.hours) changes.put(hourKey(hour), savedHour(hour))
  for (const hour of state.changed.goneHours) changes.set(hourKey(hour), null)
  for (const asset of state.assets.values()) saveAsset(asset, changes)
  forgetChanges(state)
  return changes
}

/** Clears the marks of what changed. */
export function forgetChanges({ changed, assets }: CvdState): void {
  for (const instrument of changed.coverages) instrument.isCoverageChanged = false
  for (const bucket of changed.buckets) bucket.isChanged = false
  for (const hour of changed.hours) hour.isChanged = false
  for (const asset of assets.values()) {
    asset.areClassesChanged = false
    for (const instrument of asset.instruments) {
      instrument.covered.isChanged = false
      instrument.isCountedChanged = false
      for (const period of periodNames) instrument.rings[period].forgetChanges()
    }
  }
  changed.coverages.length = 0
  changed.buckets.length = 0
  changed.gone.length = 0
  changed.hours.length = 0
  changed.goneHours.length = 0
}

function saveCoverage(state: InstrumentState, changes: ChangedParts<Saved>): void {
  const { asset, instrument, coverage } = state
  if (coverage === undefined) return
  const { ranges, closedHoles } = coverage
  changes.put(`coverage|${asset}|${instrument}`, { kind: 'coverage', asset, instrument, ranges, closedHoles })
}

function bucketKey({ owner: { asset, instrument }, index }: Bucket): string {
  return `bucket|${asset}|${instrument}|${index}`
}

function savedBucket(bucket: Bucket): Saved {
  const { owner, index, ids, parts } = bucket
  const { asset, instrument } = owner
  const rows = parts.map((part) => numbers.map((name) => part[name]))
  return { kind: 'bucket', asset, instrument, index, ids: ids && toBase64(ids.sorted()), parts: rows }
}

function hourKey({ owner: { asset, instrument }, index }: Hour): string {
  return `hour|${asset}|${instrument}|${index}`
}

function savedHour({ owner: { asset, instrument }, index, sum }: Hour): Saved {
  return { kind: 'hour', asset, instrument, index, isHeldBack: sum.isHeldBack, sum: numbers.map((name) => sum[name]) }
}

function saveAsset(state: AssetState, changes: ChangedParts<Saved>): void {
  const { asset, v, isAsLooked, classes } = state
  for (const { instrument, covered, counted, isCountedChanged, rings } of state.instruments) {
    const name = `${asset}|${instrument}`
    if (covered.isChanged) changes.put(`covered|${name}`, { kind: 'covered', asset, instrument, ...covered.saved })
    if (isCountedChanged && counted !== undefined)
      changes.put(`counted|${name}`, { kind: 'counted', asset, instrument, counted })
    for (const period of periodNames)
      for (const [chunk, slots] of rings[period].changes()) {
        const key = `ring|${name}|${period}|${chunk}`
        if (slots.length === 0) changes.set(key, null)
        else changes.put(key, { kind: 'ring', asset, instrument, period, slots })
      }
  }
  if (!state.areClassesChanged) return
  const missed = state.missed.size > 0 && { missed: [...state.missed] }
  changes.put(`classes|${asset}`, { kind: 'classes', asset, v, isAsLooked, classes, ...missed })
}

/** The state made of the latest text of each part. */
export function loadState(parts: ReadonlyMap<string, Buffer>): CvdState {
  const state = emptyState()
  const saved = [...savedIn<Saved>(parts)]
  // The clock first: rings and closed buckets stand relative to it.
  for (const part of saved) if (part.kind === 'clock') loadClock(state, part)
  for (const part of saved) if (part.kind === 'coverage') loadCoverage(state, part)
  for (const part of saved) {
    if (part.kind === 'bucket') loadBucket(state, part)
    else if (part.kind === 'hour') loadHour(state, part)
    else if (part.kind === 'covered') instrumentOf(state, part.asset, part.instrument).covered = new CoveredTime(part)
    else if (part.kind === 'counted') loadCounted(state, part)
    else if (part.kind === 'ring') instrumentOf(state, part.asset, part.instrument).rings[part.period].load(part.slots)
    else if (part.kind === 'classes') loadClasses(state, part)
  }
  return state
}

type Of<Kind extends Saved['kind']> = Extract<Saved, { kind: Kind }>

function loadClock(state: CvdState, { time, refused, late, firstHour, channels = [] }: Of<'clock'>): void {
  setTime(state, time)
  state.firstHour = firstHour
  state.late = late
  for (const [venue, channel] of channels) state.channels.set(venue, channel)
  Object.assign(state.refused, refused)
}

function loadCoverage(state: CvdState, { asset, instrument, ranges, closedHoles }: Of<'coverage'>): void {
  addInstrument(state, asset, instrument, new Coverage(ranges, closedHoles))
}

function loadBucket(state: CvdState, { asset, instrument, index, ids, parts }: Of<'bucket'>): void {
  const owner = instrumentOf(state, asset, instrument)
  const bucket = addBucket(state, owner, index, ids === undefined ? undefined : IdSet.of(fromBase64(ids)))
  bucket.parts.push(...parts.map(loadPart))
}

function loadHour(state: CvdState, { asset, instrument, index, isHeldBack, sum }: Of<'hour'>): void {
  const owner = instrumentOf(state, asset, instrument)
  addHour(state, { owner, index, sum: { ...loadPart(sum), isHeldBack }, isChanged: false })
}

/** Order of a part's numbers in its row. */
const numbers = [
  'part',
  'buy',
  'sell',
  'buy_quote',
  'sell_quote',
  'buy_count',
  'sell_count',
  'open',
  'high',
  'low',
  'close',
  'open_time',
  'close_time',
  'first_id',
  'last_id',
  'v',
] as const satisfies readonly (keyof Part)[]

function loadPart(row: readonly number[]): Part {
  const entries = numbers.map((name, index) => [name, row[index]])
  return { ...(Object.fromEntries(entries) as Record<(typeof numbers)[number], number>), isHeldBack: false }
}

function loadCounted(state: CvdState, { asset, instrument, counted }: Of<'counted'>): void {
  instrumentOf(state, asset, instrument).counted = counted
}

function loadClasses(state: CvdState, { asset, v, isAsLooked, classes, missed = [] }: Of<'classes'>): void {
  const known = assetOf(state, asset)
  known.v = v
  known.isAsLooked = isAsLooked
  Object.assign(known.classes, classes)
  for (const [venue, stretch] of missed) known.missed.set(venue, stretch)
}

function toBase64(ids: Float64Array): string {
  return Buffer.from(ids.buffer, ids.byteOffset, ids.byteLength).toString('base64')
}

function fromBase64(text: string): Float64Array {
  const bytes = Buffer.from(text, 'base64')
  return new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength))
}
