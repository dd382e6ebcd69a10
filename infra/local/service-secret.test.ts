import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readConfig } from '../config/config.ts'
import { serviceSecrets, serviceSecretSettings } from '../config/service-secret.ts'
import { openDataFolder } from './data-folder.ts'
import { ensureServiceSecret } from './service-secret.ts'

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
    const first = secretOf(ensureServiceSecret(folder('demo'), {}))
    expect(first).toHaveLength(43)
    expect(secretOf(ensureServiceSecret(folder('demo'), {}))).toBe(first)
  })

  it('can be read by its owner only', () => {
    const { SERVICE_SECRET_FILE: file = '' } = ensureServiceSecret(folder('demo'), {})
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700)
  })

  it('is another in each mode', () => {
    expect(secretOf(ensureServiceSecret(folder('live'), {}))).not.toBe(
      secretOf(ensureServiceSecret(folder('demo'), {})),
    )
  })

  it('outlives a fresh start', async () => {
    const { SERVICE_SECRET_FILE: file = '' } = ensureServiceSecret(folder('demo'), {})
    const before = readFileSync(file, 'utf8')
    const opened = await openDataFolder(root, 'demo', true)
    opened.release()
    expect(ensureServiceSecret(opened, {})).toEqual({ SERVICE_SECRET_FILE: file })
    expect(readFileSync(file, 'utf8')).toBe(before)
  })

  it.each([{ SERVICE_SECRET: 'x'.repeat(32) }, { SERVICE_SECRET_FILE: '/run/secrets/service-secret' }])(
    'is not made where the environment has one: %j',
    (env) => {
      expect(ensureServiceSecret(folder('demo'), env)).toEqual({})
    },
  )
})
