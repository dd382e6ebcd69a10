import { bestArb } from '../../processors/funding/compare.ts'
import { classifyFunding, fundingLabels } from '../../processors/funding/signal.ts'
import { fundingVenues } from '../../schemas/venues.ts'
import type { Services } from '../services.ts'
import { readFunding } from '../views/funding.ts'
import { ageOfLegs, legsOf, type Aged, type Leg } from '../views/legs.ts'
import { fractionAYear, percentAYear, percentOf } from '../views/percent.ts'
import { perpetualsOf, type Perpetual } from '../views/perpetuals.ts'
import { readSettlements, type SettlementRow } from '../views/settlements.ts'
import { iso, isoOrNull } from '../views/time.ts'
import { noData, notListed, type About, type Built } from './answers.ts'

/** Settled rates that a prediction shows. */
const HISTORY_ROWS = 10

/** `/funding-rate/:symbol`: of the first venue that lists the symbol and is not stale. */
export async function buildFunding(services: Services, about: About): Promise<Built> {
  const perpetual = first((await readLegs(services, about)).legs)
  const { exchange, rate, intervalHours, asOf, freshUntil } = perpetual
  const signal = classifyFunding(rate)
  const body = {
    symbol: `${about.symbol}USDT`,
    exchange,
    funding_rate: rate,
    funding_rate_annualized: fractionAYear(rate, intervalHours),
    interval_hours: intervalHours,
    next_funding_time: iso(perpetual.nextSettlement),
    signal,
    signal_label: fundingLabels[signal],
    mark_price: perpetual.mark,
    index_price: perpetual.index,
    ...settledOf(perpetual),
  }
  return { body, asOf, freshUntil }
}

/** `/futures/predicted-funding/:symbol`: as `buildFunding`, with our model's rate of the next settlement. */
export async function buildPredicted(services: Services, about: About): Promise<Built> {
  const perpetual = first((await readLegs(services, about)).legs)
  const { exchange, rate, intervalHours, nextSettlement, asOf, freshUntil } = perpetual
  const to = perpetual.settledTime ?? about.clock
  const range = { asset: about.asset, venue: exchange, from: 0, to, limit: HISTORY_ROWS }
  const settlements = await readSettlements(services.database, range)
  const predicted = perpetual.predicted ?? rate
  const body = {
    symbol: about.symbol,
    exchange,
    current_funding_rate: rate,
    predicted_funding_rate: predicted,
    predicted_annualized_pct: percentAYear(predicted, intervalHours),
    predicted_by: perpetual.predicted === null ? 'venue' : 'model',
    interval_hours: intervalHours,
    next_funding_time: iso(nextSettlement),
    premium_index: perpetual.premium ?? perpetual.mark / perpetual.index - 1,
    average_premium_index: perpetual.averagePremium,
    premium_samples: perpetual.samples,
    premium_samples_expected: perpetual.expected,
    mark_price: perpetual.mark,
    index_price: perpetual.index,
    signal: classifyFunding(predicted),
    ...settledOf(perpetual),
    funding_history: historyOf(perpetual, settlements),
  }
  const perAnswer = (clock: number): object => ({
    time_to_funding_ms: Math.max(0, Math.round((nextSettlement - clock) / 1000)),
  })
  return { body, asOf, freshUntil, perAnswer }
}

/** `/futures/funding-compare/:symbol` */
export async function buildCompare(services: Services, about: About): Promise<Built> {
  const { legs, age } = await readLegs(services, about)
  const known = legs.flatMap(({ row }) => (row === null ? [] : [row]))
  const body = {
    symbol: about.symbol,
    exchanges: Object.fromEntries(legs.map((leg) => [leg.venue, comparedOf(leg)])),
    best_arb: bestArb(known),
  }
  return { body, ...age }
}

function comparedOf({ status, row }: Leg<Perpetual>): object {
  if (row === null) {
    const nothing = { funding_rate: null, annualized_pct: null, next_funding_time: null, mark_price: null }
    return { ...nothing, interval_hours: null, status, as_of: null }
  }
  return {
    funding_rate: row.rate,
    annualized_pct: percentAYear(row.rate, row.intervalHours),
    next_funding_time: iso(row.nextSettlement),
    mark_price: row.mark,
    interval_hours: row.intervalHours,
    status,
    as_of: iso(row.asOf),
  }
}

/** The three venues; throws where none has anything. */
async function readLegs(services: Services, about: About): Promise<{ legs: Leg<Perpetual>[]; age: Aged }> {
  const rows = await readFunding(services.database, about.asset)
  const facts = { ...about, topic: 'market.funding', market: 'perp' } as const
  const legs = legsOf(fundingVenues, perpetualsOf(rows), facts)
  const age = ageOfLegs(legs)
  if (age === undefined) throw nothingOf(about, legs)
  return { legs, age }
}

/** 404 where no venue lists a perpetual of the asset, else 503. */
export function nothingOf({ symbol }: About, legs: readonly Leg<unknown>[]): Error {
  const isListed = legs.some(({ status }) => status !== 'unlisted')
  return isListed ? noData(`funding rate of ${symbol}`) : notListed(`No venue lists a perpetual of ${symbol}`)
}

/** Binance first, then Bybit, then OKX. */
function first(legs: readonly Leg<Perpetual>[]): Perpetual {
  const [row] = legs.flatMap((leg) => (leg.row === null ? [] : [leg.row]))
  if (row === undefined) throw noData('funding rate')
  return row
}

/** The settlement that the record tells of, and those before it. */
function historyOf({ settledRate, settledTime }: Perpetual, rows: readonly SettlementRow[]): object[] {
  const last = settledRate === null || settledTime === null ? [] : [{ time: settledTime, rate: settledRate }]
  return [...last, ...rows].slice(0, HISTORY_ROWS).map(({ time, rate }) => ({ time: iso(time), rate }))
}

function settledOf({ settledRate, settledTime }: Perpetual): object {
  return {
    last_settled_rate: settledRate,
    last_settled_pct: settledRate === null ? null : percentOf(settledRate),
    last_settled_time: isoOrNull(settledTime),
  }
}
