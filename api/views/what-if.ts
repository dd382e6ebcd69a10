import type { MetricInput } from '../../processors/alerts/metrics.ts'
import type { InputRecord } from '../../processors/alerts/what-if.ts'
import { DISORDER, inputOf, isOfVenue } from '../../processors/alerts/series.ts'
import type { CompositePrice, Micros } from '../../schemas/records.ts'
import { Row, type Database } from './database.ts'
import { microsSql, timeParam } from './time.ts'

/** Records of one asset, from `from` up to `to`. `cut`: there are more than `limit`. */
export interface Page {
  /** Those that may change something for the alert. */
  readonly seen: readonly InputRecord[]
  /** Times in which there were records, each without a silence that would count. */
  readonly heard: readonly Stretch[]
  /** All that there are. */
  readonly records: number
  readonly cut: boolean
}

/** A time, half open. */
export interface Stretch {
  readonly from: Micros
  readonly to: Micros
}

export interface PageRange {
  readonly asset: string
  readonly from: Micros
  readonly to: Micros
  readonly limit: number
}

/** The tables of records by asset and time, as the views `prices`, `liquidation_risk` and `metrics` have them. */
export type PastTable = 'prices_log' | 'liquidation_risk_log' | 'metrics_log'

const tables: Readonly<Record<MetricInput, PastTable>> = {
  composite_price: 'prices_log',
  liquidation_risk: 'liquidation_risk_log',
  cvd: 'metrics_log',
  funding: 'metrics_log',
  liquidated: 'metrics_log',
}

/** Where what is told of an input lies. */
function tableOf(input: MetricInput): PastTable {
  return tables[input]
}

/** By the order of the table, so that one stretch of it is read; what stands twice there changes no first time. */
const firstSql = (table: PastTable): string => `SELECT ${microsSql('time')} AS first_us FROM ${table}
  WHERE asset = {asset:String} AND time >= ${timeParam('from')} AND time < ${timeParam('to')} ORDER BY asset, time LIMIT 1`

/** Time of an asset's first record in a range; undefined: it has none. */
export async function readFirst(
  database: Database,
  table: PastTable,
  { asset, from, to }: Omit<PageRange, 'limit'>,
): Promise<Micros | undefined> {
  const [row] = await database.query(firstSql(table), { asset, from, to })
  return row === undefined ? undefined : new Row(row).number('first_us')
}

/** Position in the log that a record follows from, whatever generation of code wrote it. */
export const ORDER = 'position, at_us'
export const POSITION = 'bitAnd(v, 17592186044415) AS position'

const risksSql = `SELECT count() AS records, groupArray(at_us) AS at, groupArray(price) AS last_usd, groupArray(at_risk_5_usd) AS risk_usd,
  groupArray(at_risk_5_pct) AS risk_pct, groupArray(class) AS classes, groupArray(length(exchanges)) AS venues,
  groupArray(partition) AS partitions, groupArray(offset) AS offsets
  FROM (SELECT ${microsSql('time')} AS at_us, price, at_risk_5_usd, at_risk_5_pct, toString(cascade_risk) AS class,
    exchanges, partition, offset, ${POSITION} FROM liquidation_risk
    WHERE asset = {asset:String} AND time >= ${timeParam('from')} AND time < ${timeParam('to')}
    ORDER BY ${ORDER} LIMIT {limit:UInt32})`

/** The estimates of liquidation risk of an asset, with the figures that decide. */
export async function readRiskPage(database: Database, range: PageRange): Promise<Page> {
  const [raw] = await database.query(risksSql, { ...range })
  const row = new Row(raw)
  const column = (name: string) => reader(row.numbers(name))
  const [last, usd, pct, venues] = [column('last_usd'), column('risk_usd'), column('risk_pct'), column('venues')]
  const classes = row.texts('classes')
  return pageOf(row, range, (time, at) => {
    const near = { at_risk_5_usd: usd(at), at_risk_5_pct: pct(at), cascade_risk: classOf(classes[at]) }
    const exchanges = Array.from({ length: venues(at) }, () => ({ exchange: '', open_interest_usd: 0, mark: 0, time }))
    const value = { asset: range.asset, price: last(at), ...near, ...undecided, exchanges, since: 0, time, v: at }
    return { type: 'liquidation_risk', value }
  })
}

const newestSql = (table: PastTable): string => `SELECT max(offset) AS newest FROM ${table}
  WHERE asset IN {assets:Array(String)} AND time >= ${timeParam('from')} AND time < ${timeParam('to')}`

/** Offset of the newest record of any of these assets in a range; 0: there is none. */
export async function readNewest(
  database: Database,
  table: PastTable,
  { assets, from, to }: { readonly assets: readonly string[]; readonly from: Micros; readonly to: Micros },
): Promise<number> {
  const [row] = await database.query(newestSql(table), { assets, from, to })
  return row === undefined ? 0 : new Row(row).number('newest')
}

const everyPriceSql = ({
  withVenues,
  every = 0,
}: InputsWanted): string => `SELECT ${microsSql('time')} AS at_us, price, toUInt8(quality = 'good') AS is_good,
  partition, offset, ${withVenues ? 'sources.exchange AS venues, sources.price AS venue_prices, ' : ''}${POSITION}
  FROM prices WHERE asset = {asset:String} AND time >= ${timeParam('from')} AND time < ${timeParam('to')} AND NOT late
  ORDER BY ${ORDER} ${every > 0 && !withVenues ? `LIMIT 1 BY intDiv(at_us, ${every})` : ''} LIMIT {limit:UInt32}`

const metricsSql = `SELECT core, ${microsSql('time')} AS at_us, figures.figure AS names, arrayMap(x -> ifNull(x, ''), figures.exchange) AS venues,
  figures.value AS told, partition, offset, ${POSITION}
  FROM metrics WHERE asset = {asset:String} AND time >= ${timeParam('from')} AND time < ${timeParam('to')}
  ORDER BY ${ORDER} LIMIT {limit:UInt32}`

/** What is read of an asset: records of these tables, of prices those of single venues too. */
export interface InputsWanted {
  readonly tables: readonly PastTable[]
  readonly withVenues: boolean
  /** Of prices over all venues the first of so long alone, where no more is looked at; left out: all. */
  readonly every?: Micros
}

/** What series look at. */
export function inputsOf(names: readonly string[]): InputsWanted {
  const tables = [...new Set(names.map((name) => tableOf(inputOf(name))))]
  return { tables, withVenues: names.some(isOfVenue) }
}

/** All records of an asset that tell figures, in the order of their times. */
export async function readInputs(database: Database, range: PageRange, wanted: InputsWanted): Promise<Page> {
  const pages = await Promise.all(
    wanted.tables.map((table) => {
      if (table === 'liquidation_risk_log') return readRiskPage(database, range)
      return table === 'prices_log' ? readEveryPrice(database, range, wanted) : readMetrics(database, range)
    }),
  )
  const seen = pages
    .flatMap((page) => page.seen)
    .toSorted((a, b) => a.message.value.time - b.message.value.time || a.offset - b.offset)
  return {
    seen,
    heard: heardAt(seen.map(({ message }) => message.value.time)),
    records: pages.reduce((sum, { records }) => sum + records, 0),
    cut: pages.some(({ cut }) => cut),
  }
}

async function readEveryPrice(database: Database, range: PageRange, wanted: InputsWanted): Promise<Page> {
  const rows = await database.query(everyPriceSql(wanted), { ...range })
  const seen = rows.map((raw): InputRecord => {
    const row = new Row(raw)
    const price = row.number('price')
    const quality = row.number('is_good') === 1 ? 'good' : 'degraded'
    const sources = wanted.withVenues ? sourcesOf(row) : []
    const bounds = { low: price, high: price, change_24h: null, sources, quality, late: false, bounds_from: 0 } as const
    const value = { asset: range.asset, price, ...bounds, time: row.number('at_us'), v: row.number('position') }
    return {
      partition: row.number('partition'),
      offset: row.number('offset'),
      message: { type: 'composite_price', value },
    }
  })
  return { seen, heard: [], records: rows.length, cut: rows.length >= range.limit }
}

function sourcesOf(row: Row): CompositePrice['sources'] {
  const prices = row.numbers('venue_prices')
  const time = row.number('at_us')
  return row.texts('venues').map((exchange, at) => {
    const price = prices[at] ?? NaN
    return { exchange, instrument: '', price, low: price, high: price, time }
  })
}

async function readMetrics(database: Database, range: PageRange): Promise<Page> {
  const rows = await database.query(metricsSql, { ...range })
  const seen = rows.map((raw): InputRecord => {
    const row = new Row(raw)
    const [names, venues, told] = [row.texts('names'), row.texts('venues'), row.numbers('told')]
    const figures = names.map((figure, at) => ({ figure, exchange: venues[at] || null, value: told[at] ?? NaN }))
    const value = {
      asset: range.asset,
      core: row.text('core'),
      figures,
      time: row.number('at_us'),
      v: row.number('position'),
    }
    return { partition: row.number('partition'), offset: row.number('offset'), message: { type: 'metric', value } }
  })
  return { seen, heard: [], records: rows.length, cut: rows.length >= range.limit }
}

/** What of an estimate no alert looks at. */
const undecided = {
  open_interest_usd: 0,
  levels: [],
  clusters: [],
  at_risk_10_usd: 0,
  at_risk_10_pct: 0,
  swept_long_usd: 0,
  swept_short_usd: 0,
} as const

function pageOf(row: Row, { limit }: PageRange, messageOf: (time: Micros, at: number) => InputRecord['message']): Page {
  const [partition, offset] = [reader(row.numbers('partitions')), reader(row.numbers('offsets'))]
  const times = row.numbers('at')
  const seen = times.map((time, at) => ({ partition: partition(at), offset: offset(at), message: messageOf(time, at) }))
  const records = row.number('records')
  return { seen, heard: heardAt(times), records, cut: records >= limit }
}

/** Reads a range page by page, up to its limit; what the next page may have records before is held over to it. */
export async function* inPages(
  range: PageRange,
  length: Micros,
  read: (page: PageRange) => Promise<Page>,
): AsyncGenerator<Page> {
  let { limit } = range
  let held: readonly InputRecord[] = []
  for (let { from } = range; from < range.to; from += length) {
    const to = Math.min(from + length, range.to)
    const page = await read({ ...range, from, to, limit })
    limit -= page.records
    const seen = inLogOrder([...held, ...page.seen])
    const late = page.cut || to === range.to ? -1 : seen.findIndex(({ message }) => message.value.time >= to - DISORDER)
    const whole = late < 0 ? seen.length : late
    held = seen.slice(whole)
    yield { ...page, seen: seen.slice(0, whole) }
  }
}

/**
 * Records of an asset in the order of their log. Views have what a core that was built again told of its past, which lies
 * behind what others told then: that stands where its time is.
 */
function inLogOrder(records: readonly InputRecord[]): InputRecord[] {
  let newest = 0
  const placed = records
    .toSorted((a, b) => a.offset - b.offset)
    .map((record) => {
      const { time } = record.message.value
      newest = Math.max(newest, time)
      return { record, at: time < newest - DISORDER ? time : newest }
    })
  return placed.toSorted((a, b) => a.at - b.at).map(({ record }) => record)
}

/** Each record's own moment. */
function heardAt(times: readonly Micros[]): Stretch[] {
  return times.map((time) => ({ from: time, to: time }))
}

function reader(values: readonly number[]): (at: number) => number {
  return (at) => values[at] ?? 0
}

function classOf(text: string | undefined): 'unknown' | 'low' | 'medium' | 'high' {
  return text === 'low' || text === 'medium' || text === 'high' ? text : 'unknown'
}
