import { BUCKET } from '../../processors/cvd/bucket.ts'
import { periods, windowOf, type PeriodName } from '../../processors/cvd/periods.ts'
import { classify } from '../../processors/cvd/signal.ts'
import { LATENESS } from '../../processors/cvd/state.ts'
import type { Flow, InstrumentVolume, Micros } from '../../schemas/records.ts'
import { partsOf, type TradeVenueRow } from '../../schemas/venues.ts'
import type { Present } from '../present.ts'

/** Sums of one instrument; volumes in base units, `Usd` in quote units, which are taken for USD. */
export interface InstrumentSums {
  readonly instrument: string
  readonly venue: string
  readonly totalBuy: number
  readonly totalSell: number
  readonly totalBuyUsd: number
  readonly totalSellUsd: number
  readonly buy: number
  readonly sell: number
  readonly buyUsd: number
  readonly sellUsd: number
  /** Time of the first and of the newest trade. */
  readonly first: Micros
  readonly newest: Micros
}

/** How far the derived data of an asset are: what is told of them is told up to then. Undefined: there are none yet. */
export function flowTime(present: Present, asset: string): Micros | undefined {
  const { time, cvd } = present.of(asset)
  const told = time.get('derived.flow')
  const closed = cvd.get(asset)?.closed
  if (closed === undefined || told === undefined) return told
  // What has closed says itself which time that follows from.
  return Math.min(Math.max(told, closed + LATENESS), closed + LATENESS + BUCKET - 1)
}

/** Each instrument's running total and its sums of a period up to `now`; those without a trade are not there. */
export function sumsOf(present: Present, asset: string, period: PeriodName, now: Micros): InstrumentSums[] {
  const window = windowOf(periods[period], now)
  const { cvd, open } = present.of(asset)
  const sums = new Map<string, InstrumentSums>()
  const { closed = 0, instruments = [] } = cvd.get(asset) ?? {}
  for (const one of instruments) sums.set(one.instrument, closedSums(one, period, window.to))
  for (const row of open.values()) {
    if (row.asset !== asset || row.bucket < closed || row.bucket >= window.to) continue
    const known = sums.get(row.instrument) ?? noSums(row.instrument)
    sums.set(row.instrument, plus(known, row, row.bucket >= window.from))
  }
  return [...sums.values()]
}

function closedSums(
  { instrument, since, newest, volumes }: InstrumentVolume,
  period: PeriodName,
  to: Micros,
): InstrumentSums {
  const total = volumes.find((volume) => volume.period === 'all')
  const own = volumes.find((volume) => volume.period === period && volume.to === to)
  return {
    instrument,
    venue: partsOf(instrument).venue,
    totalBuy: total?.buy ?? 0,
    totalSell: total?.sell ?? 0,
    totalBuyUsd: total?.buy_quote ?? 0,
    totalSellUsd: total?.sell_quote ?? 0,
    buy: own?.buy ?? 0,
    sell: own?.sell ?? 0,
    buyUsd: own?.buy_quote ?? 0,
    sellUsd: own?.sell_quote ?? 0,
    first: since,
    newest,
  }
}

function noSums(instrument: string): InstrumentSums {
  const nothing = { totalBuy: 0, totalSell: 0, totalBuyUsd: 0, totalSellUsd: 0, buy: 0, sell: 0, buyUsd: 0, sellUsd: 0 }
  return { instrument, venue: partsOf(instrument).venue, ...nothing, first: Infinity, newest: 0 }
}

function plus(sums: InstrumentSums, row: Flow, isOfPeriod: boolean): InstrumentSums {
  const { buy, sell, buy_quote: buyUsd, sell_quote: sellUsd } = row
  return {
    ...sums,
    totalBuy: sums.totalBuy + buy,
    totalSell: sums.totalSell + sell,
    totalBuyUsd: sums.totalBuyUsd + buyUsd,
    totalSellUsd: sums.totalSellUsd + sellUsd,
    ...(isOfPeriod && {
      buy: sums.buy + buy,
      sell: sums.sell + sell,
      buyUsd: sums.buyUsd + buyUsd,
      sellUsd: sums.sellUsd + sellUsd,
    }),
    first: Math.min(sums.first, row.open_time),
    newest: Math.max(sums.newest, row.close_time),
  }
}

export interface Figures {
  readonly cvd: number
  readonly period_cvd: number
  readonly buy_volume: number
  readonly sell_volume: number
  readonly cvd_usd: number
  readonly period_cvd_usd: number
  readonly buy_volume_usd: number
  readonly sell_volume_usd: number
}

const noFigures: Figures = {
  cvd: 0,
  period_cvd: 0,
  buy_volume: 0,
  sell_volume: 0,
  cvd_usd: 0,
  period_cvd_usd: 0,
  buy_volume_usd: 0,
  sell_volume_usd: 0,
}

/** One instrument's figures. */
function figuresOf(sums: InstrumentSums): Figures {
  return {
    cvd: sums.totalBuy - sums.totalSell,
    period_cvd: sums.buy - sums.sell,
    buy_volume: sums.buy,
    sell_volume: sums.sell,
    cvd_usd: sums.totalBuyUsd - sums.totalSellUsd,
    period_cvd_usd: sums.buyUsd - sums.sellUsd,
    buy_volume_usd: sums.buyUsd,
    sell_volume_usd: sums.sellUsd,
  }
}

/**
 * Totals, markets and venues. Totals are the sums of the venues' figures in the venues' order, so that whoever adds the
 * shown figures up in that order gets the same doubles. `counted`: whose trades count. `covered`: the share of the period
 * that the log holds.
 */
export function aggregate(
  rows: readonly InstrumentSums[],
  { covered, counted }: { readonly covered: number; readonly counted: readonly TradeVenueRow[] },
): {
  total: Figures
  markets: { spot: Figures; perp: Figures }
  exchanges: Map<string, Figures>
  signal: string
} {
  const own = (name: string): Figures =>
    rows
      .filter(({ venue }) => venue === name)
      .map(figuresOf)
      .reduce(add, noFigures)
  const exchanges = new Map(counted.map(({ venue }) => [venue as string, own(venue)]))
  const of = (market: string | undefined): Figures =>
    counted
      .filter((row) => market === undefined || row.market === market)
      .map(({ venue }) => exchanges.get(venue) ?? noFigures)
      .reduce(add, noFigures)
  const total = of(undefined)
  return {
    total,
    markets: { spot: of('spot'), perp: of('perp') },
    exchanges,
    signal: classify(total.period_cvd, total.buy_volume + total.sell_volume, covered),
  }
}

function add(a: Figures, b: Figures): Figures {
  return {
    cvd: a.cvd + b.cvd,
    period_cvd: a.period_cvd + b.period_cvd,
    buy_volume: a.buy_volume + b.buy_volume,
    sell_volume: a.sell_volume + b.sell_volume,
    cvd_usd: a.cvd_usd + b.cvd_usd,
    period_cvd_usd: a.period_cvd_usd + b.period_cvd_usd,
    buy_volume_usd: a.buy_volume_usd + b.buy_volume_usd,
    sell_volume_usd: a.sell_volume_usd + b.sell_volume_usd,
  }
}
