import { setTimeout as delay } from 'node:timers/promises'
import type { ClickhouseAccess } from '../config/clickhouse.ts'
import { connectClickhouse, type Clickhouse } from './client.ts'
import { checksumOf, loadMigrations, render, statementsOf, type Migration, type Surroundings } from './migrations.ts'

export interface MigrateOptions extends Omit<Surroundings, 'databaseId'>, ClickhouseAccess {
  readonly migrations?: readonly Migration[]
  /** Longest wait for ClickHouse to answer. */
  readonly waitMs?: number
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
/** Dropping a Kafka table waits for its consumer to leave. */
const DEADLINE_MS = 60_000

/**
 * Brings the database to the newest state: what is missing is applied in order; applying all again changes nothing.
 * Migrations that say where Kafka and the registry are run again when these have moved: a consumer goes on at its
 * group's offsets. Gives the numbers that were applied. Throws `MigrationError`.
 */
export async function migrate(options: MigrateOptions): Promise<readonly number[]> {
  const { url, user, password, database, migrations = loadMigrations(), waitMs = WAIT_MS } = options
  if (!/^[A-Za-z_]\w*$/.test(database))
    throw new MigrationError('bad-name', `${JSON.stringify(database)} cannot be a database name; for example market`)
  const server = connectClickhouse({ url, user, password, deadlineMs: DEADLINE_MS })
  try {
    await untilUp(server, url, waitMs)
    // Atomic whatever the server's default is: the local one's is not, and refuses some statements.
    await server.run(`CREATE DATABASE IF NOT EXISTS ${database} ENGINE = Atomic`)
  } finally {
    await server.close()
  }
  const clickhouse = connectClickhouse({ url, user, password, database, deadlineMs: DEADLINE_MS })
  try {
    const [found] = await clickhouse.rows<{ id: string }>(
      'SELECT left(toString(uuid), 8) AS id FROM system.databases WHERE name = {database:String}',
      { database },
    )
    if (found === undefined) throw new MigrationError('unreachable', `database ${database} went away while it was made`)
    return await apply(clickhouse, migrations, { ...options, databaseId: found.id })
  } finally {
    await clickhouse.close()
  }
}

async function untilUp(clickhouse: Clickhouse, url: string, waitMs: number): Promise<void> {
  const deadline = AbortSignal.timeout(waitMs)
  while (!(await clickhouse.ping())) {
    if (deadline.aborted) throw new MigrationError('unreachable', `ClickHouse did not answer at ${url} in ${waitMs} ms`)
    await delay(RETRY_MS)
  }
}

interface Applied {
  readonly number: number
  readonly name: string
  readonly checksum: string
  readonly rendered: string
}

const TABLE = `CREATE TABLE IF NOT EXISTS migrations
(
    number UInt16 COMMENT 'Number of the migration',
    name String COMMENT 'Its name',
    checksum String COMMENT 'Of its text',
    rendered String COMMENT 'Of its text with brokers, registry and namespace filled in',
    applied DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When it was applied'
)
ENGINE = ReplacingMergeTree(applied)
ORDER BY number
COMMENT 'Which migrations this database has'`

async function apply(
  clickhouse: Clickhouse,
  migrations: readonly Migration[],
  around: Surroundings,
): Promise<readonly number[]> {
  await clickhouse.run(TABLE)
  const rows = await clickhouse.rows<Applied>('SELECT number, name, checksum, rendered FROM migrations FINAL')
  const applied = new Map(rows.map((row) => [row.number, row]))
  check(migrations, applied)
  const due = migrations.flatMap(({ number, name, checksum, text, again }) => {
    const statements = render(text, around)
    const row = { number, name, checksum, rendered: checksumOf(statements) }
    const before = applied.get(number)
    const stands = before !== undefined && (!again || before.rendered === row.rendered)
    return stands ? [] : [{ row, again, statements: statementsOf(statements) }]
  })
  for (const [at, { row, again, statements }] of due.entries()) {
    const later = due.slice(at + 1).flatMap((next) => next.statements)
    const needed = again ? statements.filter((statement) => !isDropped(statement, later)) : statements
    for (const statement of needed) await clickhouse.run(statement)
    await clickhouse.insert('migrations', [row])
  }
  return due.map(({ row }) => row.number)
}

/** Whether it makes what a later statement drops: a consumer that came and went would hold its partitions for seconds. */
function isDropped(statement: string, later: readonly string[]): boolean {
  const [, kind, name] = /^CREATE (?:MATERIALIZED )?(TABLE|VIEW) (\w+)/.exec(statement) ?? []
  return kind !== undefined && later.includes(`DROP ${kind} IF EXISTS ${name}`)
}

/** Refuses a database that another version of these files made. */
function check(migrations: readonly Migration[], applied: ReadonlyMap<number, Applied>): void {
  const known = new Map(migrations.map((migration) => [migration.number, migration]))
  for (const { number, name, checksum } of applied.values()) {
    const ours = known.get(number)
    const label = `migration ${String(number).padStart(3, '0')}_${name}`
    if (ours === undefined)
      throw new MigrationError('newer', `the database has ${label}, which this version does not know: it is newer`)
    if (ours.checksum !== checksum)
      throw new MigrationError('changed', `${label} was applied with another text; add a new migration instead`)
  }
}
