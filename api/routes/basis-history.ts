import { basis } from '../../processors/funding/arbitrage.ts'
import { asDecimal } from '../../processors/prices/decimal.ts'
import { fundingVenues } from '../../schemas/venues.ts'
import { nullable, nullableNumber, oneOf } from '../schema.ts'
import { MARK_STALE } from '../views/perpetuals.ts'
import { marksAndIndexes, spotPrices } from '../views/readings.ts'
import { readingsOf, type Values, sourceField } from './readings.ts'
import { MARKS_SPAN, seriesRoute } from './series.ts'

export const basisHistory = seriesRoute({
  path: '/futures/basis/history/:symbol',
  name: 'basis_history',
  says: 'Basis by bucket: the last mark price of each perpetual against the last spot price, or where none is known against the venue’s own index',
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
    index_price: nullableNumber('The venue’s own index at that mark, USDT; null: not said'),
    against: nullable(
      oneOf(['spot', 'index'], 'spot: spot_price; index: index_price, in a bucket without spot_price; null: neither'),
    ),
    basis_usd: nullableNumber('perp_price minus that, USDT taken for USD; null: one is missing'),
    basis_pct: nullableNumber('The same, percent of it'),
    direction: nullable(oneOf(['contango', 'backwardation'], 'contango: perpetual at or above it')),
    ...sourceField,
  },
  source: readingsOf({
    venues: fundingVenues,
    series: [marksAndIndexes, spotPrices],
    venueOf: basisAt,
    totalOf: ([first]) => ({ spot_price: first === undefined ? null : pricesOf(first).spot }),
    isHeard: (said) => pricesOf(said).base !== null,
  }),
})

interface Prices {
  readonly mark: number | null
  readonly spot: number | null
  readonly index: number | null
  /** What the mark is held against. */
  readonly base: number | null
}

function pricesOf([marked = [], spotted = []]: Values): Prices {
  const [[mark, at = 0], [ticker]] = [marked, spotted]
  const spot = ticker === undefined ? null : asDecimal(ticker)
  const index = at > 0 ? at : null
  return mark === undefined ? { mark: null, spot, index: null, base: null } : { mark, spot, index, base: spot ?? index }
}

function basisAt(said: Values): object {
  const { mark, spot, index: index_price, base } = pricesOf(said)
  const prices = { perp_price: mark, index_price }
  if (mark === null || base === null)
    return { ...prices, against: null, basis_usd: null, basis_pct: null, direction: null }
  // By the year it depends on the funding interval, which changes: only the basis itself is told of the past.
  const { basis_usd, basis_pct, direction } = basis(mark, base, 8)
  return { ...prices, against: spot === null ? 'index' : 'spot', basis_usd, basis_pct, direction }
}
