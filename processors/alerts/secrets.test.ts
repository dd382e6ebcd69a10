import { describe, expect, it } from 'vitest'
import {
  isManageToken,
  manageToken,
  openUrl,
  sealUrl,
  UnknownKeyError,
  webhookSecret,
  type ServiceSecrets,
} from './secrets.ts'

const secrets: ServiceSecrets = {
  newest: 2,
  byVersion: new Map([
    [1, 'an old secret of the service, thirty-two bytes'],
    [2, 'the newest secret of the service, also long'],
  ]),
}
const ID = 'alert_btc_1767323045_17'
const URL = 'https://hooks.example.com/services/T0/B0/secret'

describe('an owner’s token', () => {
  it('is the same whenever it is asked for', () => {
    expect(manageToken(secrets, 2, ID)).toBe(manageToken(secrets, 2, ID))
    expect(manageToken(secrets, 2, ID)).toMatch(/^mt_[\w-]{43}$/)
  })

  it('belongs to one alert and one version of the secret', () => {
    const token = manageToken(secrets, 2, ID)
    expect(isManageToken(secrets, 2, ID, token)).toBe(true)
    expect(isManageToken(secrets, 2, 'alert_btc_1767323045_18', token)).toBe(false)
    expect(isManageToken(secrets, 1, ID, token)).toBe(false)
    expect(isManageToken(secrets, 2, ID, `${token}x`)).toBe(false)
    expect(isManageToken(secrets, 2, ID, '')).toBe(false)
  })
})

it('gives each alert a webhook secret of 32 bytes', () => {
  expect(webhookSecret(secrets, 2, ID)).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(webhookSecret(secrets, 2, ID)).not.toBe(webhookSecret(secrets, 2, 'alert_eth_1767323045_17'))
})

describe('a sealed URL', () => {
  it('opens to what it was, under the version that it was made with', () => {
    expect(openUrl(secrets, 1, ID, sealUrl(secrets, 1, ID, URL))).toBe(URL)
  })

  it('does not show the URL', () => {
    const sealed = Buffer.from(sealUrl(secrets, 2, ID, URL), 'base64').toString('latin1')
    expect(sealed).not.toContain('secret')
    expect(sealed).not.toContain('example')
  })

  it('is the same for the same creation', () => {
    expect(sealUrl(secrets, 2, ID, URL)).toBe(sealUrl(secrets, 2, ID, URL))
  })

  it('does not open for another alert, version or text', () => {
    const sealed = sealUrl(secrets, 2, ID, URL)
    const changed = Buffer.from(sealed, 'base64')
    changed[20] = (changed[20] ?? 0) ^ 1
    expect(() => openUrl(secrets, 2, 'alert_btc_1767323045_18', sealed)).toThrow()
    expect(() => openUrl(secrets, 1, ID, sealed)).toThrow()
    expect(() => openUrl(secrets, 2, ID, changed.toString('base64'))).toThrow()
    expect(() => openUrl(secrets, 3, ID, sealed)).toThrow(UnknownKeyError)
  })
})
