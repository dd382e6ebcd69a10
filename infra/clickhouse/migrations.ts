import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'

/** What the statements of a migration are told about the surroundings. */
export interface Surroundings {
  readonly database: string
  /**
   * Identity of the database: consumer groups are named by it, so that one that was dropped and made again is filled
   * again from the log's start.
   */
  readonly databaseId: string
  /** Put before topic and group names. */
  readonly namespace: string
  /** Brokers as ClickHouse reaches them. */
  readonly brokers: readonly string[]
  /** Schema registry as ClickHouse reaches it. */
  readonly registryUrl: string
}

export interface Migration {
  readonly number: number
  readonly name: string
  readonly text: string
  /** Of the text as it is in the file; a migration that was applied is never changed. */
  readonly checksum: string
  /** It says where Kafka and the registry are: applied again when they move. */
  readonly again: boolean
}

const FOLDER = new URL('migrations/', import.meta.url)

/** All migrations, by number; each `NNN_name.sql`. */
export function loadMigrations(folder: URL = FOLDER): Migration[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => {
      const [, digits, name] = /^(\d{3})_(\w+)\.sql$/.exec(file) ?? []
      if (digits === undefined || name === undefined) throw new Error(`${file} is not named NNN_name.sql`)
      const text = readFileSync(new URL(file, folder), 'utf8')
      return { number: Number(digits), name, text, checksum: checksumOf(text), again: text.startsWith('-- again:') }
    })
}

export function checksumOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

/** Fills `{{brokers}}`, `{{registry}}`, `{{topic:name}}` and `{{group:name}}` in, each as a string literal. */
export function render(text: string, around: Surroundings): string {
  return text.replaceAll(/\{\{(\w+)(?::([\w.]+))?\}\}/g, (whole, kind: string, name: string | undefined) => {
    if (kind === 'brokers') return literal(around.brokers.join(','))
    if (kind === 'registry') return literal(around.registryUrl)
    if (kind === 'topic' && name !== undefined) return literal(`${around.namespace}${name}`)
    if (kind === 'group' && name !== undefined)
      return literal(`${around.namespace}clickhouse.${around.database}.${around.databaseId}.${name}`)
    throw new Error(`unknown placeholder ${whole}`)
  })
}

/** The statements of a text: each ends with a semicolon at a line's end. */
export function statementsOf(text: string): string[] {
  return text
    .split(/;[ \t]*$/m)
    .map((statement) => statement.replaceAll(/^--.*$/gm, '').trim())
    .filter((statement) => statement !== '')
}

function literal(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
