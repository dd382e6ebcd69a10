import { classifySentiment, type Sentiment } from '../../processors/funding/sentiment.ts'
import { asDecimal } from '../../processors/prices/decimal.ts'
import { ratioVenues } from '../../schemas/venues.ts'
import type { Micros } from '../../schemas/records.ts'
import type { Services } from '../services.ts'
import { ageOfLegs, legsOf, type Aged, type Leg } from '../views/legs.ts'
import { readRatios, type RatioRow } from '../views/ratios.ts'
import { iso } from '../views/time.ts'
import { noData, type About, type Built } from './answers.ts'

/** Ratios older than this are stale. */
const RATIO_STALE: Micros = 600_000_000

interface Ratio extends RatioRow, Aged {
  readonly exchange: string
}

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
export async function buildLongShort(services: Services, about: About): Promise<Built> {
  const ratios = (await readRatios(services.database, about.asset)).map(ratioOf)
  const legs = legsOf(ratioVenues, ratios, { ...about, topic: 'market.funding', market: 'perp' })
  const age = ageOfLegs(legs)
  const known = legs.flatMap(({ row }) => (row === null ? [] : [row.ratio]))
  if (age === undefined) throw noData(`top-trader ratio of ${about.symbol}`)
  const mean = known.reduce((sum, ratio) => sum + ratio, 0) / known.length
  const sentiment = classifySentiment(mean)
  const body = {
    symbol: about.symbol,
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
  return { ...row, exchange: row.venue, asOf: row.time, freshUntil: row.time + RATIO_STALE }
}

function shown({ status, row }: Leg<Ratio>): object {
  return {
    long_ratio: row === null ? null : asDecimal(row.long),
    short_ratio: row === null ? null : asDecimal(row.short),
    ls_ratio: row?.ratio ?? null,
    source: 'top_traders',
    status,
    as_of: row === null ? null : iso(row.time),
  }
}
