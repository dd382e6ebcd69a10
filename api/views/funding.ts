import { partsOf } from '../../schemas/venues.ts'
import type { Micros } from '../../schemas/records.ts'
import { Row, type Database } from './database.ts'
import { microsSql } from './time.ts'

/** What is known of one venue's perpetual of an asset. Rates are fractions per interval; null: not said. */
export interface FundingRow {
  readonly asset: string
  readonly exchange: string
  /** venue:market:native symbol */
  readonly instrument: string
  /** The venue's own symbol. */
  readonly symbol: string
  readonly rate: number | null
  readonly rateTime: Micros | null
  readonly nextSettlement: Micros | null
  readonly intervalHours: number
  readonly mark: number | null
  readonly index: number | null
  readonly markTime: Micros | null
  readonly premium: number | null
  readonly averagePremium: number | null
  readonly samples: number
  readonly expected: number
  readonly predicted: number | null
  readonly settledRate: number | null
  readonly settledTime: Micros | null
  /** The moment at which all of it was so: every venue of an asset has the same. */
  readonly known: Micros
}

const nullableMicros = (column: string): string => microsSql(`venue_row.${column}`)

const columns = `asset, venue_row.exchange AS exchange, venue_row.instrument AS instrument, venue_row.rate AS rate,
  ${nullableMicros('rate_time')} AS rate_us, ${nullableMicros('next_settlement')} AS next_us,
  venue_row.interval_hours AS interval_hours, venue_row.mark AS mark, venue_row.index AS index_price,
  ${nullableMicros('mark_time')} AS mark_us, venue_row.premium AS premium,
  venue_row.average_premium AS average_premium, venue_row.samples AS samples, venue_row.expected AS expected,
  venue_row.predicted AS predicted, venue_row.settled_rate AS settled_rate,
  ${nullableMicros('settled_time')} AS settled_us, ${microsSql('time')} AS known_us`

const fundingSql = `SELECT ${columns} FROM latest_funding ARRAY JOIN exchanges AS venue_row WHERE asset = {asset:String}`
const scanSql = `SELECT ${columns} FROM latest_funding ARRAY JOIN exchanges AS venue_row`

/** Each venue's perpetual of an asset. */
export async function readFunding(database: Database, asset: string): Promise<FundingRow[]> {
  return (await database.query(fundingSql, { asset })).map(fundingOf)
}

/** Every perpetual of every venue. */
export async function readAllFunding(database: Database): Promise<FundingRow[]> {
  return (await database.query(scanSql, {})).map(fundingOf)
}

const interestSql = 'SELECT instrument, interest_daily FROM latest_terms WHERE interest_daily IS NOT NULL'

/** Interest of each perpetual whose venue says it, fraction per day, by instrument. */
export async function readInterests(database: Database): Promise<ReadonlyMap<string, number>> {
  const rows = (await database.query(interestSql, {})).map((raw) => new Row(raw))
  return new Map(rows.map((row) => [row.text('instrument'), row.number('interest_daily')]))
}

function fundingOf(raw: unknown): FundingRow {
  const row = new Row(raw)
  return {
    asset: row.text('asset'),
    exchange: row.text('exchange'),
    instrument: row.text('instrument'),
    symbol: partsOf(row.text('instrument')).symbol,
    rate: row.nullableNumber('rate'),
    rateTime: row.nullableNumber('rate_us'),
    nextSettlement: row.nullableNumber('next_us'),
    intervalHours: row.number('interval_hours'),
    mark: row.nullableNumber('mark'),
    index: row.nullableNumber('index_price'),
    markTime: row.nullableNumber('mark_us'),
    premium: row.nullableNumber('premium'),
    averagePremium: row.nullableNumber('average_premium'),
    samples: row.number('samples'),
    expected: row.number('expected'),
    predicted: row.nullableNumber('predicted'),
    settledRate: row.nullableNumber('settled_rate'),
    settledTime: row.nullableNumber('settled_us'),
    known: row.number('known_us'),
  }
}
