import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import fc from 'fast-check'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { afterEach, describe, expect, it } from 'vitest'
import { avroType } from '../../schemas/codec.ts'
import type { Records, RecordType } from '../../schemas/records.ts'
import { topics, type TopicName } from '../../schemas/topics.ts'
import type { LogRecord } from '../kafka/seam.ts'
import { columnsOf } from './columns.ts'
import { fileTape } from './file-tape.ts'
import { codec, exportTo, newFolder, readAll, recordsOf, trade } from './testing/tapes.ts'
import { recordsOfType, valueOf } from './testing/any-record.ts'
import { decodeParquet, encodeParquet } from './parquet-file.ts'
import { required, schemaOf, type ColumnTypes, type ParquetType } from './parquet-types.ts'
import { TapeError } from './tape.ts'

const folders: string[] = []

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

async function roundTrip(records: readonly LogRecord[], topic: TopicName): Promise<string> {
  const folder = newFolder()
  folders.push(folder)
  await exportTo(records, { format: 'parquet', folder, topic })
  return folder
}

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.parquet'))
}

const kinds = [...new Map(topics.flatMap(({ name, records }) => records.map((record) => [record, name] as const)))]

describe('a tape of Parquet files', () => {
  it.each(kinds)('gives back every %s to the bit', async (type, topic) => {
    const values = valueOf(avroType(type)) as fc.Arbitrary<Records[RecordType]>
    await fc.assert(
      fc.asyncProperty(recordsOfType<RecordType>(topic, type, values), async (records) => {
        expect(await readAll(fileTape(await roundTrip(records, topic)))).toEqual(records)
      }),
      { numRuns: 8 },
    )
  })

  it('has every column of a trade whole, and times that others read as such', async () => {
    const records = recordsOf(100)
    const folder = await roundTrip(records, 'market.trades')
    const given = records.flatMap(({ value, time }) => {
      const message = value === null ? undefined : codec.decode(value)
      return message?.type === 'trade' ? [{ ...message.value, _time: time * 1000 }] : []
    })
    const name = filesOf(folder).find((file) => file.endsWith('.trade.parquet')) ?? ''
    const content = readFileSync(path.join(folder, name))
    // As anyone reads it: nothing of ours, no setting but that of the packing.
    const rows = await parquetReadObjects({
      file: new Uint8Array(content).buffer,
      compressors: { ZSTD: (packed) => zstdDecompressSync(packed) },
    })
    expect(rows.length).toBe(given.length)
    for (const row of rows) {
      const empty = Object.keys(row).filter((column) => row[column] === null)
      expect(empty.filter((column) => !['_key', 'sequence', 'gap_id'].includes(column))).toEqual([])
    }
    const sum = (all: readonly Readonly<Record<string, unknown>>[]): number =>
      all.reduce((total, row) => total + Number(row['quote']), 0)
    expect(sum(rows)).toBeCloseTo(sum(given), 6)
    for (const column of ['time', 'received', '_time'] as const)
      expect(rows.map((row) => row[column])).toEqual(given.map((value) => new Date(value[column] / 1000)))
  })

  it('says of every time that it is one, in UTC and microseconds', () => {
    const times = kinds.flatMap(([type]) => timesIn(type, columnsOf(type)))
    expect(times).toContain('trade.received')
    expect(times).toContain('composite_price.sources.time')
    expect(times).toContain('derivative_ticker.next_settlement')
    const named = kinds
      .flatMap(([type]) => namesIn(type, columnsOf(type)))
      .filter((name) => /(_|\.)time$|_at$|received$/.test(name))
    // What a position stood on is told in the milliseconds of the log's own records.
    expect(named.filter((name) => !times.includes(name) && !name.endsWith('.stood.time'))).toEqual([])
    const [element] = schemaOf([['time', required('time')]]).slice(1)
    expect(element).toMatchObject({
      type: 'INT64',
      converted_type: 'TIMESTAMP_MICROS',
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
    })
  })
})

/** Dotted names of the columns that are times, lists and records entered. */
function timesIn(name: string, columns: ColumnTypes): string[] {
  return columns
    .flatMap(([column, type]) => leavesOf(`${name}.${column}`, type))
    .filter(({ kind }) => kind === 'time')
    .map((leaf) => leaf.name)
}

function namesIn(name: string, columns: ColumnTypes): string[] {
  return columns
    .flatMap(([column, type]) => leavesOf(`${name}.${column}`, type))
    .filter(({ kind }) => kind === 'int64' || kind === 'time')
    .map((leaf) => leaf.name)
}

function leavesOf(name: string, type: ParquetType): { readonly name: string; readonly kind: string }[] {
  if (type.kind === 'list' || type.kind === 'map') return leavesOf(name, type.values)
  if (type.kind === 'struct') return type.fields.flatMap(([field, inner]) => leavesOf(`${name}.${field}`, inner))
  return [{ name, kind: type.kind }]
}

describe('a Parquet file', () => {
  it('has one row group, sorted by instrument and then as the log is, packed with zstd', async () => {
    const instruments = ['b', 'a', 'b', 'a']
    const records = instruments.map((instrument, at) => ({
      offset: 10 + at,
      time: at,
      key: null,
      value: codec.encode('market.trades', 'trade', { ...trade(at), instrument }),
    }))
    const folder = await roundTrip(records, 'market.trades')
    const [name = ''] = filesOf(folder)
    const content = readFileSync(path.join(folder, name))
    const groups = parquetMetadata(new Uint8Array(content).buffer).row_groups
    expect(groups.map(({ num_rows: rows }) => rows)).toEqual([4n])
    expect(new Set(groups.flatMap(({ columns }) => columns.map((column) => column.meta_data?.codec)))).toEqual(
      new Set(['ZSTD']),
    )
    const cells = await decodeParquet(name, content, [['_offset', required('int64')]])
    expect(cells.get('_offset')).toEqual([11, 13, 10, 12])
  })

  it('is refused by its name where it was cut or lacks a column', async () => {
    const columns = [['a', required('int64')]] as const
    const whole = encodeParquet(columns, new Map([['a', [1, 2, 3]]]))
    const refused = async (content: Buffer, name = 'a'): Promise<unknown> =>
      decodeParquet('x.parquet', content, [[name, required('int64')]]).catch((error: unknown) => error)
    for (let length = 0; length < whole.length; length += 5) {
      const error = await refused(whole.subarray(0, length))
      expect(error).toBeInstanceOf(TapeError)
      expect(error).toMatchObject({ code: 'corrupt', message: expect.stringContaining('x.parquet') as string })
    }
    expect(await refused(whole, 'b')).toMatchObject({
      code: 'corrupt',
      message: 'x.parquet cannot be read: it has no column b',
    })
  })

  it('is not made of a row that lacks a value, or of a whole number that is none', () => {
    expect(() => encodeParquet([['a', required('double')]], new Map([['a', [1, null]]]))).toThrow('a row has no a')
    expect(() => encodeParquet([['a', required('int64')]], new Map([['a', [2 ** 40, 1.5]]]))).toThrow(RangeError)
  })
})

describe('a folder of Parquet files', () => {
  it('is not made of records whose key is no text', async () => {
    const records = [{ offset: 10, time: 0, key: Buffer.from([0xff]), value: null }]
    await expect(roundTrip(records, 'market.trades')).rejects.toMatchObject({ code: 'refused' })
  })

  it('of an older version is refused, and says what to do', async () => {
    const folder = await roundTrip(recordsOf(10), 'market.trades')
    const file = path.join(folder, 'tape.json')
    writeFileSync(file, readFileSync(file, 'utf8').replace('"version": 3', '"version": 2'))
    expect(() => fileTape(folder)).toThrow(
      /has version 2 of parquet, which only older releases read; export memory again/,
    )
  })
})
