import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { clickhousePassword, clickhousePasswordSettings } from './clickhouse.ts'
import { ConfigError, readConfig } from './config.ts'
import {
  backupKey,
  backupKeySettings,
  serviceSecrets,
  serviceSecretSettings,
  walletKey,
  walletKeySettings,
} from './secrets.ts'

const long = 'x'.repeat(32)
const folder = mkdtempSync(path.join(tmpdir(), 'secrets-'))
const file = path.join(folder, 'secret')
afterAll(() => rmSync(folder, { recursive: true }))

const read = (env: Record<string, string>) => serviceSecrets(readConfig(env, serviceSecretSettings))

it('knows the newest secret and those that it replaced', () => {
  const secrets = read({
    SERVICE_SECRET: long,
    SERVICE_SECRET_VERSION: '3',
    SERVICE_SECRETS_READ: `1:${long}a,2:${long}b`,
  })
  expect(secrets.newest).toBe(3)
  expect([...secrets.byVersion]).toEqual([
    [1, `${long}a`],
    [2, `${long}b`],
    [3, long],
  ])
})

it.each([
  [{}, /SERVICE_SECRET is not set/],
  [{ SERVICE_SECRET: 'short' }, /SERVICE_SECRET must be a text of 32 characters or more/],
  [{ SERVICE_SECRET_FILE: 'no-such-file' }, /no-such-file cannot be read/],
  [{ SERVICE_SECRET: long, SERVICE_SECRETS_READ: 'nonsense' }, /must be .* version:secret/],
  [
    { SERVICE_SECRET: long, SERVICE_SECRETS_READ: `1:former ${long}` },
    /another secret of version 1: .*SERVICE_SECRET_VERSION/,
  ],
])('says what is wrong with %j', (env, message) => {
  expect(() => read(env)).toThrow(ConfigError)
  expect(() => read(env)).toThrow(message)
})

it('never shows a secret in an error', () => {
  expect(() => read({ SERVICE_SECRET: long, SERVICE_SECRETS_READ: '1:hush' })).toThrow(/^(?!.*hush)/)
})

it.each([
  ['SERVICE_SECRET_FILE', 'x'.repeat(31), () => read({ SERVICE_SECRET_FILE: file })],
  ['BACKUP_KEY_FILE', '', () => backupKey(readConfig({ BACKUP_KEY_FILE: file }, backupKeySettings))],
  [
    'CLICKHOUSE_PASSWORD_FILE',
    'market7',
    () => clickhousePassword(readConfig({ CLICKHOUSE_PASSWORD_FILE: file }, clickhousePasswordSettings)),
  ],
])('takes none from %s that it would refuse as a text', (name, text, readIt) => {
  writeFileSync(file, `${text}\n`)
  expect(readIt).toThrow(ConfigError)
  expect(readIt).toThrow(new RegExp(`^${name}: .* does not hold a text of \\d+ characters or more$`))
})

const digits = 'ab'.repeat(32)
const readKey = (env: Record<string, string>): string => walletKey(readConfig(env, walletKeySettings))

it('takes the key from the variable or from a file, with or without 0x', () => {
  writeFileSync(file, `0x${digits}\n`)
  const keys = [
    { PAYMENT_WALLET_KEY: digits },
    { PAYMENT_WALLET_KEY: `0x${digits}` },
    { PAYMENT_WALLET_KEY_FILE: file },
  ]
  expect(keys.map(readKey)).toEqual(keys.map(() => `0x${digits}`))
})

it.each<[Record<string, string>, RegExp]>([
  [{}, /PAYMENT_WALLET_KEY is not set/],
  [{ PAYMENT_WALLET_KEY: `${digits}9` }, /^PAYMENT_WALLET_KEY: not a private key/],
  [{ PAYMENT_WALLET_KEY_FILE: 'no-such-file' }, /no-such-file cannot be read/],
])('says what is wrong, and never shows the key', (env, message) => {
  expect(() => readKey(env)).toThrow(ConfigError)
  expect(() => readKey(env)).toThrow(message)
  expect(() => readKey(env)).toThrow(/^(?!.*abab)/)
})
