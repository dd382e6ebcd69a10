import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startClickhouse } from './start.ts'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'clickhouse-start-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const password = 'of-this-test'
const start = (port = 0, env: Record<string, string> = { CLICKHOUSE_PASSWORD: password }) =>
  startClickhouse({ dataDir: join(dir, 'data'), port, logFile: join(dir, 'log'), env })
const log = (): string => readFileSync(join(dir, 'log'), 'utf8')
const headers = { 'x-clickhouse-key': password }
const ask = async (url: string, body: string): Promise<string> =>
  (await fetch(url, { method: 'POST', body, headers })).text()

describe('startClickhouse', () => {
  it('keeps its data over a clean stop and a kill', async () => {
    const first = await start()
    await ask(first.url, 'CREATE DATABASE d ENGINE = Atomic')
    await ask(first.url, 'CREATE TABLE d.t (a UInt8) ENGINE = MergeTree ORDER BY a')
    await ask(first.url, 'INSERT INTO d.t VALUES (1)')
    await first.stop()
    const second = await start()
    await ask(second.url, 'INSERT INTO d.t VALUES (2)')
    process.kill(second.pid, 'SIGKILL')
    await second.exited
    const third = await start()
    expect(await ask(third.url, 'SELECT sum(a) FROM d.t')).toBe('3\n')
    await third.stop()
  })

  it('stops in time though a statement would run for ever', async () => {
    const child = await start()
    const endless = ask(child.url, 'SELECT count() FROM system.numbers').catch(() => 'cut')
    await expect
      .poll(() =>
        ask(
          child.url,
          "SELECT count() FROM system.processes WHERE query LIKE '%system.numbers%' AND query NOT LIKE '%processes%'",
        ),
      )
      .not.toBe('0\n')
    await child.stop()
    await endless
    expect(log()).not.toContain('exiting hard')
  })

  it('refuses a folder of a newer version, and says so', async () => {
    const child = await start()
    await child.stop()
    writeFileSync(join(dir, 'data', 'version.json'), '{"format":1,"engine":"99.1.1.1"}')
    await expect(start()).rejects.toThrow('clickhouse ended before it was ready')
    expect(log()).toContain('was written by a newer version (engine 99.1.1.1')
  })

  it('does not start without a password for who may write', async () => {
    await expect(start(0, {})).rejects.toThrow('clickhouse ended before it was ready')
    expect(log()).toContain('CLICKHOUSE_PASSWORD is not set')
  })

  it('names a port that is taken, and a folder that is open elsewhere', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => {
      other.listen(0, '127.0.0.1', resolve)
    })
    const { port } = other.address() as AddressInfo
    await expect(start(port)).rejects.toThrow()
    expect(log()).toContain(`port ${port} on 127.0.0.1 is in use`)
    other.close()
    const child = await start()
    await expect(start()).rejects.toThrow()
    expect(log()).toContain('Another server instance in same directory is already running')
    expect(log()).toContain('cannot open the ClickHouse data folder')
    await child.stop()
  })
})
