import { asDecimal } from '../../processors/prices/decimal.ts'
import { ratioVenues } from '../../schemas/venues.ts'
import { nullableNumber } from '../schema.ts'
import { topTraders } from '../views/readings.ts'
import { RATIO_STALE } from './long-short.ts'
import { readingsOf, type Values, sourceField } from './readings.ts'
import { SERIES_SPAN, seriesRoute } from './series.ts'

export const longShortHistory = seriesRoute({
  path: '/futures/long-short/history/:symbol',
  name: 'long_short_history',
  says: 'Top traders’ long/short ratio by bucket: the last period of each venue in it',
  priceUsdc: 0.02,
  ttlMs: 30_000,
  topic: 'market.funding',
  venues: ratioVenues,
  wanted: true,
  // Venues tell of periods of five minutes.
  shortest: '5m',
  spanMax: SERIES_SPAN,
  stale: { after: RATIO_STALE, says: '10 min without word from any venue' },
  total: {
    avg_ls_ratio: nullableNumber('Arithmetic mean of the venues that were heard in the bucket; null: none was'),
  },
  venue: {
    long_ratio: nullableNumber('Share of longs, 0 to 1; null: no period of the venue begins in the bucket'),
    short_ratio: nullableNumber('Share of shorts, 0 to 1'),
    ls_ratio: nullableNumber('Longs over shorts'),
    ...sourceField,
  },
  source: readingsOf({ venues: ratioVenues, series: [topTraders], venueOf: shown, totalOf: meanOf }),
})

function shown([said]: Values): object {
  const [long = null, short = null, ls_ratio = null] = said ?? []
  return {
    long_ratio: long === null ? null : asDecimal(long),
    short_ratio: short === null ? null : asDecimal(short),
    ls_ratio,
  }
}

function meanOf(each: readonly Values[]): object {
  const ratios = each.flatMap(([said]) => said?.[2] ?? [])
  return {
    avg_ls_ratio: ratios.length === 0 ? null : ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length,
  }
}
