import { describe, expect, it } from 'vitest'
import { intentOf } from '../../processors/payments/testing/intents.ts'
import { eventOf } from '../../processors/payments/ledger.ts'
import type { PaymentEvent } from '../../schemas/records.ts'
import { Outcomes, WAITING_MAX } from './outcomes.ts'

const intent = intentOf()
const { payment_id: id, request_id: request, fingerprint, valid_before: validBefore } = intent
const TX = `0x${'41'.repeat(32)}`

const said = (event: PaymentEvent['event'], fields: Partial<PaymentEvent> = {}): PaymentEvent =>
  eventOf({ intent, offset: 1 }, { event, time: 1, ...fields })

describe('how a payment stands', () => {
  it('is not known before anybody has asked for it', () => {
    expect(new Outcomes().find(id)).toBeUndefined()
  })

  it('is open from the asking to the settling, also for who does not wait any more', () => {
    const outcomes = new Outcomes()
    outcomes.wait(intent).leave()
    expect(outcomes.find(id)).toMatchObject({ is: 'open', isSent: false, transaction: '', fingerprint })
    outcomes.heard(said('broadcast', { tx: TX }))
    outcomes.heard(said('pending', { tx: TX }))
    expect(outcomes.find(id)).toMatchObject({ is: 'open', isSent: true, transaction: TX })
    outcomes.heard(said('settled', { tx: TX }))
    expect(outcomes.find(id)).toMatchObject({ is: 'settled', event: { tx: TX } })
    outcomes.heard(said('broadcast', { tx: TX }))
    expect([outcomes.find(id)?.is, outcomes.size]).toEqual(['settled', 1])
  })

  it('is open when anybody has asked for it, until that is answered, in whatever order one hears of it', () => {
    const [before, after] = [new Outcomes(), new Outcomes()]
    before.asked(intent, 1)
    expect(before.find(id)).toMatchObject({ is: 'open', isSent: false, fingerprint })
    for (const outcomes of [before, after]) outcomes.heard(said('failed', { v: 1, reason: 'insufficient_funds' }))
    after.asked(intent, 1)
    expect([before.find(id), after.find(id)]).toEqual([undefined, undefined])
    after.asked({ ...intent, request_id: 'again' }, 2)
    expect(after.find(id)).toMatchObject({ is: 'open' })
    after.heard(said('settled', { v: 2, tx: TX }))
    after.asked({ ...intent, request_id: 'late' }, 3)
    expect([after.find(id)?.is, after.size]).toEqual(['settled', 1])
  })

  it.each([0, 1, 2])('is open for a newer intent, where %i intents are heard before the failure of the first', (at) => {
    const outcomes = new Outcomes()
    const records = [
      (): void => outcomes.asked(intent, 1),
      (): void => outcomes.asked({ ...intent, request_id: 'again' }, 2),
    ]
    for (const hear of records.toSpliced(at, 0, () => outcomes.heard(said('failed', { v: 1 })))) hear()
    expect(outcomes.find(id)).toMatchObject({ is: 'open', isSent: false })
    outcomes.heard(said('failed', { v: 2, request_id: 'again' }))
    expect(outcomes.find(id)).toBeUndefined()
  })

  it('is as before anybody asked where another request with it came too late, and the first has failed', () => {
    const outcomes = new Outcomes()
    outcomes.asked(intent, 1)
    outcomes.asked({ ...intent, request_id: 'other', fingerprint: 'other' }, 2)
    outcomes.heard(said('conflict', { v: 2, request_id: 'other', fingerprint: 'other' }))
    outcomes.heard(said('failed', { v: 1 }))
    expect(outcomes.find(id)).toBeUndefined()
  })

  it('is open unsent for a newer intent, where the one before was sent and has failed', () => {
    const outcomes = new Outcomes()
    outcomes.asked(intent, 1)
    outcomes.asked({ ...intent, request_id: 'again' }, 2)
    outcomes.heard(said('broadcast', { v: 1, tx: TX }))
    outcomes.heard(said('failed', { v: 1, tx: TX }))
    expect(outcomes.find(id)).toMatchObject({ is: 'open', isSent: false, transaction: '' })
  })

  it('is open where a facilitator was asked, whose transaction is not known', () => {
    const outcomes = new Outcomes()
    outcomes.heard(said('broadcast', { by: 'facilitator' }))
    expect(outcomes.find(id)).toMatchObject({ is: 'open', isSent: true, transaction: '' })
  })

  it('is as before anybody asked after a failure', () => {
    const outcomes = new Outcomes()
    outcomes.heard(said('broadcast', { tx: TX }))
    outcomes.heard(said('failed', { tx: TX, reason: 'insufficient_funds' }))
    expect(outcomes.find(id)).toBeUndefined()
  })

  it('is forgotten when its authorization cannot be brought any more', () => {
    const outcomes = new Outcomes()
    outcomes.heard(said('broadcast', { tx: TX }))
    outcomes.forget(validBefore * 1e6)
    expect(outcomes.size).toBe(1)
    outcomes.forget(validBefore * 1e6 + 1)
    expect(outcomes.size).toBe(0)
  })
})

describe('who waits', () => {
  it('is told of a settling, whoever asked for it, and of anything else by its own name', async () => {
    const outcomes = new Outcomes()
    const other = { ...intent, request_id: 'other' }
    const [mine, theirs] = [outcomes.wait(intent), outcomes.wait(other)]
    outcomes.heard(said('conflict', { request_id: 'other' }))
    expect(await theirs.outcome).toEqual({ is: 'conflict' })
    outcomes.heard(said('settled', { request_id: 'a stranger', tx: TX }))
    expect(await mine.outcome).toMatchObject({ is: 'settled', event: { tx: TX } })
    expect(await outcomes.wait(other).outcome).toMatchObject({ is: 'settled' })
  })

  it('is told why it failed, or which transaction is waited for', async () => {
    const outcomes = new Outcomes()
    const first = outcomes.wait(intent)
    outcomes.heard(said('pending', { tx: TX, request_id: request }))
    expect(await first.outcome).toEqual({ is: 'pending', transaction: TX })
    const second = outcomes.wait(intent)
    outcomes.heard(said('failed', { reason: 'insufficient_funds', tx: TX }))
    expect(await second.outcome).toEqual({ is: 'failed', reason: 'insufficient_funds', transaction: TX })
  })

  it('is refused when too many do', () => {
    const outcomes = new Outcomes()
    for (let n = 0; n < WAITING_MAX; n += 1) outcomes.wait(intent)
    expect(() => outcomes.wait(intent)).toThrow(expect.objectContaining({ code: 'overloaded' }))
  })
})
