import { usdOf } from '../../processors/present/liquidation-sums.ts'
import { STRETCH } from '../../processors/present/state.ts'
import type { Micros } from '../../schemas/records.ts'
import type { Present } from '../present/present.ts'
import { Row, type Database } from './database.ts'
import { liquidationsOf, type LiquidationRow } from './liquidations.ts'
import { bucketSql, floorTo, type Range } from './range.ts'
import { timeParam } from './time.ts'

/** What a venue closed by force of one side: how many positions, and what they were worth, USD. */
interface Sum {
  readonly count: number
  readonly usd: number
}

/** Liquidations of one venue in one bucket. */
export interface Liquidated {
  readonly venue: string
  readonly bucket: Micros
  readonly long: Sum
  readonly short: Sum
}

/** What is newer is taken from memory, as far as it is held there: ClickHouse may not have it yet. */
const HELD: Micros = 3_600_000_000

const sumsSql = `SELECT venue, ${bucketSql('time')} AS bucket_us,
  countIf(side = 'long') AS longs, sumKahanIf(value, side = 'long') AS long_usd,
  countIf(side = 'short') AS shorts, sumKahanIf(value, side = 'short') AS short_usd
  FROM liquidations WHERE asset = {asset:String} AND time >= ${timeParam('from')} AND time < ${timeParam('to')}
  GROUP BY venue, bucket_us`

interface LiquidatedQuery extends Range {
  readonly asset: string
  readonly width: Micros
  /** Newest partition time. */
  readonly now: Micros
}

/** Liquidations of a range by venue and bucket; none where nothing was liquidated. A bucket may come in two rows. */
export async function readLiquidated(
  database: Database,
  present: Present,
  { asset, from, to, width, now }: LiquidatedQuery,
): Promise<Liquidated[]> {
  const stretches = [...present.of(asset).liquidations.keys()].map((stretch) => Number(stretch) * STRETCH)
  const heldFrom = Math.max(from, now - HELD, Math.min(...stretches))
  const bounds = { asset, width, from, to: Math.min(to, heldFrom) }
  const stored = from < bounds.to ? await database.query(sumsSql, bounds) : []
  const held = [...liquidationsOf(present, asset, { from: heldFrom, until: to - 1, now })]
  const byKey = Map.groupBy(held, ({ venue, time }) => `${venue}|${floorTo(time, width)}`)
  return [
    ...stored.map((raw) => liquidatedOf(new Row(raw))),
    ...[...byKey.values()].flatMap((rows) => heldSum(rows, width)),
  ]
}

/** Of rows of one venue and bucket. */
function heldSum(rows: readonly LiquidationRow[], width: Micros): Liquidated[] {
  const sumOf = (side: string): Sum => {
    const own = rows.filter((row) => row.side === side)
    return { count: own.length, usd: usdOf(own) }
  }
  return rows.slice(0, 1).map(({ venue, time }) => ({
    venue,
    bucket: floorTo(time, width),
    long: sumOf('long'),
    short: sumOf('short'),
  }))
}

function liquidatedOf(row: Row): Liquidated {
  return {
    venue: row.text('venue'),
    bucket: row.number('bucket_us'),
    long: { count: row.number('longs'), usd: row.number('long_usd') },
    short: { count: row.number('shorts'), usd: row.number('short_usd') },
  }
}
