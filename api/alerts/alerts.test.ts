import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { emptyFields } from '../../schemas/codec.ts'
import { recordId } from '../../schemas/record-id.ts'
import {
  errorOf,
  EVM,
  KEY,
  kinds,
  SOLANA,
  startAlerts,
  textOf,
  type AlertHarness,
  type Answered,
} from '../testing/alert-calls.ts'
import type { LogGapRow } from '../views/log-gaps.ts'
import { listAsset, lostTrades, NOW } from '../testing/harness.ts'

let api: AlertHarness
beforeEach(async () => {
  api = await startAlerts()
})
afterEach(() => api.stop())

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

  it('is commanded under an id that begins with the request’s', async () => {
    const { at, token } = await api.create({}, path)
    const asked = { token, headers: { 'x-request-id': 'my-id.1' } }
    const { headers } = await api.send('DELETE', at, asked)
    expect(headers.get('x-request-id')).toBe('my-id.1')
    expect(api.alerts.commands.at(-1)?.request_id).toMatch(/^my-id_1_[0-9a-f]{16}$/)
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

  it('is extended once under one Idempotency-Key', async () => {
    const { at, token } = await api.create({}, path)
    const extend = (key: string): Promise<Answered> =>
      api.send('POST', `${at}/extend`, { body: { add_hours: 2 }, token, headers: { 'idempotency-key': key } })
    const ends = (hours: number): object => ({
      status: 200,
      body: { expires_at: new Date(NOW / 1000 + (24 + hours) * 3_600_000).toISOString() },
    })
    api.alerts.isSlow = true
    expect((await extend(KEY)).status).toBe(503)
    api.alerts.isSlow = false
    expect(await extend(KEY)).toMatchObject(ends(2))
    expect(await extend(`${KEY} 2`)).toMatchObject(ends(4))
    expect(errorOf(await extend('short'))).toBe('400 invalid_idempotency_key Idempotency-Key')
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
    const position = { started: NOW, partition: 0, offset: 0 }
    const row = { alert_id: id, trigger_id: `${id}_1`, status: 500, error: null, test: false, position, digest: null }
    const times = { started: NOW, finished: NOW, due: null, triggered: NOW }
    api.database.attempts = [0, 1, 2].map((number) => ({ ...row, ...times, number, outcome: 'retry' }))
    expect((await api.send('GET', at)).body).toMatchObject({ delivery_attempts: 2 })
    expect((await api.send('GET', list)).body).toMatchObject({ alerts: [{ alert_id: id, delivery_attempts: 2 }] })
    api.database.failure = new Error('away')
    expect((await api.send('GET', at)).body).toMatchObject({ status: 'active', delivery_attempts: null, gaps: null })
    api.database.failure = undefined
    const asked = api.database.count('attempt-counts')
    expect((await api.send('GET', at)).body).toMatchObject({ delivery_attempts: null })
    expect(api.database.count('attempt-counts')).toBe(asked)
    api.advance(5_000)
    expect((await api.send('GET', at)).body).toMatchObject({ delivery_attempts: 2 })
  })

  it('tells when what it watches was lost with a part of the log', async () => {
    const isPrice = path === '/price-alert'
    const gap = { from: NOW + 10_000_000, to: NOW + 20_000_000 }
    const own = isPrice ? ['prices', 'market.tickers'] : ['liquidations', 'market.funding']
    const other = isPrice ? ['liquidations', 'market.funding'] : ['prices', 'market.tickers']
    const of = ([reader, topic]: string[], given: object = {}): LogGapRow =>
      lostTrades({ reader: reader ?? '', topic: topic ?? '', ...gap, ...given })
    const { at } = await api.create({}, path)
    api.database.logGaps = [
      of(own, { from: NOW + 40_000_000, to: NOW + 50_000_000 }),
      of(['alerts', 'alerts.inputs'], { reason: 'cut' }),
      of(['prices', 'alerts.inputs'], { reason: 'output_cut', from: NOW + 1_000_000, to: NOW + 2_000_000 }),
      of(other),
      of(own, { partition: 11 }),
      of(own, { from: NOW - 9_000_000, to: NOW - 1 }),
      of(['alerts', 'alerts.events'], { reason: 'output_cut' }),
      of(['cvd', 'market.trades']),
    ]
    const gaps = [
      { from: '2026-01-02T03:04:45.000Z', to: '2026-01-02T03:04:55.000Z' },
      { from: '2026-01-02T03:04:15.000Z', to: '2026-01-02T03:04:25.000Z' },
      { from: '2026-01-02T03:04:06.000Z', to: '2026-01-02T03:04:07.000Z' },
    ]
    expect((await api.send('GET', at)).body).toMatchObject({ gaps })
    expect((await api.send('GET', list)).body).toMatchObject({ alerts: [{ gaps }] })
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
    expect([refused.headers.get('ratelimit-limit'), refused.headers.get('ratelimit-reset')]).toEqual(['3', '30'])
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
  const value = { ...emptyFields('mark'), writer: 'prices', run: 0, time: NOW }

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
