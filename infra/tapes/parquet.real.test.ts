import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Session } from 'chdb'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { avroType } from '../../schemas/codec.ts'
import type { Records, RecordType } from '../../schemas/records.ts'
import { topics } from '../../schemas/topics.ts'
import { columnsOf, fieldNames } from './columns.ts'
import { codec, exportTo, newFolder, trade } from './testing/tapes.ts'
import { marketRecords } from './testing/market.ts'
import { recordsOfType, valueOf } from './testing/any-record.ts'
import { decodeParquet } from './parquet-file.ts'
import { encodeRows } from './parquet-segment.ts'
import { required, type ParquetType } from './parquet-types.ts'

/** Whole numbers as numbers, infinity as a text, times in seconds with six decimals. */
const SETTINGS =
  "SETTINGS output_format_json_quote_64bit_integers = 0, output_format_json_quote_denormals = 1, date_time_output_format = 'unix_timestamp', max_threads = 1"
const QUERY_MS = 120_000

let folder: string
let engine: Session

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'parquet-'))
  engine = new Session(path.join(folder, 'engine'))
})

afterAll(() => {
  engine.cleanup()
  rmSync(folder, { recursive: true, force: true })
})

type Row = Readonly<Record<string, unknown>>

async function rowsOf(sql: string): Promise<Row[]> {
  const result = await engine.queryAsync(`${sql} ${SETTINGS}`, { format: 'JSONEachRow', timeout: QUERY_MS })
  const lines = result.text().split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Row)
}

/** Writes a file of any records of a type. */
function write(name: string, rows: readonly Row[], type: RecordType): Buffer {
  const content = encodeRows(type, rows)
  writeFileSync(path.join(folder, name), content)
  return content
}

function source(name: string): string {
  return `file('${path.join(folder, name)}', Parquet)`
}

/** A value as the engine's JSON has it. */
function asJson(type: ParquetType, value: unknown): unknown {
  if (value === null || value === undefined) return null
  if (type.kind === 'time') return secondsOf(Number(value))
  if (value === Infinity) return 'inf'
  if (value === -Infinity) return '-inf'
  if (Buffer.isBuffer(value)) return value.toString()
  if (type.kind === 'list' && Array.isArray(value)) return value.map((inner) => asJson(type.values, inner))
  if (type.kind !== 'map' && type.kind !== 'struct') return value
  const fields = type.kind === 'struct' ? new Map(type.fields) : undefined
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      asJson(type.kind === 'map' ? type.values : (fields?.get(name) ?? type), inner),
    ]),
  )
}

function secondsOf(micros: number): string {
  const text = String(micros).padStart(7, '0')
  return `${text.slice(0, -6)}.${text.slice(-6)}`
}

/** The same value with times that a calendar has: ClickHouse's ends in 2299. */
function datable(type: ParquetType, value: unknown): unknown {
  if (value === null || value === undefined) return value
  if (type.kind === 'time') return Math.abs(Number(value)) % 2 ** 51
  if (type.kind === 'list' && Array.isArray(value)) return value.map((inner) => datable(type.values, inner))
  if (type.kind !== 'struct') return value
  const object = value as Row
  return Object.fromEntries(type.fields.map(([name, inner]) => [name, datable(inner, object[name])] as const))
}

/** A record that is not there is one of nulls and empty lists in ClickHouse, which has no other. */
function absent(told: unknown): unknown {
  if (typeof told !== 'object' || told === null) return null
  return Object.fromEntries(
    Object.entries(told).map(([name, inner]) => [name, Array.isArray(inner) ? [] : null] as const),
  )
}

function anyRows(type: RecordType): Row[] {
  const topic = topics.find(({ records }) => records.some((record) => record === type))
  if (topic === undefined) throw new Error(`no topic has ${type}`)
  const values = valueOf(avroType(type)) as fc.Arbitrary<Records[RecordType]>
  const [records = []] = fc.sample(recordsOfType<RecordType>(topic.name, type, values), { numRuns: 1, seed: 7 })
  return records.flatMap(({ offset, time, key, value }) =>
    value === null
      ? []
      : [
          {
            _offset: offset,
            _time: time,
            _key: key?.toString() ?? null,
            ...datableValue(type, { ...codec.decode(value).value }),
          },
        ],
  )
}

function datableValue(type: RecordType, value: Row): Row {
  const types = new Map(columnsOf(type))
  return Object.fromEntries(
    Object.entries(value).map(([name, own]) => [name, datable(types.get(name) ?? required('text'), own)] as const),
  )
}

const kinds = [...new Set(topics.flatMap(({ records }) => records))]

describe('ClickHouse', () => {
  it.each(kinds)('reads every column of a file of %s as we do', async (type) => {
    const content = write(`${type}.parquet`, anyRows(type), type)
    const cells = await decodeParquet(type, content, columnsOf(type))
    const rows = await rowsOf(`SELECT * FROM ${source(`${type}.parquet`)}`)
    expect(rows.map((row) => Object.keys(row))).toEqual(
      rows.map(() => ['_offset', '_time', '_key', ...fieldNames(type)]),
    )
    for (const [name, own] of columnsOf(type)) {
      const told = rows.map((row) => row[name])
      const values = (cells.get(name) ?? []).map((value, at) =>
        value === null ? absent(told[at]) : asJson(own, value),
      )
      expect([name, told]).toEqual([name, values])
    }
  })

  it('reads a whole segment of trades, and its times as times', async () => {
    const rows: Row[] = marketRecords(50_000).flatMap(({ offset, time, value }) =>
      value === null ? [] : [{ _offset: offset, _time: time, _key: null, ...codec.decode(value).value }],
    )
    write('segment.trade.parquet', rows, 'trade')
    const names = ['_offset', '_time', ...fieldNames('trade')].filter((name) =>
      rows.every((row) => typeof row[name] === 'number'),
    )
    expect(names).toContain('quote')
    const times = new Set(['_time', 'time', 'received'])
    const value = (name: string): string => (times.has(name) ? `toUnixTimestamp64Micro(${name})` : name)
    const arrays = names.map((name) => `groupArray(${value(name)}) AS all_${name}`)
    const [told] = await rowsOf(`SELECT count() AS n, ${arrays.join(', ')} FROM ${source('segment.trade.parquet')}`)
    expect(told?.['n']).toBe(50_000)
    const types = await rowsOf(`DESCRIBE ${source('segment.trade.parquet')}`)
    const typed = types.filter(({ name }) => times.has(String(name)))
    expect(typed.map(({ type }) => type)).toEqual(typed.map(() => "DateTime64(6, 'UTC')"))
    expect(typed.length).toBe(3)
    const sorted = rows.toSorted((a, b) =>
      String(a['instrument']) < String(b['instrument']) ? -1 : a['instrument'] === b['instrument'] ? 0 : 1,
    )
    for (const name of names) expect(told?.[`all_${name}`]).toEqual(sorted.map((row) => row[name]))
  })

  it('counts a trade that two feeds wrote once, by the query of the guide', async () => {
    const folder = newFolder()
    const values = [1, 2, 1, 3].map((id) => codec.encode('market.trades', 'trade', trade(id)))
    const records = values.map((value, index) => ({ offset: index + 10, time: index * 1000, key: null, value }))
    await exportTo(records, { format: 'parquet', folder })
    const guide = readFileSync('api/docs/guides/backtesting.md', 'utf8')
    const [, query = ''] = /```sql\n([^`]*)```/.exec(guide) ?? []
    const told = await rowsOf(query.replace("'tables/", `'${folder}/`))
    const volume = [1, 2, 3].reduce((sum, id) => sum + trade(id).quote, 0)
    expect(told).toMatchObject([{ instrument: 'binance:perp:BTCUSDT', volume, newest_id: 3 }])
    rmSync(folder, { recursive: true })
  })
})
