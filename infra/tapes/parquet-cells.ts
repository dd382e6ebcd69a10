import type { DecodedArray } from 'hyparquet'
import type { ParquetType } from './parquet-types.ts'

/**
 * A column's values as our records have them: whole numbers as numbers, bytes as buffers, null for none. Throws an `Error`
 * where it has not a value for each row, or a whole number that no number holds exactly.
 */
export function readCells(name: string, type: ParquetType, chunks: readonly DecodedArray[], rows: number): unknown[] {
  const convert = convertOf(type, toOurs)
  const cells: unknown[] = []
  for (const chunk of chunks) {
    // By index: a typed array's own `map` would make numbers to its own type.
    for (let at = 0; at < chunk.length; at++) cells.push(convert(chunk[at]))
  }
  if (cells.length !== rows) throw new Error(`${name} has ${cells.length} values of ${rows}`)
  if (!type.isOptional && cells.includes(null)) throw new Error(`${name} lacks a value`)
  return cells
}

/**
 * A column's values as the library writes them: within lists, maps and records whole numbers are `bigint` there. In a column
 * of their own they stay numbers, of which it takes differences faster.
 */
export function writeCells(type: ParquetType, cells: readonly unknown[]): unknown[] {
  const isNested = type.kind === 'list' || type.kind === 'map' || type.kind === 'struct'
  return isNested ? cells.map(convertOf(type, toTheirs)) : [...cells]
}

type Convert = (value: unknown) => unknown
type ConvertPlain = (type: ParquetType) => Convert

const same: Convert = (value) => value

function toOurs({ kind }: ParquetType): Convert {
  if (kind === 'int64' || kind === 'time') return whole
  return kind === 'bytes' ? (value) => (value instanceof Uint8Array ? Buffer.from(value) : value) : same
}

function toTheirs({ kind }: ParquetType): Convert {
  return kind === 'int64' || kind === 'time' ? (value) => BigInt(Number(value)) : same
}

function whole(value: unknown): number {
  const number = Number(value)
  if (!Number.isSafeInteger(number)) throw new Error(`${String(value)} is more than a number holds`)
  return number
}

/** Converts the plain values in a value of a type; of what is none, null. */
function convertOf(type: ParquetType, plain: ConvertPlain): Convert {
  const convert = presentOf(type, plain)
  return (value) => (value === null || value === undefined ? null : convert(value))
}

function presentOf(type: ParquetType, plain: ConvertPlain): Convert {
  if (type.kind === 'list') {
    const each = convertOf(type.values, plain)
    return (value) => (Array.isArray(value) ? value.map(each) : notA(type))
  }
  if (type.kind === 'map') {
    const each = convertOf(type.values, plain)
    return (value) =>
      Object.fromEntries(Object.entries(objectOf(type, value)).map(([key, inner]) => [key, each(inner)] as const))
  }
  if (type.kind === 'struct') {
    const fields = type.fields.map(([name, inner]) => [name, convertOf(inner, plain)] as const)
    return (value) => {
      const object = objectOf(type, value)
      return Object.fromEntries(fields.map(([name, convert]) => [name, convert(object[name])] as const))
    }
  }
  return plain(type)
}

function objectOf(type: ParquetType, value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : notA(type)
}

function notA({ kind }: ParquetType): never {
  throw new Error(`a value is no ${kind}`)
}
