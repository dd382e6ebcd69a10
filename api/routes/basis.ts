import { assetRoute } from './data.ts'
import { jsonOutput } from '../request/route.ts'
import { basis, bestCarryTrade, type Carry } from '../../processors/funding/arbitrage.ts'
import type { Micros } from '../../schemas/records.ts'
import { fundingVenues } from '../../schemas/venues.ts'
import { heldAgainst } from '../../processors/present/state.ts'
import { asDecimal } from '../../processors/prices/decimal.ts'
import { fundingOf, percentAYear } from '../views/funding.ts'
import { ageOfLegs, legsOf, type Leg } from '../views/legs.ts'
import { iso } from '../views/time.ts'
import { FUNDING_STALE, markedOf, type Marked, MARK_STALE } from '../views/perpetuals.ts'
import { spotAt, heldAgainstAt } from '../views/prices.ts'
import type { View } from '../request/reply.ts'
import {
  instant,
  integer,
  keyed,
  nullable,
  nullableInstant,
  nullableNumber,
  number,
  object,
  oneOf,
  text,
} from '../request/schema.ts'
import { marksAndIndexes, spotPrices } from '../views/readings.ts'
import { type AssetContext, noData, agedBy, stamped } from './answers.ts'
import { intervalHours, nothingOf, status } from './funding.ts'
import { readingsOf, type Values, sourceField, MARKS_SPAN, seriesRoute } from './series.ts'

const basisOutput = jsonOutput(
  'Perpetuals against spot',
  object('Basis of one asset', {
    symbol: text('Base asset'),
    spot_price: number('Middle of the book of Binance’s USDT spot pair, USDT'),
    spot_exchange: text('Whose spot price'),
    spot_as_of: instant('Time of the spot price'),
    spot_age_ms: integer('How old that is, milliseconds', { minimum: 0 }),
    exchanges: keyed(
      fundingVenues,
      object('One venue; null where it does not count, `status` says why', {
        perp_price: nullableNumber('Mark price, USDT'),
        basis_usd: nullableNumber('perp_price minus spot_price, USDT taken for USD'),
        basis_pct: nullableNumber('The same, percent of spot_price'),
        basis_annualized_pct: nullableNumber(
          'basis_pct x (8760 / interval_hours), as if the premium were earned at each funding: a measure for comparing venues, not a yield',
        ),
        direction: nullable(oneOf(['contango', 'backwardation'], 'contango: perpetual at or above spot')),
        status,
        as_of: nullableInstant('Time of the mark price'),
        interval_hours: nullable(intervalHours),
      }),
      'The venues',
    ),
    best_carry_trade: nullable(
      object(
        'The venue with the highest basis_annualized_pct, also when none is positive; null without one whose funding is known',
        {
          exchange: oneOf(fundingVenues, 'The venue'),
          annualized_yield_pct: number(
            'What the trade is paid by the year, percent: funding_rate x (24 / interval_hours) x 365 x 100. It changes with the rate, and is not basis_annualized_pct, by which the venue is chosen',
          ),
          strategy: text('long_spot_short_<venue>_perp'),
          basis_pct: number('Earned once, when the perpetual is back at spot; not part of the yield'),
          funding_rate: number('Running rate, fraction per interval; positive: the short side is paid'),
          interval_hours: intervalHours,
          next_funding_time: instant('When that rate is paid'),
        },
      ),
    ),
    ...agedBy('spot 15 s, marks 60 s'),
    ...stamped,
  }),
)

export const basisRoute = assetRoute({
  path: '/futures/basis/:symbol',
  name: 'basis',
  description: 'Perpetuals against spot',
  priceUsdc: 0.02,
  ttlMs: 30_000,
  output: basisOutput,
  view: basisView,
})

/** `/futures/basis/:symbol`: spot and perpetuals are two stories, joined here as of one moment. */
function basisView(context: AssetContext): View {
  const rows = fundingOf(context.present, context.asset)
  const legs = legsOf(fundingVenues, markedOf(rows), { ...context, topic: 'market.funding', market: 'perp' })
  const age = ageOfLegs(legs)
  if (age === undefined) throw nothingOf('mark price', context, legs)
  // A spot price of a later moment than the perpetuals' would be a basis of nothing.
  const known = Math.max(...rows.map((row) => row.known))
  const ticker = heldAgainstAt(context.present, context.asset, known)
  if (ticker === undefined) throw noData(`spot price of ${context.symbol} on Binance`)
  const spot = spotAt(ticker, context.present, known)
  // Perpetuals are quoted in USDT and so is the spot pair: what a USDT is worth in USD is in neither.
  const trades = legs.map((leg) => [leg, tradeOf(leg, ticker.quotePrice)] as const)
  const body = {
    symbol: context.symbol,
    spot_price: ticker.quotePrice,
    spot_exchange: heldAgainst.venue,
    spot_as_of: iso(spot.asOf),
    spot_age_ms: Math.max(0, Math.round((context.clock - spot.asOf) / 1000)),
    exchanges: Object.fromEntries(trades.map(([leg, trade]) => [leg.venue, shown(leg, trade)])),
    best_carry_trade: bestCarryTrade(trades.flatMap(([leg, trade]) => carryOf(leg, trade, context.clock))),
  }
  const asOf = Math.max(age.asOf, spot.asOf)
  return { body, asOf, freshUntil: Math.min(age.freshUntil, spot.freshUntil) }
}

type Trade = ReturnType<typeof basis> & { readonly exchange: string }

function tradeOf({ venue, row }: Leg<Marked>, spot: number): Trade | undefined {
  return row === null ? undefined : { exchange: venue, ...basis(row.mark, spot, row.interval_hours) }
}

/** A short perpetual earns its funding: where that is not known, or is old, nothing can be said of the trade. */
function carryOf({ row }: Leg<Marked>, trade: Trade | undefined, clock: Micros): Carry[] {
  if (row === null || trade === undefined) return []
  const { rate, rate_time, next_settlement, interval_hours } = row
  if (rate === null || rate_time === null || next_settlement === null || rate_time + FUNDING_STALE < clock) return []
  const { exchange, basis_pct, basis_annualized_pct } = trade
  return [
    {
      exchange,
      basis_pct,
      basis_annualized_pct,
      funding_rate: rate,
      funding_annualized_pct: percentAYear(rate, interval_hours),
      interval_hours,
      next_funding_time: iso(next_settlement),
    },
  ]
}

function shown({ status, row }: Leg<Marked>, trade: Trade | undefined): object {
  const summary = { status, as_of: row === null ? null : iso(row.asOf), interval_hours: row?.interval_hours ?? null }
  if (row === null || trade === undefined)
    return {
      perp_price: null,
      basis_usd: null,
      basis_pct: null,
      basis_annualized_pct: null,
      direction: null,
      ...summary,
    }
  const { basis_usd, basis_pct, basis_annualized_pct, direction } = trade
  return { perp_price: row.mark, basis_usd, basis_pct, basis_annualized_pct, direction, ...summary }
}

export const basisHistory = seriesRoute({
  path: '/futures/basis/history/:symbol',
  name: 'basis_history',
  description:
    'Basis by bucket: the last mark price of each perpetual against the last spot price, or where none is known against the venue’s own index',
  priceUsdc: 0.02,
  ttlMs: 30_000,
  topic: 'market.funding',
  venues: fundingVenues,
  wanted: false,
  shortest: '1m',
  spanMax: MARKS_SPAN,
  stale: { after: MARK_STALE, description: '60 s without word from any venue' },
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
    isHeard: (values) => pricesOf(values).base !== null,
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

function basisAt(values: Values): object {
  const { mark, spot, index: index_price, base } = pricesOf(values)
  const prices = { perp_price: mark, index_price }
  if (mark === null || base === null)
    return { ...prices, against: null, basis_usd: null, basis_pct: null, direction: null }
  // By the year it depends on the funding interval, which changes: only the basis itself is told of the past.
  const { basis_usd, basis_pct, direction } = basis(mark, base, 8)
  return { ...prices, against: spot === null ? 'index' : 'spot', basis_usd, basis_pct, direction }
}
