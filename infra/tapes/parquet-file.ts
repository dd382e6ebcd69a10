import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { parquetMetadata, parquetRead, parquetSchema, type DecodedArray } from 'hyparquet'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { readCells, writeCells } from './parquet-cells.ts'
import { encodingOf, schemaOf, type ColumnTypes } from './parquet-types.ts'
import { TapeError } from './tape.ts'

/**
 * Of a recorded hour, bytes and microseconds of processor time a trade, by level: 11.06 and 13 (9), 10.71 and 14 (15),
 * 10.42 and 15 (17), 10.30 and 17 (19), taken while three columns of a trade were left out.
 */
const ZSTD_LEVEL = 19
/** One page for a column of numbers, however many rows a segment has. */
const PAGE_BYTES = 16 * 1024 * 1024

/** The values of a column, one for each row; null: none. */
export type Cells = readonly unknown[]

/**
 * A Parquet file of these columns, as one row group. Throws a `RangeError` where a whole
 * number is none, an `Error` where a value is missing: a programmer's mistake.
 */
export function encodeParquet(columns: ColumnTypes, cells: ReadonlyMap<string, Cells>): Buffer {
  const columnData = columns.map(([name, type]) => {
    const data = writeCells(type, cells.get(name) ?? [])
    if (!type.isOptional && data.includes(null)) throw new Error(`a row has no ${name}`)
    const isAbsent = data.every((value) => value === null)
    // A column of nulls has no values to take differences of.
    return { name, data, ...(isAbsent ? {} : encodingOf(type)) }
  })
  const compressors = { ZSTD: compress }
  const layout = { rowGroupSize: Math.max(1, columnData[0]?.data.length ?? 0), pageSize: PAGE_BYTES }
  return Buffer.from(
    parquetWriteBuffer({ columnData, schema: schemaOf(columns), codec: 'ZSTD', compressors, ...layout }),
  )
}

function compress(bytes: Uint8Array): Uint8Array {
  return zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL } })
}

/** The values of each of the columns. Throws `TapeError` `corrupt`, by the file's name. */
export async function decodeParquet(
  name: string,
  content: Buffer,
  columns: ColumnTypes,
): Promise<ReadonlyMap<string, Cells>> {
  try {
    return await decode(content, columns)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new TapeError('corrupt', `${name} cannot be read: ${reason}`, { cause: error })
  }
}

async function decode(content: Buffer, columns: ColumnTypes): Promise<ReadonlyMap<string, Cells>> {
  const bytes = new Uint8Array(content).buffer
  const metadata = parquetMetadata(bytes)
  const names = columns.map(([name]) => name)
  const there = new Set(parquetSchema(metadata).children.map(({ element }) => element.name))
  const missing = names.filter((name) => !there.has(name))
  if (missing.length > 0) throw new Error(`it has no column ${missing.join(', ')}`)
  const chunks = new Map<string, DecodedArray[]>(names.map((name) => [name, []]))
  await parquetRead({
    file: { byteLength: bytes.byteLength, slice: (start, end) => bytes.slice(start, end) },
    metadata,
    columns: names,
    compressors: { ZSTD: (packed) => zstdDecompressSync(packed) },
    utf8: false,
    parsers: {
      stringFromBytes: (text: Uint8Array | null | undefined) => text && utf8.decode(text),
      // As a date it would lose the microseconds.
      timestampFromMicroseconds: (micros: unknown) => micros,
    },
    onChunk: ({ columnName, columnData }) => void chunks.get(columnName)?.push(columnData),
  })
  const rows = Number(metadata.num_rows)
  return new Map(columns.map(([name, type]) => [name, readCells(name, type, chunks.get(name) ?? [], rows)] as const))
}

/** A text may begin with what could be a byte order mark. */
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
