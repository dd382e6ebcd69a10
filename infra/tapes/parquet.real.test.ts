import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Session } from 'chdb'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { avroType } from '../../schemas/codec.ts'
import type { Records, RecordType } from '../../schemas/records.ts'
import { topics } from '../../schemas/topics.ts'
import { columnsOf, fieldNames } from './columns.ts'
import { codec } from './given.ts'
import { marketRecords } from './given-market.ts'
import { recordsOfType, valueOf } from './given-records.ts'
import { implied } from './implied.ts'
import { decodeParquet } from './parquet-file.ts'
import { encodeRows } from './parquet-segment.ts'

/** Whole numbers as numbers, infinity as a text. */
const SETTINGS =
  'SETTINGS output_format_json_quote_64bit_integers = 0, output_format_json_quote_denormals = 1, max_threads = 1'
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
function asJson(value: unknown): unknown {
  if (value === Infinity) return 'inf'
  if (value === -Infinity) return '-inf'
  if (Buffer.isBuffer(value)) return value.toString()
  if (Array.isArray(value)) return value.map(asJson)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, asJson(inner)] as const))
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
      : [{ _offset: offset, _time: time, _key: key?.toString() ?? null, ...codec.decode(value).value }],
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
    for (const [name, values] of cells) {
      const told = rows.map((row) => row[name])
      expect([name, told]).toEqual([name, values.map((value, at) => asJson(value ?? absent(told[at])))])
    }
  })

  it('reads a whole segment of trades, and what is implied by the SQL that we state', async () => {
    const rows: Row[] = marketRecords(50_000).flatMap(({ offset, time, value }) =>
      value === null ? [] : [{ _offset: offset, _time: time, _key: null, ...codec.decode(value).value }],
    )
    write('segment.trade.parquet', rows, 'trade')
    const names = ['_offset', '_time', ...fieldNames('trade')].filter((name) =>
      rows.every((row) => typeof row[name] === 'number'),
    )
    expect(names).toContain('quote')
    const arrays = names.map((name) => `groupArray(${implied.trade?.[name]?.sql ?? name}) AS all_${name}`)
    const [told] = await rowsOf(`SELECT count() AS n, ${arrays.join(', ')} FROM ${source('segment.trade.parquet')}`)
    expect(told?.['n']).toBe(50_000)
    const sorted = rows.toSorted((a, b) =>
      String(a['instrument']) < String(b['instrument']) ? -1 : a['instrument'] === b['instrument'] ? 0 : 1,
    )
    for (const name of names) expect(told?.[`all_${name}`]).toEqual(sorted.map((row) => row[name]))
  })
})
