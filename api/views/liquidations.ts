import type { Micros } from '../../schemas/records.ts'
import { partsOf } from '../../schemas/venues.ts'
import { sumsOf, usdOf, type LiquidationSum } from '../../processors/present/liquidation-sums.ts'
import { COUNTED, STRETCH, type LoggedLiquidation } from '../../processors/present/state.ts'
import type { Present } from '../present/present.ts'

/** A position that a venue closed by force; `partition`, `offset`: its place in the log. */
export interface LiquidationRow extends LoggedLiquidation {
  readonly venue: string
  readonly partition: number
}

/** How many there were of each side and what they were worth, USD; of one asset or of all. */
type Sum = Omit<LiquidationSum, 'asset'>

interface Counted extends Sum {
  readonly events: number
  readonly usd: number
}

/** What is counted of a time: each stretch by itself, also of what left memory early. */
interface Countable {
  /** From when on. */
  readonly since: Micros
  readonly sums: readonly Sum[]
}

/** Which count: they happened from `from` to `until`, and were received up to `now`. */
interface Bounds {
  readonly from: Micros
  readonly until?: Micros
  readonly now?: Micros
}

/** Those within the bounds, of one asset or (null) of all, newest first: who needs a few reads no further back. */
export function* liquidationsOf(present: Present, asset: string | null, bounds: Bounds): Generator<LiquidationRow> {
  const isMeant = (event: LoggedLiquidation): boolean =>
    (asset === null || event.asset === asset) && isWithin(event, bounds)
  for (const stretch of stretchesOf(present, bounds.from)) {
    const rows = stretch.flatMap(({ partition, events }) =>
      events.filter(isMeant).map((event) => rowOf(event, partition)),
    )
    yield* rows.sort((a, b) => b.time - a.time || b.offset - a.offset || b.partition - a.partition)
  }
}

function isWithin({ time, received }: LoggedLiquidation, { from, until = Infinity, now = Infinity }: Bounds): boolean {
  return time >= from && time <= until && received <= now
}

interface PartOfStretch {
  readonly partition: number
  readonly events: readonly LoggedLiquidation[]
}

/** What the partitions hold of each stretch that ends behind `from`, newest first. */
function* stretchesOf({ states }: Present, from: Micros): Generator<PartOfStretch[]> {
  const keys = new Set(states.flatMap(({ liquidations }) => [...liquidations.keys()]))
  const numbers = [...keys].map(Number).filter((stretch) => (stretch + 1) * STRETCH > from)
  for (const stretch of numbers.sort((a, b) => b - a))
    yield states.flatMap(({ liquidations }, partition) => {
      const events = liquidations.get(String(stretch))
      return events === undefined ? [] : [{ partition, events }]
    })
}

/** What was liquidated in a stretch of a partition. */
interface StretchSums {
  readonly sums: readonly LiquidationSum[]
  /** Of all assets. */
  readonly total: Sum
}

/** A stretch as a whole. */
interface Whole extends StretchSums {
  readonly first: Micros
  readonly last: Micros
  readonly received: Micros
}

function addedUp(sums: readonly LiquidationSum[]): StretchSums {
  return { sums, total: countedOf(sums) }
}

/** Of what is held nothing is changed in place: each is added up once. */
function once<Held extends object, Made>(make: (held: Held) => Made): (held: Held) => Made {
  const known = new WeakMap<Held, Made>()
  return (held) => {
    const made = known.get(held) ?? make(held)
    known.set(held, made)
    return made
  }
}

const earlyOf = once(addedUp)
const wholeOf = once((events: readonly LoggedLiquidation[]): Whole => {
  let [first, last, received] = [Infinity, 0, 0]
  for (const event of events) {
    first = Math.min(first, event.time)
    last = Math.max(last, event.time)
    received = Math.max(received, event.received)
  }
  return { first, last, received, ...addedUp(sumsOf(events)) }
})

function within(events: readonly LoggedLiquidation[], bounds: Bounds): StretchSums {
  const { from, until = Infinity, now = Infinity } = bounds
  const whole = wholeOf(events)
  const isWhole = whole.first >= from && whole.last <= until && whole.received <= now
  return isWhole ? whole : addedUp(sumsOf(events.filter((event) => isWithin(event, bounds))))
}

/** What counts from `from` on, of one asset or (null) of all. */
export function countableOf(present: Present, asset: string | null, bounds: Bounds): Countable {
  const since = countedFrom(present, bounds.from)
  const all = countedStretches(present, { ...bounds, from: since })
  return { since, sums: asset === null ? all.map(({ total }) => total) : all.flatMap((each) => ofAsset(each, asset)) }
}

/** The same by asset. */
export function countableByAsset(present: Present, bounds: Bounds): ReadonlyMap<string, readonly Sum[]> {
  const from = countedFrom(present, bounds.from)
  const all = countedStretches(present, { ...bounds, from }).flatMap(({ sums }) => sums)
  return Map.groupBy(all, ({ asset }) => asset)
}

function ofAsset({ sums }: StretchSums, asset: string): readonly LiquidationSum[] {
  return sums.filter((sum) => sum.asset === asset)
}

function countedStretches(present: Present, bounds: Bounds): StretchSums[] {
  const early = present.states.flatMap((state) => [...state.early])
  return [
    ...[...stretchesOf(present, bounds.from)].flat().map(({ events }) => within(events, bounds)),
    ...early.flatMap(([stretch, sums]) => (Number(stretch) * STRETCH >= bounds.from ? [earlyOf(sums)] : [])),
  ]
}

/** What left early counts in whole stretches: where one of them begins before `from`, what follows it counts. */
function countedFrom({ states }: Present, from: Micros): Micros {
  const stretch = Math.floor(from / STRETCH)
  const isCut = from % STRETCH > 0 && states.some(({ early }) => early.has(String(stretch)))
  const all = states.map(({ begun }) => begun.get(COUNTED) ?? 0)
  return Math.max(from, isCut ? (stretch + 1) * STRETCH : 0, ...all)
}

export function countedOf(sums: readonly Sum[]): Counted {
  const [longValues, shortValues] = [
    sums.map(({ longUsd }) => ({ value: longUsd })),
    sums.map(({ shortUsd }) => ({ value: shortUsd })),
  ]
  const longs = sums.reduce((total, sum) => total + sum.longs, 0)
  const shorts = sums.reduce((total, sum) => total + sum.shorts, 0)
  return {
    events: longs + shorts,
    longs,
    shorts,
    usd: usdOf([...longValues, ...shortValues]),
    longUsd: usdOf(longValues),
    shortUsd: usdOf(shortValues),
  }
}

/** When our feeds had the first liquidation that is in the log; null: none. */
export function begunOf(present: Present): Micros | null {
  const begun = Math.min(...present.states.map((state) => state.begun.get('') ?? Infinity))
  return Number.isFinite(begun) ? begun : null
}

/** What was liquidated of an asset between the model's start and `until`, USD, as far as venues say so. */
export function observedOf(
  present: Present,
  asset: string,
  { since, until }: { since: Micros; until: Micros },
): { longUsd: number; shortUsd: number } {
  const { observed, liquidations } = present.of(asset)
  const before = observed.get(asset)
  const held = [...liquidations.values()].map((events) => within(events, { from: since, until }))
  const { longUsd, shortUsd } = countedOf(held.flatMap((each) => ofAsset(each, asset)))
  return { longUsd: (before?.longUsd ?? 0) + longUsd, shortUsd: (before?.shortUsd ?? 0) + shortUsd }
}

export function rowOf(event: LoggedLiquidation, partition: number): LiquidationRow {
  return { ...event, venue: partsOf(event.instrument).venue, partition }
}
