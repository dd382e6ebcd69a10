import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  errorOf,
  EVM,
  HOOK,
  KEY,
  kinds,
  priceBody,
  riskBody,
  ruleBody,
  SOLANA,
  startAlerts,
  textOf,
  type AlertHarness,
} from '../testing/alert-calls.ts'
import { listAsset } from '../testing/harness.ts'
import type { Market } from '../../schemas/venues.ts'

const SLACK = { type: 'slack', url: 'https://hooks.slack.com/services/T0/B0SECRET/x' }

let api: AlertHarness
beforeEach(async () => {
  api = await startAlerts()
})
afterEach(() => api.stop())

describe.each(kinds)('creating at %s', (path, _list, bodyOf) => {
  it.each([
    [{ symbol: undefined }, '400 invalid_symbol symbol'],
    [{ symbol: 'b-tc' }, '400 invalid_symbol symbol'],
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
    [{ hours: 0 }, '400 invalid_body hours'],
    [{ Symbol: 'BTC' }, '400 invalid_body Symbol'],
    [{ toString: 1 }, '400 invalid_body toString'],
    [{ webhook_url: 'https://hooks.slack.com/services/T0/B0/x' }, '400 invalid_webhook_url webhook_url'],
    [{ webhook_url: 'https://discord.com/api/webhooks/1/x' }, '400 invalid_webhook_url webhook_url'],
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

  it('says which fields there are where one is unknown, and what to do instead of a chat service', async () => {
    const unknown = await api.send('POST', path, { body: bodyOf({ hours: 0 }) })
    expect(unknown.body['message']).toContain('There is no field "hours" here; there are symbol, condition,')
    const chat = await api.send('POST', path, {
      body: bodyOf({ webhook_url: 'https://api.telegram.org/bot1:x/sendMessage' }),
    })
    expect(chat.body['message']).toMatch(/messages of its own form only.*give channel instead/)
  })

  it.each([
    [{ channel: 'slack' }, '400 invalid_channel channel'],
    [{ channel: [] }, '400 invalid_channel channel'],
    [{ channel: { type: 'fax' } }, '400 invalid_channel channel.type'],
    [{ channel: { type: 'slack', url: HOOK } }, '400 invalid_channel channel.url'],
    [{ channel: { type: 'webhook', url: 'https://10.0.0.1/' } }, '400 invalid_channel channel.url'],
    [{ channel: { ...SLACK, to: '#btc' } }, '400 invalid_channel channel.to'],
    [{ channel: SLACK, webhook_url: HOOK }, '400 invalid_channel channel'],
    [{ channel: null, webhook_url: undefined }, '400 invalid_webhook_url webhook_url'],
  ])('refuses %j with %s', async (change, expected) => {
    const answer = await api.send('POST', path, { body: bodyOf({ webhook_url: undefined, ...change }) })
    expect(errorOf(answer)).toBe(expected)
    expect(JSON.stringify(answer.body)).not.toContain('B0SECRET')
  })

  it('takes a channel instead of a webhook, and shows nothing secret of it', async () => {
    const body = bodyOf({ webhook_url: undefined, channel: SLACK })
    const headers = { 'idempotency-key': KEY }
    const made = await api.send('POST', path, { body, headers })
    const channel = { type: 'slack', destination: 'hooks.slack.com/T0/…' }
    expect([made.status, made.body['channel'], made.body['webhook_url']]).toEqual([201, channel, undefined])
    expect((await api.send('POST', path, { body, headers })).body).toEqual(made.body)
    const other = bodyOf({ webhook_url: undefined, channel: { ...SLACK, url: `${SLACK.url}y` } })
    expect(errorOf(await api.send('POST', path, { body: other, headers }))).toContain('409 idempotency_conflict')
    const seen = await api.get(`${path}/${textOf(made.body['alert_id'])}`)
    expect(seen.body).toMatchObject({ channel })
    const commands = JSON.stringify(api.alerts.commands)
    for (const text of [JSON.stringify([made.body, seen.body]), commands]) expect(text).not.toContain('B0SECRET')
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
  ])('takes %j', async (change) => {
    const { status, body } = await api.send('POST', path, { body: bodyOf(change) })
    expect(status).toBe(201)
    const given = { symbol: 'BTC', webhook_url: HOOK, ...change }
    expect(body).toMatchObject({ symbol: given.symbol, webhook_url: given.webhook_url })
  })

  it('takes a symbol in any case, which is the same alert as in upper case', async () => {
    const headers = { 'idempotency-key': KEY }
    const upper = await api.send('POST', path, { body: bodyOf({ symbol: 'BTC' }), headers })
    const lower = await api.send('POST', path, { body: bodyOf({ symbol: 'btc' }), headers })
    expect([lower.status, lower.body]).toEqual([201, upper.body])
    expect(lower.body).toMatchObject({ symbol: 'BTC' })
    expect((await api.send('POST', path, { body: bodyOf({ symbol: 'btcUsdt' }) })).body).toMatchObject({
      symbol: 'BTCUSDT',
    })
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
    const again = { agent_wallet: EVM, expires_in_hours: 24 }
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

it('a rule takes a channel as well, and shows nothing secret of it', async () => {
  const made = await api.send('POST', '/alerts', { body: ruleBody({ webhook_url: undefined, channel: SLACK }) })
  expect([made.status, made.body['channel']]).toEqual([201, { type: 'slack', destination: 'hooks.slack.com/T0/…' }])
  expect(JSON.stringify([made.body, api.alerts.commands])).not.toContain('B0SECRET')
})

describe('what no venue lists on a market that would decide it', () => {
  const list = (asset: string, venue: string, market: Market): number =>
    api.database.instruments.push({ asset, venue, market, base: asset.toUpperCase(), live: true })
  const above = (metric: string, more: object = {}): object => ({ metric, operator: 'above', value: 1, ...more })

  beforeEach(() => {
    list('usdc', 'kraken', 'spot')
    list('rats', 'bybit', 'perp')
  })

  it.each([
    ['/price-alert', priceBody({ symbol: 'RATS' })],
    ['/liquidation/alert', riskBody({ symbol: 'USDC' })],
    ['/alerts', ruleBody({ symbol: 'RATS', when: above('price') })],
    ['/alerts', ruleBody({ symbol: 'USDC', when: above('funding_rate_pct') })],
    ['/alerts', ruleBody({ symbol: 'USDC', when: above('cvd') })],
    ['/alerts', ruleBody({ symbol: 'RATS', when: above('open_interest_usd', { exchange: 'okx' }) })],
    ['/alerts', ruleBody({ symbol: 'RATS', when: above('long_short_ratio') })],
    ['/alerts', ruleBody({ symbol: 'RATS', when: { all: [above('cvd'), above('price')] } })],
    ['/alerts', ruleBody({ symbol: undefined, symbols: ['BTC', 'USDC'], when: above('liquidation_risk_pct') })],
  ])('could never ring, and is refused: %s %j', async (path, body) => {
    const headers = { 'idempotency-key': KEY }
    expect(errorOf(await api.send('POST', path, { body, headers }))).toBe('404 symbol_not_found symbol')
    expect(api.alerts.commands).toEqual([])
    if ('symbols' in body && body.symbols !== undefined) return
    const { webhook_url: _, ...terms } = body as { webhook_url: string }
    const kind = path === '/liquidation/alert' ? { condition: 'cascade_risk' } : {}
    const tried = await api.send('POST', '/alerts/backtest', { body: { ...terms, ...kind } })
    expect(errorOf(tried)).toBe('404 symbol_not_found symbol')
  })

  it.each([
    [{ symbol: 'RATS' }, above('price')],
    [{ symbol: undefined, symbols: ['BTC', 'RATS'] }, above('open_interest_usd', { exchange: 'okx' })],
  ])('is not what a rule is changed to: %j %j', async (symbols, when) => {
    const body = ruleBody({ ...symbols, when: above('cvd') })
    const made = await api.send('POST', '/alerts', { body, headers: { 'idempotency-key': KEY } })
    const [at, token] = [`/alerts/${textOf(made.body['alert_id'])}`, textOf(made.body['manage_token'])]
    expect(errorOf(await api.send('PATCH', at, { token, body: { when } }))).toBe('404 symbol_not_found symbol')
    const other = above('open_interest_usd')
    expect((await api.send('PATCH', at, { token, body: { when: other } })).body).toMatchObject({ when: other })
  })

  it.each([
    ['/price-alert', priceBody({ symbol: 'USDC' })],
    ['/liquidation/alert', riskBody({ symbol: 'RATS' })],
    ['/alerts', ruleBody({ symbol: 'RATS', when: above('open_interest_usd', { exchange: 'bybit' }) })],
    ['/alerts', ruleBody({ symbol: 'RATS', when: { any: [above('cvd'), above('price')] } })],
  ])('is taken where one does: %s %j', async (path, body) => {
    expect((await api.send('POST', path, { body })).status).toBe(201)
  })
})
