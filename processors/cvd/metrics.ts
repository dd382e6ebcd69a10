import type { Figure, Mark, Metric, Micros } from '../../schemas/records.ts'
import { BUCKET } from './bucket.ts'
import type { Stretch } from './covered-time.ts'
import { signalClasses } from './signal.ts'
import { periodNames, perPeriod, type AssetState, type Bucket, type CvdState, type InstrumentState } from './state.ts'

/** Name of its metrics in `alerts.inputs`. */
const CORE = 'cvd'

/** Figures of a venue of which trades were missed: from when to when, microseconds since the Unix epoch. */
export const MISSED_FROM = 'missed_from'
export const MISSED_TO = 'missed_to'

/** What is added up of a venue. */
interface Sums {
  buy: number
  sell: number
  buy_usd: number
  sell_usd: number
}

/**
 * Rules are to be told with the next bucket that closes that trades of an instrument were missed, several times of a venue as
 * one. Trades of buckets that are open may still come, and count; where they do not, the gap is told of again when it is settled.
 */
export function miss({ closed }: CvdState, { owner, venue }: InstrumentState, { from, to }: Stretch): void {
  if (from >= to || from >= closed * BUCKET) return
  const known = owner.missed.get(venue) ?? { from, to }
  owner.missed.set(venue, { from: Math.min(known.from, from), to: Math.max(known.to, to) })
  owner.areClassesChanged = true // it is saved with them
}

const away: ReadonlySet<string> = new Set<Mark['venues'][number]['state']>(['connecting', 'down', 'unavailable'])

/** Notes what a feed's mark says of its venues. */
export function hear({ channels }: CvdState, { venues, time }: Mark): void {
  for (const { venue, state } of venues) {
    const channel = channels.get(venue) ?? { live: 0, away: 0 }
    if (state === 'live') channel.live = Math.max(channel.live, time)
    if (away.has(state)) channel.away = Math.max(channel.away, time)
    channels.set(venue, channel)
  }
}

/**
 * Trades of the buckets that have closed were missed of venues that feeds say are away, and none has had since: before their
 * gaps are told, which is when their trades come again.
 */
export function missAway(state: CvdState): void {
  const to = state.closed * BUCKET
  for (const [venue, { live, away }] of state.channels) {
    if (live === 0 || live >= to || away < to) continue
    for (const { instruments } of state.awake)
      for (const instrument of instruments) {
        const { counted, covered } = instrument
        if (instrument.venue !== venue || counted === undefined || covered.isUnsubscribed) continue
        miss(state, instrument, { from: Math.max(live, counted.newest), to })
      }
  }
}

/**
 * What closed buckets say to rules of alerts, of each asset that has traded in them, or of which trades were missed: each
 * venue's taker volume in them (base units, USD), its running `cvd`, the asset's classes as they are behind them, and the
 * time in which trades were missed. Trades that come later are in no metric.
 */
export function metricsOf(
  assets: readonly AssetState[],
  closed: readonly Bucket[],
  { time, v }: { readonly time: Micros; readonly v: number },
): Metric[] {
  const filled = closed.filter(({ parts }) => parts.length > 0) // a refused trade leaves an empty one, which no state keeps
  const traded = Map.groupBy(filled, ({ owner }) => owner.owner)
  return assets.flatMap((asset) => {
    const buckets = traded.get(asset)
    if (buckets === undefined && asset.missed.size === 0) return []
    const figures = [...volumesOf(buckets ?? []), ...totalsOf(asset), ...classesOf(asset), ...takeMissed(asset)]
    return [{ asset: asset.asset, core: CORE, figures, time, v }]
  })
}

function volumesOf(buckets: readonly Bucket[]): Figure[] {
  const venues = new Map<string, Sums>()
  for (const { owner, parts } of buckets) {
    const sums = venues.get(owner.venue) ?? { buy: 0, sell: 0, buy_usd: 0, sell_usd: 0 }
    venues.set(owner.venue, sums)
    for (const { buy, sell, buy_quote, sell_quote } of parts) {
      sums.buy += buy
      sums.sell += sell
      sums.buy_usd += buy_quote
      sums.sell_usd += sell_quote
    }
  }
  return [...venues].flatMap(([exchange, { buy, sell, buy_usd, sell_usd }]) => [
    { figure: 'buy', exchange, value: buy },
    { figure: 'sell', exchange, value: sell },
    { figure: 'buy_usd', exchange, value: buy_usd },
    { figure: 'sell_usd', exchange, value: sell_usd },
  ])
}

function totalsOf({ instruments }: AssetState): Figure[] {
  const venues = new Map<string, number>()
  for (const { venue, counted } of instruments) {
    if (counted === undefined) continue
    venues.set(venue, (venues.get(venue) ?? 0) + counted.buy - counted.sell)
  }
  return [...venues].map(([exchange, value]) => ({ figure: 'cvd', exchange, value }))
}

function takeMissed(asset: AssetState): Figure[] {
  const { missed } = asset
  if (missed.size === 0) return []
  const byVenue = [...missed].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const figures = byVenue.flatMap(([exchange, { from, to }]) => [
    { figure: MISSED_FROM, exchange, value: from },
    { figure: MISSED_TO, exchange, value: to },
  ])
  missed.clear()
  asset.areClassesChanged = true
  return figures
}

const classFigures = perPeriod((period) => `cvd_class_${period}`)

function classesOf({ classes }: AssetState): Figure[] {
  return periodNames.map((period) => {
    return { figure: classFigures[period], exchange: null, value: signalClasses.indexOf(classes[period]) }
  })
}
