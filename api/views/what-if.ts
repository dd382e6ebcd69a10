import type { MetricInput } from '../../processors/alerts/metrics.ts'
import type { InputRecord } from '../../processors/alerts/what-if.ts'
import type { Micros } from '../../schemas/records.ts'
import { Row, type Database } from './database.ts'
import { microsSql, timeParam } from './time.ts'

/** Records of one asset in the order of the log, from `from` up to `to`. `cut`: there are more than `limit`. */
export interface Page {
  /** Those that may change something for the alert. */
  readonly seen: readonly InputRecord[]
  /** All that there are. */
  readonly records: number
  readonly cut: boolean
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
export function tableOf(input: MetricInput): PastTable {
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
const ORDER = 'position, at_us'
const POSITION = 'bitAnd(v, 17592186044415) AS position'

/**
 * What is left out changes nothing for an alert on the target: records that lie wholly on the side of it on which the
 * price has been for two minutes (by then a level has rung or returned, and its minute is over). Of those one in 5 s is
 * kept, and both ends of every silence, by which candles of a time without prices are judged.
 *
 * One row of arrays: a day of prices as rows of names and values would be three times as long.
 */
const pricesSql = `SELECT count() AS records, groupArrayIf(at_us, kept) AS at, groupArrayIf(price, kept) AS last_usd,
  groupArrayIf(low, kept) AS low_usd, groupArrayIf(high, kept) AS high_usd, groupArrayIf(is_late, kept) AS late_flags,
  groupArrayIf(is_good, kept) AS good_flags, groupArrayIf(partition, kept) AS partitions,
  groupArrayIf(offset, kept) AS offsets
  FROM (
    SELECT *, side = 0 OR at_us - greatest(if(side = 1, not_above, not_below), {from:Int64}) <= 120000000
      OR at_us - before > 5000000 OR next - at_us > 5000000 OR intDiv(at_us, 5000000) != intDiv(before, 5000000) AS kept
    FROM (
      SELECT *, lagInFrame(at_us, 1, toInt64(0)) OVER so_far AS before,
        leadInFrame(at_us, 1, {to:Int64}) OVER (ORDER BY ${ORDER} ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING) AS next,
        maxIf(at_us, side != 1) OVER so_far AS not_above, maxIf(at_us, side != -1) OVER so_far AS not_below
      FROM (
        SELECT ${microsSql('time')} AS at_us, price, low, high, toUInt8(late) AS is_late,
          toUInt8(quality = 'good') AS is_good, partition, offset, ${POSITION},
          multiIf(late, 0, high < {target:Float64}, -1, low > {target:Float64}, 1, 0) AS side
        FROM prices
        WHERE asset = {asset:String} AND time >= ${timeParam('from')} AND time < ${timeParam('to')}
        ORDER BY ${ORDER} LIMIT {limit:UInt32})
      WINDOW so_far AS (ORDER BY ${ORDER} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW))
    ORDER BY ${ORDER})`

const risksSql = `SELECT count() AS records, groupArray(at_us) AS at, groupArray(price) AS last_usd, groupArray(at_risk_5_usd) AS risk_usd,
  groupArray(at_risk_5_pct) AS risk_pct, groupArray(class) AS classes, groupArray(length(exchanges)) AS venues,
  groupArray(partition) AS partitions, groupArray(offset) AS offsets
  FROM (SELECT ${microsSql('time')} AS at_us, price, at_risk_5_usd, at_risk_5_pct, toString(cascade_risk) AS class,
    exchanges, partition, offset, ${POSITION} FROM liquidation_risk
    WHERE asset = {asset:String} AND time >= ${timeParam('from')} AND time < ${timeParam('to')}
    ORDER BY ${ORDER} LIMIT {limit:UInt32})`

/** The composite prices of an asset that matter to an alert on `target`. Whose they are is left out: it does not decide. */
export async function readPricePage(database: Database, range: PageRange, target: number): Promise<Page> {
  const [raw] = await database.query(pricesSql, { ...range, target })
  const row = new Row(raw)
  const column = (name: string) => reader(row.numbers(name))
  const [low, high, late] = [column('low_usd'), column('high_usd'), column('late_flags')]
  const [last, good] = [column('last_usd'), column('good_flags')]
  return pageOf(row, range, (time, at) => {
    const prices = { price: last(at), low: low(at), high: high(at), change_24h: null, sources: [] }
    const quality = good(at) === 1 ? 'good' : 'degraded'
    const value = { asset: range.asset, ...prices, quality, late: late(at) === 1, time, v: at } as const
    return { type: 'composite_price', value }
  })
}

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

const everyPriceSql = `SELECT ${microsSql('time')} AS at_us, price, toUInt8(quality = 'good') AS is_good, partition, offset, ${POSITION}
  FROM prices WHERE asset = {asset:String} AND time >= ${timeParam('from')} AND time < ${timeParam('to')} AND NOT late
  ORDER BY ${ORDER} LIMIT {limit:UInt32}`

const metricsSql = `SELECT core, ${microsSql('time')} AS at_us, figures.figure AS names, arrayMap(x -> ifNull(x, ''), figures.exchange) AS venues,
  figures.value AS told, partition, offset, ${POSITION}
  FROM metrics WHERE asset = {asset:String} AND time >= ${timeParam('from')} AND time < ${timeParam('to')}
  ORDER BY ${ORDER} LIMIT {limit:UInt32}`

/** All records of an asset that tell figures, of these tables, in the order of their times. Of prices the composite alone. */
export async function readInputs(database: Database, range: PageRange, tables: readonly PastTable[]): Promise<Page> {
  const pages = await Promise.all(
    tables.map((table) => {
      if (table === 'liquidation_risk_log') return readRiskPage(database, range)
      return table === 'prices_log' ? readEveryPrice(database, range) : readMetrics(database, range)
    }),
  )
  const seen = pages.flatMap((page) => page.seen)
  return {
    seen: seen.toSorted((a, b) => a.message.value.time - b.message.value.time || a.offset - b.offset),
    records: pages.reduce((sum, { records }) => sum + records, 0),
    cut: pages.some(({ cut }) => cut),
  }
}

async function readEveryPrice(database: Database, range: PageRange): Promise<Page> {
  const rows = await database.query(everyPriceSql, { ...range })
  const seen = rows.map((raw): InputRecord => {
    const row = new Row(raw)
    const price = row.number('price')
    const quality = row.number('is_good') === 1 ? 'good' : 'degraded'
    const bounds = { low: price, high: price, change_24h: null, sources: [], quality, late: false } as const
    const value = { asset: range.asset, price, ...bounds, time: row.number('at_us'), v: row.number('position') }
    return {
      partition: row.number('partition'),
      offset: row.number('offset'),
      message: { type: 'composite_price', value },
    }
  })
  return { seen, records: rows.length, cut: rows.length >= range.limit }
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
  return { seen, records: rows.length, cut: rows.length >= range.limit }
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
  return { seen, records, cut: records >= limit }
}

function reader(values: readonly number[]): (at: number) => number {
  return (at) => values[at] ?? 0
}

function classOf(text: string | undefined): 'unknown' | 'low' | 'medium' | 'high' {
  return text === 'low' || text === 'medium' || text === 'high' ? text : 'unknown'
}
