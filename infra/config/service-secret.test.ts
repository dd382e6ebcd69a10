import { expect, it } from 'vitest'
import { ConfigError, readConfig } from './config.ts'
import { serviceSecrets, serviceSecretSettings } from './service-secret.ts'

const long = 'x'.repeat(32)
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
  [{ SERVICE_SECRET: 'short' }, /fewer than 32 characters/],
  [{ SERVICE_SECRET_FILE: 'no-such-file' }, /no-such-file cannot be read/],
  [{ SERVICE_SECRET: long, SERVICE_SECRETS_READ: 'nonsense' }, /not version:secret/],
])('says what is wrong with %j', (env, message) => {
  expect(() => read(env)).toThrow(ConfigError)
  expect(() => read(env)).toThrow(message)
})

it('never shows a secret in an error', () => {
  expect(() => read({ SERVICE_SECRET: long, SERVICE_SECRETS_READ: '1:hush' })).toThrow(/^(?!.*hush)/)
})
