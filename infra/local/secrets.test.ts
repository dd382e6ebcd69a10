import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readConfig } from '../config/config.ts'
import { serviceSecrets, serviceSecretSettings } from '../config/secrets.ts'
import { openDataFolder } from './data-folder.ts'
import type { RunFile } from './run-file.ts'
import { clickhouseOf, ensureSecret } from './secrets.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'secret-'))
})
afterEach(() => rmSync(root, { recursive: true }))

const folder = (mode: string) => ({ root, mode: path.join(root, mode) })
const secretOf = (env: Readonly<Record<string, string>>): string | undefined =>
  serviceSecrets(readConfig(env, serviceSecretSettings)).byVersion.get(1)

describe('the service’s secret', () => {
  it('is made once, and is one that the services take', () => {
    const first = secretOf(ensureSecret(folder('demo'), 'SERVICE_SECRET', {}))
    expect(first).toHaveLength(43)
    expect(secretOf(ensureSecret(folder('demo'), 'SERVICE_SECRET', {}))).toBe(first)
  })

  it('can be read by its owner only', () => {
    const { SERVICE_SECRET_FILE: file = '' } = ensureSecret(folder('demo'), 'SERVICE_SECRET', {})
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700)
  })

  it('is another in each mode', () => {
    expect(secretOf(ensureSecret(folder('live'), 'SERVICE_SECRET', {}))).not.toBe(
      secretOf(ensureSecret(folder('demo'), 'SERVICE_SECRET', {})),
    )
  })

  it('outlives a fresh start', async () => {
    const { SERVICE_SECRET_FILE: file = '' } = ensureSecret(folder('demo'), 'SERVICE_SECRET', {})
    const before = readFileSync(file, 'utf8')
    const opened = await openDataFolder(root, 'demo', true)
    opened.release()
    expect(ensureSecret(opened, 'SERVICE_SECRET', {})).toEqual({ SERVICE_SECRET_FILE: file })
    expect(readFileSync(file, 'utf8')).toBe(before)
  })

  it.each([{ SERVICE_SECRET: 'x'.repeat(32) }, { SERVICE_SECRET_FILE: '/run/secrets/service-secret' }])(
    'is not made where the environment has one: %j',
    (env) => {
      expect(ensureSecret(folder('demo'), 'SERVICE_SECRET', env)).toEqual({})
    },
  )
})

describe('the password of the local ClickHouse', () => {
  const run = (pid?: number): RunFile => ({
    mode: 'demo',
    data: path.join(root, 'demo'),
    partitions: 12,
    parts: [{ name: 'clickhouse', url: 'http://127.0.0.1:8123', ...(pid !== undefined && { pid }) }],
  })

  it('is made once, is nobody else’s to read, and is not the service’s secret', () => {
    const { CLICKHOUSE_PASSWORD_FILE: file = '' } = ensureSecret(folder('demo'), 'CLICKHOUSE_PASSWORD', {})
    const { SERVICE_SECRET_FILE: other = '' } = ensureSecret(folder('demo'), 'SERVICE_SECRET', {})
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readFileSync(file, 'utf8')).toMatch(/^[\w-]{43}\n$/)
    expect(readFileSync(file, 'utf8')).not.toBe(readFileSync(other, 'utf8'))
  })

  it('is what programs on this machine ask a running system with', () => {
    const { CLICKHOUSE_PASSWORD_FILE: file = '' } = ensureSecret(folder('demo'), 'CLICKHOUSE_PASSWORD', {})
    expect(clickhouseOf(run(1), {})).toEqual({
      url: 'http://127.0.0.1:8123',
      user: 'default',
      password: readFileSync(file, 'utf8').trim(),
    })
  })

  it('is the environment’s where that has one, or where ClickHouse is elsewhere', () => {
    ensureSecret(folder('demo'), 'CLICKHOUSE_PASSWORD', {})
    expect(clickhouseOf(run(1), { CLICKHOUSE_PASSWORD: 'our-own-text' }).password).toBe('our-own-text')
    expect(clickhouseOf(run(), {}).password).toBe('')
  })
})
