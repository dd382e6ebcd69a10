import { asDecimal } from '../../processors/prices/decimal.ts'
import type { Micros } from '../../schemas/records.ts'
import { Row, type Database } from './database.ts'
import { microsSql, timeParam } from './time.ts'

/** One spot market now; prices and volumes in USD by what a unit of its quote was worth. */
export interface TickerRow {
  readonly asset: string
  readonly venue: string
  readonly quote: string
  readonly price: number
  /** The same in units of its quote. */
  readonly quotePrice: number
  /** Percent. */
  readonly change24h: number | null
  readonly volume24h: number | null
  readonly time: Micros
  readonly received: Micros
}

const columns = `asset, venue, quote, price, last, change_24h, volume_24h, quote_volume_24h, quote_usd,
  ${microsSql('time')} AS time_us, ${microsSql('received')} AS received_us`
const oneSql = `SELECT ${columns} FROM latest_tickers WHERE asset = {asset:String}`
const manySql = `SELECT ${columns} FROM latest_tickers WHERE has(splitByChar(',', {assets:String}), asset)`

/** The spot markets of an asset, busiest first. */
export async function readTickers(database: Database, asset: string): Promise<TickerRow[]> {
  return tidy(await database.query(oneSql, { asset }))
}

/** The spot markets of some assets, busiest first. */
export async function readTickersOf(database: Database, assets: readonly string[]): Promise<TickerRow[]> {
  return tidy(await database.query(manySql, { assets: assets.join(',') }))
}

/** A market that is silent for longer is looked for among the newest tickers alone. */
const LOOK_BACK: Micros = 600_000_000

const ofMarket = `asset = {asset:String} AND venue = {venue:String} AND quote = {quote:String}
  AND received <= ${timeParam('at')}`
const atSql = `SELECT * FROM (SELECT ${columns} FROM tickers WHERE ${ofMarket} AND time > ${timeParam('from')}
  UNION ALL SELECT ${columns} FROM latest_tickers WHERE ${ofMarket}) ORDER BY received_us DESC LIMIT 1`

/** The spot market of a venue as it was known at a moment; undefined where it was not. */
export async function readTickerAt(
  database: Database,
  market: { readonly asset: string; readonly venue: string; readonly quote: string },
  at: Micros,
): Promise<TickerRow | undefined> {
  const [row] = await database.query(atSql, { ...market, at, from: at - LOOK_BACK })
  return row === undefined ? undefined : tickerOf(row)
}

function tidy(rows: readonly unknown[]): TickerRow[] {
  return rows.map(tickerOf).toSorted((a, b) => (b.volume24h ?? 0) - (a.volume24h ?? 0))
}

function tickerOf(raw: unknown): TickerRow {
  const row = new Row(raw)
  const usd = row.number('quote_usd')
  const [base, quote] = [row.nullableNumber('volume_24h'), row.nullableNumber('quote_volume_24h')]
  // A venue that tells base units only: at its last price, the nearest there is to what was paid.
  const volume = quote ?? (base === null ? null : base * row.number('last'))
  return {
    asset: row.text('asset'),
    venue: row.text('venue'),
    quote: row.text('quote'),
    price: asDecimal(row.number('price') * usd),
    quotePrice: asDecimal(row.number('price')),
    change24h: row.nullableNumber('change_24h'),
    volume24h: volume === null ? null : volume * usd,
    time: row.number('time_us'),
    received: row.number('received_us'),
  }
}
