import { execFile } from 'node:child_process'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { ClickHouseLogLevel, createClient, type ClickHouseClient } from '@clickhouse/client'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { asPages, guarded } from '../../http/testing/pages.ts'

const { url, user: username, password } = inject('parts').clickhouse
const headers = { 'x-clickhouse-user': username, 'x-clickhouse-key': password }
const raw = `Host: localhost\r\nX-ClickHouse-User: ${username}\r\nX-ClickHouse-Key: ${password}\r\n`
const database = `http_${process.pid}`
const run = promisify(execFile)
const log = { level: ClickHouseLogLevel.OFF }

let client: ClickHouseClient
beforeAll(async () => {
  const server = createClient({ log, url, username, password })
  await server.command({ query: `CREATE DATABASE ${database} ENGINE = Atomic` })
  await server.close()
  client = createClient({ log, url, username, password, database })
  await client.command({ query: 'CREATE TABLE t (a UInt32, b String) ENGINE = MergeTree ORDER BY a' })
})
afterAll(async () => {
  await client.command({ query: `DROP DATABASE ${database}` })
  await client.close()
})

const post = (query: string, parameters: Record<string, string> = {}, body?: string): Promise<Response> =>
  fetch(`${url}/?${String(new URLSearchParams({ database, query, ...parameters }))}`, {
    method: 'POST',
    headers,
    body: body ?? null,
  })

const rows = async <Row>(query: string): Promise<Row[]> =>
  (await client.query({ query, format: 'JSONEachRow' })).json<Row>()

describe('the official client', () => {
  it('pings, inserts rows and reads them with parameters', async () => {
    expect(await client.ping({ select: true })).toMatchObject({ success: true })
    const values = [
      { a: 1, b: "it's" },
      { a: 2, b: 'ü' },
    ]
    const inserted = await client.insert({ table: 't', values, format: 'JSONEachRow' })
    expect(inserted.summary?.written_rows).toBe('2')
    const found = await client.query({
      query: 'SELECT * FROM t WHERE b = {text:String} OR a IN {ids:Array(UInt32)} ORDER BY a',
      query_params: { text: "it's", ids: [2] },
      format: 'JSON',
    })
    expect((await found.json<{ a: number }>()).data).toEqual(values)
  })

  it('streams an insert of a body larger than memory would hold, all or nothing', async () => {
    await client.command({ query: 'CREATE TABLE big (n UInt64, s String) ENGINE = MergeTree ORDER BY n' })
    function* lines(): Generator<string> {
      for (let n = 0; n < 200_000; n += 1000)
        yield Array.from({ length: 1000 }, (_, i) => `${n + i}\t${'x'.repeat((n + i) % 20)}\n`).join('')
    }
    const inserted = await client.insert({
      table: 'big',
      values: Readable.from(lines(), { objectMode: false }),
      format: 'TabSeparated',
    })
    expect(inserted.summary?.written_rows).toBe('200000')
    expect(await rows('SELECT count() AS n, sum(big.n) AS s, sum(length(big.s)) AS l FROM big')).toEqual([
      { n: 200_000, s: 19_999_900_000, l: 1_900_000 },
    ])
  })

  it.each([true, false])('streams a large result, compressed: %s', async (response) => {
    const compressing = createClient({ log, url, username, password, compression: { response, request: response } })
    const result = await compressing.query({ query: 'SELECT number AS n FROM numbers(1000000)', format: 'JSONEachRow' })
    let sum = 0
    for await (const batch of result.stream<{ n: number }>()) for (const row of batch) sum += row.json().n
    expect(sum).toBe(499_999_500_000)
    await compressing.close()
  })

  it('gets errors with their code and type', async () => {
    await expect(client.query({ query: 'SELECT * FROM nothing_here' })).rejects.toMatchObject({
      code: '60',
      type: 'UNKNOWN_TABLE',
    })
    await expect(client.query({ query: 'SELEC 1' })).rejects.toMatchObject({ code: '62' })
  })

  const late = `SELECT throwIf(number = 900000) AS x, toString(number) AS s FROM numbers(1000000) SETTINGS max_block_size = 1000`

  it('gets an error that comes after the first rows', async () => {
    const result = await client.query({ query: late, format: 'JSONEachRow' })
    const read = async (): Promise<void> => {
      for await (const batch of result.stream()) expect(batch.length).toBeGreaterThan(0)
    }
    await expect(read()).rejects.toMatchObject({ code: '395', type: 'FUNCTION_THROW_IF_VALUE_IS_NON_ZERO' })
  })

  it.each([true, false])('never takes a result that broke off for a whole one, compressed: %s', async (response) => {
    const own = createClient({ log, url, username, password, compression: { response } })
    const result = await own.query({ query: late, format: 'TabSeparated' })
    await expect(result.text()).rejects.toThrow()
    await own.close()
  })

  it('ends a statement whose client goes away', async () => {
    const abort = new AbortController()
    const query_id = `gone-${database}`
    const waits = client.query({
      query: 'SELECT count() FROM system.numbers WHERE NOT ignore(sleepEachRow(0.001))',
      clickhouse_settings: { max_block_size: '100', function_sleep_max_microseconds_per_block: '0' },
      query_id,
      abort_signal: abort.signal,
    })
    const running = (): Promise<unknown[]> =>
      rows(`SELECT 1 FROM system.processes WHERE startsWith(Settings['log_comment'], '${query_id} ')`)
    await vi.waitFor(async () => expect(await running()).toHaveLength(1), 10_000)
    abort.abort()
    await expect(waits).rejects.toThrow()
    await vi.waitFor(async () => expect(await running()).toHaveLength(0), 10_000)
  })

  it('keeps temporary tables and settings of a session, and locks it', async () => {
    const session = createClient({ log, url, username, password, session_id: `s-${database}`, max_open_connections: 2 })
    await session.command({ query: 'CREATE TEMPORARY TABLE mine (a UInt8)' })
    await session.insert({ table: 'mine', values: [{ a: 7 }], format: 'JSONEachRow' })
    expect(await (await session.query({ query: 'SELECT a FROM mine', format: 'JSONEachRow' })).json()).toEqual([
      { a: 7 },
    ])
    const both = await Promise.allSettled(
      [1, 2].map(() => session.query({ query: 'SELECT sleep(2)', format: 'JSONEachRow' }).then((r) => r.text())),
    )
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(both.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: '373' } })
    await session.close()
    await expect(client.query({ query: 'SELECT a FROM mine' })).rejects.toMatchObject({ code: '60' })
  })
})

describe('the HTTP interface', () => {
  it('takes a statement from the URL, the body, or both', async () => {
    expect(await (await fetch(`${url}/?query=SELECT%201`, { headers })).text()).toBe('1\n')
    expect(await (await fetch(url, { method: 'POST', headers, body: 'SELECT 2 FORMAT CSV' })).text()).toBe('2\n')
    expect(await (await post('SELECT 3', {}, '+ 4')).text()).toBe('7\n')
    expect(await (await fetch(url)).text()).toBe('Ok.\n')
    expect((await fetch(`${url}/nothing`)).status).toBe(404)
  })

  it('asks who may write for the password, and says who may read without', async () => {
    for (const user of ['', '&user=default', '&user=default&password=wrong']) {
      const answer = await fetch(`${url}/?database=${database}${user}`, { method: 'POST', body: 'DROP TABLE t' })
      expect([answer.status, answer.headers.get('x-clickhouse-exception-code')]).toEqual([403, '516'])
      expect(await answer.text()).toContain('Read as user=analyst')
    }
  })

  it('takes nothing from a web page of another site, whoever it says it is', async () => {
    for (const user of ['analyst', `default&password=${password}`])
      expect(await asPages(`${url}/?user=${user}&query=SELECT+1`, 'CREATE DATABASE evil')).toEqual(guarded)
    expect(await asPages(`${url}/metrics`)).toEqual(guarded)
  })

  it('changes nothing on a GET', async () => {
    const answer = await fetch(`${url}/?database=${database}&query=DROP%20TABLE%20t`, { headers })
    expect([answer.status, answer.headers.get('x-clickhouse-exception-code')]).toEqual([500, '164'])
  })

  it('honours settings, default_format, X-ClickHouse-Format and query_id', async () => {
    const answer = await post('SELECT 1 AS a', { query_id: 'mine', default_format: 'JSONEachRow' })
    expect([answer.headers.get('x-clickhouse-query-id'), answer.headers.get('x-clickhouse-format')]).toEqual([
      'mine',
      'JSONEachRow',
    ])
    expect(await answer.text()).toBe('{"a":1}\n')
    expect(await (await post("SELECT getSetting('max_threads')", { max_threads: '3' })).text()).toBe('3\n')
    expect((await post('SELECT 1', { no_such_setting: '1' })).headers.get('x-clickhouse-exception-code')).toBe('115')
  })

  it('refuses a second statement, server files, and what it does not serve', async () => {
    const codes = [
      await post('SELECT 1; SELECT 2'),
      await post("SELECT 1 INTO OUTFILE '/tmp/x'"),
      await post("INSERT INTO t FROM INFILE '/etc/passwd' FORMAT CSV"),
      await post('SELECT 1', { decompress: '1' }),
    ].map((answer) => answer.headers.get('x-clickhouse-exception-code'))
    expect(codes).toEqual(['62', '48', '48', '48'])
  })

  it.each(['file', 'url'])('keeps the table function %s from writers too', async (name) => {
    const answer = await post(`SELECT * FROM ${name}('http://127.0.0.1:1/x', 'CSV', 'a String')`)
    expect(answer.headers.get('x-clickhouse-exception-code')).toBe('497')
  })

  it('inserts VALUES and lines out of the body, however the chunks are cut', async () => {
    await post('CREATE TABLE cut (a UInt32, b String) ENGINE = Memory')
    const text = 'INSERT INTO cut FORMAT JSONEachRow\n{"a":1,"b":"x;y"}\n{"a":2,"b":"INSERT"}\n'
    for (const size of [1, 7, 33, 1000]) {
      const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, i) =>
        Buffer.from(text.slice(i * size, (i + 1) * size)),
      )
      const answer = await fetch(`${url}/?database=${database}`, {
        method: 'POST',
        headers,
        body: Readable.toWeb(Readable.from(chunks)),
        duplex: 'half',
      })
      expect(await answer.text()).toBe('')
    }
    await post('INSERT INTO cut VALUES', {}, "(3, 'a'), (4, 'b')")
    expect(await rows('SELECT a, count() AS n FROM cut GROUP BY a ORDER BY a')).toEqual([
      { a: 1, n: 4 },
      { a: 2, n: 4 },
      { a: 3, n: 1 },
      { a: 4, n: 1 },
    ])
  })

  it('reads a gzip body, the statement included', async () => {
    const answer = await fetch(url, {
      method: 'POST',
      body: gzipSync('SELECT 41 + 1'),
      headers: { ...headers, 'content-encoding': 'gzip' },
    })
    expect(await answer.text()).toBe('42\n')
    const broken = await fetch(url, {
      method: 'POST',
      body: 'not gzip',
      headers: { ...headers, 'content-encoding': 'gzip' },
    })
    expect(broken.headers.get('x-clickhouse-exception-code')).toBe('271')
  })

  it('inserts nothing of a body that is cut off', async () => {
    await post('CREATE TABLE torn (a UInt32) ENGINE = MergeTree ORDER BY a')
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    const query = encodeURIComponent('INSERT INTO torn FORMAT TSV')
    socket.write(
      `POST /?database=${database}&query_id=torn-${database}&query=${query} HTTP/1.1\r\n${raw}Transfer-Encoding: chunked\r\n\r\n`,
    )
    const lines = '1\n'.repeat(100_000)
    const chunk = `${lines.length.toString(16)}\r\n${lines}\r\n`
    for (let n = 0; n < 5; n += 1) socket.write(chunk)
    const running = (): Promise<unknown[]> =>
      rows(`SELECT 1 FROM system.processes WHERE startsWith(Settings['log_comment'], 'torn-${database} ')`)
    await vi.waitFor(async () => expect(await running()).toHaveLength(1), 10_000)
    socket.destroy()
    await vi.waitFor(async () => expect(await running()).toHaveLength(0), 10_000)
    expect(await rows('SELECT count() AS n FROM torn')).toEqual([{ n: 0 }])
  })

  it('works with curl', async () => {
    const curl = async (...args: string[]): Promise<string> =>
      (await run('curl', ['-sS', '--max-time', '20', '-H', `X-ClickHouse-Key: ${password}`, ...args])).stdout
    expect(await curl(`${url}/ping`)).toBe('Ok.\n')
    expect(await curl(url, '--data-binary', 'SELECT 1, 2 FORMAT CSVWithNames')).toBe('"1","2"\n1,2\n')
    expect(await curl('--compressed', `${url}/?enable_http_compression=1`, '-d', "SELECT repeat('x', 5)")).toBe(
      'xxxxx\n',
    )
  })

  it('slows a result down to its reader without holding it', async () => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    const body = "SELECT number, repeat('x', 100) FROM numbers(20000000)"
    socket.write(`POST /?query_id=slow-${database} HTTP/1.1\r\n${raw}Content-Length: ${body.length}\r\n\r\n${body}`)
    socket.pause()
    const progress = async (): Promise<number> => {
      const [row] = await rows<{ n: number }>(
        `SELECT read_rows AS n FROM system.processes WHERE startsWith(Settings['log_comment'], 'slow-${database} ')`,
      )
      return row?.n ?? -1
    }
    let before = -2
    await vi.waitFor(
      async () => {
        const now = await progress()
        const still = now === before && now > 0
        before = now
        expect(still).toBe(true) // it runs, and it waits
      },
      { timeout: 20_000, interval: 500 },
    )
    expect(before).toBeLessThan(5_000_000)
    socket.destroy()
    await vi.waitFor(async () => expect(await progress()).toBe(-1), 10_000)
  })
})
