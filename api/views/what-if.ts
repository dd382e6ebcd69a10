import type { Seen } from '../../processors/alerts/what-if.ts'
import type { Micros } from '../../schemas/records.ts'
import { Row, type Database } from './database.ts'
import { microsSql, timeParam } from './time.ts'

/** Records of one asset in the order of the log, from `from` up to `to`. `cut`: there are more than `limit`. */
export interface Page {
  readonly seen: readonly Seen[]
  readonly cut: boolean
}

export interface PageRange {
  readonly asset: string
  readonly from: Micros
  readonly to: Micros
  readonly limit: number
}

/** Position in the log that a record follows from, whatever generation of code wrote it. */
const ORDER = 'bitAnd(v, 17592186044415), at_us'

/** One row of arrays: a day of prices as rows of names and values would be three times as long. */
const pricesSql = `SELECT groupArray(at_us) AS at, groupArray(price) AS last_usd, groupArray(low) AS low_usd,
  groupArray(high) AS high_usd, groupArray(is_late) AS late_flags, groupArray(is_good) AS good_flags,
  groupArray(partition) AS partitions, groupArray(offset) AS offsets
  FROM (SELECT ${microsSql('time')} AS at_us, price, low, high, toUInt8(late) AS is_late,
    toUInt8(quality = 'good') AS is_good, partition, offset FROM prices
    WHERE asset = {asset:String} AND time >= ${timeParam('from')} AND time < ${timeParam('to')}
    ORDER BY ${ORDER} LIMIT {limit:UInt32})`

const risksSql = `SELECT groupArray(at_us) AS at, groupArray(price) AS last_usd, groupArray(at_risk_5_usd) AS risk_usd,
  groupArray(at_risk_5_pct) AS risk_pct, groupArray(class) AS classes, groupArray(length(exchanges)) AS venues,
  groupArray(partition) AS partitions, groupArray(offset) AS offsets
  FROM (SELECT ${microsSql('time')} AS at_us, price, at_risk_5_usd, at_risk_5_pct, toString(cascade_risk) AS class,
    exchanges, partition, offset FROM liquidation_risk
    WHERE asset = {asset:String} AND time >= ${timeParam('from')} AND time < ${timeParam('to')}
    ORDER BY ${ORDER} LIMIT {limit:UInt32})`

/** The composite prices of an asset. Whose they are is left out: it does not decide. */
export async function readPricePage(database: Database, range: PageRange): Promise<Page> {
  const [raw] = await database.query(pricesSql, { ...range })
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

function pageOf(row: Row, { limit }: PageRange, messageOf: (time: Micros, at: number) => Seen['message']): Page {
  const [partition, offset] = [reader(row.numbers('partitions')), reader(row.numbers('offsets'))]
  const times = row.numbers('at')
  const seen = times.map((time, at) => ({ partition: partition(at), offset: offset(at), message: messageOf(time, at) }))
  return { seen, cut: seen.length >= limit }
}

function reader(values: readonly number[]): (at: number) => number {
  return (at) => values[at] ?? 0
}

function classOf(text: string | undefined): 'unknown' | 'low' | 'medium' | 'high' {
  return text === 'low' || text === 'medium' || text === 'high' ? text : 'unknown'
}
