import { jsonOutput } from '../request/route.ts'
import { periods } from '../../processors/cvd/periods.ts'
import { signalClasses } from '../../processors/cvd/signal.ts'
import {
  array,
  boolean,
  instant,
  integer,
  keyed,
  nullableInstant,
  nullable,
  nullableInteger,
  nullableNumber,
  number,
  object,
  oneOf,
  text,
} from '../request/schema.ts'
import { exchangeNames } from './parameters.ts'
import { sources } from '../views/held-past.ts'
import { completenessNames, intervalNames } from '../views/range.ts'
import { byTradeVenue, venueStatuses } from '../views/venues.ts'
import { agedBy, paged, stamped } from './answers.ts'

const aged = agedBy('30 s')

const periodFigures = {
  period_cvd: number('Taker buys minus taker sells of the period, base units'),
  buy_volume: number('Taker buys of the period, base units'),
  sell_volume: number('Taker sells of the period, base units'),
  period_cvd_usd: number(
    'As period_cvd, in USD (USDT and USDC taken for USD); of a venue’s candle that does not say it, at the mean of high, low and close',
  ),
  buy_volume_usd: number('As buy_volume, in USD'),
  sell_volume_usd: number('As sell_volume, in USD'),
}

const figures = {
  cvd: number('Running total of taker buys minus taker sells since `since`, base units'),
  cvd_usd: number('As cvd, in USD'),
  ...periodFigures,
}

const share = number('How much of the period it tells: the mean over the instruments, 0 to 1', {
  minimum: 0,
  maximum: 1,
})

const coverage = object('What of the time asked for the log really has', {
  from: instant('From here on the figures count'),
  to: instant('Up to here they count'),
  complete: boolean('The log reaches back to the start, has no hole and every listing venue was heard to the end'),
  share: number(
    'How much of the time asked for the log holds, 0 to 1: the mean over the instruments; missing trades count as not held',
    { minimum: 0, maximum: 1 },
  ),
  gaps: array(
    object('Trades that are missing', {
      exchange: text('Venue; all: the log itself lost them'),
      state: oneOf(
        ['opened', 'unfillable', 'lost', 'unknown'],
        'opened: being fetched; unfillable: the venue serves them no more; lost: the log lost them before they were counted, or may have',
      ),
      from: instant('Last trade before'),
      to: instant('First trade after'),
      missing: nullableInteger('How many, where ids tell'),
      past: nullable(
        oneOf(
          ['archive', 'venue_candles', 'mixed'],
          'What of the venue’s own past says the taker volume of all hours that it touches (view venue_candles); not counted, since trades of those hours are. Null: nothing does, or it ended over eight days ago',
        ),
      ),
    }),
    'Holes, newest first, at most 50',
  ),
})

const venueStatus = oneOf(
  venueStatuses,
  'live: streaming; gap: trades of the period are missing; stale: not heard for 30 s; unavailable: it refuses us or is switched off; unlisted: it has no such market',
)

const whence =
  'trades: our own; before their first whole hour (minute, of buckets below an hour) archive: the venue’s archive of trades, and where that was not read venue_candles: its own candles; mixed: several, each for its own time'

/** Of what the figures of a period are made. */
const periodSource = nullable(
  oneOf(
    sources,
    `${whence}. Of a period hours count that lie wholly within it. Null: nothing is known; candles of Bybit and Coinbase do not say what takers bought`,
  ),
)

export const cvdOutput = jsonOutput(
  'Cumulative volume delta of the four venues',
  object('CVD of one symbol', {
    symbol: text('Base asset'),
    ...figures,
    signal: oneOf(
      signalClasses,
      'period_cvd over period volume: beyond 15 % strong, beyond 5 % plain, else neutral; insufficient_data where our own trades hold less than a quarter of the period, or nothing traded',
    ),
    period: oneOf(Object.keys(periods), 'The rolling period, ending now'),
    active_ws_connections: integer('Open WebSocket connections of the venues’ trade streams', { minimum: 0 }),
    exchanges: byTradeVenue(
      object('One venue; zeros where it is not live mean what they say', {
        ...figures,
        source: periodSource,
        status: venueStatus,
      }),
      'The figures by venue; they add up to the totals',
    ),
    markets: keyed(['spot', 'perp'], object('One kind of market', figures), 'The figures by market type'),
    source: periodSource,
    sources: keyed(
      ['trades', 'archive', 'venue_candles'],
      object('What one source has in the figures of the period', { ...periodFigures, share }),
      'The figures of the period by source: each hour of a venue is in one of them alone, and they add up to the totals',
    ),
    coverage,
    since: nullableInstant('From when cvd counts: the first trade in the log; null: none yet'),
    ...aged,
    ...stamped,
  }),
)

const completeness = {
  complete: boolean(
    'Whether the time of the bucket is over and no trade of it is missing; false for ever where completeness is gap for good',
  ),
  completeness: oneOf(
    completenessNames,
    'complete: all trades as they came; backfilled: some were fetched later; gap: some are missing, or it begins before what is told of an exchange',
  ),
}

const point = {
  delta: number('Taker buys minus taker sells of the bucket, base units'),
  buy_volume: number('Taker buys, base units'),
  sell_volume: number('Taker sells, base units'),
  cvd: number(
    'Running total since `since`, at the end of the bucket, base units; before the first trade the same curve goes on to the left',
  ),
}

const pointSource = nullable(
  oneOf(
    sources,
    `${whence}. Null: nothing is known of that time, as the candles of Bybit, OKX and Coinbase do not say what takers bought, and the zeros beside it say nothing`,
  ),
)

export const historyOutput = jsonOutput(
  'CVD by bucket',
  object('CVD by bucket', {
    symbol: text('Base asset'),
    interval: oneOf(intervalNames, 'Width of a bucket'),
    points: array(
      object('One bucket', {
        time: instant('Start of the bucket'),
        ...point,
        source: pointSource,
        exchanges: byTradeVenue(object('One venue', { ...point, source: pointSource }), 'The same by venue'),
        ...completeness,
      }),
      'A point for every bucket, oldest first; delta 0 where nothing traded',
    ),
    since: nullableInstant(
      'From when cvd counts: the bucket of `since`, or the first trade in the log; null: none yet',
    ),
    ...paged,
    coverage,
    ...aged,
    ...stamped,
  }),
)

export const ohlcvOutput = jsonOutput(
  'Candles built from the trade log, before it the venue’s own',
  object('Candles', {
    symbol: text('Base asset'),
    interval: oneOf(intervalNames, 'Width of a candle'),
    exchange: oneOf(exchangeNames, 'Whose trades; all merges spot and perpetual prices'),
    candles: array(
      object('One candle', {
        time: instant('Start of the candle'),
        open: number('First price by venue time'),
        high: number('Highest price'),
        low: number('Lowest price'),
        close: number('Last price by venue time'),
        volume: number('Base units'),
        buy_volume: nullableNumber('Taker buys, base units; null: the venue’s candle does not say'),
        sell_volume: nullableNumber('Taker sells, base units; null as buy_volume'),
        trades: nullableInteger(
          'Trade records, or the fills of the venue’s candle; a venue may merge several fills into one; null: it does not say',
        ),
        source: oneOf(sources, whence),
        ...completeness,
      }),
      'Oldest first; none where nothing traded',
    ),
    ...paged,
    coverage,
    ...aged,
    ...stamped,
  }),
)
