import { Replay, type Replayed, type Observation } from '../../processors/liquidations/replay.ts'
import { asDecimal } from '../../processors/prices/decimal.ts'
import type { Micros } from '../../schemas/records.ts'
import { fundingVenues } from '../../schemas/venues.ts'
import { array, nullableNumber, number, object } from '../schema.ts'
import { INTEREST_STALE } from '../views/perpetuals.ts'
import { marksWithBounds, openInterests, readNewest, type Reading } from '../views/readings.ts'
import { floorTo } from '../views/range.ts'
import { readTerms } from '../views/terms.ts'
import { firstOf } from './readings.ts'
import { MARKS_SPAN, seriesRoute, type SeriesSource } from './series.ts'

const HOUR: Micros = 3_600_000_000
/** The model is replayed from so long before the first bucket: what was open then is a tenth by then, and worn. */
const LEAD: Micros = 72 * HOUR
/** Buckets of a page at most: each tells some forty levels. */
const COLUMNS_MAX = 400

type Readings = ReadonlyMap<Micros, ReadonlyMap<string, Reading>>

const source: SeriesSource = {
  first: (services, about) => firstOf(services, about, openInterests),
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
      const isLast = floorTo(end, width) !== floorTo(time, width) || end > now
      if (isLast && time >= from) columns.set(floorTo(time, width), shown(replay.now(end)))
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

const usd = (says: string): ReturnType<typeof number> => number(says, { minimum: 0 })

export const heatmapHistory = seriesRoute({
  path: '/liquidation/heatmap/history/:symbol',
  name: 'liquidation_heatmap_history',
  says: 'Estimated liquidation levels by time and price: the model, replayed over open interest and marks',
  priceUsdc: 0.05,
  ttlMs: 60_000,
  topic: 'market.funding',
  venues: fundingVenues,
  wanted: true,
  shortest: '1m',
  spanMax: MARKS_SPAN - LEAD,
  rowsMax: COLUMNS_MAX,
  stale: { after: INTEREST_STALE, says: '120 s without word from any venue' },
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
