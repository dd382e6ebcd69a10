import { assetRoute } from './data.ts'
import { jsonOutput } from '../request/route.ts'
import { bestArb } from '../../processors/funding/arbitrage.ts'
import { classifyFunding, fundingClasses, fundingLabels } from '../../processors/funding/classes.ts'
import { asRatio } from '../../processors/prices/decimal.ts'
import { fundingVenues } from '../../schemas/venues.ts'
import type { Settled } from '../../processors/present/state.ts'
import { fundingOf, fractionAYear, percentAYear, percentOf } from '../views/funding.ts'
import { type Aged, ageOfLegs, type Leg, legsOf, legStatuses } from '../views/legs.ts'
import { iso, isoOrNull } from '../views/time.ts'
import { perpetualsOf, type Perpetual } from '../views/perpetuals.ts'
import type { View } from '../request/reply.ts'
import { type AssetContext, noData, notListed, agedBy, stamped } from './answers.ts'
import {
  array,
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

export const aged = agedBy('rates 120 s, marks 60 s')

const exchange = oneOf(fundingVenues, 'Whose perpetual: Binance, else Bybit, else OKX')

const signal = oneOf(
  fundingClasses,
  'By the size of the rate in percent: beyond 0.05 extreme, 0.01 plain, 0.003 slight, else neutral; positive: bullish',
)

export const intervalHours = number('Hours between two settlements of this perpetual')

export const status = oneOf(
  legStatuses,
  'live; stale: not heard for too long; unavailable: nothing is known; unlisted: it has no such perpetual',
)

const settled = {
  last_settled_rate: nullableNumber('Newest settled rate, fraction'),
  last_settled_pct: nullableNumber('The same, percent'),
  last_settled_time: nullableInstant('When it was settled'),
}

export const fundingOutput = jsonOutput(
  'Running funding rate',
  object('Funding of one perpetual', {
    symbol: text('Perpetual, as BTCUSDT'),
    exchange,
    funding_rate: number('Running rate for next_funding_time, fraction per interval; positive: longs pay shorts'),
    funding_rate_annualized: number('funding_rate x (24 / interval_hours) x 365, fraction'),
    interval_hours: intervalHours,
    next_funding_time: instant('When that rate is settled'),
    signal,
    signal_label: text('The signal in words'),
    mark_price: number('Mark price, USDT'),
    index_price: number('Index price, USDT'),
    ...settled,
    ...aged,
    ...stamped,
  }),
)

const compareOutput = jsonOutput(
  'Running rates of the three venues side by side',
  object('Funding of one asset over venues', {
    symbol: text('Base asset'),
    exchanges: keyed(
      fundingVenues,
      object('One venue; null where it does not count, `status` says why', {
        funding_rate: nullableNumber('Running rate, fraction per interval'),
        annualized_pct: nullableNumber('By the year, percent'),
        next_funding_time: nullableInstant('When that rate is settled'),
        mark_price: nullableNumber('Mark price, USDT'),
        interval_hours: nullable(intervalHours),
        status,
        as_of: nullableInstant('Time of the newest input'),
      }),
      'The venues',
    ),
    best_arb: nullable(
      object('Long where funding is lowest by the year, short where it is highest; null below two venues', {
        long_exchange: oneOf(fundingVenues, 'Where to be long'),
        short_exchange: oneOf(fundingVenues, 'Where to be short'),
        rate_spread: number('Raw rate of the short exchange minus that of the long one, fractions'),
        annualized_spread_pct: number('Difference of the annualised rates, percent', { minimum: 0 }),
        direction: text('long_<venue>_short_<venue>'),
      }),
    ),
    ...aged,
    ...stamped,
  }),
)

const predictedOutput = jsonOutput(
  'Predicted rate of the next settlement',
  object('Predicted funding', {
    symbol: text('Base asset'),
    exchange,
    current_funding_rate: number('The venue’s running rate, fraction per interval'),
    predicted_funding_rate: number(
      'Our model’s rate of the next settlement, fraction; positive: longs will pay shorts',
    ),
    predicted_annualized_pct: number('By the year, percent'),
    predicted_by: oneOf(
      ['model', 'venue'],
      'venue: no premium is known since the last settlement, its running rate stands',
    ),
    interval_hours: intervalHours,
    next_funding_time: instant('The next settlement'),
    time_to_funding_ms: integer('Time until then, milliseconds', { minimum: 0 }),
    premium_index: number('Newest one-minute premium index, fraction; before the first, mark over index less one'),
    average_premium_index: nullableNumber('Its time-weighted mean since the last settlement, fraction'),
    premium_samples: integer('Minutes that the mean rests on', { minimum: 0 }),
    premium_samples_expected: integer('Minutes since the last settlement', { minimum: 0 }),
    mark_price: number('Mark price, USDT'),
    index_price: number('Index price, USDT'),
    signal,
    ...settled,
    funding_history: array(
      object('One settlement', { time: instant('When it was'), rate: number('Settled rate, fraction') }),
      'The last 10 settlements, newest first',
    ),
    ...aged,
    ...stamped,
  }),
)

export const fundingRate = assetRoute({
  path: '/funding-rate/:symbol',
  name: 'funding_rate',
  description: 'Running funding rate of a perpetual',
  priceUsdc: 0.02,
  ttlMs: 30_000,
  output: fundingOutput,
  view: fundingView,
})

export const fundingCompare = assetRoute({
  path: '/futures/funding-compare/:symbol',
  name: 'funding_compare',
  description: 'Funding of three venues side by side',
  priceUsdc: 0.03,
  ttlMs: 30_000,
  output: compareOutput,
  view: compareView,
})

export const predictedFunding = assetRoute({
  path: '/futures/predicted-funding/:symbol',
  name: 'predicted_funding',
  description: 'Predicted rate of the next settlement',
  priceUsdc: 0.02,
  ttlMs: 30_000,
  output: predictedOutput,
  view: predictedView,
})

/** Settled rates that a prediction shows. */
const HISTORY_ROWS = 10

/** `/funding-rate/:symbol`: of the first venue that lists the symbol and is not stale. */
export function fundingView(context: AssetContext): View {
  const perpetual = first(legsAbout(context).legs)
  const { exchange, rate, interval_hours, asOf, freshUntil } = perpetual
  const signal = classifyFunding(rate)
  const body = {
    symbol: `${context.symbol}USDT`,
    exchange,
    funding_rate: rate,
    funding_rate_annualized: fractionAYear(rate, interval_hours),
    interval_hours,
    next_funding_time: iso(perpetual.next_settlement),
    signal,
    signal_label: fundingLabels[signal],
    mark_price: perpetual.mark,
    index_price: perpetual.index,
    ...settledOf(perpetual),
  }
  return { body, asOf, freshUntil }
}

/** `/futures/predicted-funding/:symbol`: as `fundingView`, with our model's rate of the next settlement. */
function predictedView(context: AssetContext): View {
  const perpetual = first(legsAbout(context).legs)
  const { exchange, rate, interval_hours, next_settlement, asOf, freshUntil } = perpetual
  const to = perpetual.settled_time ?? context.clock
  const known = context.present.of(context.asset).settled.get(perpetual.instrument)?.rates ?? []
  const predicted = perpetual.predicted ?? rate
  const body = {
    symbol: context.symbol,
    exchange,
    current_funding_rate: rate,
    predicted_funding_rate: predicted,
    predicted_annualized_pct: percentAYear(predicted, interval_hours),
    predicted_by: perpetual.predicted === null ? 'venue' : 'model',
    interval_hours,
    next_funding_time: iso(next_settlement),
    time_to_funding_ms: Math.max(0, Math.round((next_settlement - context.clock) / 1000)),
    premium_index: perpetual.premium ?? asRatio(perpetual.mark / perpetual.index - 1),
    average_premium_index: perpetual.average_premium,
    premium_samples: perpetual.samples,
    premium_samples_expected: perpetual.expected,
    mark_price: perpetual.mark,
    index_price: perpetual.index,
    signal: classifyFunding(predicted),
    ...settledOf(perpetual),
    funding_history: historyOf(
      perpetual,
      known.filter(({ time }) => time < to),
    ),
  }
  return { body, asOf, freshUntil }
}

/** `/futures/funding-compare/:symbol` */
function compareView(context: AssetContext): View {
  const { legs, age } = legsAbout(context)
  const known = legs.flatMap(({ row }) => (row === null ? [] : [row]))
  const body = {
    symbol: context.symbol,
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
    annualized_pct: percentAYear(row.rate, row.interval_hours),
    next_funding_time: iso(row.next_settlement),
    mark_price: row.mark,
    interval_hours: row.interval_hours,
    status,
    as_of: iso(row.asOf),
  }
}

/** The three venues; throws where none has anything. */
function legsAbout(context: AssetContext): { legs: Leg<Perpetual>[]; age: Aged } {
  const rows = fundingOf(context.present, context.asset)
  const facts = { ...context, topic: 'market.funding', market: 'perp' } as const
  const legs = legsOf(fundingVenues, perpetualsOf(rows), facts)
  const age = ageOfLegs(legs)
  if (age === undefined) throw nothingOf('funding rate', context, legs)
  return { legs, age }
}

/** 404 where no venue lists a perpetual of the asset, else 503. */
export function nothingOf(what: string, { symbol }: AssetContext, legs: readonly Leg<unknown>[]): Error {
  const isListed = legs.some(({ status }) => status !== 'unlisted')
  return isListed ? noData(`${what} of ${symbol}`) : notListed(`No venue lists a perpetual of ${symbol}`)
}

/** Binance first, then Bybit, then OKX. */
function first(legs: readonly Leg<Perpetual>[]): Perpetual {
  const [row] = legs.flatMap((leg) => (leg.row === null ? [] : [leg.row]))
  if (row === undefined) throw noData('funding rate')
  return row
}

/** The settlement that the record tells of, and those before it. */
function historyOf({ settled_rate: rate, settled_time: time }: Perpetual, rows: readonly Settled[]): object[] {
  const last = rate === null || time === null ? [] : [{ time, rate }]
  return [...last, ...rows].slice(0, HISTORY_ROWS).map((row) => ({ time: iso(row.time), rate: row.rate }))
}

function settledOf({ settled_rate: rate, settled_time: time }: Perpetual): object {
  return {
    last_settled_rate: rate,
    last_settled_pct: rate === null ? null : percentOf(rate),
    last_settled_time: isoOrNull(time),
  }
}
