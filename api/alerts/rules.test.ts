import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { metricNames } from '../../processors/alerts/metrics.ts'
import { metric } from '../../processors/alerts/testing/records.ts'
import { codec } from '../../processors/kernel/testing/task.ts'
import { readFileSync } from 'node:fs'
import { tradeVenues } from '../../schemas/venues.ts'
import { ApiError } from '../request/errors.ts'
import { openapi } from '../docs/openapi.ts'
import { routes } from '../routes.ts'
import { listAsset, NOW } from '../testing/harness.ts'
import { errorOf, ruleBody, startAlerts, type AlertHarness, type Answered } from '../testing/alert-calls.ts'

let api: AlertHarness
beforeEach(async () => {
  api = await startAlerts()
})
afterEach(() => api.stop())

const create = (change: object): Promise<Answered> => api.send('POST', '/alerts', { body: ruleBody(change) })
const cvd = { metric: 'cvd', operator: 'above', value: 5 }

const headers = { 'idempotency-key': 'a-key-of-16-chars-or-more' }

describe('POST /alerts', () => {
  it('makes a rule, whole, that GET tells and DELETE cancels', async () => {
    const made = await create({
      when: { any: [cvd, { metric: 'price', operator: 'between', value: [1, 2] }] },
      note: 'n',
    })
    expect(made.body).toMatchObject({
      when: {
        any: [
          { ...cvd, exchange: null, window: null, close: null, hysteresis: 0 },
          { metric: 'price', operator: 'between', value: [1, 2] },
        ],
      },
      held_for: null,
      repeat: true,
      cooldown: '1m',
      note: 'n',
      status: 'active',
    })
    const [id, token] = [String(made.body['alert_id']), String(made.body['manage_token'])]
    expect((await api.send('GET', `/alerts/${id}`)).body).toMatchObject({ alert_id: id, note: 'n' })
    expect((await api.send('GET', '/alerts')).body).toMatchObject({ count: 1, alerts: [{ alert_id: id }] })
    expect((await api.send('GET', `/price-alert/${id}`)).status).toBe(404)
    expect((await api.send('DELETE', `/alerts/${id}`, { token })).status).toBe(200)
  })

  it('is changed by PATCH, by its owner', async () => {
    const made = await create({ note: 'n' })
    const [at, token] = [`/alerts/${String(made.body['alert_id'])}`, String(made.body['manage_token'])]
    const body = { when: { ...cvd, value: 7 }, resolved: true }
    expect((await api.send('PATCH', at, { body })).status).toBe(401)
    expect((await api.send('PATCH', at, { token, body: { when: { ...cvd, value: [] } } })).body).toMatchObject({
      error: 'invalid_rule',
      pointer: '/when/value',
    })
    const changed = { when: { value: 7 }, resolved: true, note: null, status: 'active' }
    expect((await api.send('PATCH', at, { token, body })).body).toMatchObject(changed)
    expect((await api.send('GET', at)).body).toMatchObject(changed)
    await api.send('DELETE', at, { token })
    expect((await api.send('PATCH', at, { token, body })).status).toBe(409)
  })

  it('rests and goes on, by its owner', async () => {
    const { at, token } = await api.create({}, '/alerts')
    expect((await api.send('POST', `${at}/pause`)).status).toBe(401)
    const until = '2026-01-02T04:00:00.000Z'
    const shown = { status: 'active', paused: true, paused_until: until }
    expect((await api.send('POST', `${at}/pause`, { token, body: { until } })).body).toMatchObject(shown)
    expect((await api.send('GET', at)).body).toMatchObject(shown)
    expect((await api.send('POST', `${at}/pause`, { token })).body).toMatchObject({ paused: true, paused_until: null })
    for (const wrong of ['soon', '2026-01-02T03:00:00Z'])
      expect((await api.send('POST', `${at}/pause`, { token, body: { until: wrong } })).body).toMatchObject({
        error: 'invalid_until',
        field: 'until',
      })
    expect((await api.send('POST', `${at}/resume`, { token })).body).toMatchObject({ paused: false })
    await api.send('DELETE', at, { token })
    expect((await api.send('POST', `${at}/pause`, { token })).status).toBe(409)
  })

  it.each(['9999-12-31', 999_999_999_999_999])(
    'rests without an end until %s, which the log cannot say',
    async (until) => {
      const { at, token } = await api.create({}, '/alerts')
      const paused = await api.send('POST', `${at}/pause`, { token, body: { until } })
      expect(paused.body).toMatchObject({ paused: true, paused_until: null })
      for (const command of api.alerts.commands) codec.encode('alerts.inputs', 'command', command)
    },
  )

  it.each(['0001-01-01', '1970-01-01', 0])('does not rest until %s', async (until) => {
    const { at, token } = await api.create({}, '/alerts')
    const refused = await api.send('POST', `${at}/pause`, { token, body: { until } })
    expect(errorOf(refused)).toBe('400 invalid_until until')
    for (const command of api.alerts.commands) codec.encode('alerts.inputs', 'command', command)
  })

  it('is for a list of symbols, one alert with a state for each', async () => {
    listAsset(api.database, 'eth')
    listAsset(api.database, 'sol')
    const body = { ...ruleBody({ symbols: ['btc', 'ETH'] }), symbol: undefined }
    const made = await api.send('POST', '/alerts', { body, headers })
    expect(made.body).toMatchObject({ symbol: 'BTC,ETH', symbols: ['BTC', 'ETH'] })
    expect((await api.send('POST', '/alerts', { body, headers })).body).toEqual(made.body)
    const [id, token] = [String(made.body['alert_id']), String(made.body['manage_token'])]
    const tell = (asset: string, seconds: number): unknown => {
      const told = metric(seconds, 'cvd', { 'cvd@binance': 9 }).value
      return api.alerts.take({ type: 'metric', value: { ...told, asset, time: NOW + seconds * 1_000_000 } })
    }
    tell('eth', 10)
    const shown = {
      alert_id: id,
      status: 'active',
      trigger_count: 1,
      symbols: ['BTC', 'ETH'],
      by_symbol: [
        { symbol: 'BTC', status: 'active', trigger_count: 0 },
        { symbol: 'ETH', status: 'triggered', trigger_count: 1 },
      ],
    }
    expect((await api.send('GET', `/alerts/${id}`)).body).toMatchObject(shown)
    for (const query of ['', '?symbol=ETH'])
      expect((await api.send('GET', `/alerts${query}`)).body).toMatchObject({ count: 1, alerts: [shown] })
    expect((await api.send('GET', '/alerts?symbol=SOL')).body).toMatchObject({ count: 0 })
    const changed = { when: { ...cvd, value: 7 } }
    expect((await api.send('PATCH', `/alerts/${id}`, { token, body: changed })).body).toMatchObject(changed)
    expect((await api.send('POST', `/alerts/${id}/pause`, { token })).body).toMatchObject({ paused: true })
    expect((await api.send('POST', `/alerts/${id}/test`, { token })).status).toBe(200)
    expect((await api.send('DELETE', `/alerts/${id}`, { token })).body).toMatchObject({ alert_id: id })
    expect((await api.send('GET', `/alerts/${id}`)).body).toMatchObject({ status: 'cancelled' })
    tell('btc', 20)
    expect(api.alerts.sent.filter(({ message }) => message?.type === 'trigger')).toHaveLength(2) // and the test
  })

  it('is completed by the same request where it was refused for one symbol', async () => {
    listAsset(api.database, 'eth')
    const command = api.alerts.command.bind(api.alerts)
    api.alerts.command = async (asked) => {
      if (asked.asset === 'eth' && asked.action === 'create') throw new ApiError('overloaded', 'No room.')
      return command(asked)
    }
    const body = { ...ruleBody({ symbols: ['BTC', 'ETH'] }), symbol: undefined }
    const ask = () => api.send('POST', '/alerts', { body, headers })
    const half = { error: 'overloaded', message: expect.stringMatching(/same request again/) }
    expect(await ask()).toMatchObject({ status: 503, body: half })
    expect((await ask()).status).toBe(503)
    api.alerts.command = command
    const made = await ask()
    expect(made).toMatchObject({ status: 201, body: { symbols: ['BTC', 'ETH'] } })
    expect((await ask()).body).toEqual(made.body)
    const shown = await api.send('GET', `/alerts/${String(made.body['alert_id'])}`)
    expect(shown.body).toMatchObject({ by_symbol: [{ symbol: 'BTC' }, { symbol: 'ETH' }] })
    expect((await api.send('GET', '/alerts')).body).toMatchObject({ count: 1 })
  })

  it.each([
    ['', () => undefined],
    [', where the API has not read of it yet', () => api.alerts.newest.clear()],
  ])('is completed with the terms that it was changed to meanwhile%s', async (_where, forget) => {
    await api.stop()
    api = await startAlerts({ alertControl: 'open' })
    listAsset(api.database, 'eth')
    const command = api.alerts.command.bind(api.alerts)
    api.alerts.command = async (asked) => {
      if (asked.asset === 'eth') throw new ApiError('overloaded', 'No room.')
      return command(asked)
    }
    const body = { ...ruleBody({ symbols: ['BTC', 'ETH'] }), symbol: undefined }
    const ask = () => api.send('POST', '/alerts', { body, headers })
    expect((await ask()).status).toBe(503)
    api.alerts.command = command
    const [begun] = (await api.send('GET', '/alerts')).body['alerts'] as { alert_id: string }[]
    const changed = { when: { ...cvd, value: 7 }, digest: true }
    expect((await api.send('PATCH', `/alerts/${String(begun?.alert_id)}`, { body: changed })).status).toBe(200)
    forget()
    expect((await ask()).status).toBe(201)
    const edit = api.alerts.commands.find(({ action }) => action === 'edit')
    const missing = api.alerts.commands.find(({ asset }) => asset === 'eth')
    expect(missing?.action).toBe('create')
    for (const name of ['condition', 'delivery'] as const) expect(missing?.alert?.[name]).toBe(edit?.alert?.[name])
    expect((await ask()).status).toBe(201)
  })

  it('needs a key for several symbols, so that it can be completed', async () => {
    const body = { ...ruleBody({ symbols: 'all' }), symbol: undefined }
    const refused = { status: 400, body: { error: 'invalid_idempotency_key', field: 'Idempotency-Key' } }
    expect(await api.send('POST', '/alerts', { body })).toMatchObject(refused)
  })

  it('says of a change that is half done how to complete it, and not of an extension, which adds up', async () => {
    listAsset(api.database, 'eth')
    const body = { ...ruleBody({ symbols: ['BTC', 'ETH'] }), symbol: undefined }
    const { alert_id: id, manage_token: made } = (await api.send('POST', '/alerts', { body, headers })).body
    const [at, token] = [`/alerts/${String(id)}`, String(made)]
    const command = api.alerts.command.bind(api.alerts)
    api.alerts.command = async (asked) => {
      if (asked.asset === 'eth') throw new ApiError('overloaded', 'No room.')
      return command(asked)
    }
    const half = { status: 503, body: { message: expect.stringMatching(/same request again, which is safe/) } }
    expect(await api.send('PATCH', at, { token, body: { when: { ...cvd, value: 7 } } })).toMatchObject(half)
    expect(await api.send('POST', `${at}/pause`, { token })).toMatchObject(half)
    api.alerts.command = command
    expect((await api.send('POST', `${at}/pause`, { token })).status).toBe(200)
    api.alerts.command = async (asked) => {
      if (asked.asset === 'eth') throw new ApiError('overloaded', 'No room.')
      return command(asked)
    }
    const extended = await api.send('POST', `${at}/extend`, { token, body: { add_hours: 1 } })
    expect(extended).toMatchObject({ status: 503, body: { message: 'No room.' } })
  })

  it('gets the answer of its creation again when it is sent again, whatever it was changed to since', async () => {
    const quiet_hours = { from: '22:00', to: '07:00', time_zone: 'Europe/Berlin' }
    const body = ruleBody({ note: 'n', quiet_hours })
    const made = await api.send('POST', '/alerts', { body, headers })
    const [id, token] = [String(made.body['alert_id']), String(made.body['manage_token'])]
    const edited = { when: { ...cvd, value: 7 }, digest: true }
    expect((await api.send('PATCH', `/alerts/${id}`, { token, body: edited })).status).toBe(200)
    expect((await api.send('POST', '/alerts', { body, headers })).body).toEqual(made.body)
    expect((await api.send('GET', `/alerts/${id}`)).body).toMatchObject(edited)
  })

  it('is for all symbols, asked of each partition once', async () => {
    const made = await api.send('POST', '/alerts', {
      body: { ...ruleBody({ symbols: 'all' }), symbol: undefined },
      headers,
    })
    expect(made.body).toMatchObject({ symbol: 'all', symbols: 'all' })
    const at = `/alerts/${String(made.body['alert_id'])}`
    expect(new Set(api.alerts.commands.map(({ asset }) => asset)).size).toBe(api.alerts.commands.length)
    expect((await api.send('GET', at)).body).toMatchObject({ symbols: 'all', by_symbol: [], status: 'active' })
    expect((await api.send('GET', '/alerts')).body).toMatchObject({ count: 1 })
    expect(api.alerts.newest.watched()).toEqual([])
  })

  it('sends again what rang for a symbol whose name is not ASCII', async () => {
    const body = { ...ruleBody({ symbols: 'all' }), symbol: undefined }
    const { alert_id: id, manage_token: token } = (await api.send('POST', '/alerts', { body, headers })).body
    const told = { ...metric(10, 'cvd', { 'cvd@binance': 9 }).value, asset: '币安人生', time: NOW + 10_000_000 }
    api.alerts.take({ type: 'metric', value: told })
    const [rang] = api.alerts.sent.flatMap(({ message }) => (message?.type === 'trigger' ? [message.value] : []))
    const { alert_id = '', trigger_id = '' } = rang ?? {}
    expect(trigger_id).toContain('币安人生')
    api.database.triggers = [{ alert_id, trigger_id, partition: 0, offset: 7 }]
    const at = `/alerts/${String(id)}/deliveries/${encodeURIComponent(trigger_id)}/resend`
    expect(await api.send('POST', at, { token: String(token) })).toMatchObject({ status: 200, body: { trigger_id } })
  })

  it.each([
    [{ symbols: [] }, 'invalid_symbol symbols'],
    [{ symbols: ['BTC', 7] }, 'invalid_symbol symbols'],
    [{ symbols: ['BTC', 'XBT'] }, 'invalid_symbol symbols'],
    [{ symbols: 'some' }, 'invalid_symbol symbols'],
    [{ symbols: 'all', symbol: 'BTC' }, 'invalid_symbol symbols'],
    [{}, 'invalid_symbol symbol'],
  ])('refuses %j', async (change, error) => {
    const { status, body } = await api.send('POST', '/alerts', {
      body: { ...ruleBody({ symbol: undefined }), ...change },
    })
    expect([status, `${String(body['error'])} ${String(body['field'])}`]).toEqual([400, error])
  })

  it('may have no end', async () => {
    const made = await create({ expires_in_hours: 0 })
    expect([made.status, made.body['expires_at']]).toEqual([201, null])
    const token = String(made.body['manage_token'])
    const at = `/alerts/${String(made.body['alert_id'])}`
    expect((await api.send('GET', at)).body['expires_at']).toBeNull()
    expect((await api.send('POST', `${at}/extend`, { token })).status).toBe(400)
    expect((await create({ expires_in_hours: 721 })).body).toMatchObject({ error: 'expires_in_hours_too_long' })
  })

  it('takes the same rule for the same, however it is written', async () => {
    const headers = { 'idempotency-key': 'a-key-of-this-very-test' }
    const send = (when: object): Promise<Answered> => api.send('POST', '/alerts', { body: ruleBody({ when }), headers })
    const first = await send(cvd)
    expect((await send({ value: 5, operator: 'above', metric: 'cvd', exchange: null })).body).toEqual(first.body)
    expect((await send({ ...cvd, value: 6 })).status).toBe(409)
  })

  it.each([
    [{ when: undefined }, '/when', ['metric', 'all', 'any']],
    [{ when: { metric: 'weather' } }, '/when/metric', metricNames],
    [
      { when: { all: [cvd, { ...cvd, operator: 'over' }] } },
      '/when/all/1/operator',
      ['above', 'below', 'crosses_above', 'crosses_below', 'between', 'changes_by'],
    ],
    [
      { when: { any: [{ metric: 'volume', operator: 'above', value: 1, window: '2h' }] } },
      '/when/any/0/window',
      ['1m', '5m', '15m', '30m', '1h', '4h', '12h', '24h'],
    ],
    [{ when: { ...cvd, window: '1h' } }, '/when/window', []],
    [{ when: { ...cvd, exchange: 'coingecko' } }, '/when/exchange', tradeVenues.map(({ venue }) => venue)],
    [{ when: { ...cvd, value: '5' } }, '/when/value', []],
    [
      { when: { metric: 'cascade_risk', operator: 'becomes', value: 'huge' } },
      '/when/value',
      ['low', 'medium', 'high'],
    ],
    [
      { when: { ...cvd, valeu: 5 } },
      '/when/valeu',
      ['metric', 'exchange', 'window', 'close', 'operator', 'value', 'hysteresis'],
    ],
    [
      { when: { any: [{ metric: 'price', window: '1h', operator: 'changes_by', value: 5, hysteresis: 5 }] } },
      '/when/any/0/hysteresis',
      [],
    ],
    [{ when: { metric: 'price', operator: 'above', value: 5, hysteresis: 5.01 } }, '/when/hysteresis', []],
    [
      { when: { all: [{ metric: 'long_short_ratio', operator: 'crosses_above', value: 1, hysteresis: 2 }] } },
      '/when/all/0/hysteresis',
      [],
    ],
    [{ held_for: '5' }, '/held_for', []],
    [{ cooldown: '10s' }, '/cooldown', []],
    [{ repeat: false, resolved: true }, '/resolved', ['false']],
  ])('refuses %j and says where and what could be there', async (change, pointer, allowed) => {
    const { status, body } = await create(change)
    expect([status, body['error'], body['pointer'], body['allowed']]).toEqual([400, 'invalid_rule', pointer, allowed])
  })
})

it.each([
  { metric: 'price', window: '1h', operator: 'changes_by', value: 5, hysteresis: 4.9 },
  { metric: 'price', operator: 'above', value: 5, hysteresis: 5 },
  { metric: 'price', operator: 'below', value: 5, hysteresis: 6 },
  { metric: 'price', operator: 'between', value: [5, 6], hysteresis: 6 },
  { ...cvd, operator: 'above', value: 5, hysteresis: 6 },
])('takes a hysteresis that can be left: %j', async (when) => {
  expect((await create({ when })).status).toBe(201)
})

it('is told in the guide, metric by metric', () => {
  const guide = readFileSync(new URL('../docs/guides/rules.md', import.meta.url), 'utf8')
  expect(metricNames.filter((name) => !guide.includes(`\`${name}\``))).toEqual([])
})

it('has a schema that takes what is taken', () => {
  const document = JSON.parse(JSON.stringify(openapi(routes, '1.0.0'))) as {
    readonly components: object
    readonly paths: Record<
      string,
      Record<string, { readonly requestBody: { readonly content: Record<string, { readonly schema: object }> } }>
    >
  }
  const schema = document.paths['/alerts']?.['post']?.requestBody.content['application/json']?.schema
  const { components } = document
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile({ ...schema, components })
  expect([validate(ruleBody()), validate(ruleBody({ when: { all: [cvd, { any: [cvd] }] } }))]).toEqual([true, true])
  const wrong = { metric: 'weather', operator: 'above', value: 1 }
  for (const when of [wrong, { all: [wrong] }, { any: [cvd, { all: [cvd, wrong] }] }])
    expect(validate(ruleBody({ when }))).toBe(false)
})

describe('how the messages of an alert come', () => {
  const quiet_hours = { from: '22:00', to: '07:00', time_zone: 'Europe/Berlin' }
  const slack = { type: 'slack', url: 'https://hooks.slack.com/services/T000/B000/XXXX' }

  it('is told and changed, with what is usual for the channel', async () => {
    const { at, token } = await api.create({ quiet_hours }, '/alerts')
    expect((await api.send('GET', at)).body).toMatchObject({ quiet_hours, digest: false })
    expect(api.alerts.commands.at(-1)?.alert?.delivery).toBe('{"quiet_hours":"22:00-07:00 Europe/Berlin"}')
    const body = { when: cvd, digest: true }
    expect((await api.send('PATCH', at, { token, body })).body).toMatchObject({ quiet_hours: null, digest: true })
    const chat = await create({ webhook_url: undefined, channel: slack })
    expect(chat.body).toMatchObject({ quiet_hours: null, digest: true })
    await api.send('POST', `${at}/test`, { token })
    expect(api.alerts.sent.at(-1)?.message).toMatchObject({ value: { delivery: '{"digest":true}' } })
  })

  it.each([
    [{ quiet_hours: { ...quiet_hours, time_zone: 'Mars' } }, 'invalid_quiet_hours'],
    [{ quiet_hours: { ...quiet_hours, to: '22:00' } }, 'invalid_quiet_hours'],
    [{ quiet_hours: { ...quiet_hours, days: 'all' } }, 'invalid_quiet_hours'],
    [{ quiet_hours: '22-7' }, 'invalid_quiet_hours'],
    [{ quiet_hours: { ...quiet_hours, from: ['22:00'] } }, 'invalid_quiet_hours'],
    [{ quiet_hours: { ...quiet_hours, from: { toString: 1 } } }, 'invalid_quiet_hours'],
    [{ quiet_hours: { ...quiet_hours, to: { toString: 1 } } }, 'invalid_quiet_hours'],
    [{ quiet_hours: { ...quiet_hours, time_zone: { toString: 1 } } }, 'invalid_quiet_hours'],
    [{ digest: 'yes' }, 'invalid_digest'],
    [
      { digest: true, webhook_url: undefined, channel: { type: 'pagerduty', routing_key: '0'.repeat(32) } },
      'invalid_digest',
    ],
  ])('refuses %j', async (change, error) => {
    expect((await create(change)).body['error']).toBe(error)
  })
})
