import { schemaOf } from '../../schemas/codec.ts'
import type { RecordType } from '../../schemas/records.ts'
import type { Field, Schema } from '../../schemas/writer.ts'
import { optional, required, type ColumnTypes, type ParquetType, type Plain } from './parquet-types.ts'

/** Columns of the log beside a record's own; records have no field that begins with an underscore. */
export const LOG_COLUMNS: ColumnTypes = [
  ['_offset', required('int64')],
  ['_time', required('time')],
  ['_key', optional(required('text'))],
]

/** The names of a record type's fields, in its schema's order. */
export function fieldNames(record: RecordType): readonly string[] {
  return schemaOf(record).fields.map(({ name }) => name)
}

/**
 * The columns of a record type in a file: those of the log, then its own by its Avro schema. Lists, maps and records are
 * nested columns; an enum is text; a time is one.
 */
export function columnsOf(record: RecordType): ColumnTypes {
  return [...LOG_COLUMNS, ...schemaOf(record).fields.map(columnOf)]
}

/** A schema has no type of its own for times: each field's sentence says its unit. */
const isTime = /\bmicroseconds since the Unix epoch\b/i

function columnOf({ name, type, doc }: Field): readonly [name: string, type: ParquetType] {
  return [name, typeOf(type, isTime.test(doc) ? 'time' : 'int64')]
}

/** `long`: what a whole number of 64 bits is in it. */
function typeOf(schema: Schema, long: 'int64' | 'time' = 'int64'): ParquetType {
  if (typeof schema === 'string') return required(schema === 'long' ? long : (plain[schema] ?? 'text'))
  if ('length' in schema) return optional(typeOf(schema[1], long))
  if (schema.type === 'array') return { kind: 'list', isOptional: false, values: typeOf(schema.items) }
  if (schema.type === 'map') return { kind: 'map', isOptional: false, values: typeOf(schema.values) }
  if (schema.type === 'record') return { kind: 'struct', isOptional: false, fields: schema.fields.map(columnOf) }
  return required('text')
}

const plain: Readonly<Record<string, Plain>> = {
  int: 'int32',
  double: 'double',
  float: 'float',
  boolean: 'bool',
  bytes: 'bytes',
}
