import type { LeverageCluster, LiquidationRisk, Micros, RiskExchange, RiskLevel } from '../../schemas/records.ts'
import { fundingVenues } from '../../schemas/venues.ts'
import { median } from '../prices/median.ts'
import { cascadeRisk } from './cascade.ts'
import { tiers, type Tier } from './leverage.ts'
import { sides, type Side } from './levels.ts'
import type { AssetState, Contract } from './state.ts'

/** A mark, and open interest, that was received longer ago says nothing of now. */
const MARK_LIFETIME: Micros = 60_000_000
const OPEN_INTEREST_LIFETIME: Micros = 120_000_000
/** Levels are told in buckets of this share of the price, */
const WIDTH = 0.0025
/** this many to either side: 25 %. */
const BUCKETS = 100
/** Buckets within 5 % and 10 % of the price. */
const WITHIN_5 = 20
const WITHIN_10 = 40

/** A contract whose mark and open interest are of now. */
interface Counted {
  readonly contract: Contract
  /** Quote units for one base unit. */
  readonly mark: number
  /** One side, USD. */
  readonly usd: number
  /** USD of a base unit of its levels: less than the mark while open interest has just fallen. */
  readonly unit: number
  readonly time: Micros
}

/** The liquidation risk of an asset at partition time `now`; undefined where no venue tells its open interest. */
export function riskOf(asset: AssetState, now: Micros, v: number): LiquidationRisk | undefined {
  const counted = [...asset.contracts.values()]
    .sort((a, b) => (a.instrument < b.instrument ? -1 : 1))
    .flatMap((contract) => countedOf(contract, now))
  const exchanges = exchangesOf(counted)
  const price = median(exchanges.map(({ mark }) => mark))
  if (price === null) return undefined
  const open_interest_usd = exchanges.reduce((sum, exchange) => sum + exchange.open_interest_usd, 0)
  const sums = sumsOf(counted, price)
  const { levels, within5, within10 } = levelsOf(sums, price)
  const share = (usd: number): number => (open_interest_usd > 0 ? (usd / open_interest_usd) * 100 : 0)
  return {
    asset: asset.asset,
    price,
    open_interest_usd,
    exchanges,
    levels,
    clusters: clustersOf(sums, price),
    at_risk_5_usd: within5,
    at_risk_5_pct: share(within5),
    at_risk_10_usd: within10,
    at_risk_10_pct: share(within10),
    cascade_risk: cascadeRisk(share(within5), share(within10)),
    swept_long_usd: asset.sweptLong,
    swept_short_usd: asset.sweptShort,
    since: asset.since,
    time: now,
    v,
  }
}

function countedOf(contract: Contract, now: Micros): Counted[] {
  const { mark, openInterest, base } = contract
  if (mark === null || openInterest === null || base === null) return []
  if (now - mark.received > MARK_LIFETIME || now - openInterest.received > OPEN_INTEREST_LIFETIME) return []
  const share = base > 0 ? Math.min(1, openInterest.value / base) : 0
  return [
    {
      contract,
      mark: mark.value,
      usd: openInterest.value * mark.value,
      unit: mark.value * share,
      time: Math.min(mark.time, openInterest.time),
    },
  ]
}

/** Of a venue's contracts the sum, and the mark of the largest. */
function exchangesOf(counted: readonly Counted[]): RiskExchange[] {
  return fundingVenues.flatMap((exchange) => {
    const all = counted.filter(({ contract }) => contract.venue === exchange)
    const [largest] = all.toSorted((a, b) => b.usd - a.usd)
    if (largest === undefined) return []
    const open_interest_usd = all.reduce((sum, { usd }) => sum + usd, 0)
    return [{ exchange, open_interest_usd, mark: largest.mark, time: Math.min(...all.map(({ time }) => time)) }]
  })
}

/** Sums over all live levels, USD. */
interface Sums {
  /** By bucket, nearest first, below before above. */
  readonly near: Readonly<Record<Side, Float64Array>>
  /** By tier and side (`placeOf`), and the same weighted by price. */
  readonly ofTier: Float64Array
  readonly weighted: Float64Array
}

/** All in one pass: a contract has thousands of cells. */
function sumsOf(counted: readonly Counted[], price: number): Sums {
  const near = { long: new Float64Array(2 * BUCKETS), short: new Float64Array(2 * BUCKETS) }
  const places = tiers.length * sides.length
  const [ofTier, weighted] = [new Float64Array(places), new Float64Array(places)]
  for (const { contract, unit } of counted) {
    contract.levels.each((tier, side, level, size) => {
      const usd = size * unit
      const place = placeOf(tier, side)
      addAt(ofTier, place, usd)
      addAt(weighted, place, usd * level)
      const distance = Math.floor(Math.abs(level / price - 1) / WIDTH)
      if (distance < BUCKETS) addAt(near[side], 2 * distance + (level < price ? 0 : 1), usd)
    })
  }
  return { near, ofTier, weighted }
}

function placeOf(tier: Tier, side: Side): number {
  return tiers.indexOf(tier) * sides.length + sides.indexOf(side)
}

function addAt(sums: Float64Array, at: number, value: number): void {
  sums[at] = (sums[at] ?? 0) + value
}

interface ToldLevels {
  readonly levels: RiskLevel[]
  readonly within5: number
  readonly within10: number
}

/** The levels nearest first, below before above, with the sums of the near ones: sums of these levels, as they are told. */
function levelsOf({ near }: Sums, price: number): ToldLevels {
  const levels: RiskLevel[] = []
  let within5 = 0
  let within10 = 0
  for (let at = 0; at < 2 * BUCKETS; at++) {
    const long_usd = near.long[at] ?? 0
    const short_usd = near.short[at] ?? 0
    if (long_usd === 0 && short_usd === 0) continue
    const distance = at >> 1
    if (distance < WITHIN_5) within5 += long_usd + short_usd
    if (distance < WITHIN_10) within10 += long_usd + short_usd
    levels.push({ price: price * (1 + (at % 2 === 0 ? -1 : 1) * (distance + 0.5) * WIDTH), long_usd, short_usd })
  }
  return { levels, within5, within10 }
}

/** One of each tier and side: the mean price of its live levels weighted by size. Nearest first. */
function clustersOf({ ofTier, weighted }: Sums, price: number): LeverageCluster[] {
  const clusters = tiers.flatMap((leverage) =>
    sides.map((side): LeverageCluster => {
      const place = placeOf(leverage, side)
      const usd = ofTier[place] ?? 0
      return { leverage, side, price: usd > 0 ? (weighted[place] ?? 0) / usd : price, usd }
    }),
  )
  return clusters.sort((a, b) => Math.abs(a.price - price) - Math.abs(b.price - price))
}
