import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { emailCode, openUrl, type ServiceSecrets } from '../../processors/alerts/secrets.ts'
import type { Mail, Mailer } from '../../infra/mail.ts'
import { EmailCodes } from './email-codes.ts'
import { errorOf, priceBody, startAlerts, type AlertHarness, type Answered } from '../testing/alert-calls.ts'

const TO = 'Me@example.com'
const secrets: ServiceSecrets = {
  newest: 2,
  byVersion: new Map([
    [1, 'a-former-secret-of-the-tests-that-is-long-enough'],
    [2, 'a-newer-secret-of-the-tests-that-is-long-enough'],
  ]),
}
const codeOf = (to: string, version = 2): string => emailCode(secrets, version, to.toLowerCase())

let api: AlertHarness
let mails: Mail[]
/** What the mail server says next. */
let says: Mailer['send']
let mailer: Mailer

beforeEach(async () => {
  mails = []
  says = reply(250, '')
  mailer = {
    send(mail, signal) {
      mails.push(mail)
      return says(mail, signal)
    },
    close: () => undefined,
  }
  api = await startAlerts({ secrets, mailer })
})
afterEach(() => api.stop())

/** `text`: of a refusal the command and the reply. */
function reply(status: number, text: string): Mailer['send'] {
  return () => Promise.resolve({ status, text })
}

function fails(fields: object): Mailer['send'] {
  return () => Promise.reject(Object.assign(new Error('no mail server'), fields))
}

const ask = (to: unknown): Promise<Answered> => api.send('POST', '/email-codes', { body: { to } })

describe('an alert by email', () => {
  const make = (channel: object): Promise<Answered> =>
    api.send('POST', '/price-alert', {
      body: priceBody({ webhook_url: undefined, channel: { type: 'email', ...channel } }),
    })

  it.each([
    ['no code', {}],
    ['another code', { code: '0000-0000-0000-0000' }],
    ['the code of another address', { code: codeOf('you@example.com') }],
    ['part of the code', { code: codeOf(TO).slice(0, 9) }],
    ['no text', { code: 7 }],
  ])('is refused with %s', async (_, code) => {
    const answer = await make({ to: TO, ...code })
    expect(errorOf(answer)).toBe('400 invalid_channel channel.code')
    expect(answer.body['message']).toContain('POST /email-codes')
    expect(api.alerts.commands).toEqual([])
  })

  it.each([
    ['the code', codeOf(TO)],
    ['the code as one types it', ` ${codeOf(TO).toUpperCase().replaceAll('-', ' ')}`],
    ['the code of a former secret', codeOf(TO, 1)],
  ])('is made with %s, which is in no record', async (_, code) => {
    expect((await make({ to: TO, code })).status).toBe(201)
    const [command] = api.alerts.commands
    const sealed = command?.alert?.webhook ?? ''
    expect(openUrl(secrets, 2, command?.alert_id ?? '', sealed)).toBe(JSON.stringify({ type: 'email', to: TO }))
  })

  it('needs none where anyone may cancel any alert', async () => {
    const open = await startAlerts({ secrets, alertControl: 'open' })
    const body = priceBody({ webhook_url: undefined, channel: { type: 'email', to: TO } })
    expect((await open.send('POST', '/price-alert', { body })).status).toBe(201)
    await open.stop()
  })
})

describe('a code', () => {
  it('comes to the mailbox, and not in the answer', async () => {
    const answer = await ask(TO)
    expect([answer.status, answer.body['to']]).toEqual([200, 'M…@example.com'])
    expect(mails.map(({ to }) => to)).toEqual([TO])
    expect(mails[0]?.text).toContain(codeOf(TO))
    expect(JSON.stringify(answer.body)).not.toContain(codeOf(TO).slice(0, 4))
  })

  it.each([[undefined], [7], ['me'], ['me@example.com\r\nBcc: you@example.com'], ['a@b.example,c@d.example']])(
    'is mailed to no %j',
    async (to) => {
      expect(errorOf(await ask(to))).toBe('400 invalid_channel to')
      expect(mails).toEqual([])
    },
  )

  it('is mailed to one mailbox three times, then once an hour, whatever its name is followed by', async () => {
    for (const to of [TO, 'me+a@example.com', 'ME+b@example.com']) expect((await ask(to)).status).toBe(200)
    const refused = await ask('me@example.com')
    expect(errorOf(refused)).toBe('429 rate_limited')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3_000)
    expect(mails).toHaveLength(3)
  })

  it('is asked for by one caller five times, then once a minute', async () => {
    for (let n = 0; n < 5; n++) expect((await ask(`n${n}@example.com`)).status).toBe(200)
    expect(errorOf(await ask('n6@example.com'))).toBe('429 rate_limited')
    expect(mails).toHaveLength(5)
  })

  it('that is refused for what others ask for counts against nobody', async () => {
    const codes = new EmailCodes({ secrets, mailer, mode: 'live' })
    const asked = (to: string, caller: string, at: number): Promise<string> =>
      codes.mail(to, caller, at).then(
        () => 'mailed',
        (error: unknown) => String(Object(error).message),
      )
    for (let n = 0; n < 60; n++) expect(await asked(`n${n}@example.com`, `n${n}`, 0)).toBe('mailed')
    for (let n = 0; n < 6; n++) expect(await asked(TO, 'me', 0)).toBe('Ask for a code again in 2 s.')
    expect(await asked(TO, 'me', 2_000)).toBe('mailed')
    for (let at = 4_000; at <= 6_000; at += 2_000) expect(await asked(TO, 'me', at)).toBe('mailed')
    for (let n = 0; n < 6; n++) expect(await asked(TO, 'me', 8_000)).toMatch(/again in 3\d{3} s/)
    expect(await asked('other@example.com', 'me', 8_000)).toBe('mailed')
    expect(mails).toHaveLength(64)
  })

  const noMailbox = reply(550, 'RCPT TO 550 5.1.1 no such user')
  const wrongPassword = reply(535, 'AUTH PLAIN 535 5.7.8 authentication failed')
  const away = fails({ code: 'ESOCKET', originalCode: 'ECONNREFUSED' })

  it.each([
    ['there is no such mailbox', noMailbox, '400 invalid_channel to'],
    ['the mail server is busy', reply(450, 'RCPT TO 450 try later'), '503 data_unavailable'],
    ['the mail server is away', away, '503 data_unavailable'],
    ['the operator’s password is wrong', wrongPassword, '503 data_unavailable'],
    ['the operator may not relay', reply(550, 'RCPT TO 550 5.7.1 relaying denied'), '503 data_unavailable'],
    ['the operator’s sender is refused', reply(550, 'MAIL FROM 550 5.7.1 not verified'), '503 data_unavailable'],
    ['the operator’s server is refused', reply(554, 'CONN 554 5.7.1 listed'), '503 data_unavailable'],
    ['the operator’s server may not relay', reply(554, 'RCPT TO 554 5.7.1 relay denied'), '503 data_unavailable'],
    ['the text is refused', reply(554, 'DATA 554 5.7.1 looks like spam'), '503 data_unavailable'],
  ])('is not told to be on its way where %s', async (_, said, expected) => {
    says = said
    expect(errorOf(await ask(TO))).toBe(expected)
  })

  it('that the operator’s server is at fault for says so to the log', async () => {
    says = wrongPassword
    const codes = new EmailCodes({ secrets, mailer, mode: 'live' })
    const error = await codes.mail(TO, 'caller', 0).catch((thrown: unknown) => thrown)
    expect(Object(error)).toMatchObject({
      code: 'data_unavailable',
      cause: { message: 'AUTH PLAIN 535 5.7.8 authentication failed' },
    })
  })

  it.each([
    ['is away', away, 200],
    ['does not answer', fails({ code: 'ETIMEDOUT', timeoutType: 'CONNECT_TIMEOUT' }), 200],
    ['lets nobody in', wrongPassword, 200],
    ['is silent with the mail in its hands', fails({ code: 'ETIMEDOUT', timeoutType: 'SOCKET_TIMEOUT' }), 429],
    ['has no such mailbox', noMailbox, 429],
  ])('of an address is asked for again, or not, after the mail server %s', async (_, said, status) => {
    says = said
    for (let n = 0; n < 3; n++) expect((await ask(TO)).status).not.toBe(200)
    says = reply(250, '')
    expect((await ask(TO)).status).toBe(status)
  })
})
