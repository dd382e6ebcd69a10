import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { avroType } from '../../schemas/codec.ts'
import type { Records, RecordType } from '../../schemas/records.ts'
import { topics, type TopicName } from '../../schemas/topics.ts'
import type { LogRecord } from '../kafka/seam.ts'
import { fieldNames } from './columns.ts'
import { recordsOfType, valueOf } from './testing/any-record.ts'
import { exportTo, recordsOf } from './testing/tapes.ts'

const python = process.env['PYTHON'] ?? 'python3'
const COUNT = 400
const records = recordsOf(COUNT).map((record, index) => ({ ...record, time: record.time + (index % 2) * 86_400_000 }))
const trades = records.filter(({ value }) => value !== null)

/** Each says rows, columns and their types. */
const readers = [
  [
    'duckdb',
    `t = duckdb.sql(f"SELECT * FROM '{table}/*/*.parquet'"); said = (len(t), t.columns, [str(of) for of in t.types])`,
  ],
  ['polars', 't = polars.read_parquet(table); said = (t.height, t.columns, [str(of) for of in t.dtypes])'],
  ['pandas', 't = pandas.read_parquet(table); said = (len(t), list(t.columns), [str(of) for of in t.dtypes])'],
] as const
const times = {
  duckdb: 'TIMESTAMP WITH TIME ZONE',
  polars: "Datetime(time_unit='us', time_zone='UTC')",
  pandas: 'datetime64[us, UTC]',
}

function has(name: string): boolean {
  try {
    execFileSync(python, ['-c', `import ${name === 'pandas' ? 'pandas, pyarrow' : name}`], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Some records of every type, by type; one that several topics have is written for the first. */
const kinds = new Map(topics.flatMap(({ name, records: own }) => own.map((type) => [type, name] as const)).toReversed())

function someOf(type: RecordType, topic: TopicName): readonly LogRecord[] {
  const values = valueOf(avroType(type)) as fc.Arbitrary<Records[RecordType]>
  const samples = fc.sample(recordsOfType<RecordType>(topic, type, values), { numRuns: 20, seed: 7 })
  return samples.find((sample) => sample.filter(({ value }) => value !== null).length > 1) ?? []
}

let folder: string
/** The folder and the rows of each table. */
const tables = new Map<RecordType, { readonly table: string; readonly rows: number }>()
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'tables-'))
  await exportTo(records, { format: 'parquet', folder })
  for (const [type, topic] of kinds) {
    const own = someOf(type, topic)
    const place = path.join(folder, 'kinds', type)
    await exportTo(own, { format: 'parquet', folder: place, topic })
    tables.set(type, { table: path.join(place, type), rows: own.filter(({ value }) => value !== null).length })
  }
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

type Opened = readonly [rows: number, columns: readonly string[], types: readonly string[]]

describe.each(readers)('%s', (name, code) => {
  const isThere = has(name)
  if (!isThere) console.log(`skipped: ${python} has no ${name}; set PYTHON to one that has`)

  function opened(places: readonly string[]): Opened[] {
    const program = `import json, sys, ${name}\nfor table in sys.argv[1:]:\n  ${code}\n  print(json.dumps(said))`
    const text = execFileSync(python, ['-c', program, ...places], { encoding: 'utf8' })
    return text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Opened)
  }

  it.skipIf(!isThere)('opens a table’s folder, by day, with all columns and UTC times', { timeout: 60_000 }, () => {
    const [[rows, columns, types] = [0, [], []]] = opened([path.join(folder, 'trade')])
    expect([rows, columns]).toEqual([trades.length, ['_offset', '_time', '_key', ...fieldNames('trade'), 'day']])
    expect([types[columns.indexOf('time')], types[columns.indexOf('_time')]]).toEqual([times[name], times[name]])
  })

  it.skipIf(!isThere)('opens the tables of all kinds of records', { timeout: 60_000 }, () => {
    const said = opened([...tables.values()].map(({ table }) => table))
    const expected = [...tables].map(([type, { rows }]) => [
      rows,
      ['_offset', '_time', '_key', ...fieldNames(type), 'day'],
    ])
    expect(said.map(([rows, columns]) => [rows, columns])).toEqual(expected)
  })
})
