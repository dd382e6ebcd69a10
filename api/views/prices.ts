import type { Micros } from '../../schemas/records.ts'
import { Row, type Database } from './database.ts'
import { microsSql } from './time.ts'

/** The composite price of an asset, USD. */
export interface PriceRow {
  readonly asset: string
  readonly price: number
  readonly low: number
  readonly high: number
  /** Percent. */
  readonly change24h: number | null
  /** Venues that count, in the chain's order. */
  readonly sources: readonly string[]
  readonly quality: string
  readonly time: Micros
}

const priceSql = `SELECT asset, price, low, high, change_24h, sources.exchange AS exchanges,
  toString(quality) AS quality, ${microsSql('time')} AS time_us FROM latest_prices WHERE asset = {asset:String}`

/** The newest composite price of an asset, if there is one. */
export async function readPrice(database: Database, asset: string): Promise<PriceRow | undefined> {
  const [raw] = await database.query(priceSql, { asset })
  if (raw === undefined) return undefined
  const row = new Row(raw)
  return {
    asset: row.text('asset'),
    price: row.number('price'),
    low: row.number('low'),
    high: row.number('high'),
    change24h: row.nullableNumber('change_24h'),
    sources: row.texts('exchanges'),
    quality: row.text('quality'),
    time: row.number('time_us'),
  }
}
