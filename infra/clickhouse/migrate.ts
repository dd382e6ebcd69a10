import { setTimeout as delay } from 'node:timers/promises'
import type { ClickhouseAccess } from '../config/clickhouse.ts'
import { topicOf, type Topic } from '../../schemas/topics.ts'
import type { GroupOffsets } from '../kafka/group-offsets.ts'
import { partitionsOf } from '../kafka/topic-settings.ts'
import { connectClickhouse, type Clickhouse } from './client.ts'
import { incomingOf, replays } from './incoming.ts'
import { ingestViewsOf } from './ingest-views.ts'
import { checksumOf, loadMigrations, statementsOf, type Migration } from './migrations.ts'
import { ingestedTopics, keptBy, literal, readingOf, type Surroundings } from './readings.ts'

export interface MigrateOptions extends Omit<Surroundings, 'databaseId'>, ClickhouseAccess {
  readonly migrations?: readonly Migration[]
  /** What is read; default: every topic but the caches. */
  readonly topics?: readonly Topic[]
  /** The log as this process reaches it, by which a database of another log is known; left out: nobody looks. */
  readonly log?: LogPlaces
  /** Drops a database that other migrations made or that is of another log, and makes it again from the log. */
  readonly rebuild?: boolean
  /** Longest wait for ClickHouse to answer. */
  readonly waitMs?: number
}

interface LogPlaces {
  readonly offsets: Pick<GroupOffsets, 'committed' | 'ends'>
  /** Of the topics that are partitioned by asset. */
  readonly partitions: number
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
  readonly code: 'changed' | 'newer' | 'other-log' | 'unreachable' | 'bad-name'
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
 * Brings the database to the newest state: the tables that topics pass through follow their schemas, migrations that are
 * missing are applied in order, then every topic is read that was not, or not from where brokers and registry are now, or at
 * the pace that is asked for (a consumer goes on at its group's offsets). Doing all again changes nothing.
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
    const there = { ...options, databaseId: await identityOf(server, database) }
    const stranger = (await strangerIn(clickhouse, database, migrations)) ?? (await otherLogUnder(clickhouse, there))
    const rebuilt = stranger !== undefined && stranger.code !== 'newer' && options.rebuild === true
    if (stranger !== undefined && !rebuilt) throw stranger
    if (rebuilt) {
      await server.run(`DROP DATABASE ${database} SYNC`)
      await createDatabase(server, database)
    }
    const databaseId = await identityOf(server, database)
    if (databaseId === undefined)
      throw new MigrationError('unreachable', `database ${database} went away while it was made`)
    await makeIncoming(clickhouse, { ...options, databaseId })
    const applied = await apply(clickhouse, migrations)
    await describeViews(clickhouse, migrations)
    await makeIngestViews(clickhouse, topics)
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

/**
 * Why the database cannot go on with this log: it has records from beyond the log's end, and the brokers know nothing of how
 * far it had come. So it is where a log was restored under it: what was lost would stand, and before what comes, since of two rows
 * that of the higher offset does. Brokers that lost a tail know it, and are read again; see `reread.ts`.
 */
async function otherLogUnder(
  clickhouse: Clickhouse,
  { log, ...around }: Omit<MigrateOptions, 'databaseId'> & { readonly databaseId: string | undefined },
): Promise<MigrationError | undefined> {
  const { database, namespace, databaseId } = around
  if (log === undefined || databaseId === undefined) return undefined
  for (const [topic, table] of replays) {
    const name = namespace + topic
    const partitions = [...Array(partitionsOf(topicOf(topic), log)).keys()]
    const { group } = readingOf(topic, { ...around, databaseId })
    // the reading itself begins on a restored log too, before anybody can ask
    if ((await log.offsets.committed(keptBy(group), name, partitions)).size > 0) return undefined
    const held = await heldIn(clickhouse, table)
    if (held.length === 0) continue
    const ends = await log.offsets.ends(name, partitions)
    const ahead = held.find(({ partition, offset }) => offset >= (ends.get(partition)?.offset ?? 0))
    if (ahead !== undefined)
      return new MigrationError(
        'other-log',
        `database ${database} has ${topic} up to offset ${ahead.offset} of partition ${ahead.partition}, which the log has ` +
          'not: it was filled from another one, or from this one before it was restored. Start with CLICKHOUSE_REBUILD=1, ' +
          'which drops it and reads the log from its start (what the log does not hold is gone then), or name another CLICKHOUSE_DATABASE',
      )
  }
  return undefined
}

/** The last place of each partition in a table that has every record of a topic. */
async function heldIn(clickhouse: Clickhouse, table: string): Promise<{ partition: number; offset: number }[]> {
  const [is] = await clickhouse.rows<{ result: number }>(`EXISTS TABLE ${table}`)
  if (is?.result !== 1) return []
  return clickhouse.rows(
    `SELECT log_partition AS partition, max(log_offset) AS offset FROM ${table} GROUP BY partition ORDER BY partition`,
  )
}

/** Makes what topics pass through as their schemas have it; where that adds columns, a topic's reading is begun again behind the migrations. */
async function makeIncoming(clickhouse: Clickhouse, around: Surroundings): Promise<void> {
  const there = await tablesIn(clickhouse, (columns) => columns.map(({ name }) => name))
  for (const topic of ingestedTopics) {
    const due = incomingOf(topic, there)
    const { drop, pump, queue } = readingOf(topic.name, around)
    const isRead = there.has(pump) || there.has(queue)
    for (const statement of due.length === 0 ? [] : [...(isRead ? drop : []), ...due]) await clickhouse.run(statement)
  }
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

/** What views take an instrument's name apart into. */
const partsOfInstrument: Readonly<Record<string, string>> = {
  venue: 'Venue name, the first part of the instrument',
  market: 'perp or spot, the second part of the instrument',
  symbol: "The venue's own symbol, the third part of the instrument",
}

interface Column {
  readonly table: string
  readonly name: string
  readonly type: string
  readonly comment: string
  /** Empty where the column is written as it comes, else what its own value is. */
  readonly default_kind: string
}

/** Tables and views by name, each as what `of` makes of its columns. */
async function tablesIn<Of>(clickhouse: Clickhouse, of: (columns: readonly Column[]) => Of): Promise<Map<string, Of>> {
  const columns = await clickhouse.rows<Column>(
    'SELECT table, name, type, comment, default_kind FROM system.columns WHERE database = currentDatabase() ORDER BY table, position',
  )
  return new Map([...Map.groupBy(columns, ({ table }) => table)].map(([table, own]) => [table, of(own)] as const))
}

/**
 * Comments for views' columns that have none: those that columns of their names have in what a view reads, of several in
 * what it reads first.
 */
async function describeViews(clickhouse: Clickhouse, migrations: readonly Migration[]): Promise<void> {
  const there = await tablesIn(clickhouse, (own) => new Map(own.map(({ name, comment }) => [name, comment])))
  for (const [view, bases] of viewsOf(migrations)) {
    const own = there.get(view) ?? new Map<string, string>()
    const missing = [...own].filter(([, comment]) => comment === '').map(([name]) => name)
    const comments = missing.flatMap((name) => {
      const said = bases.map((base) => there.get(base)?.get(name)).find((comment) => (comment ?? '') !== '')
      const comment = said ?? partsOfInstrument[name]
      if (comment === undefined) return []
      own.set(name, comment)
      return [`COMMENT COLUMN ${name} ${literal(comment)}`]
    })
    if (comments.length > 0) await clickhouse.run(`ALTER TABLE ${view} ${comments.join(', ')}`)
  }
}

/** Views that migrations make, a view before those that read it, and what each reads. */
function viewsOf(migrations: readonly Migration[]): Map<string, string[]> {
  const views = new Map<string, string[]>()
  for (const statement of migrations.flatMap(({ text }) => statementsOf(text))) {
    const view = /^CREATE OR REPLACE VIEW (\w+)/.exec(statement)?.[1]
    if (view === undefined) continue
    views.set(
      view,
      [...statement.matchAll(/\b(?:FROM|JOIN) (\w+)/g)].map(([, base = '']) => base),
    )
  }
  return views
}

/** Makes the views that need no migration, or alters those that would be others now. No record is lost meanwhile. */
async function makeIngestViews(clickhouse: Clickhouse, topics: readonly Topic[]): Promise<void> {
  const tables = await tablesIn(clickhouse, (own) => {
    const filled = own.filter((column) => column.default_kind === '')
    return new Map(filled.map(({ name, type }) => [name, type]))
  })
  const comments = await commentsIn(clickhouse)
  for (const { name, into, select } of topics.flatMap((topic) => ingestViewsOf(topic, tables))) {
    const comment = `Fills ${into} (${checksumOf(select)})`
    if (comments.get(name) === comment) continue
    const create = `CREATE MATERIALIZED VIEW IF NOT EXISTS ${name} TO ${into} AS\n${select}\nCOMMENT ${literal(comment)}`
    const change = [`MODIFY QUERY ${select}`, `MODIFY COMMENT ${literal(comment)}`]
    const due = comments.has(name) ? change.map((what) => `ALTER TABLE ${name} ${what}`) : [create]
    for (const statement of due) await clickhouse.run(statement)
  }
}

/** Begins what is not read yet, or otherwise, and what was stopped since the tables that it passes through were changed. */
async function read(clickhouse: Clickhouse, topics: readonly Topic[], around: Surroundings): Promise<string[]> {
  const comments = await commentsIn(clickhouse)
  const due = topics
    .map((topic) => readingOf(topic.name, around))
    .filter(({ pump, queue, comment }) => comments.get(pump) !== comment || !comments.has(queue))
  for (const { drop, create } of due) for (const statement of [...drop, ...create]) await clickhouse.run(statement)
  return due.map(({ topic }) => topic)
}

/** Of all tables and views. */
async function commentsIn(clickhouse: Clickhouse): Promise<ReadonlyMap<string, string>> {
  const tables = await clickhouse.rows<{ name: string; comment: string }>(
    'SELECT name, comment FROM system.tables WHERE database = currentDatabase()',
  )
  return new Map(tables.map(({ name, comment }) => [name, comment]))
}

function labelOf({ number, name }: { readonly number: number; readonly name: string }): string {
  return `${String(number).padStart(3, '0')}_${name}`
}
