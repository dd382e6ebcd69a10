import { schemaText } from '../../schemas/codec.ts'
import type { Message, RecordType } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'

/** Where a record type of a topic stands in ClickHouse, and how its rows read as records of the log. */
export interface Place {
  readonly topic: TopicName
  readonly record: RecordType
  readonly table: string
  /** Columns of partition, offset and record time (milliseconds, as SQL). */
  readonly partition: string
  readonly offset: string
  readonly time: string
  /** Which rows are of this record type. */
  readonly where: string
  /** Columns that are called otherwise, by field. */
  readonly renamed: Readonly<Record<string, string>>
}

const kept = { partition: 'partition', offset: 'offset', where: '1', renamed: {} } as const
const replay = {
  partition: 'log_partition',
  offset: 'log_offset',
  time: 'toUnixTimestamp64Milli(log_time)',
  renamed: {},
}
const millis = (column: string): string => `intDiv(toUnixTimestamp64Micro(${column}), 1000)`

/** Inputs of the processors: with them a backtest gives what it gives from the log. */
export const inputPlaces: readonly Place[] = [
  { topic: 'market.trades', record: 'trade', table: 'trades_log', ...kept, time: millis('received') },
  { topic: 'market.trades', record: 'gap', table: 'gaps_log', ...kept, time: millis('time') },
  { topic: 'market.trades', record: 'mark', table: 'feed_marks_log', ...kept, time: millis('time') },
  { topic: 'market.tickers', record: 'spot_ticker', table: 'tickers_replay', ...replay, where: 'last IS NOT NULL' },
  { topic: 'market.tickers', record: 'price_range', table: 'tickers_replay', ...replay, where: '`from` IS NOT NULL' },
  { topic: 'market.tickers', record: 'mark', table: 'tickers_replay', ...replay, where: 'writer IS NOT NULL' },
  ...(
    [
      ['derivative_ticker', 'channel'],
      ['settlement', 'settled_rate'],
      ['long_short_ratio', 'ls_ratio'],
      ['contract_terms', 'interval_hours'],
      ['mark', 'writer'],
    ] as const
  ).map(([record, own]): Place => {
    return { topic: 'market.funding', record, table: 'funding_replay', ...replay, where: `${own} IS NOT NULL` }
  }),
]

/** What the live system derived, the last version of each; without the forwarded marks. */
export const derivedPlaces: readonly Place[] = [
  { topic: 'derived.flow', record: 'flow', table: 'flow_log', ...kept, time: millis('bucket') },
  { topic: 'derived.signals', record: 'signal', table: 'signal_changes_log', ...kept, time: millis('time') },
  { topic: 'alerts.inputs', record: 'composite_price', table: 'prices_log', ...kept, time: millis('time') },
  { topic: 'alerts.inputs', record: 'liquidation_risk', table: 'liquidation_risk_log', ...kept, time: millis('time') },
]

type Schema = string | readonly Schema[] | Named
interface Named {
  readonly type: Schema
  readonly items?: Schema
  readonly values?: Schema
  readonly fields?: readonly Field[]
}
interface Field {
  readonly name: string
  readonly type: Schema
}

/** Names of a record type's fields. */
export function fieldNames(record: RecordType): readonly string[] {
  return fieldsOf(record).map(({ name }) => name)
}

function fieldsOf(record: RecordType): readonly Field[] {
  return (JSON.parse(schemaText(record)) as Named).fields ?? []
}

type Row = Readonly<Record<string, unknown>>

/**
 * The record that a row tells of. Times come as seconds with six decimals, whole numbers as numbers, lists of records as
 * lists of objects; an empty text stands for null where the field may be null.
 */
export function recordOf(record: RecordType, row: Row): Message {
  const fields = fieldsOf(record).map(({ name, type }) => [name, read(type, row[name])])
  // The encoder checks every value against the record's schema.
  return { type: record, value: Object.fromEntries(fields) as unknown } as Message
}

function read(schema: Schema, value: unknown): unknown {
  if (isUnion(schema)) {
    const isNull = value === null || value === undefined || value === ''
    return isNull ? null : read(schema.find((branch) => branch !== 'null') ?? 'string', value)
  }
  if (typeof schema === 'string') return schema === 'long' || schema === 'int' ? whole(value) : value
  if (schema.type === 'array' && Array.isArray(value))
    return value.map((item: unknown) => read(schema.items ?? 'string', item))
  if (schema.type === 'record') {
    const inside = value as Row
    return Object.fromEntries((schema.fields ?? []).map(({ name, type }) => [name, read(type, inside[name])]))
  }
  return typeof schema.type === 'string' && schema.type in { enum: 1, map: 1 } ? value : read(schema.type, value)
}

function isUnion(schema: Schema): schema is readonly Schema[] {
  return Array.isArray(schema)
}

/** Microseconds of a time, or a number. */
function whole(value: unknown): number {
  const [, seconds = '', decimals] = /^(-?\d+)\.(\d{6})$/.exec(String(value)) ?? []
  return decimals === undefined ? Number(value) : Number(seconds) * 1_000_000 + Number(decimals)
}
