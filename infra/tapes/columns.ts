import { schemaText } from '../../schemas/codec.ts'
import type { RecordType } from '../../schemas/records.ts'
import { optional, required, type ColumnTypes, type ParquetType, type Plain } from './parquet-types.ts'

/** Columns of the log beside a record's own; records have no field that begins with an underscore. */
export const LOG_COLUMNS: ColumnTypes = [
  ['_offset', required('int64')],
  ['_time', required('time')],
  ['_key', optional(required('text'))],
]

/** The names of a record type's fields, in its schema's order. */
export function fieldNames(record: RecordType): readonly string[] {
  return fieldsOf(record).map(({ name }) => name)
}

/**
 * The columns of a record type in a file: those of the log, then its own by its Avro schema. Lists, maps and records are
 * nested columns; an enum is text; a time is one.
 */
export function columnsOf(record: RecordType): ColumnTypes {
  return [...LOG_COLUMNS, ...fieldsOf(record).map(columnOf)]
}

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
  readonly doc?: string
}

function fieldsOf(record: RecordType): readonly Field[] {
  return (JSON.parse(schemaText(record)) as Named).fields ?? []
}

/** A schema has no type of its own for times: each field's sentence says its unit. */
const isTime = /\bmicroseconds since the Unix epoch\b/i

function columnOf({ name, type, doc = '' }: Field): readonly [name: string, type: ParquetType] {
  return [name, typeOf(type, isTime.test(doc) ? 'time' : 'int64')]
}

/** `long`: what a whole number of 64 bits is in it. */
function typeOf(schema: Schema, long: 'int64' | 'time' = 'int64'): ParquetType {
  if (typeof schema === 'string') return required(schema === 'long' ? long : (plain[schema] ?? 'text'))
  if (isUnion(schema)) return optional(typeOf(schema.find((branch) => branch !== 'null') ?? 'string', long))
  const { type, items = 'string', values = 'string', fields = [] } = schema
  if (type === 'array') return { kind: 'list', isOptional: false, values: typeOf(items) }
  if (type === 'map') return { kind: 'map', isOptional: false, values: typeOf(values) }
  if (type === 'record') return { kind: 'struct', isOptional: false, fields: fields.map(columnOf) }
  return typeOf(type, long)
}

/** Other names are those of enums. */
const plain: Readonly<Record<string, Plain>> = {
  int: 'int32',
  double: 'double',
  float: 'float',
  boolean: 'bool',
  bytes: 'bytes',
}

function isUnion(schema: Schema): schema is readonly Schema[] {
  return Array.isArray(schema)
}
