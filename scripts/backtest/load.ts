import type { Clickhouse } from '../../infra/clickhouse/client.ts'
import type { Manifest } from './manifest.ts'
import type { ResultTable } from './results.ts'

/** The database of backtests; nothing else is written to. */
const DATABASE = 'backtests'
const ROWS_PER_INSERT = 20_000

/** Puts results into ClickHouse under their run's id, the first 16 digits of the output hash; loading twice changes nothing. */
export async function load(
  clickhouse: Clickhouse,
  manifest: Manifest,
  tables: readonly ResultTable[],
): Promise<string> {
  const run = manifest.outputHash.slice(0, 16)
  await clickhouse.run(`CREATE DATABASE IF NOT EXISTS ${DATABASE} ENGINE = Atomic`)
  await clickhouse.run(`CREATE TABLE IF NOT EXISTS ${DATABASE}.runs
(
    run String COMMENT 'First 16 digits of the output hash',
    loaded DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When it was loaded',
    manifest String COMMENT 'manifest.json'
)
ENGINE = ReplacingMergeTree(loaded)
ORDER BY run
COMMENT 'Backtests that were loaded'`)
  for (const table of tables) await loadTable(clickhouse, run, table)
  await clickhouse.insert(`${DATABASE}.runs`, [{ run, manifest: JSON.stringify(manifest) }])
  return run
}

async function loadTable(
  clickhouse: Clickhouse,
  run: string,
  { name, description, columns, rows }: ResultTable,
): Promise<void> {
  const lines = Object.entries(columns).map(([column, { type, description: unit }]) => {
    return `    \`${column}\` ${type} COMMENT '${unit.replaceAll("'", "''")}'`
  })
  await clickhouse.run(`CREATE TABLE IF NOT EXISTS ${DATABASE}.${name}
(
    run String COMMENT 'As in runs',
    number UInt32 COMMENT 'Place in the results',
${lines.join(',\n')}
)
ENGINE = ReplacingMergeTree
ORDER BY (run, number)
COMMENT '${description}'`)
  for (let at = 0; at < rows.length; at += ROWS_PER_INSERT) {
    const part = rows.slice(at, at + ROWS_PER_INSERT)
    await clickhouse.insert(
      `${DATABASE}.${name}`,
      part.map((row, index) => ({ run, number: at + index, ...row })),
    )
  }
}
