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

/** `/price/:symbol`: the composite price beside the venues’ own that made it. */
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
    sources: price.parts.map(({ exchange }) => exchange),
  }
  const perAnswer = (clock: Micros): object => ({
    exchanges: Object.fromEntries(legs.map((leg) => [leg.venue, shown(leg, quotes, price, clock)])),
  })
  return { body, ...compositeAge(price, world), perAnswer }
}

/** How old a composite price is: it stands while the channel of one of its sources is alive. */
export function compositeAge({ parts, time }: PriceRow, world: World): Aged {
  const asOf = Math.max(time, ...parts.map(({ exchange }) => heardOn(world, 'market.tickers', exchange)))
  return { asOf, freshUntil: asOf + SPOT_STALE }
}

/** What the composite is made of is in its own record; of the others what was known then. */
function shown(
  { venue, status }: Leg<Quote>,
  quotes: readonly Quote[],
  { parts, time }: PriceRow,
  clock: Micros,
): { price: number | null; age_ms: number | null; used: boolean; status: LegStatus } {
  const used = parts.find(({ exchange }) => exchange === venue)
  const known = used ?? quotes.find(({ exchange, received }) => exchange === venue && received <= time)
  const age = known === undefined ? null : Math.max(0, Math.round((clock - known.time) / 1000))
  return { price: known?.price ?? null, age_ms: age, used: used !== undefined, status }
}
