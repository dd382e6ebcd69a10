import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  errorOf,
  priceBody,
  ruleBody,
  startAlerts,
  textOf,
  type AlertHarness,
  type Answered,
} from '../testing/alert-calls.ts'
import { fakePayments, payer, signPayment, stranger, type FakePayments } from '../testing/fake-payments.ts'
import { NOW } from '../testing/harness.ts'

let payments: FakePayments
let api: AlertHarness
beforeEach(async () => {
  payments = await fakePayments()
  api = await startAlerts({ payments })
})
afterEach(async () => {
  await api.stop()
  await payments.stop()
})

/** A paid alert; gives its id and its token. */
async function bought(path: string, body: object, { account = payer, amount = '60000' } = {}): Promise<Answered> {
  const { v2 } = await signPayment({ amount, now: NOW / 1e6, account })
  return api.send('POST', path, { body, headers: { 'payment-signature': v2 } })
}

const boughtRule = (change: object = {}, account = payer): Promise<Answered> =>
  bought('/alerts', ruleBody(change), { account })

async function messageOf({ address }: typeof payer, query = ''): Promise<string> {
  return textOf((await api.get(`/wallet/message?address=${address}${query}`)).body['message'])
}

const show = (body: object): Promise<Answered> => api.send('POST', '/wallet/alerts', { body })

async function proofOf(account = payer): Promise<{ message: string; signature: string }> {
  api.advance(1) // a wallet has one message in a moment
  const message = await messageOf(account)
  return { message, signature: await account.signMessage({ message }) }
}

const idsOf = ({ body }: Answered): unknown[] => (body['alerts'] as { alert_id: unknown }[]).map((one) => one.alert_id)

describe('POST /wallet/alerts', () => {
  it('gives the paying wallet its alerts of every kind, with the tokens that control them', async () => {
    const price = await bought('/price-alert', priceBody(), { amount: '40000' })
    api.advance(1000)
    const rule = await boughtRule({ group: 'g', tags: ['a', 'b'] })
    await boughtRule({ agent_wallet: payer.address }, stranger) // who names a wallet gives it nothing
    const { status, body } = await show(await proofOf())
    expect([status, body['count'], body['next_cursor']]).toEqual([200, 2, null])
    const [first, second] = body['alerts'] as Record<string, unknown>[]
    const secrets = ({ alert_id, manage_token, webhook_secret }: Record<string, unknown>): unknown[] => [
      alert_id,
      manage_token,
      webhook_secret,
    ]
    expect([secrets(first ?? {}), secrets(second ?? {})]).toEqual([secrets(rule.body), secrets(price.body)])
    expect(first).toMatchObject({ kind: 'rule', group: 'g', tags: ['a', 'b'], status: 'active' })
    const token = textOf(first?.['manage_token'])
    const at = `/alerts/${textOf(first?.['alert_id'])}`
    expect((await api.send('DELETE', at, { token })).status).toBe(200)
    for (const read of ['', '?wallet='])
      // nobody else is told who paid
      expect(JSON.stringify((await api.get(`/alerts${read}${read && payer.address}`)).body)).not.toContain('0x7')
  })

  it('lists an alert without its secrets where the service no longer has what they were made from', async () => {
    const byVersion = new Map([
      [1, 'a-former-secret-of-the-tests-that-is-long-enough'],
      [2, 'a-newer-secret-of-the-tests-that-is-long-enough'],
    ])
    const secrets = { newest: 1, byVersion }
    await api.stop()
    api = await startAlerts({ payments, secrets })
    await boughtRule()
    secrets.newest = 2
    api.advance(1000)
    const fresh = await boughtRule()
    byVersion.delete(1)
    const { status, body } = await show(await proofOf())
    expect([status, body['count']]).toEqual([200, 2])
    const { manage_token, webhook_secret } = fresh.body
    expect(body['alerts']).toMatchObject([
      { manage_token, webhook_secret },
      { manage_token: null, webhook_secret: null },
    ])
  })

  it('is filtered and read page by page, by the same signature', async () => {
    const ids: unknown[] = []
    for (const change of [{ group: 'g' }, { tags: ['t'] }, { group: 'g', tags: ['t', 'u'] }]) {
      ids.unshift((await boughtRule(change)).body['alert_id'])
      api.advance(1000)
    }
    const [both, tagged, grouped] = ids
    expect(idsOf(await show({ ...(await proofOf()), group: 'g' }))).toEqual([both, grouped])
    expect(idsOf(await show({ ...(await proofOf()), tag: 't' }))).toEqual([both, tagged])
    expect(idsOf(await show({ ...(await proofOf()), state: 'paused' }))).toEqual([])
    const proof = await proofOf()
    expect(errorOf(await show({ ...proof, state: 'activ' }))).toBe('400 invalid_body state')
    expect(idsOf(await show({ ...proof, state: null }))).toHaveLength(3) // which was not used up
    const first = await show({ ...(await proofOf()), limit: 2 })
    const cursor = textOf(first.body['next_cursor'])
    expect(idsOf(await show({ cursor, limit: 2 }))).toEqual([grouped])
    const [head, tail] = [cursor.slice(0, 20), cursor.slice(20)]
    const other = `${head}${tail.startsWith('0') ? '1' : '0'}${tail.slice(1)}` // somebody else's address
    expect(errorOf(await show({ cursor: other }))).toBe('400 invalid_cursor cursor')
    api.advance(300_000)
    expect(errorOf(await show({ cursor }))).toBe('400 invalid_cursor cursor')
  })
})

describe('a rule’s days', () => {
  it.each([
    [undefined, '60000'],
    [168, '60000'],
    [169, '65000'],
    [192, '65000'],
    [193, '70000'],
    [720, '175000'],
  ])('beyond a week are paid for: %s hours cost %s', async (expires_in_hours, amount) => {
    const body = ruleBody({ expires_in_hours })
    const asked = await api.send('POST', '/alerts', { body })
    expect([asked.status, (asked.body['accepts'] as { maxAmountRequired: string }[])[0]?.maxAmountRequired]).toEqual([
      402,
      amount,
    ])
    const less = String(Number(amount) - 1)
    expect((await bought('/alerts', body, { amount: less })).status).toBe(402)
    expect((await bought('/alerts', body, { amount })).status).toBe(201)
  })

  it('are bounded: what has no end, or one too far, is refused for nothing', async () => {
    for (const expires_in_hours of [0, 721])
      expect((await api.send('POST', '/alerts', { body: ruleBody({ expires_in_hours }) })).status).toBe(400)
    const { body } = await boughtRule()
    const { v2 } = await signPayment({ amount: '30000', now: NOW / 1e6 })
    const headers = { 'payment-signature': v2 }
    const at = `/alerts/${textOf(body['alert_id'])}/extend`
    expect(
      (await api.send('POST', at, { body: { add_hours: 168 }, token: textOf(body['manage_token']), headers })).status,
    ).toBe(200)
  })
})

describe('a proof', () => {
  it('is taken once, in its time', async () => {
    const proof = await proofOf()
    expect((await show(proof)).status).toBe(200)
    expect(errorOf(await show(proof))).toBe('400 invalid_wallet_proof message')
    const twice = await proofOf()
    const answers = await Promise.all([show(twice), show(twice)])
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 400]))
    const late = await proofOf()
    api.advance(300_000)
    expect((await show(late)).body['message']).toContain('over')
  })

  it('is the wallet’s that it names, and of this service', async () => {
    const message = await messageOf(payer)
    const signed = await stranger.signMessage({ message })
    expect(errorOf(await show({ message, signature: signed }))).toBe('403 forbidden signature')
    const changes = [
      message.replace('api.example.com', 'evil.example'),
      message.replace(payer.address, stranger.address),
      message.replace(/Nonce: \w+/, `Nonce: ${'0'.repeat(32)}`),
      message.replace(/Issued At: 2026/, 'Issued At: 2027'),
      message.replace(/Expiration Time: 2026/, 'Expiration Time: 2027'),
      `${message} `,
      'Show me everything',
    ]
    for (const changed of changes) {
      const signature = await payer.signMessage({ message: changed })
      expect([changed, errorOf(await show({ message: changed, signature }))]).toEqual([
        changed,
        '400 invalid_wallet_proof message',
      ])
    }
    expect(errorOf(await show({ message }))).toBe('400 invalid_wallet_proof signature')
    expect(errorOf(await show({ message, signature: '0x00' }))).toBe('403 forbidden signature')
    expect((await show({ message, signature: await payer.signMessage({ message }) })).status).toBe(200)
  })

  it('is taken for what it says alone: to show alerts, or the keys and the credit that they spend', async () => {
    const [forAlerts, forKeys] = [await messageOf(payer), await messageOf(payer, '&purpose=keys')]
    expect(forAlerts).toContain('alerts')
    expect(forAlerts).toContain('/wallet/alerts')
    expect(forAlerts).not.toMatch(/keys/i)
    expect(forKeys).toMatch(/API keys.*spend/)
    expect(forKeys).toContain('/wallet/keys')
    const ask = async (path: string, message: string): Promise<string> =>
      errorOf(await api.send('POST', path, { body: { message, signature: await payer.signMessage({ message }) } }))
    expect(await ask('/wallet/keys', forAlerts)).toBe('400 invalid_wallet_proof message')
    expect(await ask('/wallet/alerts', forKeys)).toBe('400 invalid_wallet_proof message')
    const changed = forAlerts.replace(/Show my alerts.*/, forKeys.split('\n')[3] ?? '').replace('/alerts', '/keys')
    expect(await ask('/wallet/keys', changed)).toBe('400 invalid_wallet_proof message')
    expect(await ask('/wallet/keys', forKeys)).toMatch(/^200/)
    expect(errorOf(await api.get(`/wallet/message?address=${payer.address}&purpose=all`))).toBe(
      '400 invalid_wallet_proof purpose',
    )
  })

  it('says the host where it is taken, to whoever signs it', async () => {
    expect(await messageOf(payer)).toMatch(/^api\.example\.com wants you to sign in with your Ethereum account:\n0x/)
    expect(errorOf(await api.get('/wallet/message?address=me'))).toBe('400 invalid_agent_wallet address')
  })
})
