import { jsonOutput } from '../request/route.ts'
import { asDecimal } from '../../processors/prices/decimal.ts'
import { fundingVenues } from '../../schemas/venues.ts'
import type { View } from '../request/reply.ts'
import { integer, keyed, nullableInstant, nullableNumber, number, object, text } from '../request/schema.ts'
import { fundingOf } from '../views/funding.ts'
import { ageOfLegs, legsOf } from '../views/legs.ts'
import { INTEREST_STALE, valuedOf } from '../views/perpetuals.ts'
import { marks, openInterests } from '../views/readings.ts'
import { iso } from '../views/time.ts'
import { type AssetContext, agedBy, stamped } from './answers.ts'
import { assetRoute } from './data.ts'
import { nothingOf, status } from './funding.ts'
import { readingsOf, type Values, sourceField, MARKS_SPAN, seriesRoute } from './series.ts'

const stale = '120 s'

const interestOutput = jsonOutput(
  'Open interest by venue and in sum',
  object('Open interest of one asset', {
    symbol: text('Base asset'),
    open_interest: number('Sum of the venues that count, base units of one side'),
    open_interest_usd: nullableNumber(
      'The same at each venue’s mark price, USDT taken for USD; null: a mark is missing or older than 60 s',
    ),
    venues: integer('How many venues that is', { minimum: 1 }),
    exchanges: keyed(
      fundingVenues,
      object('One venue; null where it does not count, `status` says why', {
        open_interest: nullableNumber('Base units of one side'),
        open_interest_usd: nullableNumber('The same at mark_price'),
        mark_price: nullableNumber('Mark price of the last 60 s, USDT'),
        status,
        as_of: nullableInstant('Time of the open interest'),
      }),
      'The venues',
    ),
    ...agedBy(stale),
    ...stamped,
  }),
)

export const openInterest = assetRoute({
  path: '/futures/open-interest/:symbol',
  name: 'open_interest',
  description: 'Open interest of perpetuals, by venue and in sum',
  priceUsdc: 0.02,
  ttlMs: 30_000,
  output: interestOutput,
  view: openInterestView,
  isWanted: true,
})

export const openInterestHistory = seriesRoute({
  path: '/futures/open-interest/history/:symbol',
  name: 'open_interest_history',
  description: 'Open interest by bucket: the last that each venue said in it',
  priceUsdc: 0.02,
  ttlMs: 30_000,
  topic: 'market.funding',
  venues: fundingVenues,
  wanted: true,
  shortest: '1m',
  spanMax: MARKS_SPAN,
  stale: { after: INTEREST_STALE, description: `${stale} without word from any venue` },
  total: {
    open_interest: nullableNumber(
      'Sum of the venues that were heard in the bucket, base units of one side; null: none was',
    ),
    open_interest_usd: nullableNumber('The same at each venue’s last mark price of the bucket; null: one is missing'),
  },
  venue: {
    open_interest: nullableNumber('Base units of one side; null: not heard in the bucket'),
    open_interest_usd: nullableNumber('The same at the last mark price of the bucket, USDT taken for USD'),
    ...sourceField,
  },
  source: readingsOf({
    venues: fundingVenues,
    series: [openInterests, marks],
    venueOf: (values) => interestAt(valuesOf(values)),
    totalOf: (values) => sumOf(values.map(valuesOf).filter(({ units }) => units !== null)),
  }),
})

/** Base units, and the price of one; null: not known. */
interface Interest {
  readonly units: number | null
  readonly mark: number | null
}

interface ShownInterest {
  readonly open_interest: number | null
  readonly open_interest_usd: number | null
}

function valuesOf([interest, mark]: Values): Interest {
  return { units: interest?.[0] ?? null, mark: mark?.[0] ?? null }
}

function interestAt({ units, mark }: Interest): ShownInterest {
  return { open_interest: units, open_interest_usd: units === null || mark === null ? null : asDecimal(units * mark) }
}

/** Null in all where it is null in one, and where there is none. */
function sumOf(all: readonly Interest[]): ShownInterest {
  const sum = (of: (one: Interest) => number | null): number | null =>
    all.reduce<number | null>((total, one) => plus(total, of(one)), all.length === 0 ? null : 0)
  return {
    open_interest: sum(({ units }) => units),
    open_interest_usd: sum((one) => interestAt(one).open_interest_usd),
  }
}

function plus(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : asDecimal(a + b)
}

/** `/futures/open-interest/:symbol`: each venue's newest word. */
function openInterestView(context: AssetContext): View {
  const rows = valuedOf(fundingOf(context.present, context.asset), context.clock)
  const legs = legsOf(fundingVenues, rows, { ...context, topic: 'market.funding', market: 'perp' })
  const age = ageOfLegs(legs)
  if (age === undefined) throw nothingOf('open interest', context, legs)
  const each = legs.map(({ venue, status: is, row }) => ({
    venue,
    status: is,
    time: row === null ? null : iso(row.open_interest_time),
    interest: { units: row?.open_interest ?? null, mark: row?.mark ?? null },
  }))
  const counted = each.map(({ interest }) => interest).filter(({ units }) => units !== null)
  const exchanges = each.map(({ venue, status: is, time, interest }) => [
    venue,
    { ...interestAt(interest), mark_price: interest.mark, status: is, as_of: time },
  ])
  const body = {
    symbol: context.symbol,
    ...sumOf(counted),
    venues: counted.length,
    exchanges: Object.fromEntries(exchanges) as object,
  }
  return { body, ...age }
}
