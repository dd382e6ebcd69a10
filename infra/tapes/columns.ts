import { schemaText } from '../../schemas/codec.ts'
import type { RecordType } from '../../schemas/records.ts'
import type { ColumnTypes } from './parquet-engine.ts'

/** Columns of the log beside a record's own; records have no field that begins with an underscore. */
export const LOG_COLUMNS: ColumnTypes = [
  ['_offset', 'Int64'],
  ['_time', 'Int64'],
  ['_key', 'Nullable(String)'],
]

/**
 * The columns of a record type, by its Avro schema: what Avro calls an optional record or list becomes JSON text, since
 * a column cannot hold one that is missing; bytes become base64.
 */
export function columnsOf(record: RecordType): ColumnTypes {
  return fieldsOf(record).map(({ name, type }) => [name, columnType(type)] as const)
}

type Schema = string | readonly Schema[] | Named
interface Named {
  readonly type: Schema
  readonly name?: string
  readonly items?: Schema
  readonly values?: Schema
  readonly fields?: readonly { readonly name: string; readonly type: Schema }[]
}

function fieldsOf(record: RecordType): readonly { name: string; type: Schema }[] {
  return (JSON.parse(schemaText(record)) as Named).fields ?? []
}

function columnType(schema: Schema): string {
  if (typeof schema === 'string') return plain[schema] ?? 'String'
  if (isUnion(schema)) return optional(schema)
  if (schema.type === 'array') return `Array(${columnType(schema.items ?? 'string')})`
  if (schema.type === 'map') return `Map(String, ${columnType(schema.values ?? 'string')})`
  if (schema.type === 'record') {
    const fields = (schema.fields ?? []).map(({ name, type }) => `${name} ${columnType(type)}`)
    return `Tuple(${fields.join(', ')})`
  }
  return schema.type === 'enum' ? 'LowCardinality(String)' : columnType(schema.type)
}

const plain: Readonly<Record<string, string>> = {
  string: 'String',
  long: 'Int64',
  int: 'Int32',
  double: 'Float64',
  float: 'Float32',
  boolean: 'Bool',
}

function isUnion(schema: Schema): schema is readonly Schema[] {
  return Array.isArray(schema)
}

function optional(union: readonly Schema[]): string {
  const type = columnType(union.find((branch) => branch !== 'null') ?? 'string')
  if (/^(?:Tuple|Array|Map)/.test(type)) return 'Nullable(String)'
  return type.startsWith('LowCardinality') ? 'Nullable(String)' : `Nullable(${type})`
}

type Row = Readonly<Record<string, unknown>>

/** A record as a row of its columns. */
export function toRow(record: RecordType, value: object): Row {
  return Object.fromEntries(
    fieldsOf(record).map(({ name, type }) => [name, toCell(type, (value as Row)[name])] as const),
  )
}

/** The record that a row tells of. */
export function fromRow(record: RecordType, row: Row): Row {
  return Object.fromEntries(fieldsOf(record).map(({ name, type }) => [name, fromCell(type, row[name])] as const))
}

function toCell(schema: Schema, value: unknown): unknown {
  if (value === null || value === undefined) return null
  if (isText(schema)) return JSON.stringify(value)
  return schema === 'bytes' && value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value
}

function fromCell(schema: Schema, value: unknown): unknown {
  if (value === null || value === undefined) return null
  if (isText(schema) && typeof value === 'string') return JSON.parse(value) as unknown
  return schema === 'bytes' && typeof value === 'string' ? Buffer.from(value, 'base64') : value
}

/** Kept as JSON text: optional, and not a plain value. */
function isText(schema: Schema): boolean {
  return (
    isUnion(schema) && schema.some((branch) => branch !== 'null' && /^(?:Tuple|Array|Map)/.test(columnType(branch)))
  )
}
