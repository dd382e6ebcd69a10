import { partsOf, tradeVenues } from '../../schemas/venues.ts'
import type { FlowFive, FlowHour, Micros } from '../../schemas/records.ts'
import { BUCKET, bucketIndex, type Part } from './bucket.ts'
import { Coverage } from './coverage.ts'
import { CoveredTime, type Stretch } from './covered-time.ts'
import { IdSet } from './id-set.ts'
import { periods, type PeriodName } from './periods.ts'
import { Ring, type Volume } from './ring.ts'
import type { SignalClass } from './signal.ts'

/** A window closes this long behind partition time. */
export const LATENESS: Micros = 2_000_000
/** Buckets, and ids without order, are kept this long behind partition time. */
export const HORIZON: Micros = 2 * 3_600_000_000
/** Width of five minutes, in buckets: all buckets of five minutes are kept, or none. */
export const FIVE_BUCKETS = 30

export const periodNames = Object.keys(periods) as PeriodName[]

/** Why a trade was not counted. */
export type Refusal =
  /** Its ids were covered before. */
  | 'duplicate'
  /** Some of its ids were covered before, others not. */
  | 'overlap'
  /** It came after its bucket had left the state and its venue's ids tell nothing, so it may be a duplicate. */
  | 'unchecked'
  /** It does not say which side the taker was on. */
  | 'no_taker'

export interface InstrumentState {
  readonly asset: string
  readonly instrument: string
  readonly venue: string
  /** What all instruments of the asset share. */
  readonly owner: AssetState
  /** Undefined: the venue's ids have no order; each bucket has its set of ids. */
  readonly coverage: Coverage | undefined
  isCoverageChanged: boolean
  /** Which time the log holds of it. */
  covered: CoveredTime
  /** All that has closed, and what came after that; undefined before the first. */
  counted: Counted | undefined
  isCountedChanged: boolean
  readonly rings: Record<PeriodName, Ring>
  readonly buckets: Map<number, Bucket>
  readonly hours: Map<number, Hour>
  /** The bucket that was used last: most trades go there too. */
  current: Bucket | undefined
}

/** One instrument's 10 s bucket: half open, by venue time. */
export interface Bucket {
  readonly owner: InstrumentState
  /** Start, in buckets since the Unix epoch. */
  readonly index: number
  /** Nearly always one; each gap that was filled adds one. */
  readonly parts: Part[]
  /** Ids seen, for venues whose ids have no order. */
  readonly ids: IdSet | undefined
  isChanged: boolean
}

/** The closed buckets of one instrument in one hour; kept as long as one of them may be. */
export interface Hour {
  readonly owner: InstrumentState
  /** Start, in hours since the Unix epoch. */
  readonly index: number
  /** Their sum; held back until a mark closes a bucket. */
  readonly sum: Part
  isChanged: boolean
}

/** Volume since the first trade, that of the hour of the first trade, and the times of the first and the newest. */
export interface Counted extends Volume {
  readonly first: Volume
  readonly since: Micros
  readonly newest: Micros
}

export interface AssetState {
  readonly asset: string
  /** By name. */
  readonly instruments: InstrumentState[]
  readonly classes: Record<PeriodName, SignalClass>
  areClassesChanged: boolean
  /** Version of what is counted of it now; 0: it was never told. */
  v: number
  /** Something of it has changed that was not told yet. */
  isUntold: boolean
  /** Nothing of it has changed since the last look at it. */
  isAsLooked: boolean
  /** By venue, the time in which trades were missed of which rules were not told yet. */
  readonly missed: Map<string, Stretch>
}

/** When a feed last said of a venue that its trades come, and that they do not though they are wanted; 0: never. */
export interface Channel {
  live: Micros
  away: Micros
}

/** What the processor knows of one partition. Bounded: 2 h of buckets, 7 d of rings, the catalogue's instruments. */
export interface CvdState {
  /** Partition time. */
  time: Micros
  /** Buckets below this index are closed: their rows are final and in the rings. */
  closed: number
  /** Buckets below this index are no longer kept. */
  gone: number
  /** By venue. */
  readonly channels: Map<string, Channel>
  readonly assets: Map<string, AssetState>
  /** Those that are looked at when a bucket closes: not those at rest, of which no period has a trade any more. */
  readonly awake: Set<AssetState>
  /** By name, so that a trade costs one look-up; one that changed its asset is also there under both. */
  readonly instruments: Map<string, InstrumentState>
  /** Buckets by index, for closing and letting go. */
  readonly buckets: Map<number, Bucket[]>
  /** Parts that changed since they were last emitted, in the order of their first change. */
  readonly heldBack: { bucket: Bucket; part: Part }[]
  /** Hours by index. */
  readonly hours: Map<number, Hour[]>
  /** Hours below this index are not summed up: not all of their buckets are known. */
  firstHour: number
  /** Hours that changed since they were last emitted. */
  readonly heldBackHours: Hour[]
  /** Hours that are not final, where nobody reads such: what would have been emitted of them is their sum as it is. */
  readonly unreadHours: Set<Hour>
  /** Assets of which something changed that is counted. */
  readonly untold: AssetState[]
  /** Rows of trades whose hour is not kept, and of hours before a change, that wait for the batch or the next mark to end. */
  readonly lateHours: FlowHour[]
  /** Rows of trades whose bucket is not kept, that wait as well. */
  readonly lateFives: FlowFive[]
  readonly refused: Record<Refusal, number>
  /** Trades that came after their bucket had left the state. */
  late: number
  readonly changed: {
    readonly buckets: Bucket[]
    readonly coverages: InstrumentState[]
    readonly gone: Bucket[]
    readonly hours: Hour[]
    readonly goneHours: Hour[]
  }
}

export function emptyState(): CvdState {
  return {
    time: 0,
    closed: 0,
    gone: 0,
    channels: new Map(),
    assets: new Map(),
    awake: new Set(),
    instruments: new Map(),
    buckets: new Map(),
    heldBack: [],
    hours: new Map(),
    firstHour: 0,
    heldBackHours: [],
    unreadHours: new Set(),
    untold: [],
    lateHours: [],
    lateFives: [],
    refused: { duplicate: 0, overlap: 0, unchecked: 0, no_taker: 0 },
    late: 0,
    changed: { buckets: [], coverages: [], gone: [], hours: [], goneHours: [] },
  }
}

/** Sets partition time and what follows from it alone. */
export function setTime(state: CvdState, time: Micros): void {
  state.time = time
  state.closed = Math.max(0, bucketIndex(time - LATENESS))
  state.gone = fiveStart(Math.max(0, bucketIndex(time - HORIZON)))
}

/** The first bucket of the five minutes that a bucket lies in. */
export function fiveStart(bucket: number): number {
  return Math.floor(bucket / FIVE_BUCKETS) * FIVE_BUCKETS
}

/** The indices of kept buckets in a range, ascending. Costs what changed: usually the range is one bucket long. */
export function indicesWithin({ buckets }: CvdState, from: number, to: number): number[] {
  if (to - from > buckets.size) return [...buckets.keys()].filter((at) => at >= from && at < to).sort((a, b) => a - b)
  return Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at).filter((at) => buckets.has(at))
}

export function assetOf(state: CvdState, asset: string): AssetState {
  const known = state.assets.get(asset)
  if (known !== undefined) return known
  const made: AssetState = {
    asset,
    instruments: [],
    classes: perPeriod(() => 'insufficient_data'),
    areClassesChanged: false,
    v: 0,
    isUntold: false,
    isAsLooked: false,
    missed: new Map(),
  }
  state.assets.set(asset, made)
  state.awake.add(made)
  return made
}

export function perPeriod<Value>(make: (name: PeriodName) => Value): Record<PeriodName, Value> {
  return { '1h': make('1h'), '4h': make('4h'), '24h': make('24h'), '7d': make('7d') }
}

export function instrumentOf(state: CvdState, asset: string, instrument: string): InstrumentState {
  const known = state.instruments.get(instrument)
  if (known !== undefined && known.asset === asset) return known
  const other = state.instruments.get(`${asset}|${instrument}`)
  if (other !== undefined) return other
  const made = addInstrument(state, asset, instrument)
  made.covered.isChanged = true // whatever has named it, it is known after a restart too
  return made
}

/** Makes an instrument known; `coverage` as it was saved. */
export function addInstrument(
  state: CvdState,
  asset: string,
  instrument: string,
  coverage = new Coverage(),
): InstrumentState {
  const end = state.closed * BUCKET
  const made: InstrumentState = {
    asset,
    instrument,
    venue: partsOf(instrument).venue,
    owner: assetOf(state, asset),
    coverage: hasOrderedIds(instrument) ? coverage : undefined,
    isCoverageChanged: false,
    covered: new CoveredTime(),
    counted: undefined,
    isCountedChanged: false,
    rings: perPeriod((name) => new Ring(name, end)),
    buckets: new Map(),
    hours: new Map(),
    current: undefined,
  }
  const { instruments } = made.owner
  const behind = instruments.findIndex((other) => other.instrument > instrument)
  instruments.splice(behind < 0 ? instruments.length : behind, 0, made)
  state.instruments.set(state.instruments.has(instrument) ? `${asset}|${instrument}` : instrument, made)
  return made
}

const orderedVenues = tradeVenues.filter(({ ids }) => ids === 'contiguous').map(({ venue }) => `${venue}:`)

/** Sets of ids are right for ids of any kind, so an unknown venue gets one. */
function hasOrderedIds(instrument: string): boolean {
  return orderedVenues.some((venue) => instrument.startsWith(venue))
}

export function bucketOf(state: CvdState, instrument: InstrumentState, index: number): Bucket {
  const { current } = instrument
  if (current !== undefined && current.index === index) return current
  const bucket = instrument.buckets.get(index) ?? addBucket(state, instrument, index)
  instrument.current = bucket
  return bucket
}

/** Makes a bucket known; `saved`: its ids as they were. A new one is likely to hold as many as the one before. */
export function addBucket(state: CvdState, owner: InstrumentState, index: number, saved?: IdSet): Bucket {
  const ids = owner.coverage === undefined ? (saved ?? new IdSet(owner.current?.ids?.size)) : undefined
  const bucket: Bucket = { owner, index, parts: [], ids, isChanged: false }
  owner.buckets.set(index, bucket)
  const others = state.buckets.get(index)
  if (others === undefined) state.buckets.set(index, [bucket])
  else others.push(bucket)
  return bucket
}
