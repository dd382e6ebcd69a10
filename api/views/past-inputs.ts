import { durationOf, metricOf, type Metric, type MetricName } from '../../processors/alerts/metrics.ts'
import type { SeriesSpec } from '../../processors/alerts/series.ts'
import type { InputRecord } from '../../processors/alerts/what-if.ts'
import { asDecimal, percentChange } from '../../processors/prices/decimal.ts'
import { median } from '../../processors/prices/median.ts'
import type { Micros } from '../../schemas/records.ts'
import { fundingVenues, partsOf } from '../../schemas/venues.ts'
import { Row, type Database } from './database.ts'
import type { Source } from './held-past.ts'
import { ceilTo, floorTo } from './range.ts'
import {
  marks,
  marksAndIndexes,
  openInterests,
  readNewest,
  topTraders,
  type FactSource,
  type Reading,
  type Series,
} from './readings.ts'
import { microsSql, timeParam } from './time.ts'
import type { Page, Stretch } from './what-if.ts'

const SECOND: Micros = 1_000_000
const MINUTE: Micros = 60 * SECOND
const HOUR: Micros = 60 * MINUTE
/** Of minutes that are read at once: a new installation has a day of them, from within an hour on. */
const PAGE: Micros = 25 * HOUR

/** What the past of a figure is made of. */
type Origin = 'candles' | 'flow' | 'rates' | 'interest' | 'worth' | 'basis' | 'ratios'

const origins: Partial<Record<MetricName, Origin>> = {
  price: 'candles',
  price_change_pct: 'candles',
  volume: 'flow',
  volume_usd: 'flow',
  volume_spike: 'flow',
  cvd_change: 'flow',
  cvd_change_usd: 'flow',
  funding_rate_pct: 'rates',
  funding_signal: 'rates',
  open_interest_usd: 'interest',
  open_interest_change_pct: 'interest',
  basis_pct: 'basis',
  long_short_ratio: 'ratios',
  sentiment: 'ratios',
}

/** Who told a ring of the past: `live`: our own log. */
export const pastSources = ['live', 'archive', 'venue_candles', 'venue_history', 'mixed'] as const
type PastSource = (typeof pastSources)[number]

/** Why what was before our own log cannot say a figure; undefined: it can. */
export function noPastOf(spec: SeriesSpec): string | undefined {
  const { metric, exchange, window } = spec
  const origin = origins[metric]
  if (metric === 'cvd') return 'it counts from the begin of our own log'
  if (origin === undefined) return 'no venue tells its past'
  if (origin === 'candles') return exchange === null ? undefined : 'the past of a single venue’s price is not kept'
  const shortest = origin === 'rates' ? 8 * HOUR : HOUR
  if (origin === 'flow' || lengthOf(spec) >= shortest) return undefined
  const every = origin === 'rates' ? 'at its settlements' : 'by the hour'
  return window === null
    ? `its past is told ${every} only`
    : `its past is told ${every}, which says nothing of ${window}`
}

/** The shortest time that it looks at; Infinity: none, it is as it is. */
function lengthOf({ window, close, metric }: SeriesSpec): Micros {
  const own = metricOf(metric).periods === undefined ? durationOf(window) : undefined
  return Math.min(own ?? Infinity, durationOf(close) ?? Infinity)
}

/** What of the past a trial looks at. */
export interface PastAsked extends Stretch {
  /** What begins before `to` ends by then at the latest; left out: by `to`. */
  readonly end?: Micros
  readonly asset: string
  readonly figures: readonly SeriesSpec[]
  /** What has to hold for a while is not seen by the hour. */
  readonly needsMinutes: boolean
  /** Venues whose trades count. */
  readonly venues: readonly string[]
}

/** One step of the past: what was told of it, at its end. */
interface Step {
  readonly start: Micros
  readonly length: Micros
  readonly candles: readonly Candle[]
}

interface Candle {
  readonly venue: string
  readonly market: string
  readonly low: number
  readonly high: number
  readonly close: number
  /** 0, as what follows, where no flow is asked for. */
  readonly volume: number
  readonly quote: number
  /** Null: the venue does not say. */
  readonly bought: number | null
  readonly boughtQuote: number | null
  readonly source: Extract<Source, 'archive' | 'venue_candles'>
}

type Readings = ReadonlyMap<Micros, ReadonlyMap<string, Reading>>

/**
 * What a figure's venues have told of the time before our own log, as records that alerts are decided by: candles of an hour
 * up to the first hour that begins with one of a minute, then those of minutes, each told at its end; between two readings
 * the older one stands.
 */
export async function* readPastInputs(database: Database, asked: PastAsked): AsyncGenerator<Page> {
  const { figures, from, to, end = to } = asked
  const wanted = wantedOf(figures)
  const readings = await readAll(database, asked, wanted)
  const paged = (steps: readonly Step[]): Page =>
    pageOf(
      steps.filter(({ start, length }) => start + length <= end),
      asked,
      readings,
    )
  if (!wanted.has('candles') && !wanted.has('flow')) {
    yield paged(emptySteps(asked, readings))
    return
  }
  const isShort = asked.needsMinutes || figures.some((one) => isOfCandles(one) && lengthOf(one) < HOUR)
  const [hours, firstMinute] = await Promise.all([
    isShort ? [] : readCandles(database, asked, HOUR),
    readFirstMinute(database, asked),
  ])
  const minutesFrom = Math.max(from, isShort ? firstMinute : ceilTo(firstMinute, HOUR))
  yield paged(hours.filter(({ start }) => start < minutesFrom))
  for (let start = minutesFrom, next = start; start < to; start = next) {
    next = Math.min(floorTo(start + PAGE, HOUR), to)
    const range = { from: start, to: next }
    const minutes = await readCandles(database, { ...asked, ...range }, MINUTE)
    const told = new Set(minutes.map((minute) => floorTo(minute.start, HOUR)))
    const rest = hours.filter((hour) => hour.start >= range.from && hour.start < range.to && !told.has(hour.start))
    yield paged([...minutes, ...rest].toSorted((a, b) => a.start - b.start))
  }
}

/** Open interest is in base units: its worth is at the mark price. */
function wantedOf(figures: readonly SeriesSpec[]): ReadonlySet<Origin> {
  const wanted = new Set(figures.flatMap(({ metric }) => origins[metric] ?? []))
  return wanted.has('interest') ? wanted.add('worth') : wanted
}

function isOfCandles({ metric }: SeriesSpec): boolean {
  return origins[metric] === 'candles' || origins[metric] === 'flow'
}

/** Where no candle decides: by the hour, from the first reading on. */
function emptySteps({ from, to }: Stretch, readings: ReadonlyMap<Origin, Readings>): Step[] {
  const first = Math.min(...[...readings.values()].flatMap((one) => [...one.keys()]))
  const steps: Step[] = []
  for (let start = floorTo(from + HOUR - 1, HOUR); start < to; start += HOUR)
    if (start >= first) steps.push({ start, length: HOUR, candles: [] })
  return steps
}

const flowColumns = `, groupArray(volume) AS volumes, groupArray(ifNull(quote, volume * (high + low + close) / 3)) AS quotes,
  groupArray(ifNull(taker_buy, -1)) AS bought,
  groupArray(ifNull(taker_buy_quote, ifNull(taker_buy, 0) * (high + low + close) / 3)) AS bought_quote`
const candlesSql = (
  withFlow: boolean,
): string => `SELECT ${microsSql('start')} AS start_us, groupArray(instrument) AS instruments,
  groupArray(low) AS lows, groupArray(high) AS highs, groupArray(close) AS closes, groupArray(source = 'archive') AS archived${withFlow ? flowColumns : ''}
  FROM venue_candles_log FINAL WHERE asset = {asset:String} AND seconds = {seconds:UInt32} AND start >= ${timeParam('from')} AND start < ${timeParam('to')}
  AND volume > 0 GROUP BY start_us ORDER BY start_us`

const firstMinuteSql = `SELECT ${microsSql('start')} AS first_us FROM venue_candles_log WHERE asset = {asset:String} AND seconds = 60
  AND start >= ${timeParam('from')} AND start < ${timeParam('to')} ORDER BY start LIMIT 1`

/** Start of the first candle of a minute; the range's end: there is none. */
async function readFirstMinute(database: Database, { asset, from, to }: PastAsked): Promise<Micros> {
  const [row] = await database.query(firstMinuteSql, { asset, from, to })
  return row === undefined ? to : new Row(row).number('first_us')
}

async function readCandles(database: Database, asked: PastAsked, length: Micros): Promise<Step[]> {
  const { asset, from, to, venues } = asked
  const withFlow = wantedOf(asked.figures).has('flow')
  const rows = await database.query(candlesSql(withFlow), { asset, from, to, seconds: length / SECOND })
  return rows.map((raw) => {
    const row = new Row(raw)
    const flowColumn = (name: string): readonly number[] => (withFlow ? row.numbers(name) : [])
    const [lows, highs, closes] = [row.numbers('lows'), row.numbers('highs'), row.numbers('closes')]
    const archived = row.numbers('archived')
    const [volumes, quotes] = [flowColumn('volumes'), flowColumn('quotes')]
    const [bought, boughtQuote] = [flowColumn('bought'), flowColumn('bought_quote')]
    const candles = row.texts('instruments').map((instrument, at): Candle => {
      const isSaid = (bought[at] ?? -1) >= 0
      const { venue, market } = partsOf(instrument)
      return {
        venue,
        market,
        low: lows[at] ?? NaN,
        high: highs[at] ?? NaN,
        close: closes[at] ?? NaN,
        volume: volumes[at] ?? 0,
        quote: quotes[at] ?? 0,
        bought: isSaid ? (bought[at] ?? 0) : null,
        boughtQuote: isSaid ? (boughtQuote[at] ?? 0) : null,
        source: archived[at] === 1 ? 'archive' : 'venue_candles',
      }
    })
    return { start: row.number('start_us'), length, candles: candles.filter(({ venue }) => venues.includes(venue)) }
  })
}

/** Of the venues whose rates count now. */
const settled: Series = {
  view: 'funding_settlements',
  columns: ['settled_rate'],
  where: `venue IN (${fundingVenues.map((venue) => `'${venue}'`).join()})`,
  source: 'source',
  held: () => [],
}

const indexed: Series = { ...marksAndIndexes, where: 'mark IS NOT NULL AND index_price > 0' }

/** How long a reading stands: venues settle every 8 hours at most, and tell the rest by the hour. */
const kept: Readonly<Record<Origin, Micros>> = {
  candles: 0,
  flow: 0,
  rates: 9 * HOUR,
  interest: 2 * HOUR,
  worth: 2 * HOUR,
  basis: 2 * HOUR,
  ratios: 2 * HOUR,
}

const seriesOf: Partial<Record<Origin, Series>> = {
  rates: settled,
  interest: openInterests,
  worth: marks,
  basis: indexed,
  ratios: topTraders,
}

async function readAll(
  database: Database,
  { asset, from, to }: PastAsked,
  wanted: ReadonlySet<Origin>,
): Promise<Map<Origin, Readings>> {
  const all = [...wanted].flatMap((origin) => {
    const series = seriesOf[origin]
    return series === undefined ? [] : [{ origin, series }]
  })
  const read = (series: Series, since: Micros): Promise<Readings> =>
    readNewest(database, series, { asset, from: floorTo(since, HOUR), to, width: HOUR, held: [] })
  const known = all.map(async ({ origin, series }) => [origin, await read(series, from - kept[origin])] as const)
  return new Map(await Promise.all(known))
}

/** What each venue said last before a time. */
function said(readings: ReadonlyMap<Origin, Readings>, origin: Origin, time: Micros): Reading[] {
  const [buckets, reach] = [readings.get(origin), kept[origin]]
  const found = new Map<string, Reading>()
  for (let hour = floorTo(time - 1, HOUR); hour >= time - reach; hour -= HOUR)
    for (const [venue, reading] of buckets?.get(hour) ?? [])
      if (!found.has(venue) && reading.time < time && reading.time >= time - reach) found.set(venue, reading)
  return [...found.values()]
}

function pageOf(steps: readonly Step[], asked: PastAsked, readings: ReadonlyMap<Origin, Readings>): Page {
  const told = steps.map((step) => ({ step, records: recordsOf(step, asked, readings) }))
  const kept = told.filter(({ records }) => records.length > 0)
  return {
    seen: kept.flatMap(({ records }) => records),
    heard: kept.map(({ step: { start, length } }) => ({ from: start, to: start + length })),
    records: kept.reduce((sum, { records }) => sum + records.length, 0),
    cut: false,
  }
}

interface Figure {
  readonly figure: string
  readonly exchange: string
  readonly value: number
}

/** All that a step says of what is wanted, each record at its last second. */
function recordsOf(
  { start, length, candles }: Step,
  asked: PastAsked,
  readings: ReadonlyMap<Origin, Readings>,
): InputRecord[] {
  const { asset, figures } = asked
  const time = start + length - SECOND
  const wanted = wantedOf(figures)
  const perpetual = perpetualOf(readings, start + length)
  const price = wanted.has('candles') ? priceOf(candles) : undefined
  const flow = wanted.has('flow') ? flowOf(candles, figures) : { figures: [], used: [] }
  const used = [...(price?.used ?? []), ...flow.used].map((candle) => candle.source)
  const source = joined([...perpetual.sources, ...used])
  const metric = (core: string, of: readonly Figure[]): InputRecord['message'][] =>
    of.length === 0 ? [] : [{ type: 'metric', value: { asset, core, figures: [...of], time, v: 0 } }]
  const messages: InputRecord['message'][] = [
    ...metric('cvd', flow.figures),
    ...metric('funding', perpetual.figures),
    ...(price === undefined ? [] : [{ type: 'composite_price' as const, value: { asset, time, ...price.told } }]),
  ]
  return messages.map((message) => ({ partition: 0, offset: 0, source, message }))
}

/** What of a venue's perpetual was known at a time, in the units of live figures. */
function perpetualOf(
  readings: ReadonlyMap<Origin, Readings>,
  end: Micros,
): { figures: readonly Figure[]; sources: readonly FactSource[] } {
  if (readings.size === 0) return { figures: [], sources: [] }
  const worth = said(readings, 'worth', end)
  const markOf = (venue: string): number => worth.find((one) => one.venue === venue)?.values[0] ?? NaN
  const of = (origin: Origin, figure: string, value: (reading: Reading) => number): (Figure & Reading)[] =>
    said(readings, origin, end).map((reading) => ({ ...reading, ...told(figure, reading.venue, value(reading)) }))
  const known = [
    ...of('rates', 'funding_rate', ({ values: [rate = NaN] }) => asDecimal(rate * 100)),
    ...of('interest', 'open_interest', ({ venue, values: [units = NaN] }) => asDecimal(units * markOf(venue))),
    ...of('basis', 'basis', ({ values: [mark = NaN, index = NaN] }) => percentChange(index, mark)),
    ...of('ratios', 'long_short', ({ values: [, , ratio = NaN] }) => ratio),
  ].filter(({ value }) => Number.isFinite(value))
  const figures = known.map(({ figure, exchange, value }) => told(figure, exchange, value))
  return { figures, sources: known.map(({ source }) => source) }
}

function told(figure: string, exchange: string, value: number): Figure {
  return { figure, exchange, value }
}

function joined(sources: readonly (Source | FactSource)[]): PastSource {
  const [first, ...more] = new Set(sources)
  return first === undefined || more.length > 0 || first === 'trades' ? 'mixed' : first
}

/** As the composite is: the median of the spot markets, of the perpetuals where there are none; quote units taken for USD. */
function priceOf(candles: readonly Candle[]): { told: Prices; used: readonly Candle[] } | undefined {
  const spot = candles.filter(({ market }) => market === 'spot')
  const used = spot.length > 0 ? spot : candles
  const of = (value: (candle: Candle) => number): number => median(used.map(value)) ?? NaN
  if (used.length === 0) return undefined
  const prices = { price: of(({ close }) => close), low: of(({ low }) => low), high: of(({ high }) => high) }
  const rest = { change_24h: null, sources: [], late: false, bounds_from: 0, v: 0 }
  return { told: { ...prices, quality: used.length > 1 ? 'good' : 'degraded', ...rest }, used }
}

type Prices = Omit<Extract<InputRecord['message'], { type: 'composite_price' }>['value'], 'asset' | 'time'>

/** Where no rule asks for the difference of both sides, a candle counts that does not say what takers bought. */
function flowOf(
  candles: readonly Candle[],
  asked: readonly SeriesSpec[],
): { figures: Figure[]; used: readonly Candle[] } {
  const isOfSides = asked.some(({ metric }) => hasDifference(metricOf(metric)))
  const used = candles.filter(({ bought }) => !isOfSides || bought !== null)
  const figures = [...Map.groupBy(used, ({ venue }) => venue)].flatMap(([venue, own]) => {
    const sum = (of: (candle: Candle) => number): number => own.reduce((total, candle) => total + of(candle), 0)
    const buy = sum(({ bought, volume }) => bought ?? volume)
    const usd = sum(({ boughtQuote, quote }) => boughtQuote ?? quote)
    return [
      told('buy', venue, buy),
      told('sell', venue, sum(({ volume }) => volume) - buy),
      told('buy_usd', venue, usd),
      told('sell_usd', venue, sum(({ quote }) => quote) - usd),
    ]
  })
  return { figures, used }
}

function hasDifference({ figures, input }: Metric): boolean {
  return input === 'cvd' && Object.values(figures).includes(-1)
}
