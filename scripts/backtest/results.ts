import { mkdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { writeFile } from '../../infra/tapes/segment-file.ts'
import { encodeParquet, type Cells } from '../../infra/tapes/parquet-file.ts'
import { optional, required, type ColumnTypes, type ParquetType, type Plain } from '../../infra/tapes/parquet-types.ts'
import type { GroupSummary, SignalResult, Study, TriggerResult } from './core/study.ts'

/** A column of a result table: its ClickHouse type, with its unit. A time is a number in JSON and SQL, one in Parquet. */
interface Column {
  readonly type: string
  readonly description: string
  readonly isTime?: true
}
type Columns = Readonly<Record<string, Column>>

/** One table of results, flat: a row each, of text, numbers, booleans and null. Times are microseconds. */
export interface ResultTable {
  readonly name: 'signals' | 'triggers' | 'forward_returns'
  readonly description: string
  readonly columns: Columns
  readonly rows: readonly Readonly<Record<string, unknown>>[]
}

const of = (type: string, description: string): Column => ({ type, description })
const time = (description: string, type = 'Int64'): Column => ({ type, description, isTime: true })
const text = 'LowCardinality(String)'

const signalColumns: Columns = {
  symbol: of(text, 'Ticker'),
  kind: of(text, 'cvd, funding, sentiment or cascade_risk'),
  period: of(text, 'The window it looks at; empty: none'),
  exchange: of(text, 'Venue that it is about; empty: all'),
  from: of(text, 'The class it had'),
  to: of(text, 'The class it has'),
  value: of('Float64', 'What was classified'),
  evidence: of('Map(String, Float64)', 'The figures behind the value'),
  time: time('End of the window, microseconds since the Unix epoch'),
  decided: time('Partition time of the decision, microseconds'),
  topic: of(text, 'Topic of the record that caused it'),
  partition: of('UInt16', 'Its partition'),
  offset: of('Int64', 'Its offset'),
  side: of(text, 'What it bets on: long, short; empty: nothing, or both by its rules'),
  rules: of('Array(String)', 'Rules that it meets'),
  fill_price: of(
    'Nullable(Float64)',
    'USD, the first price after decision and latency; null: none came within a minute',
  ),
  fill_time: time('When that was so, microseconds', 'Nullable(Int64)'),
  fill_topic: of(text, 'Topic of the record with that price; empty: none'),
  fill_offset: of('Nullable(Int64)', 'Its offset'),
  returns: of(
    'Map(String, Nullable(Float64))',
    'By horizon in ms: change of the price since the fill, fraction; null: no price came within a minute of it (a tenth of the horizon, if longer)',
  ),
}

const triggerColumns: Columns = {
  trigger_id: of('String', 'Alert and count'),
  alert_id: of('String', 'The alert'),
  symbol: of(text, 'Ticker'),
  condition: of(text, 'As asked for'),
  condition_met: of('String', 'In words'),
  price: of('Float64', 'USD'),
  trigger_count: of('UInt32', 'Which of the alert’s'),
  quality: of(text, 'good or degraded'),
  late: of('Bool', 'Found in candles of a time without prices'),
  time: time('When it was so, microseconds'),
  decided: time('Partition time, microseconds'),
  topic: of(text, 'Topic of the record that caused it'),
  partition: of('UInt16', 'Its partition'),
  offset: of('Int64', 'Its offset'),
}

const returnColumns: Columns = {
  group: of('String', 'A rule, or kind, period and class of the signals'),
  side: of(text, 'What it bets on; empty: nothing'),
  horizon_ms: of('Int64', 'After the fill'),
  n: of('UInt32', 'Returns'),
  independent: of('UInt32', 'Of them, those whose windows do not overlap'),
  mean: of('Nullable(Float64)', 'In the direction of the bet, fraction'),
  low: of('Nullable(Float64)', 'Lower bound of the mean, 95 %'),
  high: of('Nullable(Float64)', 'Upper bound of the mean, 95 %'),
  median: of('Nullable(Float64)', 'Fraction'),
  deviation: of('Nullable(Float64)', 'Standard deviation'),
  hit_rate: of('Nullable(Float64)', 'Share of returns over zero'),
  hit_low: of('Nullable(Float64)', 'Its lower bound, 95 %'),
  hit_high: of('Nullable(Float64)', 'Its upper bound, 95 %'),
}

/** The tables of a study. */
export function tablesOf(study: Study, horizonsMs: readonly number[]): readonly ResultTable[] {
  return [
    {
      name: 'signals',
      description: 'Changes of a signal’s class, and what the price did after each',
      columns: signalColumns,
      rows: study.signals.map((signal) => signalRow(signal, horizonsMs)),
    },
    {
      name: 'triggers',
      description: 'Alerts that rang',
      columns: triggerColumns,
      rows: study.triggers.map(triggerRow),
    },
    {
      name: 'forward_returns',
      description: 'Forward returns by group and horizon',
      columns: returnColumns,
      rows: study.summaries().map(returnRow),
    },
  ]
}

function signalRow(signal: SignalResult, horizonsMs: readonly number[]): Readonly<Record<string, unknown>> {
  const { record, fill, returns, exchange, side, ...rest } = signal
  return {
    ...rest,
    ...record,
    exchange: exchange ?? '',
    side: side ?? '',
    fill_price: fill?.price ?? null,
    fill_time: fill?.time ?? null,
    fill_topic: fill?.place.topic ?? '',
    fill_offset: fill?.place.offset ?? null,
    returns: Object.fromEntries(horizonsMs.map((horizon, at) => [String(horizon), returns[at] ?? null])),
  }
}

function triggerRow({ record, ...rest }: TriggerResult): Readonly<Record<string, unknown>> {
  return { ...rest, ...record }
}

function returnRow(summary: GroupSummary): Readonly<Record<string, unknown>> {
  const { horizonMs, hitRate, hitLow, hitHigh, side, ...rest } = summary
  return { ...rest, side: side ?? '', horizon_ms: horizonMs, hit_rate: hitRate, hit_low: hitLow, hit_high: hitHigh }
}

/** Writes the results as JSON; a file that is there is replaced as a whole. */
export function writeJson(folder: string, name: string, value: unknown): void {
  mkdirSync(folder, { recursive: true })
  writeFile(folder, name, Buffer.from(`${JSON.stringify(value, null, 1)}\n`))
}

/** Removes what an older backtest left in the folder, so that nothing stale stands beside new results. */
export function clearResults(folder: string): void {
  const names = [
    'manifest.json',
    'report.html',
    ...['signals', 'triggers', 'forward_returns'].flatMap((name) => [`${name}.json`, `${name}.parquet`]),
  ]
  for (const name of names) rmSync(path.join(folder, name), { force: true })
}

/** Writes result tables as Parquet files, typed as their columns say. */
export function writeParquet(folder: string, tables: readonly ResultTable[]): void {
  for (const { name, columns, rows } of tables) {
    const types: ColumnTypes = Object.entries(columns).map(
      ([column, { type, isTime }]) => [column, isTime === true ? timeType(type) : parquetType(type)] as const,
    )
    const cells = new Map<string, Cells>(
      types.map(([column]) => [column, rows.map((row) => row[column] ?? null)] as const),
    )
    writeFile(folder, `${name}.parquet`, encodeParquet(types, cells))
  }
}

function timeType(type: string): ParquetType {
  return type.startsWith('Nullable') ? optional(required('time')) : required('time')
}

/** The type that ClickHouse reads as `type`, but for LowCardinality, which Parquet does not know. */
export function parquetType(type: string): ParquetType {
  const [, outer, inner = ''] = /^(\w+)\((.*)\)$/.exec(type) ?? []
  if (outer === 'LowCardinality') return parquetType(inner)
  if (outer === 'Nullable') return optional(parquetType(inner))
  if (outer === 'Array') return { kind: 'list', isOptional: false, values: parquetType(inner) }
  if (outer === 'Map') return { kind: 'map', isOptional: false, values: parquetType(inner.replace(/^String, /, '')) }
  const kind = kinds[type]
  if (kind === undefined) throw new Error(`no type of Parquet for ${type}`)
  return required(kind)
}

const kinds: Readonly<Record<string, Plain>> = {
  String: 'text',
  Float64: 'double',
  Int64: 'int64',
  UInt16: 'uint16',
  UInt32: 'uint32',
  Bool: 'bool',
}
