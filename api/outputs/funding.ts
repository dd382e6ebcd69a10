import { fundingClasses } from '../../processors/funding/signal.ts'
import { sentiments } from '../../processors/funding/sentiment.ts'
import { fundingVenues, ratioVenues } from '../../schemas/venues.ts'
import type { Output } from '../route.ts'
import {
  array,
  boolean,
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
} from '../schema.ts'
import { legStatuses } from '../views/legs.ts'
import { agedBy, stamped } from './shared.ts'

const aged = agedBy('rates 120 s, marks 60 s')
const exchange = oneOf(fundingVenues, 'Whose perpetual: Binance, else Bybit, else OKX')
const signal = oneOf(
  fundingClasses,
  'By the size of the rate in percent: beyond 0.05 extreme, 0.01 plain, 0.003 slight, else neutral; positive: bullish',
)
const intervalHours = number('Hours between two settlements of this perpetual')
const status = oneOf(
  legStatuses,
  'live; stale: not heard for too long; unavailable: nothing is known; unlisted: it has no such perpetual',
)
const settled = {
  last_settled_rate: nullableNumber('Newest settled rate, fraction'),
  last_settled_pct: nullableNumber('The same, percent'),
  last_settled_time: nullableInstant('When it was settled'),
}

export const fundingOutput: Output = {
  says: 'Running funding rate',
  type: 'application/json',
  schema: object('Funding of one perpetual', {
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
}

export const extremeOutput: Output = {
  says: 'All perpetual markets whose rate is at least the threshold',
  type: 'application/json',
  schema: object('Extreme funding', {
    scanned_at: instant('When the markets were read'),
    threshold: number('Least size of a rate that is flagged, percent', { minimum: 0 }),
    total_markets_scanned: integer('Perpetuals of the three venues that were looked at', { minimum: 0 }),
    stale_markets: integer('Perpetuals known, but too old to be looked at', { minimum: 0 }),
    extreme_markets: integer('Those that are flagged', { minimum: 0 }),
    baseline_markets: integer('Those of them that pay their venue’s interest and nothing else', { minimum: 0 }),
    results: array(
      object('One perpetual', {
        symbol: text('As BTCUSDT'),
        exchange: oneOf(fundingVenues, 'Its venue'),
        funding_rate: number('Running rate, fraction per interval'),
        funding_rate_pct: number('The same, percent'),
        annualized_pct: number('By the year, percent'),
        baseline_pct: number(
          'What it pays while perpetual and index agree: the venue’s interest, percent per interval',
        ),
        excess_pct: number('funding_rate_pct minus that'),
        baseline: boolean(
          'Whether there is no such excess: flagged, since the threshold is a least size, but not unusual',
        ),
        direction: oneOf(['longs_paying', 'shorts_paying'], 'Who pays'),
        signal: oneOf(['extreme_bullish', 'extreme_bearish'], 'By the sign of the rate'),
        mark_price: number('Mark price, USDT'),
        interval_hours: intervalHours,
        next_funding_time: instant('When the rate is settled'),
      }),
      'Largest first; of equal ones those at their baseline last',
    ),
    ...aged,
    ...stamped,
  }),
}

export const fundingHistoryOutput: Output = {
  says: 'Settled rates',
  type: 'application/json',
  schema: object('Settled rates of one perpetual', {
    symbol: text('Perpetual, as BTCUSDT'),
    exchange: oneOf(fundingVenues, 'Its venue'),
    history: array(
      object('One settlement', {
        time: instant('When it was'),
        funding_rate: number('Settled rate, fraction'),
        funding_rate_pct: number('The same, percent'),
        annualized_pct: nullableNumber('By the year of its own interval, percent; null: the interval is not known'),
        interval_hours: nullableNumber(
          'Hours since the settlement before, or the interval now where that is not known',
        ),
      }),
      'Newest first',
    ),
    ...agedBy('120 s without word from the venue'),
    ...stamped,
  }),
}

export const compareOutput: Output = {
  says: 'Running rates of the three venues side by side',
  type: 'application/json',
  schema: object('Funding of one asset over venues', {
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
}

export const basisOutput: Output = {
  says: 'Perpetuals against spot',
  type: 'application/json',
  schema: object('Basis of one asset', {
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
}

export const predictedOutput: Output = {
  says: 'Predicted rate of the next settlement',
  type: 'application/json',
  schema: object('Predicted funding', {
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
}

export const longShortOutput: Output = {
  says: 'Top traders’ positions',
  type: 'application/json',
  schema: object('Long/short ratio of one asset', {
    symbol: text('Base asset'),
    exchanges: keyed(
      ratioVenues,
      object('One venue; null where it does not count, `status` says why', {
        long_ratio: nullableNumber('Share of longs, 0 to 1'),
        short_ratio: nullableNumber('Share of shorts, 0 to 1; the two add up to 1'),
        ls_ratio: nullableNumber('Longs over shorts'),
        source: oneOf(['top_traders'], 'Whose positions'),
        status,
        as_of: nullableInstant('Start of the venue’s period'),
      }),
      'The venues',
    ),
    aggregate: object('All venues that count', {
      avg_ls_ratio: number('Arithmetic mean of the ratios'),
      sentiment: oneOf(sentiments, 'By the mean: beyond 2 / 1.5 / 1.02 bullish, below 0.5 / 0.67 / 0.98 bearish'),
      interpretation: text('The same as a sentence'),
    }),
    ...agedBy('10 min'),
    ...stamped,
  }),
}
