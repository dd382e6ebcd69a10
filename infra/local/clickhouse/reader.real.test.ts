import { createClient, type ClickHouseClient } from '@clickhouse/client'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'

const { clickhouseUrl: url } = inject('parts')
const database = `reader_${process.pid}`
let admin: ClickHouseClient
beforeAll(async () => {
  admin = createClient({ url })
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
  const headers = { 'x-clickhouse-user': user, 'x-clickhouse-key': user }
  const answer = await fetch(`${url}/?${String(search)}`, { method: 'POST', body: query, headers })
  return { code: answer.headers.get('x-clickhouse-exception-code') ?? 'none', text: await answer.text() }
}

describe.each(['reader', 'analyst'])('%s', (user) => {
  const ask = (query: string, parameters?: Record<string, string>): ReturnType<typeof askAs> =>
    askAs(user, query, parameters)

  it('reads, describes, explains, and works with the official client in a session', async () => {
    expect((await ask('SELECT sum(a) FROM t')).text).toBe('4950\n')
    expect((await ask('DESCRIBE t FORMAT CSV')).code).toBe('none')
    expect((await ask('SHOW TABLES FORMAT CSV')).text).toBe('"t"\n')
    const client = createClient({
      url,
      database,
      username: user,
      password: user,
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
