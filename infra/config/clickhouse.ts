import type { Config } from './config.ts'
import { readSecretFile } from './secret-file.ts'

export const clickhousePasswordSettings = ['CLICKHOUSE_PASSWORD', 'CLICKHOUSE_PASSWORD_FILE'] as const
export const clickhouseSettings = ['CLICKHOUSE_URL', 'CLICKHOUSE_USER', ...clickhousePasswordSettings] as const

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

/** The password of the user that may write; empty: none was given. */
export function clickhousePassword(config: Config<(typeof clickhousePasswordSettings)[number]>): string {
  const { CLICKHOUSE_PASSWORD: text, CLICKHOUSE_PASSWORD_FILE: file } = config
  return text !== '' || file === '' ? text : readSecretFile('CLICKHOUSE_PASSWORD_FILE', file)
}

/** The settings with which a service of ours asks as `access` says. */
export function clickhouseEnv({
  url,
  user,
  password,
}: ClickhouseAccess): Record<'CLICKHOUSE_URL' | 'CLICKHOUSE_USER' | 'CLICKHOUSE_PASSWORD', string> {
  return { CLICKHOUSE_URL: url, CLICKHOUSE_USER: user, CLICKHOUSE_PASSWORD: password }
}
