import { emptyFields } from '../../schemas/codec.ts'
import type { Attempt, DeliveryOrder, Pending, Trigger } from '../../schemas/records.ts'
import type { Micros } from '../../schemas/records.ts'

/** One trigger on its way to its receiver. */
export interface Delivery {
  readonly id: string
  readonly alertId: string
  readonly receiver: string
  /** Where `alerts.triggers` has it, in this partition; elsewhere when it was written again. */
  offset: number
  readonly triggered: Micros
  readonly test: boolean
  /** Made so far. */
  attempts: number
  /** Next attempt. */
  due: Micros
  /** Waiting for its time, in line for a slot, or under way. */
  phase: 'waiting' | 'ready' | 'sending'
  /** It ended while an attempt was under way: there is no further one. */
  ending: 'stopped' | 'gone' | null
  /** Asked for by the owner. */
  byHand: boolean
  /** Since when it is looked for where it should be and not found. */
  missing: Micros | null
  /** The digest that it is, or is to be, told in; null: by itself. */
  digest: string | null
  /** Until then its destination wants to be left alone, as it answered the last attempt; null: it does not say so. */
  leftAloneUntil: Micros | null
}

/** Key of the position in `webhooks.pending`; trigger ids begin with `alert_`. */
export const POSITION = 'position'

export function goneKey(alertId: string): string {
  return `gone|${alertId}`
}

export function isGoneRecord({ state, trigger_id: trigger }: Pending): boolean {
  return state === 'stopped' && trigger === ''
}

type AttemptResult = Pick<Attempt, 'outcome' | 'error' | 'status' | 'started' | 'finished' | 'due'>

/**
 * What is to be written; of a key of `webhooks.pending` the last word only, in the order in which it was said, so that
 * the position stands behind all that it covers.
 */
export class UnwrittenRecords {
  readonly attempts: Attempt[] = []
  readonly #pending = new Map<string, Pending | null>()

  /** By key; null: a tombstone. */
  get pending(): ReadonlyMap<string, Pending | null> {
    return this.#pending
  }

  get size(): number {
    return this.attempts.length + this.#pending.size
  }

  attempt(
    {
      id,
      alertId,
      receiver,
      attempts,
      test,
      triggered,
      digest,
    }: Omit<Delivery, 'offset' | 'due' | 'phase' | 'ending' | 'byHand' | 'missing' | 'leftAloneUntil'>,
    { outcome, error, status, started, finished, due }: AttemptResult,
  ): void {
    this.attempts.push({
      trigger_id: id,
      alert_id: alertId,
      receiver,
      number: attempts,
      outcome,
      status,
      error,
      started,
      finished,
      due,
      test,
      triggered,
      digest,
    })
  }

  /** A resend of what is not there: told, so that its owner sees why nothing comes. */
  refused({ trigger_id, alert_id: alertId, receiver, time }: DeliveryOrder, now: Micros): void {
    const named = { id: trigger_id ?? '', alertId, receiver, attempts: 0, test: false, triggered: time, digest: null }
    this.attempt(named, { ...none(now), outcome: 'cancelled', error: 'not_found' })
  }

  /** A delivery's own state; `stopped`: while an attempt was under way, so that a restart makes no further one. */
  delivery(delivery: Delivery, state: 'due' | 'finished' | 'stopped', partition: number, now: Micros): void {
    this.put(delivery.id, pendingOf(delivery, state, partition, now))
  }

  /** How far `alerts.triggers` was taken in. */
  position(partition: number, offset: number, now: Micros, stood: Pending['stood']): void {
    this.put(POSITION, {
      trigger_id: '',
      alert_id: '',
      receiver: '',
      state: 'position',
      attempts: 0,
      due: 0,
      trigger_partition: partition,
      trigger_offset: offset,
      triggered: 0,
      test: false,
      digest: null,
      left_alone_until: null,
      by_hand: false,
      time: now,
      stood,
    })
  }

  gone(alertId: string, now: Micros): void {
    this.put(goneKey(alertId), {
      ...emptyFields('pending'),
      trigger_id: '',
      alert_id: alertId,
      receiver: '',
      state: 'stopped',
      attempts: 0,
      due: 0,
      triggered: 0,
      test: false,
      by_hand: false,
      time: now,
      stood: {},
    })
  }

  put(key: string, value: Pending | null): void {
    this.#pending.delete(key)
    this.#pending.set(key, value)
  }
}

/** A delivery that was just asked for. */
export function deliveryOf(trigger: Trigger, offset: number, now: Micros): Delivery {
  const { trigger_id: id, alert_id: alertId, receiver, test, time: triggered } = trigger
  const still = { ...STILL, attempts: 0, due: now, phase: 'ready', ending: null, digest: null } as const
  return { id, alertId, receiver, offset, triggered, test, ...still }
}

/** A delivery as its record says; undefined where it names no place. */
export function restored(record: Pending): Delivery | undefined {
  const {
    trigger_id: id,
    alert_id: alertId,
    receiver,
    attempts,
    due,
    trigger_offset: offset,
    triggered,
    test,
    digest,
    left_alone_until: leftAloneUntil,
    by_hand: byHand,
  } = record
  if (offset === null) return undefined
  const ending = record.state === 'stopped' ? 'stopped' : null
  return {
    id,
    alertId,
    receiver,
    offset,
    triggered,
    test,
    attempts,
    due,
    digest,
    ...STILL,
    leftAloneUntil,
    byHand,
    ending,
  }
}

const STILL = { phase: 'waiting', byHand: false, missing: null, leftAloneUntil: null } as const

function pendingOf(delivery: Delivery, state: Pending['state'], partition: number, now: Micros): Pending {
  const { id, alertId, receiver, attempts, due, offset, triggered, test, digest, leftAloneUntil, byHand } = delivery
  return {
    trigger_id: id,
    alert_id: alertId,
    receiver,
    state,
    attempts,
    due,
    trigger_partition: partition,
    trigger_offset: offset,
    triggered,
    test,
    digest,
    left_alone_until: leftAloneUntil,
    by_hand: byHand,
    time: now,
    stood: {},
  }
}

/** Sets of things by a key that each has. */
export class SetMultimap<Thing> {
  readonly #by: (thing: Thing) => string
  readonly #sets = new Map<string, Set<Thing>>()
  #size = 0

  constructor(by: (thing: Thing) => string) {
    this.#by = by
  }

  get size(): number {
    return this.#size
  }

  count(what: string): number {
    return this.#sets.get(what)?.size ?? 0
  }

  all(what: string): readonly Thing[] {
    return [...(this.#sets.get(what) ?? [])]
  }

  add(thing: Thing): void {
    const what = this.#by(thing)
    const set = this.#sets.get(what)
    if (set?.has(thing)) return
    this.#size += 1
    if (set === undefined) this.#sets.set(what, new Set([thing]))
    else set.add(thing)
  }

  delete(thing: Thing): void {
    const what = this.#by(thing)
    const set = this.#sets.get(what)
    if (set?.delete(thing)) this.#size -= 1
    if (set?.size === 0) this.#sets.delete(what)
  }
}

/** No attempt was made. */
export function none(now: Micros): { started: Micros; finished: Micros; status: null; due: null } {
  return { started: now, finished: now, status: null, due: null }
}
