import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Trigger } from '../../../schemas/records.ts'
import { triggerTo } from '../testing/world.ts'
import { isRefusal, type Channel, type Given, type Heard, type PostRequest } from './channel.ts'
import { channels, channelShown, readTarget, receiverFor, targetOf, targetText, type Target } from './channels.ts'

const operator = { reach: 'public', hasMail: true } as const

function targetAt(given: Given): Target {
  const target = readTarget(given, operator)
  if (isRefusal(target)) throw new Error(target.refused)
  return target
}

/** What the documentation shows of a channel. */
function exampleOf({ name, fields }: Channel): Given {
  return { type: name, ...Object.fromEntries(Object.entries(fields).map(([key, { example }]) => [key, example])) }
}

const byName = (name: string): Target => {
  const channel = channels.find((one) => one.name === name)
  if (channel === undefined) throw new Error(name)
  return targetAt(exampleOf(channel))
}

function ask({ channel, destination }: Target, changes: Partial<Trigger> = {}, mode = 'live'): PostRequest {
  const sign = (body: Buffer): Record<string, string> => ({ signature: String(body.length) })
  const request = channel.request(destination, { trigger: triggerTo('https://localhost/', changes), mode, sign })
  if (request.by !== 'https') throw new Error(`${channel.name} is no POST`)
  return request
}

/** A body that is JSON, as loosely typed as it came. */
const bodyOf = (target: Target, changes: Partial<Trigger> = {}, mode = 'live'): Record<string, unknown> =>
  JSON.parse(ask(target, changes, mode).body.toString()) as Record<string, unknown>

/** Every text in a value. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

const heard = (status: number, text = '', retryAfter?: string): Heard => ({ status, text, retryAfter, now: 0 })

/** What vendors document, by channel: bounds that hold whatever an event says. */
const bounds: Readonly<Record<string, (body: Record<string, unknown>, bytes: number) => void>> = {
  slack({ text, blocks }) {
    expect(String(text).length).toBeLessThanOrEqual(4_000)
    for (const each of textsIn(blocks)) expect(each.length).toBeLessThanOrEqual(3_000)
    for (const each of textsIn([text, blocks])) expect(each).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/)
  },
  discord({ content, allowed_mentions }) {
    expect(String(content).length).toBeLessThanOrEqual(2_000)
    expect(allowed_mentions).toEqual({ parse: [] })
  },
  telegram({ text, parse_mode }) {
    expect(String(text).length).toBeLessThanOrEqual(4_096)
    expect(parse_mode).toBeUndefined()
  },
  teams(_, bytes) {
    expect(bytes).toBeLessThanOrEqual(28 * 1024 * 0.5)
  },
  pagerduty({ payload, dedup_key }, bytes) {
    expect(String(Object(payload)['summary']).length).toBeLessThanOrEqual(1_024)
    expect(String(dedup_key).length).toBeLessThanOrEqual(255)
    expect(bytes).toBeLessThanOrEqual(512 * 1024)
  },
  template(_, bytes) {
    expect(bytes).toBeLessThanOrEqual(512 * 1024)
  },
}

const wild = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({
    unit: fc.constantFrom('<', '&', '*', '\\', '"', '\n', '\u0000', '\ud800', '😀', '{{', '@everyone '),
    maxLength: 9_000,
  }),
  fc.constantFrom('', 'x'.repeat(100_000), '😀'.repeat(50_000), '\u0001'.repeat(60_000)),
)

describe('every channel', () => {
  it.each(channels.map((channel) => [channel.name, channel] as const))('%s takes what it shows', (_, channel) => {
    const target = targetAt(exampleOf(channel))
    expect(target.channel).toBe(channel)
    const opened = targetOf(targetText(target), operator)
    expect([opened.channel.name, opened.destination]).toEqual([channel.name, target.destination])
  })

  it.each(Object.entries(bounds))('%s gives a body within its bounds for any event', (name, check) => {
    const target = byName(name)
    const numbers = fc.double({ min: 0, noNaN: true })
    fc.assert(
      fc.property(wild, wild, numbers, fc.boolean(), (said, word, price, test) => {
        const changes = { condition_met: said, severity: word, symbol: word, current_price: price, test }
        const { body } = ask(target, changes, test ? 'demo' : 'live')
        const text = body.toString('utf8')
        expect(text.isWellFormed() && !text.includes('\\ud8')).toBe(true)
        check(JSON.parse(text) as Record<string, unknown>, body.length)
      }),
      { numRuns: 60 },
    )
  })

  it.each(['slack', 'discord', 'telegram', 'teams'])(
    '%s says of a price that none is known, not that it is 0',
    (name) => {
      const told = (current_price: number): string => textsIn(bodyOf(byName(name), { current_price })).join('\n')
      expect(told(0.5)).toContain('Price: 0.5 USD')
      expect(told(0)).toContain('Price: not known')
    },
  )

  it.each(channels.map(({ name }) => [name]))('%s shows nothing secret of a destination', (name) => {
    const target = byName(name)
    const shown = `${target.channel.shown(target.destination)} ${receiverFor(target, () => 'ab12')}`
    for (const secret of ['XXXX', 'the-token', 'AAE-your', 'SIGNATURE', '0123456789abcdef', '{{', '/hook'])
      expect(shown).not.toContain(secret)
  })

  it('of a template says nothing of its host, which can be the secret, to anyone, of what is in the log neither', () => {
    const receiver = receiverFor(byName('template'), () => 'ab12')
    expect(receiver).toBe('template:#ab12')
    const former = 'template:secret.example.com:443#ab12'
    expect([receiver, former].map(channelShown)).toEqual([{ type: 'template' }, { type: 'template' }])
  })

  it.each([
    ['de0123.45.environment.api.powerplatform.com', '…environment.api.powerplatform.com/…'],
    ['prod-01.westeurope.logic.azure.us', '…logic.azure.us/…'],
  ])('of Teams says nothing of the tenant, which is in the host %s, of what is in the log neither', (host, shown) => {
    const target = readTarget({ type: 'teams', url: `https://${host}/workflows/a/paths/invoke?sig=x` }, operator)
    if ('refused' in target) throw new Error(target.refused)
    const receiver = receiverFor(target, () => 'ab12')
    expect(receiver).toBe(`teams:${shown}#ab12`)
    const told = { type: 'teams', destination: shown }
    expect([receiver, `teams:${host}/…#ab12`].map(channelShown)).toEqual([told, told])
  })

  it('is refused where the operator has not switched it on', () => {
    const given = { type: 'email', to: 'me@example.com' }
    expect(readTarget(given, { ...operator, hasMail: false })).toMatchObject({ field: 'type' })
  })

  it('is refused where its type or a field is none', () => {
    expect(readTarget({ type: 'fax' }, operator)).toMatchObject({ field: 'type' })
    expect(
      readTarget({ type: 'slack', url: 'https://hooks.slack.com/services/T0/B0/x', to: '#btc' }, operator),
    ).toEqual({
      field: 'to',
      refused: 'a channel of type slack has url, and no "to".',
    })
    expect(readTarget({ type: 'slack' }, operator)).toMatchObject({ field: 'url' })
  })

  it('but the signed webhook is a receiver by itself, and known by its channel', () => {
    const receivers = channels.map(({ name }) => receiverFor(byName(name), (text) => text.length.toString(16)))
    expect(new Set(receivers).size).toBe(channels.length)
    expect(receivers.map(channelShown).map((shown) => shown?.type)).toEqual([
      undefined,
      ...channels.slice(1).map(({ name }) => name),
    ])
    expect(receivers[0]).toBe('example.com:443')
  })
})

describe('a destination', () => {
  it.each([
    ['slack', { url: 'https://hooks.slack.com/services/T0/B0/x' }, true],
    ['slack', { url: 'https://hooks.slack.com/workflows/T0/A0/1/x' }, true],
    ['slack', { url: 'https://hooks.slack.com.example.com/services/T0/B0/x' }, false],
    ['slack', { url: 'http://hooks.slack.com/services/T0/B0/x' }, false],
    ['slack', { url: 'https://hooks.slack.com/services/T0/B0/x@example.com' }, false],
    ['slack', { url: 'https://hooks.slack.com/' }, false],
    ['discord', { url: `https://discord.com/api/webhooks/${'1'.repeat(18)}/${'x'.repeat(68)}` }, true],
    ['discord', { url: `https://discordapp.com/api/webhooks/${'1'.repeat(18)}/${'x'.repeat(68)}` }, true],
    ['discord', { url: `https://ptb.discord.com/api/v10/webhooks/${'1'.repeat(18)}/${'x'.repeat(68)}` }, true],
    ['discord', { url: `https://discord.com/api/webhooks/${'1'.repeat(18)}` }, false],
    ['discord', { url: `https://discord.com/api/webhooks/${'1'.repeat(18)}/${'x'.repeat(68)}/slack` }, false],
    ['telegram', { bot_token: `123456:${'A'.repeat(35)}`, chat_id: '-1001234567890' }, true],
    ['telegram', { bot_token: `123456:${'A'.repeat(35)}`, chat_id: '@channel_name' }, true],
    ['telegram', { bot_token: `123456:${'A'.repeat(35)}`, chat_id: 'channel_name' }, false],
    ['telegram', { bot_token: `123456:${'A'.repeat(29)}`, chat_id: '1' }, false],
    ['telegram', { bot_token: `123456:${'A'.repeat(30)}/../x`, chat_id: '1' }, false],
    ['telegram', { bot_token: `123456:${'A'.repeat(35)}` }, false],
    [
      'teams',
      { url: 'https://prod-1.westus.logic.azure.com:443/workflows/a/triggers/manual/paths/invoke?sig=x' },
      true,
    ],
    [
      'teams',
      {
        url: 'https://x.1.environment.api.powerplatform.com/powerautomate/automations/direct/workflows/a/triggers/manual/paths/invoke?api-version=1&sig=x_-',
      },
      true,
    ],
    ['teams', { url: 'https://example.webhook.office.com/webhookb2/x?a' }, false],
    ['teams', { url: 'https://logic.azure.com.example.com/workflows/a?sig=x' }, false],
    ['teams', { url: 'https://prod-1.westus.logic.azure.com/workflows/a' }, false],
    ['pagerduty', { routing_key: 'a'.repeat(32) }, true],
    ['pagerduty', { routing_key: 'a'.repeat(31) }, false],
    ['pagerduty', { routing_key: 'a'.repeat(33) }, false],
    ['email', { to: 'first.last+tag@mail.example.com' }, true],
    ['email', { to: 'a@b' }, false],
    ['email', { to: 'a@example.com, b@example.com' }, false],
    ['email', { to: 'A <a@example.com>' }, false],
    ['email', { to: 'a@example.com\r\nBcc: b@example.com' }, false],
    ['email', { to: `${'a'.repeat(64)}@example.com` }, true],
    ['email', { to: `${'a'.repeat(65)}@example.com` }, false],
    ['webhook', { url: 'https://example.com/x' }, true],
    ['webhook', { url: 'https://hooks.slack.com/services/T0/B0/x' }, false],
    ['webhook', { url: 'https://10.0.0.1/' }, false],
    ['template', { url: 'https://chat.googleapis.com/v1/x', body: '{"text": "{{text}}"}' }, true],
    ['template', { url: 'https://10.0.0.1/', body: '{}' }, false],
    ['template', { url: 'https://example.com/', body: '{"text": {{text}}}' }, false],
    ['template', { url: 'https://example.com/', body: '{"n": {{trigger_count}}, "late": {{late}}}' }, true],
    ['template', { url: 'https://example.com/', body: '{"n": 1{{trigger_count}}}' }, false],
    ['template', { url: 'https://example.com/', body: '{"text": "{{text}}", "tags": [{{note}}]}' }, false],
    ['template', { url: 'https://example.com/', body: '[{{record}}]' }, false],
    ['template', { url: 'https://example.com/', body: '{"text": "{{text}}" {{note}}}' }, false],
    ['template', { url: 'https://example.com/', body: '{"{{note}}": ["{{record}}"]}' }, true],
    ['template', { url: 'https://example.com/', body: '{"x": "{{secret}}"}' }, false],
    ['template', { url: 'https://example.com/', body: '{{#if x}}', content_type: 'text/plain' }, false],
    ['template', { url: 'https://example.com/', body: '{{text}}', content_type: 'text/plain' }, true],
    [
      'template',
      { url: 'https://example.com/', body: 'message={{text}}', content_type: 'application/x-www-form-urlencoded' },
      true,
    ],
    ['template', { url: 'https://example.com/', body: '<x/>', content_type: 'application/xml' }, false],
    ['template', { url: 'https://example.com/', body: `"${'x'.repeat(3_998)}"` }, true],
    ['template', { url: 'https://example.com/', body: `"${'x'.repeat(3_999)}"` }, false],
    ['template', { url: 'https://example.com/', body: `"${'{{symbol}}'.repeat(40)}"` }, true],
    ['template', { url: 'https://example.com/', body: `"${'{{symbol}}'.repeat(41)}"` }, false],
  ])('of %s: %o is taken: %s', (type, given, isTaken) => {
    expect(isRefusal(readTarget({ type, ...given }, operator))).toBe(!isTaken)
  })
})

describe('what an answer means', () => {
  const gone = { is: 'dead', error: 'gone' }
  const rejected = { is: 'dead', error: 'rejected' }
  const retry = { is: 'retry', error: 'status' }
  it.each([
    ['slack', heard(200), { is: 'delivered' }],
    ['slack', heard(400, 'invalid_payload'), rejected],
    ['slack', heard(400, 'user_not_found'), gone],
    ['slack', heard(403, 'action_prohibited'), gone],
    ['slack', heard(404, 'channel_not_found'), gone],
    ['slack', heard(410, 'channel_is_archived'), gone],
    ['slack', heard(429, 'rate_limited', '30'), { ...retry, afterSeconds: 30 }],
    ['slack', heard(500, 'rollup_error'), retry],
    ['slack', heard(302), { is: 'retry', error: 'redirect' }],
    ['discord', heard(204), { is: 'delivered' }],
    ['discord', heard(404, '{"message": "Unknown Webhook", "code": 10015}'), gone],
    ['discord', heard(401, '{"message": "Invalid Webhook Token", "code": 50027}'), gone],
    ['discord', heard(400, '{"message": "Invalid Form Body", "code": 50035}'), rejected],
    ['discord', heard(429, '{"retry_after": 64.57, "global": false}', '65'), { ...retry, afterSeconds: 64.57 }],
    ['discord', heard(429, '<html>', '65'), { ...retry, afterSeconds: 65 }],
    ['discord', heard(429, '{"retry_after": "soon"}'), retry],
    ['telegram', heard(200), { is: 'delivered' }],
    ['telegram', heard(400, '{"ok":false,"description":"Bad Request: chat not found"}'), gone],
    ['telegram', heard(400, '{"ok":false,"description":"Bad Request: message is too long"}'), rejected],
    ['telegram', heard(401, '{"ok":false,"description":"Unauthorized"}'), gone],
    ['telegram', heard(403, '{"ok":false,"description":"Forbidden: bot was blocked by the user"}'), gone],
    ['telegram', heard(404, '{"ok":false,"description":"Not Found"}'), gone],
    ['telegram', heard(429, '{"ok":false,"parameters":{"retry_after":35}}'), { ...retry, afterSeconds: 35 }],
    ['teams', heard(202), { is: 'delivered' }],
    ['teams', heard(400, '{"error":{"code":"WorkflowTriggerIsNotEnabled"}}'), gone],
    ['teams', heard(400, '{"error":{"code":"TriggerInputSchemaMismatch"}}'), rejected],
    ['teams', heard(401, '{"error":{"code":"DirectApiAuthorizationRequired"}}'), gone],
    ['teams', heard(404, '{"error":{"code":"WorkflowNotFound"}}'), gone],
    ['teams', heard(413), rejected],
    ['teams', heard(429, '', '17'), { ...retry, afterSeconds: 17 }],
    ['pagerduty', heard(202), { is: 'delivered' }],
    ['pagerduty', heard(400, `{"errors":["Length of 'routing_key' is incorrect (should be 32 characters)"]}`), gone],
    [
      'pagerduty',
      heard(400, `{"errors":["'payload.severity' is invalid (must be one of the following: ...)"]}`),
      rejected,
    ],
    ['pagerduty', heard(429), retry],
    ['email', heard(250), { is: 'delivered' }],
    ['email', heard(550, 'RCPT TO 550 5.1.1 mailbox unavailable'), gone],
    ['email', heard(552, 'RCPT TO 552 5.2.2 mailbox full'), rejected],
    ['email', heard(554, 'DATA 554 5.7.1 looks like spam'), rejected],
    ['email', heard(450, 'RCPT TO 450 4.2.0 busy'), retry],
    ['email', heard(421, 'CONN 421 too many connections'), retry],
    ['email', heard(535, 'AUTH PLAIN 535 wrong password'), retry],
    ['email', heard(550, 'MAIL FROM 550 not allowed to send as that'), retry],
    ['webhook', heard(404), retry],
    ['webhook', heard(410), gone],
    ['template', heard(400), retry],
    ['template', heard(410), gone],
  ])('of %s: %o is %o', (name, answer, verdict) => {
    expect(byName(name).channel.verdict(answer)).toEqual(verdict)
  })
})

describe('a message', () => {
  it('marks a test, a demo and an end', () => {
    expect(bodyOf(byName('telegram'), { test: true }, 'demo')['text']).toMatch(/^Test: Demo: BTC price alert\n/)
    expect(bodyOf(byName('telegram'))['text']).toMatch(/^BTC price alert\n.*70001\.5 USD[^]*Severity: medium/)
  })

  it.each([
    ['slack', '<!channel> & <@U1>', '&lt;!channel&gt; &amp; &lt;@U1&gt;'],
    ['discord', '@everyone **x** [a](b)', String.raw`\@everyone \*\*x\*\* \[a\]\(b\)`],
    ['telegram', '<b>x</b> _y_', '<b>x</b> _y_'],
    ['teams', '[a](https://example.com)', '[a](https://example.com)'],
  ])('is escaped for %s: %s', (name, said, written) => {
    expect(textsIn(bodyOf(byName(name), { condition_met: said })).some((text) => text.includes(written))).toBe(true)
  })

  it.each([
    ['slack', (body: Record<string, unknown>) => String(textsIn((body['blocks'] as unknown[])[1]).at(-1))],
    ['discord', ({ content }: Record<string, unknown>) => String(content)],
    ['telegram', ({ text }: Record<string, unknown>) => String(text)],
    ['pagerduty', ({ payload }: Record<string, unknown>) => String(Object(payload)['summary'])],
  ])('of %s is whole up to its bound, and cut beyond', (name, where) => {
    const max = { slack: 3_000, discord: 2_000, telegram: 4_096, pagerduty: 1_024 }[name] ?? 0
    const of = (length: number): string => where(bodyOf(byName(name), { condition_met: 'x'.repeat(length) }))
    const frame = of(1).length - 1
    expect([of(max - frame).length, of(max - frame).includes('…')]).toEqual([max, false])
    expect([of(max - frame + 1).length, of(max - frame + 1).includes('…')]).toEqual([max, true])
  })

  it('opens an incident under a key of its own for each trigger of an alert', () => {
    const first = bodyOf(byName('pagerduty'), { trigger_count: 1 })
    const second = bodyOf(byName('pagerduty'), { trigger_count: 2, severity: 'high' })
    expect(first).toMatchObject({ event_action: 'trigger', payload: { severity: 'error', component: 'BTC' } })
    expect(second).toMatchObject({ payload: { severity: 'critical' } })
    expect(first['dedup_key']).not.toBe(second['dedup_key'])
    expect(bodyOf(byName('pagerduty'), { test: true })).toMatchObject({ payload: { severity: 'info' } })
  })
})

describe('an event of a rule, which tells of its end and has a note', () => {
  const of = (state: string): Partial<Trigger> => {
    const condition = JSON.stringify({ kind: 'rule', state, note: 'sell the rest', figures: [], when: {} })
    return { kind: 'rule', condition, trigger_count: 2, trigger_id: `alert_btc_1_2_${state}` }
  }

  it('resolves the incident that its trigger opened', () => {
    const opened = bodyOf(byName('pagerduty'), of('triggered'))
    expect(opened).toMatchObject({ event_action: 'trigger', payload: { class: 'rule_alert' } })
    expect(bodyOf(byName('pagerduty'), of('resolved'))).toEqual({
      routing_key: opened['routing_key'],
      dedup_key: opened['dedup_key'],
      event_action: 'resolve',
    })
  })

  it('says both in words, and to templates', () => {
    const said = bodyOf(byName('telegram'), of('resolved'))['text']
    expect(said).toMatch(/^Resolved: BTC rule alert\n[^]*\nsell the rest\n/)
    const given = { type: 'template', url: 'https://example.com/', body: '["{{status}}", "{{note}}"]' }
    expect(bodyOf(targetAt(given), of('resolved'))).toEqual(['resolved', 'sell the rest'])
  })
})

describe('a body of the caller’s', () => {
  const of = (given: object): Target => targetAt({ type: 'template', url: 'https://example.com/', ...given })

  it('has its fields put in as values, whatever they hold, and is signed', () => {
    const said = 'a "b" \\ \n {{symbol}}'
    const target = of({ body: '{"m": "{{ text }}", "p": {{current_price}}, "{{symbol}}": [{{late}}, "{{status}}"]}' })
    expect(bodyOf(target, { condition_met: said })).toEqual({ m: said, p: 70_001.5, BTC: [false, 'triggered'] })
    const { headers, body } = ask(target)
    expect(headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8', signature: String(body.length) })
  })

  it('is written as its content type needs it', () => {
    const form = of({ body: 'title={{title}}&m={{text}}', content_type: 'application/x-www-form-urlencoded' })
    expect(ask(form, { condition_met: 'a&b=c' }).body.toString()).toBe('title=BTC%20price%20alert&m=a%26b%3Dc')
    const plain = of({ body: '{{symbol}}: {{text}}', content_type: 'text/plain' })
    expect(ask(plain, { condition_met: 'a "b"' }).body.toString()).toBe('BTC: a "b"')
    const price = of({ body: '{{current_price}}', content_type: 'text/plain' })
    expect(ask(price, { current_price: 1.2e-9 }).body.toString()).toBe('0.0000000012')
  })
})
