import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { refusalOf } from './wire/refusals.ts'
import { intentOf, NOW, SELLER } from './testing/intents.ts'
import { eventOf, Ledger, STALE_AFTER, type LoggedIntent, type Task } from './ledger.ts'
import type { Outcome } from './settler.ts'

const at = NOW * 1e6
const settled: Outcome = { is: 'settled', tx: '0xaa', block: 7, by: 'us' }
const failed: Outcome = { is: 'failed', tx: null, reason: 'insufficient_funds' }
const placed = (offset: number, fields: Parameters<typeof intentOf>[0] = {}): LoggedIntent => ({
  intent: intentOf({ request_id: `r${offset}`, ...fields }),
  offset,
})
const other = { fingerprint: 'another' }
const id = placed(0).intent.payment_id

function take(ledger: Ledger, ...all: readonly LoggedIntent[]): Task[] {
  return all.map((one) => ledger.take(one, at))
}

describe('an intent', () => {
  it('is settled once, however many requests bring it', () => {
    const ledger = new Ledger()
    expect(take(ledger, placed(1), placed(2))).toEqual(['settle', 'nothing'])
    expect(ledger.end(id, settled).map(({ offset }) => offset)).toEqual([1])
    expect(take(ledger, placed(3))).toEqual(['nothing'])
  })

  it('of another request is a conflict, before and after the settling', () => {
    const ledger = new Ledger()
    expect(take(ledger, placed(1), placed(2, other))).toEqual(['settle', 'conflict'])
    ledger.end(id, settled)
    expect(take(ledger, placed(3, other), placed(4))).toEqual(['conflict', 'nothing'])
  })

  it('may come again after a failure, which was said to all that had brought it', () => {
    const ledger = new Ledger()
    take(ledger, placed(1), placed(2))
    expect(ledger.end(id, failed).map(({ intent }) => intent.request_id)).toEqual(['r1', 'r2'])
    expect(take(ledger, placed(3, other))).toEqual(['settle'])
  })

  it('that was sent, which others may have seen, stays with its request after a failure', () => {
    const sent = { tx: '0xaa', raw: '0xbb' } as const
    const ledger = new Ledger()
    take(ledger, placed(1))
    ledger.open(id)?.sent.push(sent)
    ledger.end(id, failed)
    const restored = new Ledger()
    restored.restore(eventOf(placed(1), { event: 'broadcast', time: at, ...sent }))
    restored.restore(eventOf(placed(1), { event: 'failed', time: at, reason: 'insufficient_funds' }))
    for (const each of [ledger, restored]) {
      expect(take(each, placed(2, other), placed(3))).toEqual(['conflict', 'settle'])
      each.end(id, failed)
      expect(take(each, placed(4, other))).toEqual(['conflict'])
    }
  })

  it('that nobody waits for any more is not charged', () => {
    const created = at - STALE_AFTER - 1
    expect(new Ledger().take(placed(1, { created }), at)).toBe('stale')
  })

  it('is forgotten two hours after its authorization’s end, not while it is under way', () => {
    const ledger = new Ledger()
    ledger.restored()
    take(ledger, placed(1))
    const end = placed(1).intent.valid_before
    ledger.forget(end + 8_000)
    expect(ledger.size).toBe(1)
    ledger.end(id, settled)
    ledger.forget(end + 7_000)
    expect(ledger.size).toBe(1)
    ledger.forget(end + 8_000)
    expect(ledger.size).toBe(0)
  })
})

describe('of several payments for one purchase', () => {
  const first = (offset: number): LoggedIntent => placed(offset, { payment_id: 'a', purchase: 'p' })
  const second = (offset: number): LoggedIntent => placed(offset, { payment_id: 'b', purchase: 'p' })

  it('one is taken: while it is under way and once it has settled, the others are not', () => {
    const ledger = new Ledger()
    expect(take(ledger, first(1), second(2))).toEqual(['settle', 'bought'])
    expect(ledger.end('b', failed).map(({ offset }) => offset)).toEqual([2])
    ledger.end('a', settled)
    expect(take(ledger, second(3), first(4))).toEqual(['bought', 'nothing'])
  })

  it('the next may be taken where the first has failed, or is forgotten', () => {
    const ledger = new Ledger()
    ledger.restored()
    take(ledger, first(1))
    ledger.end('a', failed)
    expect(take(ledger, second(2))).toEqual(['settle'])
    ledger.end('b', settled)
    expect(take(ledger, first(3))).toEqual(['bought'])
    ledger.end('a', failed)
    ledger.forget(first(1).intent.valid_before + 87_000)
    expect(take(ledger, first(4))).toEqual(['settle'])
  })

  it.each(['settled here', 'settled before a restart'])(
    'the one that has %s is held for a day after its end',
    (where) => {
      const ledger = new Ledger()
      if (where === 'settled here') {
        take(ledger, first(1))
        ledger.end('a', settled)
      } else ledger.restore(eventOf(first(1), { event: 'settled', time: at }))
      ledger.restored()
      const end = first(1).intent.valid_before
      ledger.forget(end + 86_000)
      expect(take(ledger, second(2))).toEqual(['bought'])
      ledger.end('b', failed)
      ledger.forget(end + 87_000)
      expect([take(ledger, second(3)), ledger.size]).toEqual([['settle'], 1])
    },
  )

  it.each(['here', 'before a restart'])(
    'what was reserved for credit %s is held for a day, which is its time',
    (where) => {
      const ledger = new Ledger()
      const reserved = placed(1, { payment_id: 'credit:p', purchase: 'p', version: 0, valid_before: NOW + 86_400 })
      if (where === 'here') {
        take(ledger, reserved)
        ledger.end('credit:p', { is: 'reserved' })
      } else ledger.restore(eventOf(reserved, { event: 'reserved', time: at }))
      ledger.restored()
      ledger.forget(NOW + 86_400)
      expect(take(ledger, second(2))).toEqual(['bought'])
      ledger.end('b', failed)
      ledger.forget(NOW + 86_401)
      expect(take(ledger, second(3))).toEqual(['settle'])
    },
  )

  it.each(['broadcast', 'pending', 'settled', 'reserved'] as const)(
    'the one that is %s is known after a restart',
    (event) => {
      const ledger = new Ledger()
      ledger.restore(eventOf(first(1), { event, time: at }))
      ledger.restore(eventOf(second(2), { event: 'failed', time: at }))
      expect(take(ledger, first(1), second(2), second(3))).toEqual([
        event === 'settled' || event === 'reserved' ? 'nothing' : 'settle',
        'nothing',
        'bought',
      ])
    },
  )
})

describe('after a restart', () => {
  const broadcast = eventOf(placed(1), { event: 'broadcast', time: at, tx: '0xab', raw: '0xcd' })

  it('a payment that was about to be sent is gone on with, and its requests are its own', () => {
    const ledger = new Ledger()
    ledger.restore(broadcast)
    expect(take(ledger, placed(1), placed(2), placed(3, other))).toEqual(['settle', 'nothing', 'conflict'])
    expect(ledger.open(id)).toMatchObject({ sent: [{ tx: '0xab', raw: '0xcd' }], isPending: false })
  })

  it('a stale intent is gone on with where something was sent', () => {
    const ledger = new Ledger()
    ledger.restore(broadcast)
    expect(ledger.take(placed(1, { created: at - STALE_AFTER - 1 }), at)).toBe('settle')
  })

  it('nothing is forgotten before all that a former owner may have answered was taken', () => {
    const ledger = new Ledger()
    ledger.restore(eventOf(placed(1), { event: 'settled', time: at }))
    ledger.forget(placed(1).intent.valid_before + 8_000)
    expect(take(ledger, placed(1))).toEqual(['nothing'])
    ledger.restored()
    ledger.forget(placed(1).intent.valid_before + 8_000)
    expect(ledger.size).toBe(0)
  })

  it('what was answered is not answered again', () => {
    const ledger = new Ledger()
    ledger.restore(eventOf(placed(1), { event: 'failed', time: at }))
    ledger.restore(eventOf(placed(2), { event: 'failed', time: at }))
    ledger.restore(eventOf(placed(3, other), { event: 'broadcast', time: at }))
    ledger.restore(eventOf(placed(4), { event: 'conflict', time: at }))
    ledger.restore(eventOf(placed(3, other), { event: 'settled', time: at }))
    const all = [placed(1), placed(2), placed(3, other), placed(4), placed(5)]
    expect(take(ledger, ...all)).toEqual(['nothing', 'nothing', 'nothing', 'nothing', 'conflict'])
  })

  it('a conflict before the first broadcast does not take the payment’s place', () => {
    const ledger = new Ledger()
    ledger.restore(eventOf(placed(2, other), { event: 'conflict', time: at }))
    expect(take(ledger, placed(1), placed(2, other))).toEqual(['settle', 'nothing'])
  })

  it('decides any log as it would have without one', () => {
    const step = fc.record({
      payment: fc.constantFrom('a', 'b'),
      fingerprint: fc.constantFrom('f', 'f', 'g'),
      purchase: fc.constantFrom(null, 'p'),
      ends: fc.constantFrom<readonly Outcome['is'][]>([], [], ['settled'], ['failed']),
      crash: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const log = steps.map(({ payment, ...fields }, offset) =>
          placed(offset, { payment_id: payment, fingerprint: fields.fingerprint, purchase: fields.purchase }),
        )
        const run = (crashes: boolean): unknown[] => {
          let ledger = new Ledger()
          const said: ReturnType<typeof eventOf>[] = []
          const begun = new Set<number>()
          const answered: unknown[] = []
          const apply = (one: LoggedIntent): void => {
            const task = ledger.take(one, at)
            if (task === 'conflict') said.push(eventOf(one, { event: 'conflict', time: at }))
            if (task === 'conflict') answered.push(['conflict', one.offset])
            if (task === 'bought') end(one.intent.payment_id, 'failed')
            if (task === 'settle' && !begun.has(one.offset)) {
              ledger.open(one.intent.payment_id)?.sent.push({ tx: '0x01', raw: null })
              said.push(eventOf(one, { event: 'broadcast', time: at, tx: '0x01' }))
            }
            if (task === 'settle') begun.add(one.offset)
          }
          const end = (payment: string, is: Outcome['is']): void => {
            for (const told of ledger.end(payment, is === 'settled' ? settled : failed)) {
              said.push(eventOf(told, { event: is, time: at }))
              answered.push([is, told.offset])
            }
          }
          steps.forEach(({ payment, ends, crash }, index) => {
            const one = log[index]
            if (one !== undefined) apply(one)
            for (const is of ends) end(payment, is)
            if (!crash || !crashes) return
            ledger = new Ledger()
            for (const event of said) ledger.restore(event)
            for (const before of log.slice(0, index + 1)) apply(before)
            ledger.restored()
          })
          return answered
        }
        expect(run(true)).toEqual(run(false))
      }),
      { numRuns: 500 },
    )
  })
})

describe('what is not settled at all', () => {
  it.each([
    ['invalid_payload', { nonce: '0x12' }],
    ['invalid_payload', { value: '1e3' }],
    ['invalid_payload', { signature: '0x' }],
    ['invalid_payload', { valid_before: -1 }],
    ['invalid_payload', { from: '0xZZ' }],
    ['invalid_network', { chain_id: 8453 }],
    ['invalid_payment_requirements', { asset: `0x${'11'.repeat(20)}` }],
    ['invalid_exact_evm_payload_recipient_mismatch', { pay_to: `0x${'11'.repeat(20)}` }],
    ['invalid_exact_evm_payload_authorization_value_mismatch', { value: '1' }],
    ['invalid_exact_evm_payload_authorization_value_mismatch', { value: '99999999' }],
    ['invalid_exact_evm_payload_authorization_valid_before', { valid_before: NOW + 1_501 }],
  ])('is named: %s', (reason, fields) => {
    expect(refusalOf(intentOf(fields), SELLER, NOW)).toBe(reason)
  })

  it('is nothing that the interface lets through', () => {
    expect(refusalOf(intentOf(), SELLER, NOW)).toBeNull()
  })
})
