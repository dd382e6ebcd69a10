import { setTimeout as delay } from 'node:timers/promises'
import type { ClickhouseAccess } from '../config/clickhouse.ts'
import type { Topic } from '../../schemas/topics.ts'
import { connectClickhouse, type Clickhouse } from './client.ts'
import { loadMigrations, statementsOf, type Migration } from './migrations.ts'
import { ingestedTopics, readingOf, type Surroundings } from './readings.ts'

export interface MigrateOptions extends Omit<Surroundings, 'databaseId'>, ClickhouseAccess {
  readonly migrations?: readonly Migration[]
  /** What is read; default: every topic but the caches. */
  readonly topics?: readonly Topic[]
  /** Drops a database that other migrations made, and makes it again from the log. */
  readonly rebuild?: boolean
  /** Longest wait for ClickHouse to answer. */
  readonly waitMs?: number
}

export interface Migrated {
  /** What was there was dropped first: all rows are read from the log again. */
  readonly rebuilt: boolean
  /** Migrations that were applied, as `001_log`. */
  readonly applied: readonly string[]
  /** Topics whose reading was begun, or begun again elsewhere. */
  readonly reading: readonly string[]
}

/** Why the database was left as it is. `unreachable` may be mended by a retry. */
export class MigrationError extends Error {
  readonly code: 'changed' | 'newer' | 'unreachable' | 'bad-name'
  constructor(code: MigrationError['code'], message: string) {
    super(message)
    this.code = code
  }
}

const WAIT_MS = 30_000
const RETRY_MS = 250
/** Dropping a Kafka table waits for its consumer to leave, dropping a database for those of all. */
const DEADLINE_MS = 150_000

/**
 * Brings the database to the newest state: what is missing is applied in order, then every topic is read that was not, or
 * not from where brokers and registry are now, or at the pace that is asked for (a consumer goes on at its group's offsets). Doing all again changes nothing.
 * Throws `MigrationError`.
 */
export async function migrate(options: MigrateOptions): Promise<Migrated> {
  const { url, user, password, database, migrations = loadMigrations() } = options
  const { topics = ingestedTopics, waitMs = WAIT_MS } = options
  if (!/^[A-Za-z_]\w*$/.test(database))
    throw new MigrationError('bad-name', `${JSON.stringify(database)} cannot be a database name; for example market`)
  const server = connectClickhouse({ url, user, password, deadlineMs: DEADLINE_MS })
  const clickhouse = connectClickhouse({ url, user, password, database, deadlineMs: DEADLINE_MS })
  try {
    await untilUp(server, url, waitMs)
    await createDatabase(server, database)
    const stranger = await strangerIn(clickhouse, database, migrations)
    const rebuilt = stranger?.code === 'changed' && options.rebuild === true
    if (stranger !== undefined && !rebuilt) throw stranger
    if (rebuilt) {
      await server.run(`DROP DATABASE ${database} SYNC`)
      await createDatabase(server, database)
    }
    const applied = await apply(clickhouse, migrations)
    const databaseId = await identityOf(server, database)
    if (databaseId === undefined)
      throw new MigrationError('unreachable', `database ${database} went away while it was made`)
    return { rebuilt, applied, reading: await read(clickhouse, topics, { ...options, databaseId }) }
  } finally {
    await Promise.all([server.close(), clickhouse.close()])
  }
}

async function untilUp(clickhouse: Clickhouse, url: string, waitMs: number): Promise<void> {
  const deadline = AbortSignal.timeout(waitMs)
  while (!(await clickhouse.ping())) {
    if (deadline.aborted) throw new MigrationError('unreachable', `ClickHouse did not answer at ${url} in ${waitMs} ms`)
    await delay(RETRY_MS)
  }
}

/** Atomic whatever the server's default is: the local one's is not, and refuses some statements. */
function createDatabase(server: Clickhouse, database: string): Promise<void> {
  return server.run(`CREATE DATABASE IF NOT EXISTS ${database} ENGINE = Atomic`)
}

/** By which its consumer groups are named; undefined: there is no such database. */
export async function identityOf(server: Clickhouse, database: string): Promise<string | undefined> {
  const [found] = await server.rows<{ id: string }>(
    'SELECT left(toString(uuid), 8) AS id FROM system.databases WHERE name = {database:String}',
    { database },
  )
  return found?.id
}

interface Applied {
  readonly number: number
  readonly name: string
  readonly checksum: string
}

const TABLE = `CREATE TABLE IF NOT EXISTS migrations
(
    number UInt16 COMMENT 'Number of the migration',
    name String COMMENT 'Its name',
    checksum String COMMENT 'Of its text',
    applied DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When it was applied'
)
ENGINE = ReplacingMergeTree(applied)
ORDER BY number
COMMENT 'Which migrations this database has'`

function appliedIn(clickhouse: Clickhouse): Promise<Applied[]> {
  return clickhouse.rows<Applied>('SELECT number, name, checksum FROM migrations FINAL ORDER BY number')
}

/** Why the database is none of ours to go on with: another version of these files made it. */
async function strangerIn(
  clickhouse: Clickhouse,
  database: string,
  migrations: readonly Migration[],
): Promise<MigrationError | undefined> {
  await clickhouse.run(TABLE)
  const known = new Map(migrations.map((migration) => [migration.number, migration]))
  for (const theirs of await appliedIn(clickhouse)) {
    const ours = known.get(theirs.number)
    const made = `database ${database} was made by migration ${labelOf(theirs)}`
    if (ours === undefined)
      return new MigrationError(
        'newer',
        `${made}, which this release does not know: run the one that made it, or later`,
      )
    if (ours.checksum !== theirs.checksum)
      return new MigrationError(
        'changed',
        `${made}, which is not this release's ${labelOf(ours)}. Its rows can be made again from the log: start once with ` +
          'CLICKHOUSE_REBUILD=1, which drops it and reads the log from its start; what the log holds no longer is gone then',
      )
  }
  return undefined
}

async function apply(clickhouse: Clickhouse, migrations: readonly Migration[]): Promise<string[]> {
  await clickhouse.run(TABLE)
  const there = new Set((await appliedIn(clickhouse)).map(({ number }) => number))
  const due = migrations.filter(({ number }) => !there.has(number))
  for (const { number, name, checksum, text } of due) {
    for (const statement of statementsOf(text)) await clickhouse.run(statement)
    await clickhouse.insert('migrations', [{ number, name, checksum }])
  }
  return due.map(labelOf)
}

/** Begins what is not read yet, or otherwise; a migration that changes an `_in` table has dropped what reads into it. */
async function read(clickhouse: Clickhouse, topics: readonly Topic[], around: Surroundings): Promise<string[]> {
  const tables = await clickhouse.rows<{ name: string; comment: string }>(
    'SELECT name, comment FROM system.tables WHERE database = currentDatabase()',
  )
  const comments = new Map(tables.map(({ name, comment }) => [name, comment]))
  const due = topics
    .map(({ name }) => readingOf(name, around))
    .filter(({ pump, queue, comment }) => comments.get(pump) !== comment || !comments.has(queue))
  for (const { drop, create } of due) for (const statement of [...drop, ...create]) await clickhouse.run(statement)
  return due.map(({ topic }) => topic)
}

function labelOf({ number, name }: { readonly number: number; readonly name: string }): string {
  return `${String(number).padStart(3, '0')}_${name}`
}
