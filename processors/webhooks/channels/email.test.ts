import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Caller } from '../agent.ts'
import { CONNECTIONS_MAX, openMailer, type Mailer } from '../../../infra/mail.ts'
import type { Result } from '../attempt.ts'
import { append, attempts, Certificates, dispatch, senderTo, triggerFor, triggerTo } from '../testing/world.ts'
import { email } from './email.ts'
import { startSmtp, type SmtpStandIn } from './testing/smtp.ts'

const certificates = new Certificates()
const caller = new Caller()
const POLL = { timeout: 4_000, interval: 5 }
const from = 'Market data alerts <alerts@example.com>'
let server: SmtpStandIn
let mailer: Mailer

beforeAll(() => certificates.make())
beforeEach(async () => {
  server = await startSmtp(certificates.of('good'))
  mailer = await openMailer({ url: server.url, from, ca: certificates.authorities })
})
afterEach(async () => {
  mailer.close()
  await server.close()
})
afterAll(() => {
  caller.close()
  certificates.remove()
})

function mail(
  to: string,
  choice: { readonly mailer?: Mailer; readonly mailDeadlineMs?: number } = {},
): Promise<Result> {
  const trigger = triggerFor({ type: 'email', to })
  return senderTo(caller, { mailer, ...choice })(trigger, 1, () => undefined)
}

describe('an email', () => {
  it('is sent over TLS with the password, once for each trigger', async () => {
    expect(await mail('me@example.com')).toMatchObject({ is: 'delivered', status: 250 })
    const [taken] = server.taken
    expect(taken?.to).toBe('me@example.com')
    expect(taken?.data).toMatch(/^From: Market data alerts <alerts@example\.com>\r$/m)
    expect(taken?.data).toMatch(/^Subject: BTC price alert\r$/m)
    expect(taken?.data).toMatch(/^Message-ID: <alert_btc_1786060800_1_1@example\.com>\r$/im)
    expect(taken?.data).toMatch(/^Auto-Submitted: auto-generated\r$/m)
    expect(taken?.data).toContain('BTC rose above 70000 USD')
  })

  it('names its trigger in letters that a Message-ID may have, whatever the asset is called', async () => {
    const trigger = triggerFor({ type: 'email', to: 'me@example.com' }, { trigger_id: 'alert_1.a0.xyz:币安人生_1' })
    await senderTo(caller, { mailer })(trigger, 1, () => undefined)
    const id = /^Message-ID:\s+<([\w.%]+)@example\.com>\r$/im.exec(server.taken[0]?.data ?? '')?.[1] ?? ''
    expect(decodeURIComponent(id)).toBe(trigger.trigger_id)
  })

  it('waits for one of few connections where many are sent at once', async () => {
    const results = await Promise.all(Array.from({ length: 40 }, (_, n) => mail(`n${n}@example.com`)))
    expect(results.every(({ is }) => is === 'delivered')).toBe(true)
    expect([server.taken.length, server.connections() <= CONNECTIONS_MAX]).toEqual([40, true])
  })

  it('is sent once where the server takes longer over it than a receiver of requests may', async () => {
    const { broker, dispatcher } = dispatch(senderTo(caller, { mailer, deadlineMs: 1 }))
    append(broker, triggerFor({ type: 'email', to: 'scanned@example.com' }))
    await expect.poll(() => server.held(), POLL).toBe(1)
    server.letGo()
    await expect.poll(() => attempts(broker), POLL).toHaveLength(1)
    expect(attempts(broker)[0]).toMatchObject({ number: 1, outcome: 'delivered', status: 250 })
    expect(server.taken).toHaveLength(1)
    await dispatcher.stop()
  })

  it('is tried again where the server has not replied at its own deadline', async () => {
    expect(await mail('scanned@example.com', { mailDeadlineMs: 1 })).toMatchObject({ is: 'failed', error: 'timeout' })
  })

  it('does not wait for mailboxes that are slow to be taken', async () => {
    const { broker, dispatcher } = dispatch(senderTo(caller, { mailer }))
    const ring = (n: number, to: string): void => {
      const alert_id = `alert_btc_1_${n}`
      append(broker, triggerFor({ type: 'email', to }, { alert_id, trigger_id: `${alert_id}_1` }))
    }
    ring(0, 'me@example.com')
    await expect.poll(() => attempts(broker).length, POLL).toBe(1)
    for (let n = 1; n <= 30; n++) ring(n, `slow@s${n}.example.com`)
    await expect.poll(() => server.held(), POLL).toBeGreaterThanOrEqual(5)
    ring(31, 'me@example.com')
    await expect.poll(() => attempts(broker), POLL).toHaveLength(2)
    expect(attempts(broker)[1]).toMatchObject({ trigger_id: 'alert_btc_1_31_1', number: 1, outcome: 'delivered' })
    const stopped = dispatcher.stop()
    server.letGo()
    await stopped
  })

  it.each([
    ['gone@example.com', { status: 550, error: 'gone' }],
    ['full@example.com', { status: 552, error: 'rejected' }],
    ['busy@example.com', { status: 450, error: 'status' }],
  ])('to %s fails as %o', async (to, outcome) => {
    expect(await mail(to)).toMatchObject({ is: 'failed', ...outcome })
  })

  it.each([
    ['550 5.1.1 no such user'],
    ['550 mailbox disabled, not accepting messages: 5.2.1.'],
    ['556 5.1.10 recipient address has null MX'],
    ['550 no such user here'],
    ['551 user not local'],
    ['550 5.1.1 <limit@policy.example.com>: user unknown, 5.1.20.3 is not blocked'],
    ['554 5.1.1 <me@example.com>: user unknown'],
    ['501 5.1.3 bad recipient address syntax'],
    ['550 5.1.0 address rejected'],
    ['550 5.4.1 Recipient address rejected: Access denied. AS(201806281)'],
    ['550 <me@blockedbrand.example>: no such user'],
    ['550 <anna@unlimited.example>... User unknown'],
    ['550 sender@example.com: mailbox not found'],
  ])('ends its alert’s deliveries where there is no such mailbox: %s', (reply) => {
    const heard = { status: Number.parseInt(reply, 10), text: `RCPT TO ${reply}`, retryAfter: undefined, now: 0 }
    expect(email.verdict(heard)).toEqual({ is: 'dead', error: 'gone' })
  })

  it.each([
    ['550 5.7.1 <me@example.com>... Relaying denied'],
    ['550 relay not permitted'],
    ['550 5.7.54 SMTP; Unable to relay recipient in non-accepted domain'],
    ["553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)"],
    ["553 sorry, that domain isn't in my list of allowed rcpthosts"],
    ['550 5.7.1 Service unavailable, client host [203.0.113.9] blocked using zen.spamhaus.org'],
    ['554 5.7.1 Service unavailable, client host [203.0.113.9] blocked using zen.spamhaus.org'],
    ['550 5.4.5 Daily user sending limit exceeded'],
    ['550 5.1.8 <alerts@example.com>: Sender address rejected: Domain not found'],
    ['550 Sender verify failed'],
    ['550 5.1.0 Sender denied'],
    ['550 5.4.1 No answer from host'],
    ['554 no such user here'],
    ['550 me@example.com: blocked'],
    ['550 authentication required'],
  ])('is tried again where it is the operator who is refused: %s', (reply) => {
    const heard = { status: Number.parseInt(reply, 10), text: `RCPT TO ${reply}`, retryAfter: undefined, now: 0 }
    expect(email.verdict(heard)).toEqual({ is: 'retry', error: 'status' })
  })

  it('is tried again where the operator’s password is wrong, its server away, unknown or not trusted', async () => {
    const wrong = new URL(server.url)
    wrong.password = 'another'
    const away = new URL(server.url)
    away.port = '1'
    const cases = [
      [wrong, certificates.authorities, { status: 535, error: 'status' }],
      [away, certificates.authorities, { status: null, error: 'refused' }],
      [server.url, undefined, { status: null, error: 'tls' }],
    ] as const
    for (const [url, ca, outcome] of cases) {
      const other = await openMailer({ url, from, ca })
      expect(await mail('me@example.com', { mailer: other })).toMatchObject({ is: 'failed', ...outcome })
      other.close()
    }
    expect(server.taken).toEqual([])
  })

  it('has one line as its subject, and is bounded, whatever the event says', () => {
    const wild = fc.string({ unit: 'binary', maxLength: 50_000 })
    fc.assert(
      fc.property(wild, wild, (said, symbol) => {
        const trigger = triggerTo('https://localhost/', { condition_met: said, symbol, severity: said })
        const request = email.request({ to: 'me@example.com' }, { trigger, mode: 'demo', sign: () => ({}) })
        if (request.by !== 'smtp') throw new Error('an email is sent by SMTP')
        expect(request.subject.length).toBeLessThanOrEqual(200)
        expect(request.subject).not.toMatch(/[\r\n\0]/)
        expect(request.text.length).toBeLessThanOrEqual(61_000)
      }),
      { numRuns: 30 },
    )
  })
})
