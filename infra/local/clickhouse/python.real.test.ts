import { execFile, execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createClient } from '@clickhouse/client'
import { expect, inject, it } from 'vitest'

/** An interpreter that has clickhouse-connect: `pip install 'clickhouse-connect[lz4]'` in a venv, then PYTHON=... */
const python = process.env['PYTHON'] ?? 'python3'
const missing = ((): string | undefined => {
  try {
    execFileSync(python, ['-c', 'import clickhouse_connect'], { stdio: 'ignore', timeout: 20_000 })
    return undefined
  } catch {
    return `${python} has no clickhouse-connect; set PYTHON to one that has it`
  }
})()
if (missing !== undefined) console.log(`skipped: ${missing}`)

it.skipIf(missing !== undefined)('serves clickhouse-connect unchanged, with every codec it has', async () => {
  const { url: at, user: username, password } = inject('parts').clickhouse
  const url = new URL(at)
  const database = `python_${process.pid}`
  const client = createClient({ url, username, password })
  await client.command({ query: `CREATE DATABASE ${database} ENGINE = Atomic` })
  const script = fileURLToPath(new URL('connect.py', import.meta.url))
  const { stdout } = await promisify(execFile)(python, [script, url.hostname, url.port, database, password], {
    timeout: 50_000,
  })
  await client.command({ query: `DROP DATABASE ${database}` })
  await client.close()
  const { stream, ...seen } = JSON.parse(stdout) as Record<string, unknown>
  expect(stream).toBe(44_999_850_000)
  expect(seen).toMatchObject({ ping: true, error: true, reader: 60_000, 'reader drop': true })
  for (const codec of ['True', 'gzip', 'False']) expect(seen[`codec ${codec}`]).toEqual([60_000, 1_799_970_000, SUM])
})

/** Of n / 4 over the n below 60,000 that three does not divide. */
const SUM = Array.from({ length: 60_000 }, (_, n) => (n % 3 === 0 ? 0 : n / 4)).reduce((sum, value) => sum + value, 0)
