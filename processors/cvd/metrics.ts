import type { Figure, Metric, Micros } from '../../schemas/records.ts'
import { signalClasses } from './signal.ts'
import { periodNames, perPeriod, type AssetState, type Bucket } from './state.ts'

/** Name of its metrics in `alerts.inputs`. */
const CORE = 'cvd'

/** What is added up of a venue. */
interface Sums {
  buy: number
  sell: number
  buy_usd: number
  sell_usd: number
}

/**
 * What closed buckets say to rules of alerts, of each asset that has traded in them: each venue's taker volume in them (base
 * units, USD), its running `cvd` and the asset's classes as they are behind them. Trades that come later are in no metric.
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
    if (buckets === undefined) return []
    const figures = [...volumesOf(buckets), ...totalsOf(asset), ...classesOf(asset)]
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

const classFigures = perPeriod((period) => `cvd_class_${period}`)

function classesOf({ classes }: AssetState): Figure[] {
  return periodNames.map((period) => {
    return { figure: classFigures[period], exchange: null, value: signalClasses.indexOf(classes[period]) }
  })
}
