import { CVD } from '../../processors/cvd/cvd.ts'
import { alertKinds } from '../../processors/alerts/kinds/kinds.ts'
import { everywhereIn } from '../../processors/alerts/parts.ts'
import type { MetricInput } from '../../processors/alerts/metrics.ts'
import { inputOf } from '../../processors/alerts/series.ts'
import type { AlertState, Micros } from '../../schemas/records.ts'
import { partitionOf } from '../../schemas/catalogue.ts'
import { Row, type Database } from './database.ts'
import { microsSql, timeParam } from './time.ts'

/** Most gaps of the log that are looked at; the newest. */
const LOG_GAPS_MAX = 1000

/** What a reader of the log could not read, or found to be lost of what it wrote. */
export interface LogGapRow {
  readonly reader: string
  readonly topic: string
  readonly partition: number
  readonly reason: string
  /** Kafka times of the last record before it (of retention a minute earlier), and of the first after it or the last that was read of it, whichever is later. */
  readonly from: Micros
  readonly to: Micros
  /** Records that were never read; null: not known. */
  readonly missing: number | null
  /** When it was found. */
  readonly time: Micros
}

export interface LogGaps {
  readonly count: number
  /** Newest first. */
  readonly newest: readonly LogGapRow[]
}

/** A stretch of time, both ends included. */
export interface Lost {
  readonly from: Micros
  readonly to: Micros
}

const logGapsSql = `SELECT reader, topic, partition, reason, ${microsSql('from_time')} AS from_us,
  ${microsSql('to_time')} AS to_us, missing, ${microsSql('time')} AS time_us,
  (SELECT count() FROM log_gaps) AS told FROM log_gaps ORDER BY time DESC, told_offset DESC LIMIT ${LOG_GAPS_MAX}`

/** All that readers of the log told of it. */
export async function readLogGaps(database: Database): Promise<LogGaps> {
  const rows = (await database.query(logGapsSql, {})).map((raw) => new Row(raw))
  const newest = rows.map((row) => ({
    reader: row.text('reader'),
    topic: row.text('topic'),
    partition: row.number('partition'),
    reason: row.text('reason'),
    from: row.number('from_us'),
    to: row.number('to_us'),
    missing: row.nullableNumber('missing'),
    time: row.number('time_us'),
  }))
  return { count: rows[0]?.number('told') ?? 0, newest }
}

const lostTradesSql = `SELECT ${microsSql('from_time')} AS from_us, ${microsSql('to_time')} AS to_us FROM log_gaps
  WHERE reader = {reader:String} AND topic = 'market.trades' AND partition = {partition:UInt16}
  AND reason != 'output_cut' AND to_time >= ${timeParam('from')} AND from_time < ${timeParam('to')}
  ORDER BY from_us DESC LIMIT ${LOG_GAPS_MAX}`

/**
 * When the log lost trades, or may have, before they were counted, in the partition of an asset: of every instrument
 * there, as the processor takes it too. Newest first.
 */
export async function readLostTrades(
  { database, partitions }: { readonly database: Database; readonly partitions: number },
  asset: string,
  from: Micros,
  to: Micros,
): Promise<Lost[]> {
  const partition = partitionOf(asset, partitions)
  const rows = await database.query(lostTradesSql, { reader: CVD, partition, from, to })
  return rows.map((raw) => {
    const row = new Row(raw)
    return { from: row.number('from_us'), to: row.number('to_us') }
  })
}

/** Whose gaps in what leave an alert without something it watches, beside its own processor's. */
const sources: Readonly<Record<MetricInput, { readonly reader: string; readonly topic: string }>> = {
  composite_price: { reader: 'prices', topic: 'market.tickers' },
  liquidation_risk: { reader: 'liquidations', topic: 'market.funding' },
  cvd: { reader: 'cvd', topic: 'market.trades' },
  funding: { reader: 'funding', topic: 'market.funding' },
  liquidated: { reader: 'liquidated', topic: 'market.liquidations' },
}

/** What tells the figures that an alert rests on. */
function inputsOf({ kind, condition }: Watching): readonly MetricInput[] {
  const known = alertKinds.ofWire({ kind, condition })
  if (known === undefined) return []
  if (known.input !== 'readings') return [known.input]
  const terms = alertKinds.read({ kind, condition, target_price: null, threshold_pct: null, min_value_usd: null })
  return terms === undefined ? [] : (known.series?.(terms) ?? []).map(inputOf)
}

/** What an alert has of life. */
export interface Watching {
  readonly kind: AlertState['kind']
  readonly condition: string
  readonly asset: string
  readonly created_at: Micros
  readonly expires_at: Micros
  /** 0: it has not ended. */
  readonly ended_at: Micros
}

/**
 * When an alert may have missed something: commands, prices and risk that the log lost before the alerts were decided by
 * them, or what those are made of. Newest first.
 */
export function lostOf(alert: Watching, { newest }: LogGaps, partitions: number): Lost[] {
  const watched = inputsOf(alert).map((input) => sources[input])
  const partition = everywhereIn(alert.asset) ?? partitionOf(alert.asset, partitions)
  const until = alert.ended_at === 0 ? alert.expires_at : alert.ended_at
  return newest
    .filter((gap) => gap.partition === partition && gap.to >= alert.created_at && gap.from < until)
    .filter(({ reader, topic, reason }) => {
      if (topic === 'alerts.inputs') return reader === 'alerts' || reason === 'output_cut'
      return watched.some((source) => reader === source.reader && topic === source.topic)
    })
    .map(({ from, to }) => ({ from, to }))
    .toSorted((a, b) => b.from - a.from)
}
