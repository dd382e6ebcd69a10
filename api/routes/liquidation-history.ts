import { asDecimal } from '../../processors/prices/decimal.ts'
import { liquidationVenues } from '../../schemas/venues.ts'
import { integer, number } from '../schema.ts'
import { readLiquidated, type Liquidated } from '../views/liquidated.ts'
import { begunOf, liquidationsOf } from '../views/liquidations.ts'
import { LIQUIDATIONS_STALE } from './liquidations.ts'
import { SERIES_SPAN, seriesRoute, type SeriesSource } from './series.ts'

const figures = {
  long_usd: number('Worth of the long positions that were liquidated, USD; a lower bound where a venue sends samples'),
  short_usd: number('The same of short positions'),
  long_count: integer('Long positions', { minimum: 0 }),
  short_count: integer('Short positions', { minimum: 0 }),
}

/** Every venue is heard on one channel for all its markets: no liquidation is a zero. */
const heard: ReadonlySet<string> = new Set(liquidationVenues)

const liquidated: SeriesSource = {
  first: async (_, { present }) => begunOf(present) ?? undefined,
  newest: ({ present, asset }) => liquidationsOf(present, asset, { from: 0, now: Infinity })[0]?.time ?? 0,
  async read({ database }, { present, asset }, query) {
    const rows = Map.groupBy(await readLiquidated(database, present, { asset, ...query }), ({ bucket }) => bucket)
    return (time) => {
      const own = rows.get(time) ?? []
      const ofVenue = (venue: string): object => sumOf(own.filter((row) => row.venue === venue))
      return {
        total: sumOf(own),
        exchanges: Object.fromEntries(liquidationVenues.map((venue) => [venue, ofVenue(venue)])),
        heard,
      }
    }
  },
}

export const liquidationHistory = seriesRoute({
  path: '/liquidation/history/:symbol',
  name: 'liquidation_history',
  says: 'Liquidations by bucket and side',
  priceUsdc: 0.03,
  ttlMs: 15_000,
  topic: 'market.liquidations',
  venues: liquidationVenues,
  wanted: false,
  shortest: '1m',
  spanMax: SERIES_SPAN,
  stale: { after: LIQUIDATIONS_STALE, says: '30 s without word from any venue' },
  total: figures,
  venue: figures,
  source: liquidated,
})

function sumOf(rows: readonly Liquidated[]): object {
  const sum = (of: (row: Liquidated) => number): number => rows.reduce((total, row) => total + of(row), 0)
  return {
    long_usd: asDecimal(sum(({ long }) => long.usd)),
    short_usd: asDecimal(sum(({ short }) => short.usd)),
    long_count: sum(({ long }) => long.count),
    short_count: sum(({ short }) => short.count),
  }
}
