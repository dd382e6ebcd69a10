import type { Services } from '../services.ts'
import { readFunding } from '../views/funding.ts'
import { percentAYear, percentOf } from '../views/percent.ts'
import { FUNDING_STALE } from '../views/perpetuals.ts'
import { readSettlements, type SettlementRow } from '../views/settlements.ts'
import { iso } from '../views/time.ts'
import { heardOn } from '../views/world.ts'
import { noData, notListed, type About, type Built } from './answers.ts'

export interface AskedSettlements {
  readonly exchange: string
  /** Milliseconds. */
  readonly start: number | undefined
  readonly end: number | undefined
  readonly limit: number
}

const MICROS_AN_HOUR = 3_600_000_000
/** What venues settle in. The time between two settlements that is none of these has a hole in it. */
const INTERVALS = [1, 2, 4, 8]

/** `/funding-rate/history/:symbol`: settled rates, newest first; with a start the oldest `limit` from there. */
export async function buildFundingHistory(services: Services, about: About, asked: AskedSettlements): Promise<Built> {
  const { asset, symbol, clock, world, catalogue } = about
  const { exchange, start, end, limit } = asked
  const to = end === undefined ? clock : end * 1000
  const range = { asset, venue: exchange, from: (start ?? 0) * 1000, to, limit }
  const [rows, perpetuals] = await Promise.all([
    readSettlements(services.database, range, start === undefined ? 'newest' : 'oldest'),
    readFunding(services.database, asset),
  ])
  const perpetual = perpetuals.find((row) => row.exchange === exchange)
  const isListed = perpetual !== undefined || catalogue.venuesOf(asset, 'perp').has(exchange)
  if (rows.length === 0 && !isListed) throw notListed(`${exchange} lists no perpetual of ${symbol}`)
  const newest = Math.max(0, perpetual?.settledTime ?? 0, perpetual?.rateTime ?? 0, ...rows.map(({ time }) => time))
  const asOf = Math.max(newest, heardOn(world, 'market.funding', exchange))
  if (asOf === 0) throw noData(`settled rate of ${symbol} on ${exchange}`)
  const history = rows.map((row) => shown(row, perpetual?.intervalHours))
  return { body: { symbol: `${symbol}USDT`, exchange, history }, asOf, freshUntil: asOf + FUNDING_STALE }
}

/** Intervals change: each rate is by the year of its own one, told by the settlement before it. */
function shown({ rate, time, sinceLast }: SettlementRow, current: number | undefined): object {
  const hours = sinceLast === null ? undefined : INTERVALS.find((known) => known * MICROS_AN_HOUR === sinceLast)
  const intervalHours = hours ?? current ?? null
  return {
    time: iso(time),
    funding_rate: rate,
    funding_rate_pct: percentOf(rate),
    annualized_pct: intervalHours === null ? null : percentAYear(rate, intervalHours),
    interval_hours: intervalHours,
  }
}
