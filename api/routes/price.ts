import { priceVenues } from '../../schemas/venues.ts'
import type { Micros } from '../../schemas/records.ts'
import type { Services } from '../services.ts'
import type { Aged, LegStatus } from '../views/legs.ts'
import { legsOf, type Leg } from '../views/legs.ts'
import { readPrice, type PriceRow } from '../views/prices.ts'
import { SPOT_STALE, spotOf } from '../views/spots.ts'
import { readTickers, type TickerRow } from '../views/tickers.ts'
import { heardOn, type World } from '../views/world.ts'
import { noData, notListed, type About, type Built } from './answers.ts'

interface Quote extends TickerRow, Aged {
  readonly exchange: string
}

/** `/price/:symbol`: the composite price, with each venue’s own. */
export async function buildPrice(services: Services, about: About): Promise<Built> {
  const { asset, symbol, world } = about
  const [price, tickers] = await Promise.all([
    readPrice(services.database, asset),
    readTickers(services.database, asset),
  ])
  const quotes = tickers.map((row) => ({ ...row, exchange: row.venue, ...spotOf(row, world) }))
  const legs = legsOf(priceVenues, quotes, { ...about, topic: 'market.tickers', market: 'spot' })
  if (price === undefined)
    throw legs.every(({ status }) => status === 'unlisted')
      ? notListed(`No venue of the price chain lists ${symbol}`)
      : noData(`price of ${symbol}`)
  const body = {
    symbol,
    price: price.price,
    change_24h: price.change24h,
    low: price.low,
    high: price.high,
    quality: price.quality,
    sources: price.sources,
  }
  const perAnswer = (clock: Micros): object => ({
    exchanges: Object.fromEntries(legs.map((leg) => [leg.venue, shown(leg, quotes, price, clock)])),
  })
  return { body, ...compositeAge(price, world), perAnswer }
}

/** How old a composite price is: it stands while the channel of one of its sources is alive. */
export function compositeAge({ sources, time }: PriceRow, world: World): Aged {
  const asOf = Math.max(time, ...sources.map((venue) => heardOn(world, 'market.tickers', venue)))
  return { asOf, freshUntil: asOf + SPOT_STALE }
}

function shown(
  { venue, status }: Leg<Quote>,
  quotes: readonly Quote[],
  { sources }: PriceRow,
  clock: Micros,
): { price: number | null; age_ms: number | null; used: boolean; status: LegStatus } {
  const quote = quotes.find(({ exchange }) => exchange === venue)
  const age = quote === undefined ? null : Math.max(0, Math.round((clock - quote.time) / 1000))
  return { price: quote?.price ?? null, age_ms: age, used: sources.includes(venue), status }
}
