import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import { Wallets } from '../../api/alerts/wallet.ts'
import { errorOf, priceBody, startAlerts, textOf, type AlertHarness } from '../../api/testing/alert-calls.ts'
import { fakePayments, payer, signPayment, type FakePayments } from '../../api/testing/fake-payments.ts'
import { NOW } from '../../api/testing/harness.ts'
import { readConfig } from '../../infra/config/config.ts'
import { serviceSecrets, serviceSecretSettings, type ServiceSecrets } from '../../infra/config/secrets.ts'
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

  it.each([0, 1, 2])('%i and the next: a service of either reads what the other makes', async (step) => {
    const pair = steps.slice(step, step + 2)
    for (const maker of pair)
      for (const reader of pair) {
        const { version, token, secret, sealed } = made(maker)
        expect(isManageToken(reader, version, ID, token)).toBe(true)
        expect(webhookSecret(reader, version, ID)).toBe(secret)
        expect(openUrl(reader, version, ID, sealed)).toBe(HOOK)
        const [at, baseUrl] = [NOW / 1_000, 'https://api.example.com']
        const message = await new Wallets({ secrets: maker, baseUrl }).message('alerts', payer.address, at)
        const signature = await payer.signMessage({ message })
        const signer = await new Wallets({ secrets: reader, baseUrl }).signerOf('alerts', { message, signature }, at)
        expect(signer).toBe(payer.address.toLowerCase())
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

describe('a webhook secret', () => {
  it('is replaced by creating the alert again: every dispatcher signs for both, until the former is cancelled', async () => {
    const apis: AlertHarness[] = []
    try {
      const made = []
      for (const secrets of steps.slice(1, 3)) {
        const api = await startAlerts({ secrets })
        apis.push(api)
        const { body } = await api.send('POST', '/price-alert', { body: priceBody() })
        const [id, token] = [textOf(body['alert_id']), textOf(body['manage_token'])]
        made.push({ api, id, token, version: secrets.newest, secret: textOf(body['webhook_secret']) })
      }
      const [former, fresh] = made
      expect(fresh?.secret).not.toBe(former?.secret)
      for (const dispatcher of steps.slice(1, 3))
        for (const { id, version, secret } of made) expect(webhookSecret(dispatcher, version, id)).toBe(secret)
      const cancelled = await former?.api.send('DELETE', `/price-alert/${former.id}`, { token: former.token })
      expect(cancelled?.status).toBe(200)
    } finally {
      for (const api of apis) await api.stop()
    }
  })
})

describe('an API key', () => {
  const stops: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop()
  })

  let now = NOW / 1_000

  async function pay(): Promise<FakePayments> {
    now = NOW / 1_000
    const payments = await fakePayments(undefined, () => now)
    stops.push(() => payments.stop())
    return payments
  }

  /** An API instance with the settings of a step. */
  async function instance(payments: FakePayments, step: number): Promise<AlertHarness> {
    const secrets = steps[step]
    if (secrets === undefined) throw new Error(`the guide has no step ${step}`)
    const api = await startAlerts({ payments, secrets })
    stops.unshift(() => api.stop())
    return api
  }

  interface Key {
    readonly id: string
    readonly token: string
  }

  async function buy(api: AlertHarness): Promise<Key> {
    const { v2 } = await signPayment({ amount: '1000000', now: NOW / 1e6 })
    const headers = { 'payment-signature': v2, 'idempotency-key': randomUUID() }
    const { body } = await api.send('POST', '/credit', { body: { amount_usdc: 1 }, headers })
    return { id: textOf(body['key_id']), token: textOf(body['api_key']) }
  }

  const ask = async (api: AlertHarness, { token }: Key): Promise<number> =>
    (await api.get('/cvd/BTC', { headers: { 'x-api-key': token } })).status

  async function rotate(api: AlertHarness, key: Key, hours: number): Promise<Key> {
    const said = { body: { grace_hours: hours }, token: key.token }
    const { body } = await api.send('POST', `/keys/${key.id}/rotate`, said)
    return { ...key, token: textOf(body['api_key']) }
  }

  /** The key that its wallet bought, with the token that changes it. */
  async function shown(api: AlertHarness): Promise<Key> {
    const message = textOf((await api.get(`/wallet/message?purpose=keys&address=${payer.address}`)).body['message'])
    const body = { message, signature: await payer.signMessage({ message }) }
    const { keys } = (await api.send('POST', '/wallet/keys', { body })).body
    const key = Object((keys as unknown[])[0])
    return { id: textOf(key['key_id']), token: textOf(key['manage_token']) }
  }

  it('goes over to the new SERVICE_SECRET when it is rotated, and no request of it is refused', async () => {
    const payments = await pay()
    const [first, second, third] = [
      await instance(payments, 0),
      await instance(payments, 1),
      await instance(payments, 2),
    ]
    const key = await buy(first)
    expect([await ask(first, key), await ask(second, key), await ask(third, key)]).toEqual([200, 200, 200])
    const fresh = await rotate(third, key, 24)
    for (const api of [second, third]) expect([await ask(api, key), await ask(api, fresh)]).toEqual([200, 200])
    const last = await instance(payments, 3)
    expect([await ask(last, fresh), await ask(last, key)]).toEqual([200, 401])
  })

  it('that was not rotated before the old SERVICE_SECRET was left out is rotated by its wallet', async () => {
    const payments = await pay()
    const key = await buy(await instance(payments, 0))
    const last = await instance(payments, 3)
    expect(await ask(last, key)).toBe(401)
    const { token } = await shown(last)
    expect(await ask(last, await rotate(last, { ...key, token }, 1))).toBe(200)
  })

  it.each([
    [1, 2],
    [2, 1],
  ])(
    'that got no secret is given one by its wallet: shown by a service of step %i, asked of %i',
    async (one, other) => {
      const payments = await pay()
      const [shows, rotates] = [await instance(payments, one), await instance(payments, other)]
      const command = payments.credit.log.command.bind(payments.credit.log)
      payments.credit.log.command = async (asked) => {
        if (asked.op === 'terms') throw new Error('the instance is killed here')
        return command(asked)
      }
      await expect(buy(shows)).rejects.toThrow()
      payments.credit.log.command = command
      expect(await ask(rotates, await rotate(rotates, await shown(shows), 1))).toBe(200)
    },
  )

  it('of its wallet controls an alert whose own token is of a SERVICE_SECRET that was left out', async () => {
    const payments = await pay()
    const before = steps[0]
    const after = steps[3]
    if (before === undefined || after === undefined) throw new Error('none')
    const byVersion = new Map(before.byVersion)
    const api = await startAlerts({ payments, secrets: { newest: 1, byVersion } })
    stops.unshift(() => api.stop())
    const { v2 } = await signPayment({ amount: '40000', now: NOW / 1e6 })
    const headers = { 'payment-signature': v2 }
    const { body } = await api.send('POST', '/price-alert', { body: priceBody(), headers })
    const key = await buy(await instance(payments, 3))
    byVersion.clear()
    for (const [version, secret] of after.byVersion) byVersion.set(version, secret)

    const at = `/price-alert/${textOf(body['alert_id'])}`
    const refused = await api.send('DELETE', at, { token: textOf(body['manage_token']) })
    expect(errorOf(refused)).toBe('403 forbidden')
    expect(refused.body['message']).toContain('API key')
    const byKey = { headers: { 'x-api-key': key.token } }
    const listed = await api.send('POST', '/wallet/alerts', { body: {}, ...byKey })
    expect(listed.body).toMatchObject({
      count: 1,
      alerts: [{ alert_id: body['alert_id'], manage_token: null, webhook_secret: null }],
    })
    expect((await api.send('DELETE', at, byKey)).status).toBe(200)
  })

  it('has a successor beside it for the hours of grace', async () => {
    const api = await instance(await pay(), 0)
    const key = await buy(api)
    const fresh = await rotate(api, key, 1)
    expect([await ask(api, key), await ask(api, fresh)]).toEqual([200, 200])
    now += 3_600_000
    api.advance(3_600_000)
    expect([await ask(api, key), await ask(api, fresh)]).toEqual([401, 200])
  })

  it('is replaced by another one that is used before it is revoked', async () => {
    const api = await instance(await pay(), 0)
    const [former, other] = [await buy(api), await buy(api)]
    expect([await ask(api, former), await ask(api, other)]).toEqual([200, 200])
    expect((await api.send('DELETE', `/keys/${former.id}`, { token: former.token })).status).toBe(200)
    expect([await ask(api, former), await ask(api, other)]).toEqual([401, 200])
  })
})
