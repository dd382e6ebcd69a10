import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Session } from 'chdb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Study } from './core/study.ts'
import { emptyFields } from '../../schemas/codec.ts'
import type { Signal, Trigger } from '../../schemas/records.ts'
import { parquetType, writeParquet, tablesOf } from './results.ts'

const QUERY_MS = 120_000
const HORIZONS_MS = [10_000, 60_000]
const T0 = 1_786_060_800_000_000

let folder: string
let engine: Session

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'results-'))
  engine = new Session(path.join(folder, 'engine'))
})

afterAll(() => {
  engine.cleanup()
  rmSync(folder, { recursive: true, force: true })
})

async function rowsOf<Row>(sql: string): Promise<Row[]> {
  const settings = 'SETTINGS output_format_json_quote_64bit_integers = 0'
  const result = await engine.queryAsync(`${sql} ${settings}`, { format: 'JSONEachRow', timeout: QUERY_MS })
  const lines = result.text().split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Row)
}

function filled(): Study {
  const study = new Study({ latencyMs: 0, horizonsMs: HORIZONS_MS, rules: [] })
  const record = { topic: 'market.trades', partition: 65_535, offset: 2 ** 40 } as const
  const signal: Signal = {
    asset: 'btc',
    kind: 'cvd',
    period: '1h',
    from: 'neutral',
    to: 'bullish_pressure',
    value: -0,
    evidence: { 'a’s': 0.25, 7: 1e300 },
    time: T0,
    v: 0,
    exchange: null,
  }
  const trigger: Trigger = {
    ...emptyFields('trigger'),
    trigger_id: 't1',
    alert_id: 'a1',
    kind: 'price',
    asset: 'btc',
    symbol: 'BTC',
    receiver: '',
    webhook: '',
    key_version: 0,
    severity: 'info',
    test: false,
    current_price: 60_000.5,
    target_price: 60_000,
    condition: 'above',
    condition_met: 'above 60,000',
    quality: 'good',
    late: true,
    trigger_count: 3,
    record: '',
    time: T0,
    v: 0,
  }
  study.signal(signal, T0, record, true)
  study.signal({ ...signal, evidence: {} }, T0 + 30_000_000, record, true)
  for (const second of [0, 11, 30]) study.price('btc', { price: 100 + second, time: T0 + second * 1e6, place: record })
  study.trigger(trigger, T0, record)
  return study
}

describe('results as Parquet', () => {
  const tables = tablesOf(filled(), HORIZONS_MS)

  it.each(tables)('have the types and the values of $name in ClickHouse', async ({ name, columns, rows }) => {
    writeParquet(folder, tables)
    const source = `file('${path.join(folder, `${name}.parquet`)}', Parquet)`
    const types = Object.entries(columns).map(([column, { type }]) => [column, plainOf(type, columns[column]?.isTime)])
    const told = await rowsOf<{ name: string; type: string }>(`DESCRIBE ${source}`)
    expect(told.map((column) => [column.name, column.type])).toEqual(types)
    expect(rows.length).toBeGreaterThan(0)
    const times = Object.keys(columns).filter((column) => columns[column]?.isTime === true)
    const asNumbers = times.map((column) => `toUnixTimestamp64Micro(\`${column}\`) AS \`${column}\``).join(', ')
    const shown = times.length === 0 ? '*' : `* REPLACE (${asNumbers})`
    expect(await rowsOf(`SELECT ${shown} FROM ${source}`)).toEqual(rows)
  })

  it('have their types also where there is nothing in them', async () => {
    const none = tablesOf(new Study({ latencyMs: 0, horizonsMs: HORIZONS_MS, rules: [] }), HORIZONS_MS)
    writeParquet(folder, none)
    for (const { name, columns } of none) {
      const source = `file('${path.join(folder, `${name}.parquet`)}', Parquet)`
      const told = await rowsOf<{ type: string }>(`DESCRIBE ${source}`)
      expect(told.map(({ type }) => type)).toEqual(
        Object.values(columns).map(({ type, isTime }) => plainOf(type, isTime)),
      )
      expect(await rowsOf(`SELECT count() AS n FROM ${source}`)).toEqual([{ n: 0 }])
    }
  })

  it('refuse a type that they do not know', () => {
    expect(() => parquetType('Array(Decimal(9, 2))')).toThrow('no type of Parquet for Decimal(9, 2)')
  })
})

/** Parquet has no word for LowCardinality, but one for times. */
function plainOf(type: string, isTime?: true): string {
  if (isTime === true) return type.replace('Int64', "DateTime64(6, 'UTC')")
  return type.replace('LowCardinality(String)', 'String')
}
