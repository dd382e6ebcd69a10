import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { connectClickhouse, type Clickhouse } from './client.ts'
import { MigrationError, migrate } from './migrate.ts'
import { checksumOf, loadMigrations, type Migration } from './migrations.ts'
import { dropDatabase } from './test-database.ts'

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

const around = () => ({ ...access, database, namespace: `m-${database}.`, brokers, registryUrl })
const migration = (number: number, text: string): Migration => ({
  number,
  name: `step_${number}`,
  text,
  checksum: checksumOf(text),
  again: text.startsWith('-- again:'),
})
const step = migration(1, 'CREATE TABLE one (a UInt8) ENGINE = Memory;\nINSERT INTO one VALUES (1);')

describe('migrate', () => {
  it('applies all files to a new database, then nothing', async () => {
    expect(await migrate(around())).toEqual(loadMigrations().map(({ number }) => number))
    expect(await migrate(around())).toEqual([])
    const [row] = await server.rows<{ engine: string }>(
      `SELECT engine FROM system.databases WHERE name = '${database}'`,
    )
    expect(row).toEqual({ engine: 'Atomic' })
  })

  it('moves the Kafka tables, and only them, when broker or registry have moved', async () => {
    await migrate(around())
    const moved = { ...around(), registryUrl: 'http://127.0.0.1:1/elsewhere' }
    const again = loadMigrations().filter((each) => each.again && each.name.startsWith('kafka'))
    expect(await migrate(moved)).toEqual(again.map(({ number }) => number))
    expect(await migrate(moved)).toEqual([])
    const [table] = await server.rows<{ sql: string }>(
      `SELECT create_table_query AS sql FROM system.tables WHERE database = '${database}' AND name = 'derived_signals_queue'`,
    )
    expect(table?.sql).toContain('http://127.0.0.1:1/elsewhere')
    expect(table?.sql).toContain('derived.signals.2')
  })

  it('makes no consumer that a later one drops, and drops one that stands', async () => {
    const first = migration(1, '-- again:\nDROP TABLE IF EXISTS a;\nCREATE TABLE a (n UInt8) ENGINE = Nowhere;')
    const second = migration(2, '-- again:\nDROP TABLE IF EXISTS a;\nCREATE TABLE a (n UInt16) ENGINE = Memory;')
    const third = migration(3, '-- again:\nDROP TABLE IF EXISTS a;\nCREATE TABLE a (n UInt32) ENGINE = Memory;')
    const typeOfN = (): Promise<unknown> => server.rows(`SELECT toTypeName(any(n)) AS type FROM ${database}.a`)
    expect(await migrate({ ...around(), migrations: [first, second] })).toEqual([1, 2])
    expect(await typeOfN()).toEqual([{ type: 'UInt16' }])
    expect(await migrate({ ...around(), migrations: [first, second, third] })).toEqual([3])
    expect(await typeOfN()).toEqual([{ type: 'UInt32' }])
  })

  it('goes on after the last one that was applied', async () => {
    expect(await migrate({ ...around(), migrations: [step] })).toEqual([1])
    const two = migration(2, 'INSERT INTO one SELECT a + 1 FROM one;')
    expect(await migrate({ ...around(), migrations: [step, two] })).toEqual([2])
    expect(await server.rows(`SELECT a FROM ${database}.one ORDER BY a`)).toEqual([{ a: 1 }, { a: 2 }])
  })

  it('refuses a changed migration and a newer database, and leaves both as they are', async () => {
    await migrate({ ...around(), migrations: [step] })
    const changed = migration(1, 'DROP TABLE one;')
    await expect(migrate({ ...around(), migrations: [changed] })).rejects.toMatchObject({
      code: 'changed',
      message: 'migration 001_step_1 was applied with another text; add a new migration instead',
    })
    await expect(migrate({ ...around(), migrations: [] })).rejects.toMatchObject({ code: 'newer' })
    expect(await server.rows(`SELECT a FROM ${database}.one`)).toEqual([{ a: 1 }])
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
