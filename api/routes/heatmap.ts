import { jsonOutput } from '../request/route.ts'
import { cascadeReason, cascadeRisk, cascadeRisks } from '../../processors/liquidations/cascade.ts'
import { asDecimal } from '../../processors/prices/decimal.ts'
import type { LiquidationRisk, Micros } from '../../schemas/records.ts'
import { Replay, type Replayed, type Observation } from '../../processors/liquidations/replay.ts'
import { fundingVenues } from '../../schemas/venues.ts'
import { FUNDING_STALE, INTEREST_STALE, readTerms } from '../views/perpetuals.ts'
import { observedOf } from '../views/liquidations.ts'
import { ageOfLegs, legsOf } from '../views/legs.ts'
import { iso } from '../views/time.ts'
import type { View } from '../request/reply.ts'
import { array, boolean, instant, nullableNumber, number, object, oneOf, type Schema, text } from '../request/schema.ts'
import { marksWithBounds, openInterests, readNewest, type Reading } from '../views/readings.ts'
import { floorTo } from '../views/range.ts'
import { type AssetContext, agedBy, stamped } from './answers.ts'
import { assetRoute } from './data.ts'
import { nothingOf } from './funding.ts'
import { firstOf, MARKS_SPAN, seriesRoute, type SeriesSource } from './series.ts'

const side = oneOf(['long', 'short'], 'The position, not the order')

const riskClass = oneOf(
  cascadeRisks,
  'high: over 10 % of open interest within 5 % of the price; else medium: 5 % or more within 10 %; else low',
)

const usd = (says: string): Schema => number(says, { minimum: 0 })

const heatmapOutput = jsonOutput(
  'Estimated liquidation levels',
  object('Liquidation heatmap of one asset: a model, since nobody publishes entries and leverage', {
    symbol: text('Base asset'),
    current_price: number('Median of the venues’ marks, USD'),
    open_interest_usd: usd('Open interest of the venues, one side, USD'),
    cascade_risk: riskClass,
    estimated: boolean('Always true'),
    levels_since: instant(
      'From here on openings and closings of positions were seen; what was open before is laid out by assumption',
    ),
    leverage_clusters: array(
      object('Live levels of one leverage tier and side', {
        leverage: oneOf(['5x', '10x', '25x', '50x', '100x'], 'Tier'),
        liquidation_price: number('Their mean weighted by size, USD; the current price where there are none'),
        distance_pct: number('From the current price, percent of it; negative: below'),
        oi_at_risk_usd: usd('Their sum, USD'),
        side,
      }),
      'Five tiers by two sides, nearest price first',
    ),
    levels: array(
      object('One bucket of 0.25 % of the price', {
        price: number('Its middle, USD'),
        long_usd: usd('Longs that are liquidated there, USD'),
        short_usd: usd('Shorts that are liquidated there, USD'),
      }),
      'Buckets that are not empty, nearest first, out to 25 %',
    ),
    risk_summary: object('How much is at risk', {
      total_oi_at_risk_usd: usd('Within 5 % of the price, USD'),
      oi_at_risk_pct: usd('The same, percent of open interest'),
      total_oi_at_risk_10pct_usd: usd('Within 10 % of the price, USD'),
      oi_at_risk_10pct_pct: usd('The same, percent of open interest'),
      cascade_risk: riskClass,
      cascade_risk_reason: text(
        'The rule that decided the class, with its figure; on the first day also since when levels are known',
      ),
    }),
    exchanges: {
      type: 'object',
      description: 'Venues that count, by name',
      additionalProperties: object('One venue', {
        open_interest_usd: usd('One side, USD'),
        mark_price: number('USD'),
        as_of: instant('Time of the older of the two'),
      }),
    },
    calibration: object('What the model had where the price went, beside what venues reported since', {
      since: instant('Since when both count'),
      swept_long_usd: usd('Long levels that the mark has crossed, USD'),
      swept_short_usd: usd('Short levels that the mark has crossed, USD'),
      observed_long_usd: usd('Longs that venues reported liquidated, USD; a lower bound: not every venue sends all'),
      observed_short_usd: usd('Shorts that venues reported liquidated, USD'),
      observed_to_swept: nullableNumber('Observed over swept; null: nothing was swept'),
    }),
    ...agedBy('120 s'),
    ...stamped,
  }),
)

export const liquidationHeatmap = assetRoute({
  path: '/liquidation/heatmap/:symbol',
  name: 'liquidation_heatmap',
  description: 'Estimated liquidation levels and cascade risk',
  priceUsdc: 0.05,
  ttlMs: 15_000,
  output: heatmapOutput,
  view: heatmapView,
  isWanted: true,
})

const FIRST_DAY: Micros = 86_400_000_000

/** `/liquidation/heatmap/:symbol`: the model's levels, and how much of what it expected has been seen. */
function heatmapView(context: AssetContext): View {
  const { present, asset, symbol } = context
  const risk = present.of(asset).risk.get(asset)
  const told = (risk?.exchanges ?? []).map(({ exchange, time }) => {
    return { exchange, asOf: time, freshUntil: time + FUNDING_STALE }
  })
  const legs = legsOf(fundingVenues, told, { ...context, topic: 'market.funding', market: 'perp' })
  const age = ageOfLegs(legs)
  if (risk === undefined || age === undefined) throw nothingOf('open interest', context, legs)
  const observed = observedOf(present, asset, { since: risk.since, until: risk.time })
  const cascade = cascadeRisk(risk.at_risk_5_pct, risk.at_risk_10_pct)
  const body = {
    symbol,
    current_price: risk.price,
    open_interest_usd: risk.open_interest_usd,
    cascade_risk: cascade,
    estimated: true,
    levels_since: iso(risk.since),
    leverage_clusters: risk.clusters.map((cluster) => clusterOf(cluster, risk.price)),
    levels: risk.levels.map(({ price, long_usd, short_usd }) => ({ price: asDecimal(price), long_usd, short_usd })),
    risk_summary: {
      total_oi_at_risk_usd: risk.at_risk_5_usd,
      oi_at_risk_pct: risk.at_risk_5_pct,
      total_oi_at_risk_10pct_usd: risk.at_risk_10_usd,
      oi_at_risk_10pct_pct: risk.at_risk_10_pct,
      cascade_risk: cascade,
      cascade_risk_reason: reasonOf(risk),
    },
    exchanges: Object.fromEntries(risk.exchanges.map((venue) => [venue.exchange, venueOf(venue)])),
    calibration: calibrationOf(risk, observed),
  }
  return { body, ...age }
}

function clusterOf({ leverage, side, price, usd }: LiquidationRisk['clusters'][number], current: number): object {
  return {
    leverage: `${leverage}x`,
    liquidation_price: asDecimal(price),
    distance_pct: asDecimal(((price - current) / current) * 100),
    oi_at_risk_usd: usd,
    side,
  }
}

function venueOf({ open_interest_usd, mark, time }: LiquidationRisk['exchanges'][number]): object {
  return { open_interest_usd, mark_price: mark, as_of: iso(time) }
}

/** Within a day of its start a model knows little of when open interest was opened: then the reason says so. */
function reasonOf({ at_risk_5_pct, at_risk_10_pct, since, time }: LiquidationRisk): string {
  const reason = cascadeReason(at_risk_5_pct, at_risk_10_pct)
  if (time - since >= FIRST_DAY) return reason
  return `${reason} The levels start where the service started, at ${iso(since)}: what was open before is only assumed.`
}

/** Swept: what the model had at the prices that the mark has crossed; observed: what venues reported since. */
function calibrationOf(risk: LiquidationRisk, observed: { longUsd: number; shortUsd: number }): object {
  const swept = risk.swept_long_usd + risk.swept_short_usd
  const seen = observed.longUsd + observed.shortUsd
  return {
    since: iso(risk.since),
    swept_long_usd: risk.swept_long_usd,
    swept_short_usd: risk.swept_short_usd,
    observed_long_usd: asDecimal(observed.longUsd),
    observed_short_usd: asDecimal(observed.shortUsd),
    observed_to_swept: swept === 0 ? null : seen / swept,
  }
}

const HOUR: Micros = 3_600_000_000
/** The model is replayed from so long before the first bucket: what was open then is a tenth by then, and worn. */
const LEAD: Micros = 72 * HOUR
/** Buckets of a page at most: each tells some forty levels. */
const COLUMNS_MAX = 400

type Readings = ReadonlyMap<Micros, ReadonlyMap<string, Reading>>

const source: SeriesSource = {
  first: (services, context) => firstOf(services, context, openInterests),
  newest: ({ present, asset }) => Math.max(0, ...openInterests.held(present, asset).map(({ time }) => time)),
  async read({ database }, { present, asset }, { from, to, width, now }) {
    const step = Math.min(width, HOUR)
    const query = { asset, from: floorTo(from - LEAD, step), to, width: step }
    const [interest, marks, terms] = await Promise.all([
      readNewest(database, openInterests, { ...query, held: openInterests.held(present, asset) }),
      readNewest(database, marksWithBounds, { ...query, held: marksWithBounds.held(present, asset) }),
      readTerms(database, asset),
    ])
    const replay = new Replay(terms)
    const columns = new Map<Micros, object>()
    for (let time = query.from; time < to; time += step) {
      const end = time + step
      replay.step(end, observationsIn(time, interest, marks))
      const isOpen = end > now
      const isLast = floorTo(end, width) !== floorTo(time, width) || isOpen
      if (!isLast || time < from) continue
      columns.set(floorTo(time, width), shown(replay.now(end)))
      if (isOpen) break // the rest of the bucket is to come: in it nobody has said anything
    }
    return (time) => {
      const last = (readings: Readings, venue: string): number | null =>
        lastIn(readings, venue, { from: time, to: time + width, step })
      const exchanges = fundingVenues.map((venue) => [
        venue,
        { open_interest: last(interest, venue), mark_price: last(marks, venue) },
      ])
      return {
        total: columns.get(time) ?? shown({ price: null, openInterestUsd: 0, levels: [] }),
        exchanges: Object.fromEntries(exchanges) as Readonly<Record<string, object>>,
        heard: new Set(fundingVenues.filter((venue) => last(interest, venue) !== null && last(marks, venue) !== null)),
      }
    }
  },
}

export const heatmapHistory = seriesRoute({
  path: '/liquidation/heatmap/history/:symbol',
  name: 'liquidation_heatmap_history',
  description: 'Estimated liquidation levels by time and price: the model, replayed over open interest and marks',
  priceUsdc: 0.05,
  ttlMs: 60_000,
  topic: 'market.funding',
  venues: fundingVenues,
  wanted: true,
  shortest: '1m',
  spanMax: MARKS_SPAN - LEAD,
  rowsMax: COLUMNS_MAX,
  stale: { after: INTEREST_STALE, description: '120 s without word from any venue' },
  total: {
    price: nullableNumber('Median of the venues’ marks at the end of the bucket, USD; null: none is known'),
    open_interest_usd: usd('Open interest of the venues then, one side, USD'),
    levels: array(
      object('One row of 0.5 % of the price; the rows are the same in all buckets', {
        price: number('Its middle, USD'),
        long_usd: usd('Longs that are liquidated there, USD'),
        short_usd: usd('Shorts that are liquidated there, USD'),
      }),
      'Rows that are not empty, lowest price first, out to 10 % of the price: an estimate, as that of /liquidation/heatmap',
    ),
  },
  venue: {
    open_interest: nullableNumber('The last it said in the bucket, base units of one side; null: it said nothing'),
    mark_price: nullableNumber('Its last mark price of the bucket, USDT'),
  },
  source,
})

function shown({ price, openInterestUsd, levels }: Replayed): object {
  return {
    price: price === null ? null : asDecimal(price),
    open_interest_usd: asDecimal(openInterestUsd),
    levels: levels.map((level) => ({
      price: asDecimal(level.price),
      long_usd: asDecimal(level.long_usd),
      short_usd: asDecimal(level.short_usd),
    })),
  }
}

function observationsIn(time: Micros, interest: Readings, marks: Readings): Observation[] {
  return fundingVenues.map((venue) => {
    const [close, low, high] = marks.get(time)?.get(venue)?.values ?? []
    return {
      venue,
      marks: close === undefined ? null : { close, low: low ?? close, high: high ?? close },
      openInterest: interest.get(time)?.get(venue)?.values[0] ?? null,
    }
  })
}

/** The last value that a venue said in a range of whole steps; null: none. */
function lastIn(
  readings: Readings,
  venue: string,
  { from, to, step }: { readonly from: Micros; readonly to: Micros; readonly step: Micros },
): number | null {
  for (let time = to - step; time >= from; time -= step) {
    const value = readings.get(time)?.get(venue)?.values[0]
    if (value !== undefined) return value
  }
  return null
}
