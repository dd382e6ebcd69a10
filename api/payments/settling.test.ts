import { decodePaymentRequiredHeader } from '@x402/core/http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { routes } from '../routes.ts'
import { startHarness, type Harness } from '../testing/harness.ts'
import { fakePayments, FakeLedger, paid, receiptOf, TX, type FakePayments } from '../testing/fake-payments.ts'
import { purchaseOf } from './purchase.ts'

const CVD = '/cvd/BTC'
const PRICE = '20000'

let payments: FakePayments
let ledger: FakeLedger
let api: Harness

beforeEach(async () => {
  ledger = new FakeLedger()
  payments = await fakePayments(ledger)
  api = await startHarness({ payments })
})
afterEach(async () => {
  await api.stop()
  await payments.stop()
})

type Answered = Awaited<ReturnType<Harness['get']>>

const pay = (path: string, headers: Record<string, string>, method = 'GET'): Promise<Answered> =>
  api.get(path, { method, headers })

describe('a payment that does not settle', () => {
  it('for reasons of ours is not refused: nothing was taken, and the same is taken in a moment', async () => {
    ledger.outcome = { reason: 'unexpected_settle_error' }
    const headers = await paid()
    const answer = await pay(CVD, headers)
    expect(answer).toMatchObject({ status: 503, body: { error: 'data_unavailable' } })
    expect(answer.headers.get('retry-after')).toBe('5')
    expect(receiptOf(answer)).toMatchObject({ success: false, errorReason: 'unexpected_settle_error', transaction: '' })
    expect(decodePaymentRequiredHeader(answer.headers.get('payment-required') ?? '')).toMatchObject({
      error: 'unexpected_settle_error',
      accepts: [{ amount: PRICE }],
    })
    ledger.outcome = 'settled'
    expect((await pay(CVD, headers)).status).toBe(200)
    expect(ledger.charged.length).toBe(1)
  })

  it('is refused with the reason', async () => {
    ledger.outcome = { reason: 'insufficient_funds' }
    const headers = await paid()
    expect(await pay(CVD, headers)).toMatchObject({ status: 402, body: { error: 'insufficient_funds' } })
    ledger.outcome = 'settled'
    expect((await pay(CVD, headers)).status).toBe(200)
  })

  it('in time is told to come again with the same, and charged once', async () => {
    ledger.outcome = 'pending'
    const headers = await paid()
    const answer = await pay(CVD, headers)
    expect(answer).toMatchObject({ status: 503, body: { error: 'settlement_pending', transaction: TX } })
    expect(answer.headers.get('retry-after')).toBe('5')
    expect(receiptOf(answer)).toMatchObject({ success: false, errorReason: 'settlement_pending', transaction: TX })
    ledger.outcome = 'settled'
    expect((await pay(CVD, headers)).status).toBe(200)
    expect(ledger.charged.length).toBe(1)
  })

  it('before its authorization ends is asked about, not for money again, however late it comes back', async () => {
    ledger.outcome = 'pending'
    const headers = await paid()
    await pay(CVD, headers)
    api.advance(3_600_000)
    const late = await pay(CVD, headers)
    expect(late).toMatchObject({ status: 503, body: { error: 'settlement_pending', transaction: TX } })
    expect(receiptOf(late)).toMatchObject({ success: false, errorReason: 'settlement_pending', transaction: TX })
    expect(late.headers.get('payment-required')).toBeNull()
    expect(await pay('/cvd/BTC?period=4h', headers)).toMatchObject({ status: 409 })
    const [intent] = ledger.intents
    if (intent !== undefined) ledger.mine(intent)
    const settled = await pay(CVD, headers)
    expect(receiptOf(settled)).toMatchObject({ success: true, transaction: TX })
    expect([settled.status, ledger.intents.length, ledger.charged.length]).toEqual([200, 1, 1])
  })

  it.each([
    [359, 503, 'settlement_pending'],
    [361, 402, 'invalid_exact_evm_payload_authorization_valid_before'],
  ])('and was not sent either is asked about while the token would take it: %d s', async (seconds, status, error) => {
    ledger.outcome = 'asked'
    const headers = await paid()
    await pay(CVD, headers)
    api.advance(seconds * 1000)
    expect(await pay(CVD, headers)).toMatchObject({ status, body: { error } })
  })

  it.each(['pending', 'asked'] as const)(
    'and is %s gets nothing for free: the money may have been taken',
    async (outcome) => {
      ledger.outcome = outcome
      const headers = await paid()
      await pay(CVD, headers)
      api.hang(60_000)
      expect(await pay(CVD, headers)).toMatchObject({ status: 503, body: { error: 'settlement_pending' } })
      const [intent] = ledger.intents
      if (intent !== undefined) ledger.mine(intent)
      const stale = await pay(CVD, headers)
      expect(stale).toMatchObject({ status: 200, body: { stale: true } })
      expect(receiptOf(stale)).toMatchObject({ success: true })
      expect(ledger.intents.length).toBe(1)
    },
  )

  it('as this request, but as another by another instance, gives no answer', async () => {
    const settle = ledger.settle.bind(ledger)
    ledger.settle = async (intent) => {
      const outcome = await settle(intent)
      return outcome.is === 'settled' ? { ...outcome, event: { ...outcome.event, fingerprint: 'other' } } : outcome
    }
    expect(await pay(CVD, await paid())).toMatchObject({ status: 409, body: { error: 'payment_already_used' } })
  })

  it('is not asked for where payments cannot be looked up', async () => {
    ledger.isAway = true
    const answer = await pay(CVD, await paid())
    expect(answer).toMatchObject({ status: 503, body: { error: 'data_unavailable' } })
    expect(ledger.intents).toEqual([])
  })
})

it('is one purchase under one Idempotency-Key for each payer and each kind of thing bought', () => {
  const [bought, other] = routes.filter(({ isIdempotent }) => isIdempotent === true)
  if (bought === undefined || other === undefined) throw new Error('there are routes that go by a key')
  const header = (): string => 'a-key-of-16-or-more'
  const [mine, yours] = [`0x${'Aa'.repeat(20)}`, `0x${'bb'.repeat(20)}`]
  const names = [purchaseOf({ route: bought, header }, mine), purchaseOf({ route: bought, header }, yours)]
  expect(new Set([...names, purchaseOf({ route: other, header }, mine)]).size).toBe(3)
  expect(purchaseOf({ route: bought, header }, mine.toLowerCase())).toBe(names[0])
  expect(purchaseOf({ route: bought, header: () => '' }, mine)).toBeNull()
})
