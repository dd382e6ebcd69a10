import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Micros, Pending, Trigger } from '../../schemas/records.ts'
import { Deliveries } from './deliveries.ts'
import { goneKey, UnwrittenRecords, type Delivery } from './delivery.ts'
import { FINISHED_KNOWN, FORGET_EVERY, FORGET_MAX, goneKnown, Known } from './limits.ts'
import { resendOrder, triggerTo } from './testing/world.ts'

const T0: Micros = 1_786_060_800_000_000
const ring = triggerTo('https://localhost/')
const next = { ...ring, trigger_id: `${ring.alert_id}_2` }

/** The deliveries of a partition, and what they have written so far, the last of each key. */
class Book {
  readonly unwritten = new UnwrittenRecords()
  readonly deliveries: Deliveries

  constructor(pending: Iterable<Pending> = []) {
    this.deliveries = new Deliveries(0, pending)
  }

  /** Whether it is to be delivered. */
  takes(trigger: Trigger, now: Micros): boolean {
    return this.deliveries.trigger(trigger, 0, now, this.unwritten) !== undefined
  }

  resend(trigger: Trigger, now: Micros): Delivery {
    const again = this.deliveries.resend(resendOrder(trigger, 0), trigger, now, this.unwritten)
    if (again === undefined) throw new Error('it is not sent once more')
    return again
  }

  /** Takes a trigger, or what is given, and has it answered. */
  answered(status: 200 | 410, now: Micros, trigger: Trigger | Delivery = ring): void {
    const delivery = 'phase' in trigger ? trigger : this.deliveries.trigger(trigger, 0, now, this.unwritten)
    if (delivery === undefined) throw new Error('it is not to be delivered')
    const [started] = this.deliveries.start(delivery)
    const times = { status, started: now, finished: now }
    if (started !== undefined)
      this.deliveries.attempted(
        started,
        status === 200 ? { ...times, is: 'delivered', isCut: false } : { ...times, is: 'failed', error: 'gone' },
        this.unwritten,
      )
  }

  /** What another owner reads. */
  restarted(): Book {
    return new Book([...this.unwritten.pending.values()].filter((record) => record !== null))
  }
}

describe('a trigger that is told again', () => {
  it('is known for an hour from its end', () => {
    const book = new Book()
    book.answered(200, T0)
    expect([0, FINISHED_KNOWN - 1].map((after) => book.takes(ring, T0 + after))).toEqual([false, false])
    expect(book.restarted().takes(ring, T0 + FINISHED_KNOWN - 1)).toBe(false)
    expect(book.takes(ring, T0 + FINISHED_KNOWN)).toBe(true)
  })

  it('stays in the log while it is sent once more, though its first end is long ago', () => {
    const book = new Book()
    book.answered(200, T0)
    book.resend(ring, T0 + 1)
    book.deliveries.forget(T0 + 2 * FINISHED_KNOWN, book.unwritten)
    expect(book.unwritten.pending.get(ring.trigger_id)).toMatchObject({ state: 'due' })
  })

  it('is forgotten in the log when its end is long ago', () => {
    const book = new Book()
    book.answered(200, T0)
    book.deliveries.forget(T0 + 2 * FINISHED_KNOWN, book.unwritten)
    expect(book.unwritten.pending.get(ring.trigger_id)).toBeNull()
  })
})

describe('what has been known long enough', () => {
  const looks = vi.spyOn(Known.prototype, 'forget')
  afterEach(() => looks.mockClear())

  it('is looked for once a second, however often time is told, and at once where the clock was put back', () => {
    const book = new Book()
    for (let tick = 0; tick < 1_000; tick++) book.deliveries.forget(T0 + tick, book.unwritten)
    expect(looks).toHaveBeenCalledTimes(2) // what has ended, and who is gone
    book.deliveries.forget(T0 + FORGET_EVERY, book.unwritten)
    expect(looks).toHaveBeenCalledTimes(4)
    book.deliveries.forget(T0, book.unwritten)
    expect(looks).toHaveBeenCalledTimes(6)
  })

  it('is looked for again at once where there is more than is forgotten in one go', () => {
    const book = new Book()
    for (let n = 0; n <= FORGET_MAX; n++) book.answered(200, T0, { ...ring, trigger_id: `id ${n}` })
    const forgotten = (): number => [...book.unwritten.pending.values()].filter((record) => record === null).length
    const counts = [0, 1, 2].map((tick) => {
      book.deliveries.forget(T0 + 2 * FINISHED_KNOWN + tick, book.unwritten)
      return forgotten()
    })
    expect(counts).toEqual([FORGET_MAX, FORGET_MAX + 1, FORGET_MAX + 1])
    expect(looks).toHaveBeenCalledTimes(4)
  })
})

describe('an alert whose receiver is gone', () => {
  const gone = (): Book => {
    const book = new Book()
    book.answered(410, T0)
    return book
  }

  it('has nothing delivered any more, by another owner neither, for 31 days from its last trigger on', () => {
    const { kept } = goneKnown
    const book = gone()
    expect(book.takes(next, T0 + kept)).toBe(false)
    book.deliveries.forget(T0 + 2 * kept, book.unwritten)
    const other = book.restarted()
    expect(other.takes({ ...next, trigger_id: 'another' }, T0 + 2 * kept)).toBe(false)
    other.deliveries.forget(T0 + 3 * kept + 1, other.unwritten)
    expect(other.unwritten.pending.get(goneKey(ring.alert_id))).toBeNull()
    expect(other.takes({ ...next, trigger_id: 'a third' }, T0 + 3 * kept + 1)).toBe(true)
  })

  it('has it again once a test is delivered, or what its owner sends once more', () => {
    for (const isTest of [true, false]) {
      const book = gone()
      const trigger = { ...next, trigger_id: 'test', test: true }
      book.answered(200, T0 + 1, isTest ? trigger : book.resend(ring, T0 + 1))
      expect(book.unwritten.pending.get(goneKey(ring.alert_id))).toBeNull()
      expect(book.takes(next, T0 + 2)).toBe(true)
    }
  })

  it('stays so where only what was under way is delivered', () => {
    const book = new Book()
    const under = book.deliveries.trigger(next, 0, T0, book.unwritten)
    if (under === undefined) throw new Error('it is to be delivered')
    const [sending] = book.deliveries.start(under)
    book.answered(410, T0)
    const result = { is: 'delivered', isCut: false, status: 200, started: T0, finished: T0 } as const
    if (sending !== undefined) book.deliveries.attempted(sending, result, book.unwritten)
    expect(book.takes({ ...next, trigger_id: 'another' }, T0 + 1)).toBe(false)
  })
})
