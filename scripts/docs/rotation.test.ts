import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../infra/config/config.ts'
import { serviceSecrets, serviceSecretSettings, type ServiceSecrets } from '../../infra/config/service-secret.ts'
import { isManageToken, manageToken, openUrl, sealUrl, webhookSecret } from '../../processors/alerts/secrets.ts'

/** The settings of each step of the guide, as a service reads them. */
const steps = [
  ...readFileSync(new URL('../../api/docs/guides/rotate.md', import.meta.url), 'utf8').matchAll(/```ini\n([^]*?)```/g),
]
  .map(([, block = '']) => block.trim().split('\n'))
  .map((lines) =>
    Object.fromEntries(lines.map((line) => [line.trim().split('=')[0] ?? '', line.trim().replace(/^\w+=/, '')])),
  )
  .map((env) => serviceSecrets(readConfig(env, serviceSecretSettings)))

const ID = 'alert_btc_1767323045_17'
const HOOK = 'https://hooks.example.com/secret'

/** What a service with these settings makes. */
function made(secrets: ServiceSecrets) {
  const { newest: version } = secrets
  const token = manageToken(secrets, version, ID)
  return { version, token, secret: webhookSecret(secrets, version, ID), sealed: sealUrl(secrets, version, ID, HOOK) }
}

describe('the steps to a new SERVICE_SECRET', () => {
  it('are four', () => {
    expect(steps.map(({ newest }) => newest)).toEqual([1, 1, 2, 2])
  })

  it.each([0, 1, 2])('%i and the next: a service of either reads what the other makes', (step) => {
    const pair = steps.slice(step, step + 2)
    for (const maker of pair)
      for (const reader of pair) {
        const { version, token, secret, sealed } = made(maker)
        expect(isManageToken(reader, version, ID, token)).toBe(true)
        expect(webhookSecret(reader, version, ID)).toBe(secret)
        expect(openUrl(reader, version, ID, sealed)).toBe(HOOK)
      }
  })

  it('keep what the former secret made up to the last one, and then not', () => {
    const [first, second, third, last] = steps
    if (first === undefined || second === undefined || third === undefined || last === undefined)
      throw new Error('none')
    const { version, token, sealed } = made(first)
    for (const secrets of [second, third]) {
      expect(isManageToken(secrets, version, ID, token)).toBe(true)
      expect(openUrl(secrets, version, ID, sealed)).toBe(HOOK)
    }
    expect(() => openUrl(last, version, ID, sealed)).toThrow('SERVICE_SECRET version 1 is not configured')
  })

  it('may not be shortened: a service that has not heard of the new secret cannot read what it makes', () => {
    const [first, , third] = steps
    if (first === undefined || third === undefined) throw new Error('none')
    expect(() => openUrl(first, 2, ID, made(third).sealed)).toThrow('version 2 is not configured')
  })
})
