import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { recordId } from '../schemas/record-id.ts'
import {
  HOOK,
  priceBody,
  riskBody,
  startAlerts,
  textOf,
  type AlertHarness,
  type Answered,
} from './testing/alert-calls.ts'
import { listAsset, NOW } from './testing/harness.ts'

let api: AlertHarness
beforeEach(async () => {
  api = await startAlerts()
})
afterEach(() => api.stop())

const kinds = [
  ['/price-alert', '/price-alerts', priceBody],
  ['/liquidation/alert', '/liquidation/alerts', riskBody],
] as const

const EVM = '0x52908400098527886E0F7030069857D2E4169EE7'
const SOLANA = '7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV'
const KEY = 'a-key-of-16-chars-or-more'

function errorOf({ status, body }: Answered): string {
  return [status, body['error'], body['field']].join(' ').trim()
}

describe.each(kinds)('creating at %s', (path, _list, bodyOf) => {
  it.each([
    [{ symbol: undefined }, '400 invalid_symbol symbol'],
    [{ symbol: 'btc' }, '400 invalid_symbol symbol'],
    [{ symbol: 7 }, '400 invalid_symbol symbol'],
    [{ symbol: 'A'.repeat(21) }, '400 invalid_symbol symbol'],
    [{ symbol: 'NOPE' }, '404 symbol_not_found symbol'],
    [{ condition: 'sideways' }, '400 invalid_condition condition'],
    [{ condition: 1 }, '400 invalid_condition condition'],
    [{ webhook_url: undefined }, '400 invalid_webhook_url webhook_url'],
    [{ webhook_url: 'hooks.example.com' }, '400 invalid_webhook_url webhook_url'],
    [{ webhook_url: 'http://hooks.example.com/x' }, '400 invalid_webhook_url webhook_url'],
    [{ webhook_url: 'https://127.0.0.1/x' }, '400 invalid_webhook_url webhook_url'],
    [{ webhook_url: 'https://0x7f.1/x' }, '400 invalid_webhook_url webhook_url'],
    [{ webhook_url: 'https://[::ffff:10.0.0.1]/x' }, '400 invalid_webhook_url webhook_url'],
    [{ webhook_url: 'https://user:pass@example.com/x' }, '400 invalid_webhook_url webhook_url'],
    [{ agent_wallet: '0x123' }, '400 invalid_agent_wallet agent_wallet'],
    [{ agent_wallet: 'O'.repeat(40) }, '400 invalid_agent_wallet agent_wallet'],
    [{ agent_wallet: 7 }, '400 invalid_agent_wallet agent_wallet'],
    [{ expires_in_hours: 0 }, '400 invalid_expires_in_hours expires_in_hours'],
    [{ expires_in_hours: 1.5 }, '400 invalid_expires_in_hours expires_in_hours'],
    [{ expires_in_hours: '24' }, '400 invalid_expires_in_hours expires_in_hours'],
    [{ expires_in_hours: 169 }, '400 expires_in_hours_too_long expires_in_hours'],
  ])('refuses %j with %s', async (change, expected) => {
    expect(errorOf(await api.send('POST', path, { body: bodyOf(change) }))).toBe(expected)
    expect(api.alerts.commands).toEqual([])
  })

  it.each([
    ['no body', undefined, {}, '400 invalid_body'],
    ['what is not JSON', '{"symbol"', {}, '400 invalid_body'],
    ['an array', '[]', {}, '400 invalid_body'],
    ['null', 'null', {}, '400 invalid_body'],
    ['a form', 'symbol=BTC', { 'content-type': 'application/x-www-form-urlencoded' }, '415 unsupported_media_type'],
    ['a coded body', '{}', { 'content-encoding': 'gzip' }, '415 unsupported_media_type'],
    ['a large body', `{"a":"${'x'.repeat(20_000)}"}`, {}, '413 body_too_large'],
    ['a short key', '{}', { 'idempotency-key': 'short' }, '400 invalid_symbol symbol'],
  ])('refuses %s', async (_, body, headers, expected) => {
    expect(errorOf(await api.send('POST', path, { body, headers }))).toBe(expected)
  })

  it.each(['short', 'x'.repeat(129)])('refuses the Idempotency-Key %s', async (key) => {
    const answer = await api.send('POST', path, { body: bodyOf(), headers: { 'idempotency-key': key } })
    expect(errorOf(answer)).toBe('400 invalid_idempotency_key Idempotency-Key')
  })

  it.each([
    { expires_in_hours: 1 },
    { expires_in_hours: 168 },
    { expires_in_hours: null, agent_wallet: null },
    { agent_wallet: EVM },
    { agent_wallet: EVM.toLowerCase() },
    { agent_wallet: SOLANA },
    { symbol: 'BTCUSDT' },
    { webhook_url: 'https://hooks.example.com:8443/x?y=1#z' },
    { something: 'else' },
  ])('takes %j', async (change) => {
    const { status, body } = await api.send('POST', path, { body: bodyOf(change) })
    expect(status).toBe(201)
    const given = { symbol: 'BTC', webhook_url: HOOK, ...change }
    expect(body).toMatchObject({ symbol: given.symbol, webhook_url: given.webhook_url })
  })

  it('takes JSON by any of its names, and a body without a type', async () => {
    for (const type of ['application/json; charset=utf-8', 'application/merge-patch+json', ''])
      expect((await api.send('POST', path, { body: bodyOf(), headers: { 'content-type': type } })).status).toBe(201)
  })

  it('takes any symbol of the catalogue', async () => {
    listAsset(api.database, 'wif')
    api.advance(10_000)
    expect((await api.send('POST', path, { body: bodyOf({ symbol: 'WIF' }) })).body).toMatchObject({ symbol: 'WIF' })
  })

  it('gives the same answer to the same key and meaning for a day, and 409 to another', async () => {
    const headers = { 'idempotency-key': KEY }
    const once = await api.send('POST', path, { body: bodyOf({ agent_wallet: EVM }), headers })
    api.advance(3_600_000)
    const again = { agent_wallet: EVM, expires_in_hours: 24, more: 1 }
    expect(await api.send('POST', path, { body: bodyOf(again), headers })).toMatchObject({
      status: 201,
      body: once.body,
    })
    expect(api.alerts.commands).toHaveLength(1)
    const other = await api.send('POST', path, { body: bodyOf({ expires_in_hours: 2 }), headers })
    expect(errorOf(other)).toBe('409 idempotency_conflict Idempotency-Key')
  })

  it('makes two alerts without a key', async () => {
    const [one, two] = [await api.create({}, path), await api.create({}, path)]
    expect(one.id).not.toBe(two.id)
  })

  it('is 503 with Retry-After when nobody decides in time, and the key finds what was made', async () => {
    const headers = { 'idempotency-key': KEY }
    api.alerts.isSlow = true
    const late = await api.send('POST', path, { body: bodyOf(), headers })
    expect([errorOf(late), late.headers.get('retry-after')]).toEqual(['503 data_unavailable', '2'])
    api.alerts.isSlow = false
    const { alert_id: id } = (await api.send('POST', path, { body: bodyOf(), headers })).body
    expect((await api.send('GET', `${path}/${textOf(id)}`)).status).toBe(200)
    expect(api.alerts.newest.size).toBe(1)
  })

  it('takes the catalogue that was read last while ClickHouse is away', async () => {
    await api.create({}, path)
    api.database.failure = new Error('away')
    api.advance(60_000)
    await api.create({}, path)
    expect(errorOf(await api.send('POST', path, { body: bodyOf({ symbol: 'NOPE' }) }))).toMatch(/^404/)
  })

  it('writes no secret: neither URL nor token nor key', async () => {
    const body = bodyOf({ webhook_url: HOOK })
    const answer = await api.send('POST', path, { body, headers: { 'idempotency-key': KEY } })
    const log = JSON.stringify([api.alerts.commands, api.alerts.sent])
    const { manage_token: token, webhook_secret: secret } = answer.body
    for (const hidden of ['a-secret-path', KEY, textOf(token), textOf(secret)]) expect(log).not.toContain(hidden)
    expect(api.alerts.commands[0]?.alert?.receiver).toBe('hooks.example.com:443')
  })
})

describe('creating a price alert', () => {
  it.each([undefined, 0, -1, '100', null, true])('refuses the target %j', async (target_price) => {
    const answer = await api.send('POST', '/price-alert', { body: priceBody({ target_price }) })
    expect(errorOf(answer)).toBe('400 invalid_target_price target_price')
  })

  it('refuses a target that is too large for a number', async () => {
    const body = JSON.stringify(priceBody()).replace('100', '1e400')
    expect(errorOf(await api.send('POST', '/price-alert', { body }))).toBe('400 invalid_target_price target_price')
  })

  it.each(['above', 'below', 'crosses_above', 'crosses_below'])('takes %s', async (condition) => {
    const { body } = await api.send('POST', '/price-alert', { body: priceBody({ condition }) })
    expect(body).toMatchObject({ condition, target_price: 100 })
    expect(body['alert_id']).toMatch(/^alert_btc_1767323045_\d+$/)
  })
})

describe('creating a liquidation alert', () => {
  it.each([
    [{ threshold_pct: 0 }, 'threshold_pct'],
    [{ threshold_pct: 100.1 }, 'threshold_pct'],
    [{ threshold_pct: '5' }, 'threshold_pct'],
    [{ min_value_usd: -1 }, 'min_value_usd'],
    [{ min_value_usd: '0' }, 'min_value_usd'],
  ])('refuses %j', async (change, field) => {
    const answer = await api.send('POST', '/liquidation/alert', { body: riskBody(change) })
    expect(errorOf(answer)).toBe(`400 invalid_${field} ${field}`)
  })

  it('has the defaults of the specification, and wants its asset at once', async () => {
    listAsset(api.database, 'wif')
    const { body } = await api.send('POST', '/liquidation/alert', { body: riskBody({ symbol: 'WIF' }) })
    expect(body).toMatchObject({ condition: 'cascade_risk', threshold_pct: 5, min_value_usd: 0 })
    expect(body['alert_id']).toMatch(/^alert_liq_wif_1767323045_\d+$/)
    expect(api.wanted).toEqual(['wif'])
  })
})

describe.each(kinds)('an alert at %s', (path, list) => {
  it('is not found where it is not, nor under the other kind', async () => {
    const { id, token } = await api.create({}, path)
    const other = kinds.find(([there]) => there !== path)?.[0] ?? ''
    for (const at of [`${path}/alert_btc_1_1`, `${path}/nonsense`, `${other}/${id}`])
      for (const [method, more] of [
        ['GET', ''],
        ['DELETE', ''],
        ['POST', '/extend'],
        ['GET', '/deliveries'],
        ['POST', '/test'],
      ] as const)
        expect(errorOf(await api.send(method, at + more, { token }))).toBe('404 alert_not_found id')
  })

  it('obeys its owner only: 404, then 401, then 403', async () => {
    const { at } = await api.create({}, path)
    const { token: another } = await api.create({}, path)
    for (const [method, more] of [
      ['DELETE', ''],
      ['POST', '/extend'],
      ['GET', '/deliveries'],
      ['POST', '/test'],
      ['POST', '/deliveries/alert_x_1/resend'],
    ] as const) {
      const bare = await api.send(method, at + more)
      expect([errorOf(bare), bare.headers.get('www-authenticate')]).toEqual(['401 unauthorized', 'Bearer'])
      expect((await api.send(method, at + more, { headers: { authorization: 'Basic abc' } })).status).toBe(401)
      expect(errorOf(await api.send(method, at + more, { token: another }))).toBe('403 forbidden')
    }
    expect(api.alerts.commands).toHaveLength(2)
  })

  it('is cancelled once', async () => {
    const { id, at, token } = await api.create({}, path)
    const { status, body } = await api.send('DELETE', at, { token })
    expect([status, body]).toEqual([200, { alert_id: id, status: 'cancelled', message: expect.any(String) as string }])
    for (const [method, more] of [
      ['DELETE', ''],
      ['POST', '/extend'],
      ['POST', '/test'],
    ] as const)
      expect(errorOf(await api.send(method, at + more, { token }))).toBe('409 alert_not_active')
    expect((await api.send('GET', list)).body).toMatchObject({ count: 0, alerts: [] })
    expect((await api.send('GET', at)).body).toMatchObject({ status: 'cancelled' })
  })

  it.each([
    [undefined, 24],
    [{}, 24],
    [{ add_hours: 1 }, 1],
    [{ add_hours: 168 }, 168],
  ])('is extended by %j', async (body, hours) => {
    const { id, at, token } = await api.create({}, path)
    const { status, body: answer } = await api.send('POST', `${at}/extend`, { body, token })
    const expires_at = new Date(NOW / 1000 + (24 + hours) * 3_600_000).toISOString()
    const message = expect.any(String) as string
    expect([status, answer]).toEqual([200, { alert_id: id, status: 'active', expires_at, add_hours: hours, message }])
  })

  it.each([0, -1, 169, 1.5, '24'])('is not extended by %j hours', async (add_hours) => {
    const { at, token } = await api.create({}, path)
    const answer = await api.send('POST', `${at}/extend`, { body: { add_hours }, token })
    expect(errorOf(answer)).toBe('400 invalid_add_hours add_hours')
  })

  it('ends at most 30 days from now', async () => {
    const { at, token } = await api.create({ expires_in_hours: 168 }, path)
    const extend = (add_hours: number): Promise<Answered> =>
      api.send('POST', `${at}/extend`, { body: { add_hours }, token })
    for (const hours of [168, 168, 168, 48]) expect((await extend(hours)).status).toBe(200)
    expect(errorOf(await extend(1))).toBe('400 invalid_add_hours add_hours')
  })

  it('tells its attempts, and nothing where ClickHouse does not answer', async () => {
    const { id, at } = await api.create({}, path)
    const place = { started: NOW, partition: 0, offset: 0 }
    const row = { alert_id: id, trigger_id: `${id}_1`, status: 500, error: null, test: false, place }
    const times = { started: NOW, finished: NOW, due: null, triggered: NOW }
    api.database.attempts = [0, 1, 2].map((number) => ({ ...row, ...times, number, outcome: 'retry' }))
    expect((await api.send('GET', at)).body).toMatchObject({ delivery_attempts: 2 })
    expect((await api.send('GET', list)).body).toMatchObject({ alerts: [{ alert_id: id, delivery_attempts: 2 }] })
    api.database.failure = new Error('away')
    expect((await api.send('GET', at)).body).toMatchObject({ status: 'active', delivery_attempts: null })
    api.database.failure = undefined
    const asked = api.database.count('attempt-counts')
    expect((await api.send('GET', at)).body).toMatchObject({ delivery_attempts: null })
    expect(api.database.count('attempt-counts')).toBe(asked)
    api.advance(5_000)
    expect((await api.send('GET', at)).body).toMatchObject({ delivery_attempts: 2 })
  })

  it('does not wait for ClickHouse', async () => {
    const { at } = await api.create({}, path)
    const gate = Promise.withResolvers<undefined>()
    api.database.gate = gate.promise
    expect((await api.send('GET', at)).body).toMatchObject({ delivery_attempts: null })
    gate.resolve(undefined)
  })

  it('is tested three times at once, then in ten seconds', async () => {
    const { at, token } = await api.create({}, path)
    for (let times = 0; times < 3; times += 1)
      expect((await api.send('POST', `${at}/test`, { token })).body).toHaveProperty('trigger_id')
    const refused = await api.send('POST', `${at}/test`, { token })
    expect([errorOf(refused), refused.headers.get('retry-after')]).toEqual(['429 rate_limited', '10'])
    api.advance(10_000)
    expect((await api.send('POST', `${at}/test`, { token })).status).toBe(200)
    const triggers = api.alerts.sent.flatMap(({ message }) => (message?.type === 'trigger' ? [message.value] : []))
    expect(triggers.map(({ test }) => test)).toEqual([true, true, true, true])
  })

  it('sends a trigger of its own again, and no other', async () => {
    const { id, at, token } = await api.create({}, path)
    const unknown = await api.send('POST', `${at}/deliveries/${id}_1/resend`, { token })
    expect(errorOf(unknown)).toBe('404 not_found trigger_id')
    api.database.triggers = [{ alert_id: id, trigger_id: `${id}_1`, partition: 3, offset: 77 }]
    expect((await api.send('POST', `${at}/deliveries/${id}_1/resend`, { token })).status).toBe(200)
    expect(api.alerts.commands.at(-1)).toMatchObject({
      action: 'resend',
      alert_id: id,
      trigger_id: `${id}_1`,
      trigger_partition: 3,
      trigger_offset: 77,
    })
  })

  it('is anyone’s where control is open', async () => {
    const open = await startAlerts({ alertControl: 'open' })
    const { at } = await open.create({}, path)
    expect((await open.send('POST', `${at}/extend`)).status).toBe(200)
    expect((await open.send('DELETE', at)).status).toBe(200)
    await open.stop()
  })

  it('cannot be read while the log is away', async () => {
    const { at, token } = await api.create({}, path)
    api.alerts.isAway = true
    for (const [method, target] of [
      ['GET', at],
      ['GET', list],
      ['DELETE', at],
    ] as const) {
      const answer = await api.send(method, target, { token })
      expect([errorOf(answer), answer.headers.get('retry-after')]).toEqual(['503 data_unavailable', '2'])
    }
  })
})

describe.each(kinds)('the list of %s', (path, list) => {
  it('is of the wallet, whatever the case of an EVM address', async () => {
    const { id } = await api.create({ agent_wallet: EVM }, path)
    const { id: other } = await api.create({ agent_wallet: SOLANA }, path)
    const idsOf = async (wallet: string): Promise<unknown> => ids(await api.send('GET', `${list}?wallet=${wallet}`))
    expect(await idsOf(EVM.toLowerCase())).toEqual([id])
    expect(await idsOf(EVM.replace('x', 'X'))).toEqual([id])
    expect(await idsOf(SOLANA)).toEqual([other])
    expect(await idsOf(SOLANA.toLowerCase().replaceAll('l', 'L'))).toEqual([])
  })

  it('is of the symbol, by its asset', async () => {
    listAsset(api.database, 'matic')
    const { id } = await api.create({ symbol: 'POL' }, path)
    await api.create({}, path)
    expect(ids(await api.send('GET', `${list}?symbol=matic`))).toEqual([id])
    expect(errorOf(await api.send('GET', `${list}?symbol=NOPE`))).toBe('404 symbol_not_found symbol')
  })

  it('is newest first, page by page', async () => {
    const made: string[] = []
    for (let count = 0; count < 5; count += 1) {
      api.advance(1_000)
      made.unshift((await api.create({}, path)).id)
    }
    const first = await api.send('GET', `${list}?limit=2`)
    expect([ids(first), first.body['count']]).toEqual([made.slice(0, 2), 2])
    await api.create({}, path)
    const second = await api.send('GET', `${list}?limit=2&cursor=${textOf(first.body['next_cursor'])}`)
    expect(ids(second)).toEqual(made.slice(2, 4))
    const third = await api.send('GET', `${list}?limit=2&cursor=${textOf(second.body['next_cursor'])}`)
    expect([ids(third), third.body['next_cursor']]).toEqual([made.slice(4), null])
  })

  it.each([
    ['cursor=nonsense', '400 invalid_cursor cursor'],
    ['cursor=%21', '400 invalid_cursor cursor'],
    ['limit=0', '400 invalid_limit limit'],
    ['limit=1001', '400 invalid_limit limit'],
    ['wallet=0x1', '400 invalid_agent_wallet wallet'],
    ['symbol=%24', '400 invalid_symbol symbol'],
  ])('refuses %s', async (query, expected) => {
    expect(errorOf(await api.send('GET', `${list}?${query}`))).toBe(expected)
  })
})

function ids({ body }: Answered): unknown[] {
  return (body['alerts'] as { alert_id: unknown }[]).map(({ alert_id: id }) => id)
}

describe('a record', () => {
  const place = { topic: 'alerts.inputs', partition: 3, offset: 42 } as const
  const value = { writer: 'prices', run: 0, time: NOW, venues: [], changes: [] }

  it('is shown as it is in the log', async () => {
    api.alerts.records.set(recordId(place), { time: NOW / 1000, message: { type: 'mark', value } })
    const { status, headers, body } = await api.send('GET', `/records/${recordId(place)}`)
    expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=3600'])
    const time = new Date(NOW / 1000).toISOString()
    expect(body).toEqual({ id: recordId(place), ...place, time, type: 'mark', record: value })
  })

  it.each([recordId(place), 'rec_nonsense', 'nonsense'])('is 404 where there is none: %s', async (id) => {
    expect(errorOf(await api.send('GET', `/records/${id}`))).toBe('404 not_found id')
  })
})

describe('paths of alerts', () => {
  it.each([
    ['PUT', '/price-alert', 'OPTIONS, POST'],
    ['POST', '/price-alert/alert_btc_1_1', 'DELETE, GET, HEAD, OPTIONS'],
    ['DELETE', '/price-alerts', 'GET, HEAD, OPTIONS'],
  ])('have no %s %s', async (method, path, allow) => {
    const { status, headers } = await api.send(method, path)
    expect([status, headers.get('allow')]).toEqual([405, allow])
  })
})
