import { basis, bestCarryTrade } from '../../processors/funding/basis.ts'
import { fundingVenues } from '../../schemas/venues.ts'
import type { Services } from '../services.ts'
import { readFunding } from '../views/funding.ts'
import { ageOfLegs, legsOf, type Leg } from '../views/legs.ts'
import { markedOf, type Marked } from '../views/perpetuals.ts'
import { spotAt } from '../views/spots.ts'
import { readTickerAt } from '../views/tickers.ts'
import { iso } from '../views/time.ts'
import { noData, type About, type Built } from './answers.ts'
import { nothingOf } from './funding.ts'

/** The venue and quote of the spot price that perpetuals are held against. */
const SPOT = { venue: 'binance', quote: 'USDT' } as const

/** `/futures/basis/:symbol`: spot and perpetuals are two stories, joined here as of one moment. */
export async function buildBasis(services: Services, about: About): Promise<Built> {
  const rows = await readFunding(services.database, about.asset)
  const legs = legsOf(fundingVenues, markedOf(rows), { ...about, topic: 'market.funding', market: 'perp' })
  const age = ageOfLegs(legs)
  if (age === undefined) throw nothingOf(about, legs)
  // A spot price of a later moment than the perpetuals' would be a basis of nothing.
  const known = Math.max(...rows.map((row) => row.known))
  const ticker = await readTickerAt(services.database, { asset: about.asset, ...SPOT }, known)
  if (ticker === undefined) throw noData(`spot price of ${about.symbol} on Binance`)
  const spot = spotAt(ticker, about.world, known)
  // Perpetuals are quoted in USDT and so is the spot pair: what a USDT is worth in USD is in neither.
  const trades = legs.map((leg) => [leg, tradeOf(leg, ticker.quotePrice)] as const)
  const body = {
    symbol: about.symbol,
    spot_price: ticker.quotePrice,
    spot_exchange: SPOT.venue,
    spot_as_of: iso(spot.asOf),
    exchanges: Object.fromEntries(trades.map(([leg, trade]) => [leg.venue, shown(leg, trade)])),
    best_carry_trade: bestCarryTrade(trades.flatMap(([, trade]) => (trade === undefined ? [] : [trade]))),
  }
  const perAnswer = (clock: number): object => ({ spot_age_ms: Math.max(0, Math.round((clock - spot.asOf) / 1000)) })
  const asOf = Math.max(age.asOf, spot.asOf)
  return { body, asOf, freshUntil: Math.min(age.freshUntil, spot.freshUntil), perAnswer }
}

type Trade = ReturnType<typeof basis> & { readonly exchange: string }

function tradeOf({ venue, row }: Leg<Marked>, spot: number): Trade | undefined {
  return row === null ? undefined : { exchange: venue, ...basis(row.mark, spot, row.intervalHours) }
}

function shown({ status, row }: Leg<Marked>, trade: Trade | undefined): object {
  const about = { status, as_of: row === null ? null : iso(row.asOf), interval_hours: row?.intervalHours ?? null }
  if (row === null || trade === undefined)
    return {
      perp_price: null,
      basis_usd: null,
      basis_pct: null,
      basis_annualized_pct: null,
      direction: null,
      ...about,
    }
  const { basis_usd, basis_pct, basis_annualized_pct, direction } = trade
  return { perp_price: row.mark, basis_usd, basis_pct, basis_annualized_pct, direction, ...about }
}
