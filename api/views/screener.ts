import { windowOf, periods, type PeriodName } from '../../processors/cvd/periods.ts'
import { asDecimal, percentChange } from '../../processors/prices/decimal.ts'
import { symbolOf } from '../../schemas/catalogue.ts'
import type { Micros } from '../../schemas/records.ts'
import { fundingVenues, type TradeVenueRow } from '../../schemas/venues.ts'
import type { Present } from '../present/present.ts'
import { flowTime, sumsOf } from './cvd.ts'
import { isCounted } from './flow.ts'
import { allFunding, type FundingRow, percentAYear, percentOf } from './funding.ts'
import { interestKey, type PastInterest, FUNDING_STALE, valuedOf } from './perpetuals.ts'
import { countableByAsset, countedOf } from './liquidations.ts'
import { compositeAge, priceOf } from './prices.ts'
import { TRADES_STALE } from './venues.ts'

const HOUR: Micros = 3_600_000_000

/** What a symbol can be sorted and filtered by; null: not said. */
export const screened = {
  price: 'Composite price, USD; null: no venue says it now',
  change_24h_pct: 'Its change in 24 h, percent',
  funding_rate_pct: 'Running rate of the venue in `funding_exchange`, percent per interval',
  funding_annualized_pct: 'The same by the year, percent',
  open_interest_usd: 'Sum of the venues that were heard in the last 120 s, their marks in the last 60 s, one side, USD',
  open_interest_change_1h_pct:
    'Change of open interest in base units, of the venues that say both, percent; null: nothing is known of then',
  open_interest_change_24h_pct: 'The same in 24 hours',
  cvd_1h_usd:
    'Taker buys minus taker sells of the last hour, USD; null: the trades of the symbol are not streamed, or not counted now',
  cvd_24h_usd: 'The same of 24 hours, as far as the log and the venues’ past reach back',
  volume_24h_usd:
    'Taker volume of 24 hours of the venues whose trades count, as far as the log and the venues’ past reach back, USD',
  long_liquidated_24h_usd: 'Longs liquidated in 24 hours, as far as venues say so, USD',
  short_liquidated_24h_usd: 'Shorts',
  liquidated_1h_usd: 'Both sides in the last hour, USD',
  liquidated_24h_usd: 'Both sides in 24 hours, USD',
} as const

export type Figure = keyof typeof screened
export const figureNames = Object.keys(screened) as Figure[]

type Figures = Readonly<Record<Figure, number | null>>

/** One symbol of the screener. */
export interface Screened extends Figures {
  readonly symbol: string
  /** Whose running rate it is; null: none is known. */
  readonly funding_exchange: string | null
}

/** What was so a while ago, from the views; undefined: they cannot be asked. */
interface Past {
  readonly hour: PastInterest | undefined
  readonly day: PastInterest | undefined
}

interface Facts {
  readonly present: Present
  readonly counted: readonly TradeVenueRow[]
  readonly assets: ReadonlySet<string>
  readonly clock: Micros
  /** Partition time of liquidations; undefined: no venue was heard. */
  readonly liquidatedTo: Micros | undefined
  readonly past: Past
}

/** Every symbol as it is now. */
export function screenOf({ present, counted, assets, clock, liquidatedTo, past }: Facts): Screened[] {
  const funding = Map.groupBy(allFunding(present), ({ asset }) => asset)
  const liquidated = liquidatedTo === undefined ? undefined : liquidatedBefore(present, liquidatedTo)
  return [...assets].map((asset) => {
    const perpetuals = funding.get(asset) ?? []
    return {
      symbol: symbolOf(asset),
      ...priceFigures(present, asset, clock),
      ...fundingFigures(perpetuals, clock),
      ...interestFigures(perpetuals, clock, past),
      ...flowFigures(present, asset, { counted, clock }),
      ...liquidatedFigures(asset, liquidated),
    }
  })
}

function priceFigures(present: Present, asset: string, clock: Micros): Pick<Figures, 'price' | 'change_24h_pct'> {
  const price = priceOf(present, asset)
  if (price === undefined || compositeAge(price, present).freshUntil < clock)
    return { price: null, change_24h_pct: null }
  return { price: price.price, change_24h_pct: price.change_24h }
}

function fundingFigures(
  rows: readonly FundingRow[],
  clock: Micros,
): Pick<Screened, 'funding_exchange' | 'funding_rate_pct' | 'funding_annualized_pct'> {
  for (const venue of fundingVenues) {
    const row = rows.find(({ exchange }) => exchange === venue)
    if (row?.rate === undefined || row.rate === null || (row.rate_time ?? 0) + FUNDING_STALE < clock) continue
    return {
      funding_exchange: venue,
      funding_rate_pct: percentOf(row.rate),
      funding_annualized_pct: percentAYear(row.rate, row.interval_hours),
    }
  }
  return { funding_exchange: null, funding_rate_pct: null, funding_annualized_pct: null }
}

function interestFigures(
  rows: readonly FundingRow[],
  clock: Micros,
  past: Past,
): Pick<Figures, 'open_interest_usd' | 'open_interest_change_1h_pct' | 'open_interest_change_24h_pct'> {
  const fresh = valuedOf(rows, clock).filter(({ freshUntil }) => freshUntil >= clock)
  const marked = fresh.flatMap(({ mark, open_interest }) => (mark === null ? [] : [mark * open_interest]))
  return {
    open_interest_usd: marked.length === 0 ? null : asDecimal(sum(marked)),
    open_interest_change_1h_pct: changeOf(fresh, past.hour),
    open_interest_change_24h_pct: changeOf(fresh, past.day),
  }
}

function changeOf(fresh: ReturnType<typeof valuedOf>, past: PastInterest | undefined): number | null {
  const both = fresh.flatMap(({ asset, exchange, open_interest: units }) => {
    const before = past?.get(interestKey(asset, exchange))
    return before === undefined ? [] : [{ units, before }]
  })
  const before = sum(both.map((one) => one.before))
  return before === 0 ? null : percentChange(before, sum(both.map(({ units }) => units)))
}

function flowFigures(
  present: Present,
  asset: string,
  { counted, clock }: Pick<Facts, 'counted' | 'clock'>,
): Pick<Figures, 'cvd_1h_usd' | 'cvd_24h_usd' | 'volume_24h_usd'> {
  const now = flowTime(present, asset)
  const of = (period: PeriodName): { delta: number; volume: number } | undefined => {
    if (now === undefined || now + TRADES_STALE < clock) return undefined
    const rows = sumsOf(present, asset, period, now).filter(({ instrument }) => isCounted(instrument, counted))
    // One that has not traded within the period is not streamed any more.
    if (!rows.some(({ newest }) => newest >= windowOf(periods[period], now).from)) return undefined
    const [buy, sell] = [sum(rows.map(({ buyUsd }) => buyUsd)), sum(rows.map(({ sellUsd }) => sellUsd))]
    return { delta: asDecimal(buy - sell), volume: asDecimal(buy + sell) }
  }
  const day = of('24h')
  return {
    cvd_1h_usd: of('1h')?.delta ?? null,
    cvd_24h_usd: day?.delta ?? null,
    volume_24h_usd: day?.volume ?? null,
  }
}

type CountedOf = (asset: string) => ReturnType<typeof countedOf>

interface Liquidated {
  readonly hour: CountedOf
  readonly day: CountedOf
}

function liquidatedBefore(present: Present, now: Micros): Liquidated {
  const since = (from: Micros): CountedOf => {
    const sums = countableByAsset(present, { from, now })
    return (asset) => countedOf(sums.get(asset) ?? [])
  }
  return { hour: since(now - HOUR), day: since(now - 24 * HOUR) }
}

function liquidatedFigures(
  asset: string,
  liquidated: Liquidated | undefined,
): Pick<Figures, 'long_liquidated_24h_usd' | 'short_liquidated_24h_usd' | 'liquidated_1h_usd' | 'liquidated_24h_usd'> {
  const [hour, day] = [liquidated?.hour(asset), liquidated?.day(asset)]
  return {
    long_liquidated_24h_usd: day === undefined ? null : asDecimal(day.longUsd),
    short_liquidated_24h_usd: day === undefined ? null : asDecimal(day.shortUsd),
    liquidated_1h_usd: hour === undefined ? null : asDecimal(hour.usd),
    liquidated_24h_usd: day === undefined ? null : asDecimal(day.usd),
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
