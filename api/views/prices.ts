import type { Micros } from '../../schemas/records.ts'
import { Row, type Database } from './database.ts'
import { microsSql } from './time.ts'

/** One venue's part of a composite price, USD. */
export interface PricePart {
  readonly exchange: string
  readonly price: number
  /** Venue time of its ticker. */
  readonly time: Micros
}

/** The composite price of an asset, USD, with the prices that made it. */
export interface PriceRow {
  readonly asset: string
  readonly price: number
  readonly low: number
  readonly high: number
  /** Percent. */
  readonly change24h: number | null
  /** Venues that count, in the chain's order. */
  readonly parts: readonly PricePart[]
  readonly quality: string
  readonly time: Micros
}

const priceSql = `SELECT asset, price, low, high, change_24h,
  arrayMap(s -> (s.exchange, s.price, ${microsSql('s.time')})
    ::Tuple(exchange String, price Float64, time_us Int64), sources) AS parts,
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
    parts: row.rows('parts').map((part) => ({
      exchange: part.text('exchange'),
      price: part.number('price'),
      time: part.number('time_us'),
    })),
    quality: row.text('quality'),
    time: row.number('time_us'),
  }
}
