import { connectClickhouse } from '../../infra/clickhouse/client.ts'
import { readConfig } from '../../infra/config/config.ts'
import { loadCodec } from '../../infra/kafka/codec.ts'
import { connectLog } from '../../infra/kafka/kafkajs.ts'
import { urlOf, type RunFile } from '../../infra/local/run-file.ts'
import { clickhouseOf } from '../../infra/local/secrets.ts'
import type { Books } from './reconcile.ts'
import type { Source } from './source.ts'

const QUERY_MS = 60_000

/** Opens what a running system keeps; `close` leaves it as it was. */
export async function openBooks(run: RunFile, source: Source): Promise<Books & { close(): Promise<void> }> {
  const config = readConfig(process.env, ['NAMESPACE', 'PARTITIONS', 'CLICKHOUSE_DATABASE'])
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
  return { reader, codec, partitions: config.PARTITIONS, clickhouse, source, close }
}
