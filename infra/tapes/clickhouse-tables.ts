import { schemaOf } from '../../schemas/codec.ts'
import type { Message, RecordType } from '../../schemas/records.ts'
import { topicOf, type TopicName } from '../../schemas/topics.ts'
import type { Schema } from '../../schemas/writer.ts'
import { replays, tellingField } from '../clickhouse/incoming.ts'

/** Where record types of a topic stand in ClickHouse, and how its rows read as records of the log. */
export interface TableMapping {
  readonly topic: TopicName
  readonly table: string
  /** Columns of partition, offset and record time (milliseconds, as SQL). */
  readonly partition: string
  readonly offset: string
  readonly time: string
  /** The record types of its rows, each with the column that is null in rows of the others; null: there are no others. */
  readonly records: readonly (readonly [record: RecordType, own: string | null])[]
  /** Its rows lie in the order of their assets: naming those of a partition spares the others. */
  readonly isByAsset: boolean
}

const millis = (column: string): string => `intDiv(toUnixTimestamp64Micro(${column}), 1000)`

function mapping(topic: TopicName, record: RecordType, table: string, time: string, isByAsset = false): TableMapping {
  const at = { partition: 'partition', offset: 'offset', time: millis(time) }
  return { topic, table, ...at, records: [[record, null]], isByAsset }
}

function replayed([topic, table]: (typeof replays)[number]): TableMapping {
  const at = { partition: 'log_partition', offset: 'log_offset', time: 'toUnixTimestamp64Milli(log_time)' }
  const records = topicOf(topic).records.map((record) => [record, tellingField[record] ?? null] as const)
  return { topic, table, ...at, records, isByAsset: false }
}

/** Inputs of the processors, and what they could not read of them: with them a backtest gives what it gives from the log. */
export const inputTables: readonly TableMapping[] = [
  mapping('market.trades', 'trade', 'trades_log', 'received', true),
  mapping('market.trades', 'gap', 'gaps_log', 'time'),
  mapping('market.trades', 'mark', 'feed_marks_log', 'time'),
  ...replays.map(replayed),
  {
    ...mapping('control.gaps', 'log_gap', 'log_gaps_log', 'time'),
    partition: 'told_partition',
    offset: 'told_offset',
  },
]

/** What the live system derived, the last version of each; without the forwarded marks. */
export const derivedTables: readonly TableMapping[] = [
  mapping('derived.flow', 'flow', 'flow_log', 'bucket', true),
  mapping('derived.flow', 'flow_hour', 'flow_hours_log', 'hour', true),
  mapping('derived.flow', 'flow_five', 'flow_fives_log', 'start', true),
  mapping('derived.signals', 'signal', 'signal_changes_log', 'time', true),
  mapping('alerts.inputs', 'composite_price', 'prices_log', 'time', true),
  mapping('alerts.inputs', 'liquidation_risk', 'liquidation_risk_log', 'time', true),
  mapping('alerts.inputs', 'metric', 'metrics_log', 'time', true),
]

/** Fields that no table holds, since they serve the feeds' repair alone, with what a record read back has there. */
const leftOut: Partial<Record<RecordType, Row>> = { mark: { positions: [] } }

/** Names of a record type's fields, but for those that no table holds. */
export function fieldNames(record: RecordType): readonly string[] {
  return schemaOf(record)
    .fields.map(({ name }) => name)
    .filter((name) => leftOut[record]?.[name] === undefined)
}

type Row = Readonly<Record<string, unknown>>

/**
 * The record that a row tells of. Times come as seconds with six decimals, whole numbers as numbers, lists of records as
 * lists of objects; an empty text stands for null where the field may be null.
 */
export function recordOf(record: RecordType, row: Row): Message {
  const all = { ...row, ...leftOut[record] }
  const fields = schemaOf(record).fields.map(({ name, type }) => [name, read(type, all[name])])
  // The encoder checks every value against the record's schema.
  return { type: record, value: Object.fromEntries(fields) as unknown } as Message
}

function read(schema: Schema, value: unknown): unknown {
  if (typeof schema === 'string') return schema === 'long' || schema === 'int' ? whole(value) : value
  if ('length' in schema) {
    const isNull = value === null || value === undefined || value === ''
    return isNull ? null : read(schema[1], value)
  }
  if (schema.type === 'array' && Array.isArray(value)) return value.map((item: unknown) => read(schema.items, item))
  if (schema.type !== 'record') return value
  const inside = value as Row
  return Object.fromEntries(schema.fields.map(({ name, type }) => [name, read(type, inside[name])]))
}

/** Microseconds of a time, or a number. */
function whole(value: unknown): number {
  const [, seconds = '', decimals] = /^(-?\d+)\.(\d{6})$/.exec(String(value)) ?? []
  return decimals === undefined ? Number(value) : Number(seconds) * 1_000_000 + Number(decimals)
}
