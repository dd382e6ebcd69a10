import { BUCKET } from '../../processors/cvd/bucket.ts'
import { periods, windowOf, type PeriodName } from '../../processors/cvd/periods.ts'
import { asDecimal } from '../../processors/prices/decimal.ts'
import { classify } from '../../processors/cvd/signal.ts'
import { LATENESS } from '../../processors/cvd/state.ts'
import type { Stretch } from '../../processors/cvd/covered-time.ts'
import type { PastHour } from '../../processors/present/state.ts'
import type { Cvd, Flow, InstrumentVolume, Micros } from '../../schemas/records.ts'
import { partsOf, type TradeVenueRow } from '../../schemas/venues.ts'
import type { Present } from '../present/present.ts'
import { heldPast, hourOf, pastInstruments, type HeldPast, type Source } from './held-past.ts'

/** What takers bought and sold: base units, `Usd` in quote units, which are taken for USD. */
interface Sums {
  readonly buy: number
  readonly sell: number
  readonly buyUsd: number
  readonly sellUsd: number
}

/** Sums of one instrument: those of the period with the venue's past in front of its trades. */
export interface InstrumentSums extends Sums {
  readonly instrument: string
  readonly venue: string
  readonly totalBuy: number
  readonly totalSell: number
  readonly totalBuyUsd: number
  readonly totalSellUsd: number
  /** What trades have in the sums of the period. */
  readonly traded: Sums
  /** What the venue's past has in them; undefined: nothing. */
  readonly past: HeldPast | undefined
  /** Time of the first trade (Infinity: there is none) and of the newest. */
  readonly first: Micros
  readonly newest: Micros
}

/** How far the derived data of an asset are: what is told of them is told up to then. Undefined: there are none yet. */
export function flowTime(present: Present, asset: string): Micros | undefined {
  const { time, cvd } = present.of(asset)
  const told = time.get('derived.flow')
  const counted = cvd.get(asset)
  if (counted === undefined || told === undefined) return told
  // What has closed says itself which time that follows from.
  const from = counted.closed + LATENESS
  const now = Math.max(told, from)
  return now < from + BUCKET || isAtRest(counted) ? now : from + BUCKET - 1
}

/** Whether no period has a trade of it: then all stays as it was told until something is told again. */
function isAtRest({ instruments }: Cvd): boolean {
  const volumes = instruments.flatMap((one) => one.volumes).filter(({ period }) => period in periods)
  return volumes.every(({ buy, sell }) => buy === 0 && sell === 0)
}

/** Each instrument's running total and its sums of a period up to `now`; those without a trade or a past are not there. */
export function sumsOf(present: Present, asset: string, period: PeriodName, now: Micros): InstrumentSums[] {
  const window = windowOf(periods[period], now)
  const { cvd, byAsset } = present.of(asset)
  const { closed = 0, instruments = [] } = cvd.get(asset) ?? {}
  const counted = new Map(instruments.map((one) => [one.instrument, one]))
  // Whatever the period, what is told ends with the bucket of `now`: the last one of 7d has half an hour.
  const end = now - (now % BUCKET) + BUCKET
  const isOpen = (row: Flow): boolean => row.bucket >= closed && row.bucket < end
  const rows = Map.groupBy([...(byAsset.open.get(asset)?.values() ?? [])].filter(isOpen), (row) => row.instrument)
  const names = new Set([...counted.keys(), ...rows.keys(), ...pastInstruments(present, asset)])
  return [...names].flatMap((instrument) => {
    const facts = { instrument, counted: counted.get(instrument), rows: rows.get(instrument) ?? [], period, window }
    const first = Math.min(facts.counted?.since ?? Infinity, ...facts.rows.map(({ open_time }) => open_time))
    const past = heldPast(present, { asset, instrument, first }, window)
    return first === Infinity && past === undefined ? [] : [sumsOfOne(facts, first, past)]
  })
}

interface Counted {
  readonly instrument: string
  /** Of what has closed. */
  readonly counted: InstrumentVolume | undefined
  /** Of buckets that are open. */
  readonly rows: readonly Flow[]
  readonly period: PeriodName
  readonly window: Stretch
}

function sumsOfOne(facts: Counted, first: Micros, past: HeldPast | undefined): InstrumentSums {
  const { instrument, counted, rows, period, window } = facts
  const within = rows.filter(({ bucket }) => bucket >= window.from)
  const total = [volumeOf(counted, 'all'), ...rows].reduce(plus, nothing)
  const own = [volumeOf(counted, period, window.to), ...within].reduce(plus, nothing)
  // Where a candle tells the hour of the first trade, its trades do not count.
  const hour = hourOf(first)
  const isTold = past !== undefined && past.until === hour.to
  const untold = isTold ? [volumeOf(counted, 'first', hour.to), ...rows.filter((row) => row.bucket < hour.to)] : []
  const traded = untold.reduce(minus, own)
  return {
    instrument,
    venue: partsOf(instrument).venue,
    totalBuy: total.buy,
    totalSell: total.sell,
    totalBuyUsd: total.buyUsd,
    totalSellUsd: total.sellUsd,
    ...(past?.hours ?? []).reduce(plus, traded),
    traded,
    past,
    first,
    newest: Math.max(counted?.newest ?? 0, ...rows.map(({ close_time }) => close_time)),
  }
}

type Volume = Pick<Flow, 'buy' | 'sell' | 'buy_quote' | 'sell_quote'>

const nothing: Sums = { buy: 0, sell: 0, buyUsd: 0, sellUsd: 0 }
const noVolume: Volume = { buy: 0, sell: 0, buy_quote: 0, sell_quote: 0 }

/** What is told of a period; `to`: where it ends. */
function volumeOf(counted: InstrumentVolume | undefined, period: string, to?: Micros): Volume {
  const isOwn = (volume: InstrumentVolume['volumes'][number]): boolean => to === undefined || volume.to === to
  return counted?.volumes.find((volume) => volume.period === period && isOwn(volume)) ?? noVolume
}

function plus(sums: Sums, { buy, sell, buy_quote: buyUsd, sell_quote: sellUsd }: Volume): Sums {
  return plusSums(sums, { buy, sell, buyUsd, sellUsd })
}

function minus(sums: Sums, { buy, sell, buy_quote, sell_quote }: Volume): Sums {
  return plusSums(sums, { buy: -buy, sell: -sell, buyUsd: -buy_quote, sellUsd: -sell_quote })
}

function plusSums(a: Sums, b: Sums): Sums {
  return { buy: a.buy + b.buy, sell: a.sell + b.sell, buyUsd: a.buyUsd + b.buyUsd, sellUsd: a.sellUsd + b.sellUsd }
}

/** What each source has of the figures of a period; `share`: how much of its time each tells, all together. */
export function sourcesOf(
  rows: readonly InstrumentSums[],
  share: (told: (hour: PastHour) => boolean) => number,
): Record<Exclude<Source, 'mixed'>, PeriodFigures & { readonly share: number }> {
  const hoursOf = (source: Source): Sums =>
    rows.flatMap(({ past }) => past?.hours.filter((hour) => hour.source === source) ?? []).reduce(plus, nothing)
  const [trades, archive, all] = [share(() => false), share(({ source }) => source === 'archive'), share(() => true)]
  return {
    trades: { ...periodFigures(rows.map((row) => row.traded).reduce(plusSums, nothing)), share: trades },
    archive: { ...periodFigures(hoursOf('archive')), share: asDecimal(archive - trades) },
    venue_candles: { ...periodFigures(hoursOf('venue_candles')), share: asDecimal(all - archive) },
  }
}

function periodFigures({ buy, sell, buyUsd, sellUsd }: Sums): PeriodFigures {
  return {
    period_cvd: buy - sell,
    buy_volume: buy,
    sell_volume: sell,
    period_cvd_usd: buyUsd - sellUsd,
    buy_volume_usd: buyUsd,
    sell_volume_usd: sellUsd,
  }
}

type PeriodFigures = Omit<Figures, 'cvd' | 'cvd_usd'>

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
    cvd_usd: sums.totalBuyUsd - sums.totalSellUsd,
    ...periodFigures(sums),
  }
}

/**
 * Totals, markets and venues. Totals are the sums of the venues' figures in the venues' order, so that whoever adds the
 * shown figures up in that order gets the same doubles. `counted`: whose trades count. `covered`: the share of the period
 * that our own trades hold.
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
