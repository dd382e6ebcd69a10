import { schemaText } from '../../schemas/codec.ts'
import type { RecordType } from '../../schemas/records.ts'
import { implied } from './implied.ts'
import { optional, required, type ColumnTypes, type ParquetType, type Plain } from './parquet-types.ts'

/** Columns of the log beside a record's own; records have no field that begins with an underscore. */
export const LOG_COLUMNS: ColumnTypes = [
  ['_offset', required('int64')],
  ['_time', required('int64')],
  ['_key', optional(required('text'))],
]

/** The names of a record type's fields, in its schema's order. */
export function fieldNames(record: RecordType): readonly string[] {
  return fieldsOf(record).map(({ name }) => name)
}

/**
 * The columns of a record type in a file: those of the log, then its own by its Avro schema. Lists, maps and records are
 * nested columns; an enum is text.
 */
export function columnsOf(record: RecordType): ColumnTypes {
  const own = fieldsOf(record).map(({ name, type }) => [name, typeOf(type)] as const)
  const absent = implied[record] ?? {}
  return [...LOG_COLUMNS, ...own].map(([name, type]) => [name, name in absent ? optional(type) : type] as const)
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
}

function fieldsOf(record: RecordType): readonly Field[] {
  return (JSON.parse(schemaText(record)) as Named).fields ?? []
}

function typeOf(schema: Schema): ParquetType {
  if (typeof schema === 'string') return required(plain[schema] ?? 'text')
  if (isUnion(schema)) return optional(typeOf(schema.find((branch) => branch !== 'null') ?? 'string'))
  const { type, items = 'string', values = 'string', fields = [] } = schema
  if (type === 'array') return { kind: 'list', isOptional: false, values: typeOf(items) }
  if (type === 'map') return { kind: 'map', isOptional: false, values: typeOf(values) }
  if (type === 'record')
    return {
      kind: 'struct',
      isOptional: false,
      fields: fields.map((field) => [field.name, typeOf(field.type)] as const),
    }
  return typeOf(type)
}

/** Other names are those of enums. */
const plain: Readonly<Record<string, Plain>> = {
  long: 'int64',
  int: 'int32',
  double: 'double',
  float: 'float',
  boolean: 'bool',
  bytes: 'bytes',
}

function isUnion(schema: Schema): schema is readonly Schema[] {
  return Array.isArray(schema)
}
