import type { Funding, Micros, Signal } from '../../schemas/records.ts'
import { fundingVenues, ratioVenues } from '../../schemas/venues.ts'
import { annualised } from './annualise.ts'
import { classifySentiment } from './sentiment.ts'
import { classifyFunding } from './signal.ts'
import type { AssetState } from './state.ts'

/** A ratio that was received longer ago says nothing of now. */
const RATIO_LIFETIME: Micros = 600_000_000
/** The class before the first. */
const NONE = 'insufficient_data'

/** Changes of class of the venues' running rates. */
export function fundingSignals(asset: AssetState, { exchanges, time, v }: Funding): Signal[] {
  return exchanges.flatMap(({ exchange, rate, interval_hours: interval }) => {
    const venue = fundingVenues.find((name) => name === exchange)
    if (venue === undefined || rate === null) return []
    const from = asset.classes.get(venue) ?? NONE
    const to = classifyFunding(rate)
    if (from === to) return []
    asset.classes.set(venue, to)
    asset.isChanged = true
    const evidence = { rate, interval_hours: interval, annualized_pct: annualised(rate, interval) * 100 }
    return [{ asset: asset.asset, kind: 'funding', period: '', from, to, value: rate, evidence, time, v, exchange }]
  })
}

/** The change of class of the mean ratio of the venues' top traders, if there is one. Stale venues are left out. */
export function sentimentSignals(asset: AssetState, time: Micros, v: number): Signal[] {
  const fresh = ratioVenues.flatMap((venue) => {
    const ratio = asset.ratios.get(venue)
    return ratio === undefined || time - ratio.received > RATIO_LIFETIME ? [] : [[venue, ratio.ratio] as const]
  })
  if (fresh.length === 0) return []
  const value = fresh.reduce((sum, [, ratio]) => sum + ratio, 0) / fresh.length
  const from = asset.sentiment ?? NONE
  const to = classifySentiment(value)
  if (from === to) return []
  asset.sentiment = to
  asset.isChanged = true
  const evidence = Object.fromEntries(fresh)
  return [{ asset: asset.asset, kind: 'sentiment', period: '', from, to, value, evidence, time, v, exchange: null }]
}
