import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fieldNames } from './columns.ts'
import { exportTo, recordsOf } from './testing/tapes.ts'

const python = process.env['PYTHON'] ?? 'python3'
const COUNT = 400
const records = recordsOf(COUNT).map((record, index) => ({ ...record, time: record.time + (index % 2) * 86_400_000 }))
const trades = records.filter(({ value }) => value !== null)

/** Each says rows, columns, and the type of `time`. */
const readers = [
  [
    'duckdb',
    `t = duckdb.sql(f"SELECT * FROM '{folder}/*/*.parquet'"); said = (len(t), t.columns, str(t.types[t.columns.index("time")]))`,
  ],
  ['polars', 't = polars.read_parquet(folder); said = (t.height, t.columns, str(t.schema["time"]))'],
  ['pandas', 't = pandas.read_parquet(folder); said = (len(t), list(t.columns), str(t.dtypes["time"]))'],
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

let folder: string
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'tables-'))
  await exportTo(records, { format: 'parquet', folder })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.each(readers)('%s', (name, code) => {
  const isThere = has(name)
  if (!isThere) console.log(`skipped: ${python} has no ${name}; set PYTHON to one that has`)

  it.skipIf(!isThere)(
    'opens an exported table’s folder, by day, with all columns and UTC times',
    { timeout: 60_000 },
    () => {
      const program = `import json, sys, ${name}\nfolder = sys.argv[1]\n${code}\nprint(json.dumps(said))`
      const text = execFileSync(python, ['-c', program, path.join(folder, 'trade')], { encoding: 'utf8' })
      const columns = ['_offset', '_time', '_key', ...fieldNames('trade'), 'day']
      expect(JSON.parse(text)).toEqual([trades.length, columns, times[name]])
    },
  )
})
