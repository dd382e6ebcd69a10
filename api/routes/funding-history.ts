import { jsonOutput, dataRoute } from '../request/route.ts'
import type { Micros } from '../../schemas/records.ts'
import type { Services } from '../services.ts'
import { fundingOf, percentAYear, percentOf } from '../views/funding.ts'
import { readSettlements, type SettlementRow, factSources } from '../views/readings.ts'
import { iso } from '../views/time.ts'
import { FUNDING_STALE } from '../views/perpetuals.ts'
import { heardOn } from '../views/world.ts'
import type { View } from '../request/reply.ts'
import { type AssetContext, noData, notListed, replyAbout, agedBy, dataErrors, paged, stamped } from './answers.ts'
import { array, instant, nullableNumber, number, object, oneOf, text } from '../request/schema.ts'
import { end, fundingExchange, limitOf, start, symbol } from './parameters.ts'
import { rangeKey } from './history.ts'
import { fundingVenues, settlementVenues } from '../../schemas/venues.ts'

const fundingHistoryOutput = jsonOutput(
  'Settled rates',
  object('Settled rates of one perpetual', {
    symbol: text('Perpetual, as BTCUSDT'),
    exchange: oneOf(
      settlementVenues,
      'Its venue; beyond binance, bybit and okx settled rates are all that is known, where its markets are listed here',
    ),
    history: array(
      object('One settlement', {
        time: instant('When it was'),
        funding_rate: number('Settled rate, fraction'),
        funding_rate_pct: number('The same, percent'),
        annualized_pct: nullableNumber('By the year of its own interval, percent; null: the interval is not known'),
        interval_hours: nullableNumber(
          'Hours since the settlement before, or the interval now where that is not known',
        ),
        source: oneOf(factSources, 'live: told when it was settled, or days later; venue_history: read back later'),
      }),
      'Newest first',
    ),
    ...paged,
    ...agedBy('120 s without word from the venue; 9 h since its newest rate where nothing but the past is read of it'),
    ...stamped,
  }),
)

export const fundingHistory = dataRoute({
  path: '/funding-rate/history/:symbol',
  name: 'funding_history',
  description: 'Settled funding rates',
  priceUsdc: 0.02,
  ttlMs: 30_000,
  input: { symbol, exchange: fundingExchange, start, end, limit: limitOf(100) },
  outputs: { 200: fundingHistoryOutput },
  errors: dataErrors,
  async prepare(call) {
    const { input, services } = call
    const key = { symbol: input.symbol, rest: rangeKey(input) }
    return replyAbout(call, key, (context) => readFundingHistory(services, context, input))
  },
})

interface AskedSettlements {
  readonly exchange: string
  /** Milliseconds. */
  readonly start: number | undefined
  readonly end: number | undefined
  readonly limit: number
}

const MICROS_AN_HOUR = 3_600_000_000
/** Rates that are only read back come once an interval, of eight hours at most, and some time after it. */
const READ_BACK_STALE: Micros = 9 * MICROS_AN_HOUR
/**
 * What venues settle in; OKX: "may be adjusted to higher frequencies such as 6 hours, 4 hours, 2 hours, or 1 hour". The time
 * between two settlements that is none of these has a hole in it.
 */
const INTERVALS = [1, 2, 4, 6, 8]

/** `/funding-rate/history/:symbol`: settled rates, newest first; with a start the oldest `limit` from there. */
async function readFundingHistory(services: Services, context: AssetContext, asked: AskedSettlements): Promise<View> {
  const { asset, symbol, clock, world, catalogue } = context
  const { exchange, start, end, limit } = asked
  const to = end === undefined ? clock : end * 1000
  // One more than is shown tells whether there is a next page.
  const range = { asset, venue: exchange, from: (start ?? 0) * 1000, to, limit: limit + 1 }
  const read = await readSettlements(services.database, range, start === undefined ? 'newest' : 'oldest')
  const rows = start === undefined ? read.slice(0, limit) : read.slice(-limit)
  const nextTime = start === undefined ? rows.at(-1)?.time : read[0]?.time
  const perpetual = fundingOf(context.present, asset).find((row) => row.exchange === exchange)
  const isListed = perpetual !== undefined || catalogue.venuesOf(asset, 'perp').has(exchange)
  if (rows.length === 0 && !isListed) throw notListed(`${exchange} lists no perpetual of ${symbol}`)
  const newest = Math.max(0, perpetual?.settled_time ?? 0, perpetual?.rate_time ?? 0, ...rows.map(({ time }) => time))
  const isLive = fundingVenues.some((venue) => venue === exchange)
  const heard = isLive
    ? heardOn(world, 'market.funding', exchange)
    : await newestOf(services, { asset, venue: exchange, to: clock })
  const asOf = Math.max(newest, heard)
  if (asOf === 0) throw noData(`settled rate of ${symbol} on ${exchange}`)
  const history = rows.map((row) => shown(row, perpetual?.interval_hours))
  const next = read.length > limit && nextTime !== undefined ? iso(nextTime) : null
  return {
    body: { symbol: `${symbol}USDT`, exchange, history, next },
    asOf,
    freshUntil: asOf + (isLive ? FUNDING_STALE : READ_BACK_STALE),
  }
}

/** When a venue's newest rate was that is known; 0: there is none. */
async function newestOf(
  { database }: Services,
  { to, ...of }: { readonly asset: string; readonly venue: string; readonly to: Micros },
): Promise<Micros> {
  const [row] = await readSettlements(database, { ...of, from: 0, to, limit: 1 })
  return row?.time ?? 0
}

/** Intervals change: each rate is by the year of its own one, told by the settlement before it. */
function shown({ rate, time, sinceLast, source }: SettlementRow, current: number | undefined): object {
  const hours = sinceLast === null ? undefined : INTERVALS.find((known) => known * MICROS_AN_HOUR === sinceLast)
  const intervalHours = hours ?? current ?? null
  return {
    time: iso(time),
    funding_rate: rate,
    funding_rate_pct: percentOf(rate),
    annualized_pct: intervalHours === null ? null : percentAYear(rate, intervalHours),
    interval_hours: intervalHours,
    source,
  }
}
