import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { GroupOffsets } from '../kafka/group-offsets.ts'
import { createEmptyTopics } from '../kafka/setup.ts'
import { connectClickhouse, type Clickhouse } from './client.ts'
import { identityOf, MigrationError, migrate } from './migrate.ts'
import { checksumOf, loadMigrations, type Migration } from './migrations.ts'
import { ingestedTopics } from './readings.ts'
import { dropDatabase } from './testing/database.ts'

const { brokers, registryUrl, clickhouse: access } = inject('parts')
const server: Clickhouse = connectClickhouse(access)
let database = ''
let made = 0
beforeEach(() => {
  made += 1
  database = `migrate_${process.pid}_${made}`
})
afterAll(async () => {
  for (let n = 1; n <= made; n += 1) await dropDatabase(access, `migrate_${process.pid}_${n}`)
  await server.close()
})

const around = () => ({ ...access, database, namespace: `m-${database}.`, brokers, registryUrl, flushMs: 200 })
const migration = (number: number, text: string): Migration => ({
  number,
  name: `step_${number}`,
  text,
  checksum: checksumOf(text),
})
const step = migration(1, 'CREATE TABLE one (a UInt8) ENGINE = Memory;\nINSERT INTO one VALUES (1);')
const alone = (...migrations: Migration[]) => ({ ...around(), migrations, topics: [] })
const nothing = { rebuilt: false, applied: [], reading: [] }

describe('migrate', () => {
  it('applies all files to a new database and reads all topics, then does nothing', async () => {
    expect(await migrate(around())).toEqual({
      rebuilt: false,
      applied: loadMigrations().map(({ number, name }) => `${String(number).padStart(3, '0')}_${name}`),
      reading: ingestedTopics.map(({ name }) => name),
    })
    expect(await migrate(around())).toEqual(nothing)
    const [row] = await server.rows<{ engine: string }>(
      `SELECT engine FROM system.databases WHERE name = '${database}'`,
    )
    expect(row).toEqual({ engine: 'Atomic' })
  })

  it('moves the Kafka tables, and only them, when broker or registry have moved', async () => {
    await migrate(around())
    const moved = { ...around(), registryUrl: 'http://127.0.0.1:1/elsewhere' }
    const reading = ingestedTopics.map(({ name }) => name)
    expect(await migrate(moved)).toEqual({ ...nothing, reading })
    expect(await migrate(moved)).toEqual(nothing)
    const [table] = await server.rows<{ sql: string }>(
      `SELECT create_table_query AS sql FROM system.tables WHERE database = '${database}' AND name = 'derived_signals_queue'`,
    )
    expect(table?.sql).toContain('http://127.0.0.1:1/elsewhere')
  })

  it('reads again what a migration has stopped reading', async () => {
    const topics = ingestedTopics.filter(({ name }) => name === 'market.tokens')
    await migrate({ ...around(), topics })
    const last = loadMigrations().length
    const change = migration(
      last + 1,
      `DROP VIEW market_tokens_pump;
DROP TABLE market_tokens_queue;
ALTER TABLE market_tokens_in ADD COLUMN more Nullable(String);`,
    )
    const migrations = [...loadMigrations(), change]
    expect(await migrate({ ...around(), migrations, topics })).toEqual({
      ...nothing,
      applied: [`0${last + 1}_step_${last + 1}`],
      reading: ['market.tokens'],
    })
    const columns = await server.rows<{ name: string }>(
      `SELECT name FROM system.columns WHERE database = '${database}' AND table = 'market_tokens_queue'`,
    )
    expect(columns.map(({ name }) => name)).toContain('more')
  })

  it('adds what a schema has more to all that its topic passes through, and reads that topic again', async () => {
    const topics = ingestedTopics.filter(({ name }) => name === 'market.funding' || name === 'market.tokens')
    await migrate({ ...around(), topics })
    const clickhouse = connectClickhouse({ ...access, database })
    const tables = ['market_funding_in', 'market_funding_others_in', 'funding_replay']
    for (const view of ['ingest_market_funding_contract_terms', 'market_funding_others', 'ingest_funding_replay'])
      await clickhouse.run(`DROP VIEW ${view}`)
    for (const table of tables) await clickhouse.run(`ALTER TABLE ${table} DROP COLUMN margin_tiers`)
    expect(await migrate({ ...around(), topics })).toEqual({ ...nothing, reading: ['market.funding'] })
    const found = await clickhouse.rows<{ table: string }>(
      "SELECT table FROM system.columns WHERE database = currentDatabase() AND name = 'margin_tiers'",
    )
    await clickhouse.close()
    expect(found.map(({ table }) => table)).toEqual(expect.arrayContaining([...tables, 'market_funding_queue']))
    expect(await migrate({ ...around(), topics })).toEqual(nothing)
  })

  it('has the view of a table fill a column that a later migration adds', async () => {
    const topics = ingestedTopics.filter(({ name }) => name === 'market.tokens')
    const last = loadMigrations().length
    const less = [...loadMigrations(), migration(last + 1, 'ALTER TABLE tokens_log DROP COLUMN change_7d;')]
    await migrate({ ...around(), migrations: less, topics })
    const clickhouse = connectClickhouse({ ...access, database })
    const take = (id: string) => clickhouse.run(`INSERT INTO market_tokens_in (id, change_7d) VALUES ('${id}', 5)`)
    await take('before')
    const add = migration(last + 2, 'ALTER TABLE tokens_log ADD COLUMN change_7d Nullable(Float64);')
    expect(await migrate({ ...around(), migrations: [...less, add], topics })).toMatchObject({ reading: [] })
    await take('behind')
    const rows = await clickhouse.rows('SELECT id, change_7d FROM tokens_log ORDER BY id')
    await clickhouse.close()
    expect(rows).toEqual([
      { id: 'before', change_7d: null },
      { id: 'behind', change_7d: 5 },
    ])
  })

  it('goes on after the last one that was applied', async () => {
    expect(await migrate(alone(step))).toEqual({ ...nothing, applied: ['001_step_1'] })
    const two = migration(2, 'INSERT INTO one SELECT a + 1 FROM one;')
    expect(await migrate(alone(step, two))).toEqual({ ...nothing, applied: ['002_step_2'] })
    expect(await server.rows(`SELECT a FROM ${database}.one ORDER BY a`)).toEqual([{ a: 1 }, { a: 2 }])
  })

  it('says of a view’s column what the table that it reads says, unless the migration says otherwise', async () => {
    const table =
      "CREATE TABLE one_log (a UInt8 COMMENT 'It’s a', b UInt8 COMMENT 'b', instrument String) ENGINE = Memory;"
    const view = `CREATE OR REPLACE VIEW one AS
SELECT a, b, splitByChar(':', instrument)[1] AS venue, a + b AS c FROM one_log;
ALTER TABLE one COMMENT COLUMN b 'other', COMMENT COLUMN c 'both';`
    await migrate(alone(migration(1, table), migration(2, view)))
    expect(
      await server.rows(
        `SELECT name, comment FROM system.columns WHERE database = '${database}' AND table = 'one' ORDER BY position`,
      ),
    ).toEqual([
      { name: 'a', comment: 'It’s a' },
      { name: 'b', comment: 'other' },
      { name: 'venue', comment: 'Venue name, the first part of the instrument' },
      { name: 'c', comment: 'both' },
    ])
  })

  it('refuses a database that other files or newer ones made, says the way out, and leaves it as it is', async () => {
    await migrate(alone(step))
    await expect(migrate(alone(migration(1, 'DROP TABLE one;')))).rejects.toMatchObject({
      code: 'changed',
      message: expect.stringMatching(
        `database ${database} was made by migration 001_step_1, which is not this release's 001_step_1.*CLICKHOUSE_REBUILD=1`,
      ) as string,
    })
    await expect(migrate({ ...alone(), rebuild: true })).rejects.toMatchObject({ code: 'newer' })
    expect(await server.rows(`SELECT a FROM ${database}.one`)).toEqual([{ a: 1 }])
  })

  it('drops one that other files made and makes it again when told to', async () => {
    const layers = [step, migration(2, 'CREATE TABLE two (a UInt8) ENGINE = Memory;')]
    await migrate(alone(...layers))
    const subject = migration(1, 'CREATE TABLE one (a UInt16) ENGINE = Memory;')
    const rebuild = { ...alone(subject), rebuild: true }
    expect(await migrate(rebuild)).toEqual({ rebuilt: true, applied: ['001_step_1'], reading: [] })
    expect(await migrate(rebuild)).toEqual(nothing)
    const ours = `database = '${database}' AND engine != 'Null'`
    expect(await server.rows(`SELECT name FROM system.tables WHERE ${ours} ORDER BY name`)).toEqual([
      { name: 'migrations' },
      { name: 'one' },
    ])
  })

  it('refuses one that holds more than a log that was restored under it, and makes it again when told to', async () => {
    const sizes = { partitions: 2, replicationFactor: 1, retentionBytes: 1e9 }
    const options = { ...around(), topics: [] }
    await createEmptyTopics({ brokers, namespace: options.namespace, ...sizes })
    const offsets = new GroupOffsets({ brokers, clientId: 'test' })
    const restored = { ...options, log: { offsets, partitions: sizes.partitions } }
    try {
      await migrate(options)
      await server.run(`INSERT INTO ${database}.tickers_replay (log_partition, log_offset) VALUES (1, 900)`)
      await expect(migrate(restored)).rejects.toMatchObject({
        code: 'other-log',
        message: expect.stringMatching(
          `database ${database} has market.tickers up to offset 900 of partition 1, which the log has not.*CLICKHOUSE_REBUILD=1`,
        ) as string,
      })
      expect(await migrate({ ...restored, rebuild: true })).toMatchObject({ rebuilt: true })
      expect(await migrate({ ...restored, rebuild: true })).toEqual(nothing)
    } finally {
      await offsets.close()
    }
  })

  it('goes on over a log that lost its tail: its brokers know what was read', async () => {
    const options = { ...around(), topics: [] }
    await migrate(options)
    await server.run(`INSERT INTO ${database}.tickers_replay (log_partition, log_offset) VALUES (0, 900)`)
    const place = new Map([[0, { offset: 500, epoch: 0 }]])
    const asked: string[] = []
    const offsets = {
      committed: async (group: string) => {
        asked.push(group)
        return place
      },
      ends: async () => place,
    }
    expect(await migrate({ ...options, log: { offsets, partitions: 1 } })).toEqual(nothing)
    const databaseId = await identityOf(server, database)
    expect(asked).toEqual([`m-${database}.clickhouse.${database}.${databaseId}.market.tickers.complete`])
  })

  it('says so when ClickHouse does not answer, after a bounded wait', async () => {
    const nowhere = { ...around(), url: 'http://127.0.0.1:1', waitMs: 300 }
    await expect(migrate(nowhere)).rejects.toThrow(MigrationError)
    await expect(migrate(nowhere)).rejects.toMatchObject({ code: 'unreachable' })
  })
})

describe('connectClickhouse', () => {
  it('gives up at its deadline', async () => {
    const hasty = connectClickhouse({ ...access, deadlineMs: 200 })
    await expect(hasty.rows('SELECT sleep(3)')).rejects.toThrow()
    await hasty.close()
  })

  it('says whether the server answers', async () => {
    expect(await server.ping()).toBe(true)
    const nowhere = connectClickhouse({ ...access, url: 'http://127.0.0.1:1' })
    expect(await nowhere.ping()).toBe(false)
    await nowhere.close()
  })
})
