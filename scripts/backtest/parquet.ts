import { encodeParquet, type Cells } from '../../infra/tapes/parquet-file.ts'
import { optional, required, type ColumnTypes, type ParquetType, type Plain } from '../../infra/tapes/parquet-types.ts'
import { writeFile } from '../../infra/tapes/segment-file.ts'
import type { ResultTable } from './results.ts'

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
