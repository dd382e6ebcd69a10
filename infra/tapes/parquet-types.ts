import type { SchemaElement } from 'hyparquet'
import type { ColumnSource } from 'hyparquet-writer'

/**
 * What a column of a Parquet file holds. Whole numbers are numbers below 2^53 in size; a `time` is
 * microseconds since the Unix epoch, shown as UTC; `text` is UTF-8, `bytes` are not interpreted. A map's keys are text.
 */
export type ParquetType =
  | { readonly kind: Plain; readonly isOptional: boolean }
  | { readonly kind: 'list' | 'map'; readonly isOptional: boolean; readonly values: ParquetType }
  | { readonly kind: 'struct'; readonly isOptional: boolean; readonly fields: ColumnTypes }

export type Plain = keyof typeof plain

/** Column name and type, in the file's order. */
export type ColumnTypes = readonly (readonly [name: string, type: ParquetType])[]

const plain = {
  bool: { type: 'BOOLEAN' },
  int32: { type: 'INT32' },
  int64: { type: 'INT64' },
  uint16: { type: 'INT32', converted_type: 'UINT_16' },
  uint32: { type: 'INT32', converted_type: 'UINT_32' },
  float: { type: 'FLOAT' },
  double: { type: 'DOUBLE' },
  // Microseconds since the Unix epoch.
  time: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MICROS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
  },
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  bytes: { type: 'BYTE_ARRAY' },
} as const satisfies Readonly<Record<string, Omit<SchemaElement, 'name'>>>

export function required(kind: Plain): ParquetType {
  return { kind, isOptional: false }
}

export function optional(type: ParquetType): ParquetType {
  return { ...type, isOptional: true }
}

/** The schema of a file with these columns: its elements in depth-first order, as a footer has them. */
export function schemaOf(columns: ColumnTypes): SchemaElement[] {
  return [{ name: 'root', num_children: columns.length }, ...columns.flatMap(([name, type]) => elementsOf(name, type))]
}

/** Lists and maps have the three levels that the format's specification asks for. */
function elementsOf(name: string, type: ParquetType): SchemaElement[] {
  const head = { name, repetition_type: type.isOptional ? 'OPTIONAL' : 'REQUIRED' } as const
  const group = { ...head, num_children: 1 } as const
  switch (type.kind) {
    case 'list':
      return [
        { ...group, converted_type: 'LIST' },
        { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
        ...elementsOf('element', type.values),
      ]
    case 'map':
      return [
        { ...group, converted_type: 'MAP' },
        { name: 'key_value', repetition_type: 'REPEATED', num_children: 2 },
        ...elementsOf('key', required('text')),
        ...elementsOf('value', type.values),
      ]
    case 'struct':
      return [
        { ...head, num_children: type.fields.length },
        ...type.fields.flatMap(([field, inner]) => elementsOf(field, inner)),
      ]
    default:
      return [{ ...head, ...plain[type.kind] }]
  }
}

/**
 * How a column is written. Whole numbers as differences: of sorted rows they are small. Fractions as they are: zstd packs
 * them better so than split into streams of bytes or as a dictionary, which knows no negative zero besides. Text is left to
 * the library, which makes a dictionary of it where that halves it.
 */
export function encodingOf(type: ParquetType): Pick<ColumnSource, 'encoding'> {
  if (type.kind === 'int32' || type.kind === 'int64' || type.kind === 'time') return { encoding: 'DELTA_BINARY_PACKED' }
  return hasFractions(type) ? { encoding: 'PLAIN' } : {}
}

function hasFractions(type: ParquetType): boolean {
  if (type.kind === 'struct') return type.fields.some(([, inner]) => hasFractions(inner))
  if (type.kind === 'list' || type.kind === 'map') return hasFractions(type.values)
  return type.kind === 'double' || type.kind === 'float'
}
