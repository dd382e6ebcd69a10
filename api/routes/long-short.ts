import { jsonOutput } from '../request/route.ts'
import { classifySentiment, type Sentiment, sentiments } from '../../processors/funding/classes.ts'
import { asDecimal, decimalMean } from '../../processors/prices/decimal.ts'
import { ratioVenues } from '../../schemas/venues.ts'
import type { Micros } from '../../schemas/records.ts'
import { ageOfLegs, legsOf, type Aged, type Leg } from '../views/legs.ts'
import { ratiosOf, type RatioRow } from '../views/perpetuals.ts'
import { iso } from '../views/time.ts'
import type { View } from '../request/reply.ts'
import { keyed, nullableInstant, nullableNumber, number, object, oneOf, text } from '../request/schema.ts'
import { topTraders } from '../views/readings.ts'
import { type AssetContext, agedBy, stamped } from './answers.ts'
import { assetRoute } from './data.ts'
import { nothingOf, status } from './funding.ts'
import { readingsOf, type Values, sourceField, SERIES_SPAN, seriesRoute } from './series.ts'

const longShortOutput = jsonOutput(
  'Top traders’ positions',
  object('Long/short ratio of one asset', {
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
)

export const longShort = assetRoute({
  path: '/futures/long-short/:symbol',
  name: 'long_short',
  description: 'Top traders’ long/short ratio',
  priceUsdc: 0.02,
  ttlMs: 30_000,
  output: longShortOutput,
  view: longShortView,
  isWanted: true,
})

/** Ratios older than this are stale. */
const RATIO_STALE: Micros = 600_000_000

type Ratio = RatioRow & Aged

const words: Readonly<Record<Sentiment, string>> = {
  'Extremely bullish': 'Top traders hold far more longs than shorts',
  Bullish: 'Top traders hold clearly more longs than shorts',
  'Slightly bullish': 'Top traders hold somewhat more longs than shorts',
  Neutral: 'Top traders hold as many longs as shorts',
  'Slightly bearish': 'Top traders hold somewhat more shorts than longs',
  Bearish: 'Top traders hold clearly more shorts than longs',
  'Extremely bearish': 'Top traders hold far more shorts than longs',
}

/** `/futures/long-short/:symbol`: how the venues' top traders are positioned, by the size of their positions. */
function longShortView(context: AssetContext): View {
  const ratios = ratiosOf(context.present, context.asset).map(ratioOf)
  const legs = legsOf(ratioVenues, ratios, { ...context, topic: 'market.funding', market: 'perp' })
  const age = ageOfLegs(legs)
  const known = legs.flatMap(({ row }) => (row === null ? [] : [row.ls_ratio]))
  if (age === undefined) throw nothingOf('top-trader ratio', context, legs)
  const mean = decimalMean(known)
  const sentiment = classifySentiment(mean)
  const body = {
    symbol: context.symbol,
    exchanges: Object.fromEntries(legs.map((leg) => [leg.venue, shown(leg)])),
    aggregate: {
      avg_ls_ratio: mean,
      sentiment,
      interpretation: `${words[sentiment]}: ${mean.toFixed(2)} long for each short, over ${known.length} of ${legs.length} venues.`,
    },
  }
  return { body, ...age }
}

function ratioOf(row: RatioRow): Ratio {
  return { ...row, asOf: row.time, freshUntil: row.time + RATIO_STALE }
}

function shown({ status, row }: Leg<Ratio>): object {
  return {
    long_ratio: row === null ? null : asDecimal(row.long_ratio),
    short_ratio: row === null ? null : asDecimal(row.short_ratio),
    ls_ratio: row?.ls_ratio ?? null,
    source: 'top_traders',
    status,
    as_of: row === null ? null : iso(row.time),
  }
}

export const longShortHistory = seriesRoute({
  path: '/futures/long-short/history/:symbol',
  name: 'long_short_history',
  description: 'Top traders’ long/short ratio by bucket: the last period of each venue in it',
  priceUsdc: 0.02,
  ttlMs: 30_000,
  topic: 'market.funding',
  venues: ratioVenues,
  wanted: true,
  // Venues tell of periods of five minutes.
  shortest: '5m',
  spanMax: SERIES_SPAN,
  stale: { after: RATIO_STALE, description: '10 min without word from any venue' },
  total: {
    avg_ls_ratio: nullableNumber('Arithmetic mean of the venues that were heard in the bucket; null: none was'),
  },
  venue: {
    long_ratio: nullableNumber('Share of longs, 0 to 1; null: no period of the venue begins in the bucket'),
    short_ratio: nullableNumber('Share of shorts, 0 to 1'),
    ls_ratio: nullableNumber('Longs over shorts'),
    ...sourceField,
  },
  source: readingsOf({ venues: ratioVenues, series: [topTraders], venueOf: shownAt, totalOf: meanOf }),
})

function shownAt([values]: Values): object {
  const [long = null, short = null, ls_ratio = null] = values ?? []
  return {
    long_ratio: long === null ? null : asDecimal(long),
    short_ratio: short === null ? null : asDecimal(short),
    ls_ratio,
  }
}

function meanOf(each: readonly Values[]): object {
  const ratios = each.flatMap(([values]) => values?.[2] ?? [])
  return {
    avg_ls_ratio: ratios.length === 0 ? null : decimalMean(ratios),
  }
}
