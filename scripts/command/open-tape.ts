import { connectClickhouse, type Clickhouse } from '../../infra/clickhouse/client.ts'
import { ConfigError, readConfig } from '../../infra/config/config.ts'
import { loadCodec, SchemaError } from '../../infra/kafka/codec.ts'
import { LogError } from '../../infra/kafka/seam.ts'
import { urlOf, type RunFile } from '../../infra/local/run-file.ts'
import { clickhouseOf } from '../../infra/local/secrets.ts'
import { clickhouseTape, heldUpTo } from '../../infra/tapes/clickhouse-tape.ts'
import { fileTape } from '../../infra/tapes/file-tape.ts'
import { kafkaTape } from '../../infra/tapes/kafka-tape.ts'
import { TapeError, type Tape } from '../../infra/tapes/tape.ts'
import { openLog, systemOf } from './system.ts'

/** Of a query that reads a range of history. */
const QUERY_MS = 600_000
const hint = { otherwise: 'name its folder with --data, or give a folder of tapes with --source', byMode: false }

/** What reading or writing a tape may fail of that a person can mend. */
export const tapeErrors = [TapeError, ConfigError, LogError, SchemaError]

/** The tape that `--source` names; closing it closes its connections. */
export async function openTape(source: string, data: string): Promise<Tape> {
  if (source === 'kafka') return openKafka(await systemOf(data, hint))
  if (source === 'clickhouse') return openTables(await systemOf(data, hint))
  return fileTape(source)
}

async function openKafka(run: RunFile): Promise<Tape> {
  const log = await openLog(run, 'backtest')
  const tape = kafkaTape(log, await loadCodec(urlOf(run, 'registry')), run.partitions)
  return {
    ...tape,
    close: async () => {
      await tape.close()
      await log.close()
    },
  }
}

async function openTables(run: RunFile): Promise<Tape> {
  const config = readConfig(process.env, ['CLICKHOUSE_DATABASE'])
  const clickhouse = openClickhouse(run, config.CLICKHOUSE_DATABASE)
  return clickhouseTape(clickhouse, run.partitions, await heldUpTo(clickhouse))
}

/** The running system's ClickHouse; without `database` the server's default one. */
export function openClickhouse(run: RunFile, database?: string): Clickhouse {
  return connectClickhouse({
    ...clickhouseOf(run, process.env),
    ...(database === undefined ? {} : { database }),
    deadlineMs: QUERY_MS,
  })
}
