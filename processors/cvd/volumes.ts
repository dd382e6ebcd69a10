import type { Cvd, InstrumentVolume, Micros, PeriodVolume } from '../../schemas/records.ts'
import { BUCKET, type Part } from './bucket.ts'
import { periods, windowOf, type PeriodName } from './periods.ts'
import type { Volume } from './ring.ts'
import {
  LATENESS,
  periodNames,
  perPeriod,
  type AssetState,
  type Counted,
  type CvdState,
  type InstrumentState,
} from './state.ts'

const HOUR: Micros = 3_600_000_000

/** Counts a part of a bucket that closes, or a trade that came after that. */
export function count(state: CvdState, instrument: InstrumentState, index: number, part: Part, v: number): void {
  const { counted, owner, rings } = instrument
  instrument.counted = counted === undefined ? countedOf(part) : plus(counted, part)
  instrument.isCountedChanged = true
  tell(state, owner, v)
  for (const name of periodNames) rings[name].add(index * BUCKET, part)
}

function countedOf(part: Part): Counted {
  const volume = plusVolume(noVolume, part)
  return { ...volume, first: volume, since: part.open_time, newest: part.close_time }
}

function plus(counted: Counted, part: Part): Counted {
  const hour = hourStart(counted.since)
  const own = hourStart(part.open_time)
  const first = own > hour ? counted.first : plusVolume(own < hour ? noVolume : counted.first, part)
  return {
    buy: counted.buy + part.buy,
    sell: counted.sell + part.sell,
    buy_quote: counted.buy_quote + part.buy_quote,
    sell_quote: counted.sell_quote + part.sell_quote,
    first,
    since: Math.min(counted.since, part.open_time),
    newest: Math.max(counted.newest, part.close_time),
  }
}

const noVolume: Volume = { buy: 0, sell: 0, buy_quote: 0, sell_quote: 0 }

function plusVolume(a: Volume, b: Volume): Volume {
  return {
    buy: a.buy + b.buy,
    sell: a.sell + b.sell,
    buy_quote: a.buy_quote + b.buy_quote,
    sell_quote: a.sell_quote + b.sell_quote,
  }
}

function hourStart(time: Micros): Micros {
  return time - (time % HOUR)
}

/** What is counted of an asset has changed: it is told when the batch or the next mark ends. */
export function tell(state: CvdState, asset: AssetState, v: number): void {
  wake(state, asset)
  asset.v = v
  asset.isAsLooked = false
  if (!asset.isUntold) state.untold.push(asset)
  asset.isUntold = true
}

/** What rested is looked at from now on: its rings stand where those of the others do. */
function wake({ awake, closed }: CvdState, asset: AssetState): void {
  if (awake.has(asset)) return
  awake.add(asset)
  for (const { rings } of asset.instruments) for (const name of periodNames) rings[name].advance(closed * BUCKET)
}

/** Hands on what has changed, in an order that follows from the log alone. */
export function takeUntold(state: CvdState, take: (cvd: Cvd) => void): void {
  if (state.untold.length === 0) return
  const closed = state.closed * BUCKET
  const ends = endsOf(closed)
  for (const asset of state.untold.toSorted(byName)) {
    asset.isUntold = false
    asset.areClassesChanged = true // its version is saved with them
    take(cvdOf(asset, closed, ends))
  }
  state.untold.length = 0
}

/** What was told of all assets, as it was last told; of those at rest that they still are. */
export function toldAgain(state: CvdState): Cvd[] {
  const { assets, closed } = state
  const told = [...assets.values()].filter(({ v, isUntold }) => v > 0 && !isUntold)
  for (const asset of told) wake(state, asset)
  const end = closed * BUCKET
  const ends = endsOf(end)
  return told.toSorted(byName).map((asset) => cvdOf(asset, end, ends))
}

function cvdOf({ asset, instruments, v }: AssetState, closed: Micros, ends: Ends): Cvd {
  return { asset, closed, instruments: instruments.flatMap((one) => volumesOf(one, closed, ends)), v }
}

function volumesOf(
  { instrument, counted, covered, rings }: InstrumentState,
  closed: Micros,
  ends: Ends,
): InstrumentVolume[] {
  if (counted === undefined) return []
  const { since, newest } = counted
  const volumes = [volumeOf('all', closed, counted), volumeOf('first', hourStart(since) + HOUR, counted.first)]
  for (const name of periodNames) {
    const { end } = rings[name]
    const { bucket } = periods[name]
    const own = ends[name]
    for (const sum of rings[name].sums(((own.at(-1) ?? end) - end) / bucket))
      if (own.includes(sum.to)) volumes.push(sum)
  }
  const unsubscribed = covered.unsubscribed.map(({ from, to }) => ({ from, to: Number.isFinite(to) ? to : null }))
  return [{ instrument, since, newest, volumes, unsubscribed }]
}

/** Where each period ends as long as partition time is such that the buckets before `closed` are those that have closed. */
type Ends = Readonly<Record<PeriodName, readonly Micros[]>>

function endsOf(closed: Micros): Ends {
  const times = [closed + LATENESS, closed + LATENESS + BUCKET - 1]
  return perPeriod((name) => [...new Set(times.map((time) => windowOf(periods[name], time).to))])
}

function volumeOf(period: string, to: Micros, { buy, sell, buy_quote, sell_quote }: Volume): PeriodVolume {
  return { period, to, buy, sell, buy_quote, sell_quote }
}

/** Kafka key of an asset's record: never that of a bucket or an hour. */
export function cvdKey({ asset }: Cvd): string {
  return `${asset}|cvd`
}

function byName(a: AssetState, b: AssetState): number {
  return a.asset < b.asset ? -1 : a.asset > b.asset ? 1 : 0
}
