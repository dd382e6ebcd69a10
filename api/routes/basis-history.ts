import { basis } from '../../processors/funding/basis.ts'
import { asDecimal } from '../../processors/prices/decimal.ts'
import { fundingVenues } from '../../schemas/venues.ts'
import { nullable, nullableNumber, oneOf } from '../schema.ts'
import { MARK_STALE } from '../views/perpetuals.ts'
import { marks, spotPrices } from '../views/readings.ts'
import { readingsOf, type Values, sourceField } from './readings.ts'
import { MARKS_SPAN, seriesRoute } from './series.ts'

export const basisHistory = seriesRoute({
  path: '/futures/basis/history/:symbol',
  name: 'basis_history',
  says: 'Basis by bucket: the last mark price of each perpetual against the last spot price',
  priceUsdc: 0.02,
  ttlMs: 30_000,
  topic: 'market.funding',
  venues: fundingVenues,
  wanted: false,
  shortest: '1m',
  spanMax: MARKS_SPAN,
  stale: { after: MARK_STALE, says: '60 s without word from any venue' },
  total: {
    spot_price: nullableNumber('Last price of Binance’s USDT spot pair in the bucket, USDT; null: none'),
  },
  venue: {
    perp_price: nullableNumber('Last mark price of the bucket, USDT; null: not heard in it'),
    basis_usd: nullableNumber('perp_price minus spot_price, USDT taken for USD; null: one is missing'),
    basis_pct: nullableNumber('The same, percent of spot_price'),
    direction: nullable(oneOf(['contango', 'backwardation'], 'contango: perpetual at or above spot')),
    ...sourceField,
  },
  source: readingsOf({
    venues: fundingVenues,
    series: [marks, spotPrices],
    venueOf: basisAt,
    totalOf: ([first = []]) => ({ spot_price: pricesOf(first).spot }),
  }),
})

function pricesOf([marked, spotted]: Values): { mark: number | null; spot: number | null } {
  const spot = spotted?.[0]
  return { mark: marked?.[0] ?? null, spot: spot === undefined ? null : asDecimal(spot) }
}

function basisAt(said: Values): object {
  const { mark, spot } = pricesOf(said)
  if (mark === null || spot === null) return { perp_price: mark, basis_usd: null, basis_pct: null, direction: null }
  // By the year it depends on the funding interval, which changes: only the basis itself is told of the past.
  const { basis_usd, basis_pct, direction } = basis(mark, spot, 8)
  return { perp_price: mark, basis_usd, basis_pct, direction }
}
