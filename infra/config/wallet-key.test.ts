import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it } from 'vitest'
import { ConfigError, readConfig } from './config.ts'
import { walletKey, walletKeySettings } from './wallet-key.ts'

const digits = 'ab'.repeat(32)
const read = (env: Record<string, string>): string => walletKey(readConfig(env, walletKeySettings))

it('takes the key from the variable or from a file, with or without 0x', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wallet-key-'))
  const file = path.join(folder, 'key')
  writeFileSync(file, `0x${digits}\n`)
  const keys = [
    { PAYMENT_WALLET_KEY: digits },
    { PAYMENT_WALLET_KEY: `0x${digits}` },
    { PAYMENT_WALLET_KEY_FILE: file },
  ]
  expect(keys.map(read)).toEqual(keys.map(() => `0x${digits}`))
  rmSync(folder, { recursive: true })
})

it.each<[Record<string, string>, RegExp]>([
  [{}, /PAYMENT_WALLET_KEY is not set/],
  [{ PAYMENT_WALLET_KEY: `${digits}9` }, /^PAYMENT_WALLET_KEY: not a private key/],
  [{ PAYMENT_WALLET_KEY_FILE: 'no-such-file' }, /no-such-file cannot be read/],
])('says what is wrong, and never shows the key', (env, message) => {
  expect(() => read(env)).toThrow(ConfigError)
  expect(() => read(env)).toThrow(message)
  expect(() => read(env)).toThrow(/^(?!.*abab)/)
})
