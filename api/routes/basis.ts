import { basis, bestCarryTrade, type Carry } from '../../processors/funding/basis.ts'
import type { Micros } from '../../schemas/records.ts'
import { fundingVenues } from '../../schemas/venues.ts'
import type { Services } from '../services.ts'
import { readFunding } from '../views/funding.ts'
import { ageOfLegs, legsOf, type Leg } from '../views/legs.ts'
import { percentAYear } from '../views/percent.ts'
import { FUNDING_STALE, markedOf, type Marked } from '../views/perpetuals.ts'
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
    best_carry_trade: bestCarryTrade(trades.flatMap(([leg, trade]) => carryOf(leg, trade, about.clock))),
  }
  const perAnswer = (clock: number): object => ({ spot_age_ms: Math.max(0, Math.round((clock - spot.asOf) / 1000)) })
  const asOf = Math.max(age.asOf, spot.asOf)
  return { body, asOf, freshUntil: Math.min(age.freshUntil, spot.freshUntil), perAnswer }
}

type Trade = ReturnType<typeof basis> & { readonly exchange: string }

function tradeOf({ venue, row }: Leg<Marked>, spot: number): Trade | undefined {
  return row === null ? undefined : { exchange: venue, ...basis(row.mark, spot, row.intervalHours) }
}

/** A short perpetual earns its funding: where that is not known, or is old, nothing can be said of the trade. */
function carryOf({ row }: Leg<Marked>, trade: Trade | undefined, clock: Micros): Carry[] {
  if (row === null || trade === undefined) return []
  const { rate, rateTime, nextSettlement, intervalHours } = row
  if (rate === null || rateTime === null || nextSettlement === null || rateTime + FUNDING_STALE < clock) return []
  const { exchange, basis_pct, basis_annualized_pct } = trade
  return [
    {
      exchange,
      basis_pct,
      basis_annualized_pct,
      funding_rate: rate,
      funding_annualized_pct: percentAYear(rate, intervalHours),
      interval_hours: intervalHours,
      next_funding_time: iso(nextSettlement),
    },
  ]
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
