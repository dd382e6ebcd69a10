import { assetRoute } from './data.ts'
import { jsonOutput } from '../request/route.ts'
import { priceVenues } from '../../schemas/venues.ts'
import type { CompositePrice, Micros } from '../../schemas/records.ts'
import { type Aged, type LegStatus, legStatuses, legsOf, type Leg } from '../views/legs.ts'
import { compositeAge, priceOf, tickersOf, type TickerRow, spotOf } from '../views/prices.ts'
import type { View } from '../request/reply.ts'
import { type AssetContext, noData, notListed, agedBy, stamped } from './answers.ts'
import {
  array,
  boolean,
  keyed,
  nullableInteger,
  nullableNumber,
  number,
  object,
  oneOf,
  text,
} from '../request/schema.ts'

export const priceOutput = jsonOutput(
  'Composite price',
  object('Median of the chain venues’ spot prices', {
    symbol: text('Base asset'),
    price: number('USD'),
    change_24h: nullableNumber('Median of the used venues’ own changes, percent; null: none says'),
    low: number('Lowest since the composite before, USD'),
    high: number('Highest since the composite before, USD'),
    quality: oneOf(['good', 'degraded', 'unknown'], 'degraded: one source only, or sources more than 1 % apart'),
    sources: array(text('Venue'), 'Venues that the price is made of'),
    exchanges: keyed(
      priceVenues,
      object('One venue', {
        price: nullableNumber('Middle of its book in USD, or its last price; null: not known'),
        age_ms: nullableInteger('How long ago it last changed, milliseconds; a quiet market is not a dead one'),
        used: boolean('Whether it is part of the price'),
        status: oneOf(legStatuses, 'live; stale: not heard for 15 s; unavailable: nothing is known; unlisted'),
      }),
      'The chain venues',
    ),
    ...agedBy('15 s'),
    ...stamped,
  }),
)

export const price = assetRoute({
  path: '/price/:symbol',
  name: 'price',
  description: 'Composite price of five exchanges',
  priceUsdc: 0.005,
  ttlMs: 2_000,
  output: priceOutput,
  view: priceView,
})

interface Quote extends TickerRow, Aged {
  readonly exchange: string
}

/** `/price/:symbol`: the composite price beside the venues’ own that made it. */
export function priceView(context: AssetContext): View {
  const { asset, symbol, present } = context
  const [price, tickers] = [priceOf(present, asset), tickersOf(present, asset)]
  const quotes = tickers.map((row) => ({ ...row, exchange: row.venue, ...spotOf(row, present) }))
  const legs = legsOf(priceVenues, quotes, { ...context, topic: 'market.tickers', market: 'spot' })
  if (legs.every(({ status }) => status === 'unlisted')) throw notListed(`No venue of the price chain lists ${symbol}`)
  if (price === undefined) throw noData(`price of ${symbol}`)
  const body = {
    symbol,
    price: price.price,
    change_24h: price.change_24h,
    low: price.low,
    high: price.high,
    quality: price.quality,
    sources: price.sources.map(({ exchange }) => exchange),
    exchanges: Object.fromEntries(legs.map((leg) => [leg.venue, shown(leg, quotes, price, context.clock)])),
  }
  return { body, ...compositeAge(price, present) }
}

/** What the composite is made of is in its own record; of the others what was known then. */
function shown(
  { venue, status }: Leg<Quote>,
  quotes: readonly Quote[],
  { sources, time }: CompositePrice,
  clock: Micros,
): { price: number | null; age_ms: number | null; used: boolean; status: LegStatus } {
  const used = sources.find(({ exchange }) => exchange === venue)
  const known = used ?? quotes.find(({ exchange, received }) => exchange === venue && received <= time)
  const age = known === undefined ? null : Math.max(0, Math.round((clock - known.time) / 1000))
  return { price: known?.price ?? null, age_ms: age, used: used !== undefined, status }
}
