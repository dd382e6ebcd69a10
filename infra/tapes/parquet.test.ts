import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { parquetMetadata } from 'hyparquet'
import { afterEach, describe, expect, it } from 'vitest'
import { avroType } from '../../schemas/codec.ts'
import type { Records, RecordType, Trade } from '../../schemas/records.ts'
import { topics, type TopicName } from '../../schemas/topics.ts'
import type { LogRecord } from '../kafka/seam.ts'
import { fileTape } from './file-tape.ts'
import { codec, exportTo, newFolder, readAll, recordsOf, trade } from './given.ts'
import { recordsOfType, valueOf } from './given-records.ts'
import { implied } from './implied.ts'
import { decodeParquet, encodeParquet } from './parquet-file.ts'
import { optional, required } from './parquet-types.ts'
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

/** Trades of which columns are what others say, or all but, such as a zero of the other sign. */
const trades: fc.Arbitrary<Trade> = fc
  .tuple(
    valueOf(avroType('trade')) as fc.Arbitrary<Trade>,
    fc.constantFrom('a', 'b'),
    fc.boolean(),
    fc.boolean(),
    fc.boolean(),
  )
  .map(([value, instrument, isOne, isProduct, isNegated]) => {
    const product = isProduct ? value.price * value.size : value.quote
    const quote = Number.isNaN(product) ? 0 : product
    return { ...value, instrument, last_id: isOne ? value.first_id : value.last_id, quote: isNegated ? -quote : quote }
  })

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

  it('gives back trades of which columns are implied, and those of which they are nearly so', async () => {
    await fc.assert(
      fc.asyncProperty(recordsOfType('market.trades', 'trade', trades), async (records) => {
        const timed = records.map((record, at) => (at % 2 === 0 ? { ...record, time: receivedMs(record) } : record))
        expect(await readAll(fileTape(await roundTrip(timed, 'market.trades')))).toEqual(timed)
      }),
      { numRuns: 40 },
    )
  })

  it('leaves out what is implied, and nothing else', async () => {
    const value = trade(1)
    const other: Trade = { ...value, last_id: 2, quote: value.quote * (1 + Number.EPSILON) }
    const time = Math.floor(value.received / 1000)
    const record = (offset: number, of: Trade, at: number): LogRecord => ({
      offset,
      time: at,
      key: null,
      value: codec.encode('market.trades', 'trade', of),
    })
    const folder = await roundTrip([record(10, value, time), record(11, other, time + 1)], 'market.trades')
    const [name = ''] = filesOf(folder)
    const columns = ['last_id', 'quote', '_time'].map(
      (column) => [column, optional(required(column === 'quote' ? 'double' : 'int64'))] as const,
    )
    const cells = await decodeParquet(name, readFileSync(path.join(folder, name)), columns)
    expect(Object.fromEntries(cells)).toEqual({
      last_id: [null, 2],
      quote: [null, other.quote],
      _time: [null, time + 1],
    })
    expect(Object.keys(implied.trade ?? {})).toEqual(['last_id', 'quote', '_time'])
  })

  it.each(['README.md', '../../api/docs/guides/backtesting.md'])('has its SQL in %s', (page) => {
    const words = readFileSync(new URL(page, import.meta.url), 'utf8')
    expect(Object.keys(implied)).toEqual(['trade'])
    for (const { sql } of Object.values(implied.trade ?? {})) expect(words).toContain(sql)
  })
})

function receivedMs({ value, time }: LogRecord): number {
  const message = value === null ? undefined : codec.decode(value)
  return message?.type === 'trade' && message.value.received >= 0 ? Math.floor(message.value.received / 1000) : time
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
    writeFileSync(file, readFileSync(file, 'utf8').replace('"version": 2', '"version": 1'))
    expect(() => fileTape(folder)).toThrow(
      /has version 1 of parquet, which only older releases read; export memory again/,
    )
  })
})
