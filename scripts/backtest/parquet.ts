import path from 'node:path'
import { ParquetEngine } from '../../infra/tapes/parquet-engine.ts'
import type { ResultTable } from './results.ts'

/** Writes result tables as Parquet files, typed as their columns say. */
export async function writeParquet(folder: string, tables: readonly ResultTable[]): Promise<void> {
  const engine = await ParquetEngine.open()
  try {
    for (const { name, columns, rows } of tables) {
      const types = Object.entries(columns).map(([column, { type }]) => [column, type] as const)
      await engine.write(path.join(folder, `${name}.parquet`), types, rows)
    }
  } finally {
    engine.close()
  }
}
