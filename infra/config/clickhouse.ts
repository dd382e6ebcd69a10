import type { Config } from './config.ts'
import { readSecretFile } from './secrets.ts'

export const clickhousePasswordSettings = ['CLICKHOUSE_PASSWORD', 'CLICKHOUSE_PASSWORD_FILE'] as const
export const clickhouseSettings = ['CLICKHOUSE_URL', 'CLICKHOUSE_USER', ...clickhousePasswordSettings] as const

/** What ClickHouse reads from where, and how it is told so. */
export const readingSettings = [
  ...clickhouseSettings,
  'CLICKHOUSE_DATABASE',
  'CLICKHOUSE_KAFKA_BROKERS',
  'CLICKHOUSE_REGISTRY_URL',
  'CLICKHOUSE_FLUSH_MS',
  'NAMESPACE',
  'KAFKA_BROKERS',
  'SCHEMA_REGISTRY_URL',
] as const

/** Where ClickHouse is, and as whom it is asked. */
export interface ClickhouseAccess {
  /** The HTTP interface. */
  readonly url: string
  readonly user: string
  readonly password: string
}

/** How our own services ask ClickHouse. */
export function clickhouseAccess(config: Config<(typeof clickhouseSettings)[number]>): ClickhouseAccess {
  return { url: config.CLICKHOUSE_URL, user: config.CLICKHOUSE_USER, password: clickhousePassword(config) }
}

/** How ClickHouse reads the log, as it reaches brokers and registry; what `migrate` and `Rereader` have in common. */
export function readingOptions(config: Config<(typeof readingSettings)[number]>) {
  const { CLICKHOUSE_KAFKA_BROKERS: brokers, CLICKHOUSE_REGISTRY_URL: registryUrl } = config
  return {
    ...clickhouseAccess(config),
    database: config.CLICKHOUSE_DATABASE,
    namespace: config.NAMESPACE,
    brokers: brokers.length > 0 ? brokers : config.KAFKA_BROKERS,
    registryUrl: registryUrl === '' ? config.SCHEMA_REGISTRY_URL : registryUrl,
    flushMs: config.CLICKHOUSE_FLUSH_MS,
  }
}

/** The password of the user that may write; empty: none was given. */
export function clickhousePassword(config: Config<(typeof clickhousePasswordSettings)[number]>): string {
  const { CLICKHOUSE_PASSWORD: text, CLICKHOUSE_PASSWORD_FILE: file } = config
  return text !== '' || file === '' ? text : readSecretFile('CLICKHOUSE_PASSWORD', file)
}
