import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, type ClickHouseClient } from '@clickhouse/client'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { reachingCalls } from './users.ts'

const { url, user: username, password } = inject('parts').clickhouse
const database = `reader_${process.pid}`
const SECRET_WORD = 'nobodys-business'
let admin: ClickHouseClient
beforeAll(async () => {
  admin = createClient({ url, username, password })
  await admin.command({ query: `CREATE DATABASE ${database} ENGINE = Atomic` })
  await admin.command({ query: `CREATE TABLE ${database}.t (a UInt32) ENGINE = MergeTree ORDER BY a` })
  await admin.command({ query: `INSERT INTO ${database}.t SELECT number FROM numbers(100)` })
})
afterAll(async () => {
  await admin.command({ query: `DROP DATABASE ${database}` })
  await admin.close()
})

const askAs = async (
  user: string,
  query: string,
  parameters: Record<string, string> = {},
): Promise<{ code: string; text: string }> => {
  const search = new URLSearchParams({ database, ...parameters })
  const headers = { 'x-clickhouse-user': user }
  const answer = await fetch(`${url}/?${String(search)}`, { method: 'POST', body: query, headers })
  return { code: answer.headers.get('x-clickhouse-exception-code') ?? 'none', text: await answer.text() }
}

describe('analyst', () => {
  const ask = (query: string, parameters?: Record<string, string>): ReturnType<typeof askAs> =>
    askAs('analyst', query, parameters)

  it('reads, describes, explains, and works with the official client in a session', async () => {
    expect((await ask('SELECT sum(a) FROM t')).text).toBe('4950\n')
    expect((await ask('DESCRIBE t FORMAT CSV')).code).toBe('none')
    expect((await ask('SHOW TABLES FORMAT CSV')).text).toBe('"t"\n')
    const client = createClient({
      url,
      database,
      username: 'analyst',
      session_id: 'r',
      compression: { response: true },
    })
    for (let turn = 0; turn < 2; turn += 1)
      expect(await (await client.query({ query: 'SELECT max(a) AS m FROM t', format: 'JSONEachRow' })).json()).toEqual([
        { m: 99 },
      ])
    await client.close()
  })

  it.each([
    "SELECT file('/etc/passwd')",
    "SELECT `file`('/etc/passwd')",
    "SELECT `fi\\x6ce`('/etc/passwd')",
    "SELECT * APPLY(file) FROM (SELECT '/etc/passwd')",
    "SELECT $$ ' $$, file('/etc/passwd')",
    "SELECT * FROM eval('SELECT fi' || 'le(''/etc/passwd'')')",
    "SELECT * FROM file('/etc/passwd', 'CSV', 'a String')",
    "SELECT * FROM '/etc/passwd'",
    'SELECT * FROM default.`/etc/passwd`',
    "DESCRIBE file('/etc/passwd')",
    "SELECT * FROM url('http://127.0.0.1:1', 'CSV', 'a String')",
    "SELECT * FROM remote('127.0.0.1', system.one)",
    "SELECT 1 INTO OUTFILE '/tmp/reader-out'",
    'INSERT INTO t VALUES (1)',
    'INSERT INTO t SELECT 1',
    "INSERT INTO FUNCTION file('/tmp/reader-out', 'CSV', 'a String') VALUES ('x')",
    'CREATE TABLE x (a UInt8) ENGINE = Memory',
    'CREATE TEMPORARY TABLE x (a UInt8)',
    'DROP TABLE t',
    'ALTER TABLE t DELETE WHERE 1',
    'KILL QUERY WHERE 1 ASYNC',
    'SYSTEM STOP MERGES',
    'SET readonly = 0',
    'SET ROLE NONE',
    'SELECT 1; DROP TABLE t',
    'SELECT 1 SETTINGS max_memory_usage = 0',
    'SELECT 1 SETTINGS readonly = 0',
  ])('is refused %s', async (query) => {
    const { code, text } = await ask(query)
    expect(['164', '62', '48', '60', '497']).toContain(code)
    expect(text).not.toMatch(/root:/)
  })

  it.each(['format_template_row', 'format_schema', 'output_format_schema', 'profile'])(
    'may not send the setting %s',
    async (name) => {
      expect((await ask('SELECT 1', { [name]: '/etc/passwd' })).code).toBe('164')
    },
  )

  it('cannot lift its limits by settings in the URL', async () => {
    const { text } = await ask(
      "SELECT getSetting('readonly'), getSetting('max_threads'), getSetting('max_execution_time')",
      {
        readonly: '0',
        max_threads: '64',
        max_execution_time: '0',
      },
    )
    expect(text).toBe('1\t2\t30\n')
  })

  it('is stopped at its limits of memory and of rows', async () => {
    const memory = await ask('SELECT count() FROM (SELECT groupArray(number) FROM numbers(1000000000))', {
      max_memory_usage: '10000000',
    })
    expect(memory.code).toBe('241')
    const rows = await ask('SELECT number FROM numbers(20000) LIMIT 20000 FORMAT Null', { max_result_rows: '1000' })
    expect(rows.code).toBe('396')
    const time = await ask('SELECT count() FROM system.numbers', { max_execution_time: '1' })
    expect(time.code).toBe('159')
  })

  it('left the table and the engine as they were', async () => {
    expect((await ask('SELECT count() FROM t')).text).toBe('100\n')
  })
})

/** What a query could reach if it reached out: a port that counts who comes, and a file with a word in it. */
async function bait(): Promise<{ port: number; file: string; came: () => number; close: () => void }> {
  let came = 0
  const server = createServer((socket) => {
    came += 1
    socket.destroy()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const folder = mkdtempSync(join(tmpdir(), 'bait-'))
  const file = join(folder, 'bait.csv')
  writeFileSync(file, `${SECRET_WORD}\n`)
  const close = (): void => {
    server.close()
    rmSync(folder, { recursive: true })
  }
  return { port: (server.address() as AddressInfo).port, file, came: () => came, close }
}

/** Ten thousand questions one after the other, on a machine that is busy. */
const ALL_MS = 360_000

describe('nothing that the engine offers', () => {
  const ask = (query: string): ReturnType<typeof askAs> => askAs('analyst', query)
  const names = async (table: string): Promise<string[]> =>
    (
      await (
        await admin.query({ query: `SELECT name FROM system.${table}`, format: 'JSONEachRow' })
      ).json<{ name: string }>()
    ).map(({ name }) => name)

  it('as a table function reaches a port or a file for analyst', async () => {
    const { port, file, came, close } = await bait()
    const makesRows = new Set<string>()
    const isOfOwnRows = (name: string): boolean => !reachingCalls([name]).test(`${name}(`)
    for (const name of await names('table_functions')) {
      for (const args of [
        `'http://127.0.0.1:${port}/x.csv', 'CSV', 'a String'`,
        `'127.0.0.1:${port}', 'system', 'one'`,
        `'${file}'`,
        `'${file}', 'CSV', 'a String'`,
        '3',
        '1, 3',
        "'a UInt8'",
        "CSV, 'a\\nb'",
        'SELECT 1',
        `'${database}', 't'`,
      ]) {
        const { code, text } = await ask(`SELECT * FROM ${name}(${args}) LIMIT 1`)
        expect(text).not.toContain(SECRET_WORD)
        if (code === 'none') makesRows.add(name)
      }
      for (const statement of ['DESCRIBE TABLE', 'EXPLAIN SELECT * FROM', 'EXPLAIN AST SELECT * FROM'])
        await ask(`${statement} ${name}('http://127.0.0.1:${port}/x.csv', 'CSV', 'a String')`)
    }
    expect(came()).toBe(0)
    expect([...makesRows].filter((name) => !isOfOwnRows(name))).toEqual([])
    close()
  })

  it(
    'as a function reaches a port or a file for analyst',
    async () => {
      const { port, file, came, close } = await bait()
      const all = (await names('functions')).filter((name) => /^[a-zA-Z]\w*$/.test(name) && !/^sleep/i.test(name))
      expect(all.length).toBeGreaterThan(1_000)
      const texts = [`'http://127.0.0.1:${port}/x'`, `'${file}'`]
      const answers = async (name: string): Promise<string> => {
        const told = texts.flatMap((text) =>
          [1, 2, 3].map((count) => ask(`SELECT ${name}(${Array(count).fill(text).join(', ')}) LIMIT 1 FORMAT TSV`)),
        )
        return (await Promise.all(told)).map(({ text }) => text).join()
      }
      for (const name of all) expect(await answers(name)).not.toContain(SECRET_WORD)
      expect(came()).toBe(0)
      close()
    },
    ALL_MS,
  )

  it('as a table engine or a dictionary can be made by analyst', async () => {
    for (const engine of await names('table_engines'))
      expect((await ask(`CREATE TABLE made (a UInt8) ENGINE = ${engine}`)).code).toBe('164')
    expect((await ask(`CREATE TEMPORARY TABLE made (a UInt8) ENGINE = URL('http://127.0.0.1:1', 'CSV')`)).code).toBe(
      '164',
    )
    for (const source of await names('dictionary_sources'))
      expect(
        (await ask(`CREATE DICTIONARY made (a UInt64) PRIMARY KEY a SOURCE(${source}()) LAYOUT(FLAT()) LIFETIME(0)`))
          .code,
      ).not.toBe('none')
    expect(await names(`tables WHERE name = 'made'`)).toEqual([])
  })

  it('shows analyst what others ask, or a password in a table’s text', async () => {
    for (const query of [
      'SELECT query FROM system.processes',
      'SHOW PROCESSLIST',
      "SELECT * FROM merge('system', '^proc')",
      'SELECT * FROM system.query_cache',
      'SELECT name FROM system.users',
    ])
      expect(['164', '497']).toContain((await ask(query)).code)
    await admin.command({
      query: `CREATE TABLE ${database}.queue (a String) ENGINE = Kafka SETTINGS kafka_broker_list = '127.0.0.1:1', kafka_topic_list = 't', kafka_group_name = 'g', kafka_format = 'AvroConfluent', kafka_num_consumers = 1, format_avro_schema_registry_url = 'http://user:${SECRET_WORD}@127.0.0.1:1/'`,
    })
    const { text } = await ask(`SELECT create_table_query, engine_full FROM system.tables WHERE name = 'queue'`)
    expect(text).toContain('kafka_topic_list')
    expect(text + (await ask('SHOW CREATE TABLE queue')).text).not.toContain(SECRET_WORD)
    expect((await ask('SELECT * FROM queue')).code).not.toBe('none')
  })
})
