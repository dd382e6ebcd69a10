import { connectClickhouse, type Clickhouse } from '../../infra/clickhouse/client.ts'
import { readConfig } from '../../infra/config/config.ts'
import { loadCodec } from '../../infra/kafka/codec.ts'
import { connectLog } from '../../infra/kafka/kafkajs.ts'
import type { Log } from '../../infra/kafka/seam.ts'
import { urlOf, type RunFile } from '../../infra/local/run-file.ts'
import { clickhouseOf } from '../../infra/local/secrets.ts'
import type { Books } from './reconcile.ts'
import type { Source } from './source.ts'

const QUERY_MS = 60_000

export interface OpenBooks extends Books {
  readonly clickhouse: Clickhouse
  /** What the reader reads. */
  readonly log: Pick<Log, 'trim'>
  /** Put before topics' names. */
  readonly namespace: string
  close(): Promise<void>
}

/** Opens what a running system keeps; `close` leaves it as it was. */
export async function openBooks(run: RunFile, source: Source): Promise<OpenBooks> {
  const config = readConfig(process.env, ['NAMESPACE', 'CLICKHOUSE_DATABASE'])
  const log = await connectLog({
    brokers: urlOf(run, 'broker').split(','),
    namespace: config.NAMESPACE,
    clientId: 'verify',
  })
  const clickhouse = connectClickhouse({
    ...clickhouseOf(run, process.env),
    database: config.CLICKHOUSE_DATABASE,
    deadlineMs: QUERY_MS,
  })
  const reader = log.reader()
  const close = async (): Promise<void> => {
    await reader.close()
    await log.close()
    await clickhouse.close()
  }
  const codec = await loadCodec(urlOf(run, 'registry'))
  const { NAMESPACE: namespace } = config
  return { log, namespace, reader, codec, partitions: run.partitions, clickhouse, source, close }
}
