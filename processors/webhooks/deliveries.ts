import type { Attempt, DeliveryOrder, Pending, Trigger } from '../../schemas/records.ts'
import type { Micros, Stood } from '../../schemas/records.ts'
import { overId, ownersId, ringOf } from '../alerts/parts.ts'
import { Heap } from '../kernel/heap.ts'
import { channelShown } from './channels/channels.ts'
import {
  SetMultimap,
  deliveryOf,
  goneKey,
  isGoneRecord,
  none,
  restored,
  type Delivery,
  type UnwrittenRecords,
} from './delivery.ts'
import { type Ending, type Result, nextAttempt } from './attempt.ts'
import {
  BEHIND_RING,
  BURST_TIME,
  finishedKnown,
  FORGET_EVERY,
  FORGET_MAX,
  goneKnown,
  HELD_SHARE,
  LEFT_ALONE,
  MISSING_RETRY,
  MISSING_WAIT,
  OPEN_SHARE,
  openLimits,
  type OpenLimits,
  PUT_BACK,
  Known,
} from './limits.ts'
import { destinationKey, Holding, type Hold } from './holding.ts'

/**
 * The deliveries of one partition of `alerts.triggers`: decides what is due, what an attempt came to, and what is written
 * of it. Knows no clock and sends nothing; what it says to write follows from its input alone.
 */
export class Deliveries {
  readonly #partition: number
  readonly #limits: OpenLimits
  readonly #open = new Map<string, Delivery>()
  /** By the id that the owner knows: a rule's parts together. */
  readonly #byAlert = new SetMultimap<Delivery>(({ alertId }) => ownersId(alertId))
  readonly #byReceiver = new SetMultimap<Delivery>(({ receiver }) => receiver)
  readonly #byDigest = new SetMultimap<Delivery>(({ digest }) => digest ?? '')
  /** What owners asked for, by receiver. */
  readonly #asked = new SetMultimap<Delivery>(({ receiver }) => receiver)
  /** What waits for a digest of quiet hours, by destination. */
  readonly #held = new SetMultimap<Delivery>(destinationKey)
  readonly #holding = new Holding()
  readonly #timers = new Heap()
  /** When each ended, oldest first. */
  readonly #finished = new Known(finishedKnown)
  /** Alerts, by the id that the owner knows, whose receiver said 410, and when a trigger of theirs was last seen. */
  readonly #gone = new Known(goneKnown)
  #position: number | undefined
  /** The time that was told last, also by an earlier owner. */
  #newest: Micros = 0
  #forgotAt: Micros = 0
  readonly stood: Readonly<Record<string, Stood>>

  /** From what `webhooks.pending` holds, the last record of each key. */
  constructor(partition: number, pending: Iterable<Pending> = [], limits = openLimits) {
    this.#partition = partition
    this.#limits = limits
    const ended: Pending[] = []
    let stood: Pending['stood'] = {}
    for (const record of pending) {
      if (record.state === 'due' || (record.state === 'stopped' && !isGoneRecord(record))) this.#restore(record)
      else if (record.state === 'position') {
        this.#position = record.trigger_offset ?? undefined
        stood = record.stood
      } else if (record.state === 'finished' || isGoneRecord(record)) ended.push(record)
    }
    this.stood = stood
    for (const record of ended.sort((a, b) => a.time - b.time)) {
      if (record.state === 'finished') this.#finished.set(record.trigger_id, record.time)
      else this.#gone.set(record.alert_id, record.time)
    }
  }

  /** Offset of `alerts.triggers` to read next; undefined: nothing was ever read. */
  get position(): number | undefined {
    return this.#position
  }

  get size(): number {
    return this.#open.size
  }

  /** Trigger time of the oldest that is not delivered, whatever its receiver; undefined: all are, or wait for a digest. */
  oldest(): Micros | undefined {
    let oldest: Micros | undefined
    for (const { triggered, digest, attempts, phase } of this.#open.values()) {
      const isHeld = digest !== null && attempts === 0 && phase === 'waiting'
      if (!isHeld && (oldest === undefined || triggered < oldest)) oldest = triggered
    }
    return oldest
  }

  /** Everything before `offset` was taken in; `stood`: by what its log is known again. */
  moveTo(offset: number, now: Micros, unwritten: UnwrittenRecords, stood: Pending['stood'] = {}): void {
    if (offset === this.#position) return
    this.#position = offset
    unwritten.position(this.#partition, offset, now, stood)
  }

  /** What an earlier owner wrote of an attempt, and perhaps no more than that. */
  heard(attempt: Attempt, unwritten: UnwrittenRecords): void {
    const { trigger_id: id, outcome, number, due, digest, finished } = attempt
    const delivery = this.#open.get(id)
    if (outcome === 'digested' && digest !== null && due !== null) this.#holding.promise(id, { digest, due })
    if (outcome === 'unknown' || outcome === 'digested' || (outcome === 'retry' && delivery === undefined)) return
    if (outcome !== 'retry') {
      if (delivery !== undefined) this.#end(delivery, finished, unwritten)
      else this.#finished.set(id, finished)
    } else if (delivery !== undefined && number > delivery.attempts) {
      delivery.attempts = number
      delivery.due = due ?? delivery.due
      this.#newest = Math.max(this.#newest, finished)
      // how long it asked for is not in the attempt: no longer than until the next
      const retryAfterSeconds = (delivery.due - finished) / 1_000_000
      delivery.leftAloneUntil = leftAloneUntil(delivery, { status: attempt.status, finished, retryAfterSeconds })
      this.#timers.push(delivery.due, id)
      unwritten.delivery(delivery, delivery.ending === null ? 'due' : 'stopped', this.#partition, finished)
    }
  }

  /** Takes a trigger in; gives it where it is to be delivered now. One that is known, by its id, changes nothing. */
  trigger(trigger: Trigger, offset: number, now: Micros, unwritten: UnwrittenRecords): Delivery | undefined {
    const { trigger_id: id, alert_id: alert } = trigger
    const open = this.#open.get(id)
    if (open !== undefined && open.offset !== offset) {
      open.offset = offset
      unwritten.delivery(open, open.ending === null ? 'due' : 'stopped', this.#partition, now)
    }
    if (open !== undefined || this.#finished.isFresh(id, now)) return undefined
    const delivery = deliveryOf(trigger, offset, now)
    const ending = this.#endingOf(delivery)
    if (ending === 'gone') this.#setGone(ownersId(alert), now, unwritten)
    const hold = ending === undefined ? this.#holding.hold(trigger, now, this.#isFull(delivery)) : undefined
    if (hold !== undefined) return this.#hold(delivery, hold, now, unwritten)
    if (ending !== undefined) {
      this.#endWithout(delivery, ending, now, unwritten)
      return undefined
    }
    const isBehind = this.#waitForRing(delivery, now)
    this.#add(delivery, now, unwritten)
    return isBehind ? undefined : delivery
  }

  /** The owner's cancel: what waits ends; what is under way is not tried again. */
  stop({ alert_id: alert }: DeliveryOrder, now: Micros, unwritten: UnwrittenRecords): void {
    const ofPart = this.#byAlert.all(ownersId(alert)).filter(({ alertId }) => alertId === alert)
    this.#endAll(ofPart, 'stopped', now, unwritten)
  }

  /** The owner's wish to have it once more, now, under the same id; `trigger`: what was found where the order says. */
  resend(
    order: DeliveryOrder,
    trigger: Trigger | undefined,
    now: Micros,
    unwritten: UnwrittenRecords,
  ): Delivery | undefined {
    const { trigger_id: id, trigger_offset: offset } = order
    if (id === null || offset === null || trigger?.trigger_id !== id || trigger.alert_id !== order.alert_id) {
      unwritten.refused(order, now)
      return undefined
    }
    const known = this.#open.get(id)
    if (known === undefined)
      return this.#sendAgain({ ...deliveryOf(trigger, offset, now), byHand: true }, now, unwritten)
    known.byHand = true
    known.attempts = 0 // its schedule begins again, as that of one that had ended
    const isWaiting = known.phase === 'waiting'
    if (isWaiting) {
      this.#byDigest.delete(known)
      known.digest = null // its owner wants it by itself
      known.due = now
    }
    unwritten.delivery(known, known.ending === null ? 'due' : 'stopped', this.#partition, now)
    return isWaiting ? this.#ready(known) : undefined
  }

  /** Ends what an earlier owner was told to end while its attempt was under way; nobody knows what came of that one. */
  settle(now: Micros, unwritten: UnwrittenRecords): void {
    for (const delivery of this.#open.values()) {
      if (delivery.ending === null || delivery.phase !== 'waiting') continue
      this.#endWithout(delivery, this.#isGone(delivery) ? 'gone' : 'stopped', now, unwritten)
    }
  }

  /**
   * The log does not have the trigger where it should be. Where the log lost it, its processor writes it again: it is
   * looked for a while. Then it is told, since there is nothing to send, and true is given.
   */
  lost(delivery: Delivery, now: Micros, unwritten: UnwrittenRecords): boolean {
    delivery.missing ??= now
    if (now - delivery.missing >= MISSING_WAIT) {
      this.#endWithout(delivery, 'not_found', now, unwritten)
      return true
    }
    delivery.due = now + MISSING_RETRY
    delivery.phase = 'waiting'
    if (delivery.ending === null) this.#timers.push(delivery.due, delivery.id)
    else this.#endWithout(delivery, delivery.ending, now, unwritten)
    return false
  }

  /** Where the clock was put back, what waits is due as much earlier; all but the end of quiet hours, a time of day. */
  follow(now: Micros, unwritten: UnwrittenRecords): void {
    const before = this.#newest
    this.#newest = now
    if (now >= before - PUT_BACK) return
    for (const delivery of this.#open.values()) {
      const isOfDay = delivery.digest !== null && delivery.attempts === 0 && delivery.due > before + BURST_TIME
      if (delivery.phase !== 'waiting' || isOfDay) continue
      delivery.due -= before - now
      this.#timers.push(delivery.due, delivery.id)
      unwritten.delivery(delivery, 'due', this.#partition, now)
    }
  }

  /** What has become due; the caller puts it in line for a slot. */
  due(now: Micros): Delivery[] {
    const due: Delivery[] = []
    for (let at = this.#timers.key; at !== undefined && at <= now; at = this.#timers.key) {
      const delivery = this.#open.get(this.#timers.pop() ?? '')
      if (delivery?.phase !== 'waiting' || delivery.due !== at) continue
      if (this.#waitForRing(delivery, now)) continue
      due.push(this.#ready(delivery))
      if (delivery.digest === null) continue
      if (delivery.attempts === 0) this.#holding.told(delivery, now)
      for (const other of this.#byDigest.all(delivery.digest)) {
        const isDue = other.phase === 'waiting' && other.due <= now
        if (isDue && !this.#waitForRing(other, now)) this.#ready(other) // in line with the one that was first
      }
    }
    return due
  }

  /** What the attempt is to tell, of a digest all that it has left: what has not ended since it was put in line. */
  start(delivery: Delivery): readonly Delivery[] {
    const told = delivery.digest === null ? [delivery] : this.#byDigest.all(delivery.digest)
    const open = told.filter((each) => each.phase === 'ready' && this.#open.get(each.id) === each)
    for (const each of open) each.phase = 'sending'
    return open.sort((a, b) => a.offset - b.offset)
  }

  /** Gives the outcome of an attempt that was started. */
  attempted(delivery: Delivery, result: Result, unwritten: UnwrittenRecords): Attempt['outcome'] {
    const { byHand, test } = delivery
    const alert = ownersId(delivery.alertId)
    delivery.attempts += 1
    delivery.leftAloneUntil = result.is === 'failed' ? leftAloneUntil(delivery, result) : null
    if (result.is === 'delivered') {
      if ((byHand || test) && this.#gone.delete(alert)) unwritten.put(goneKey(alert), null)
      return this.#finish(delivery, result, 'delivered', result.isCut ? 'body_too_large' : null, unwritten)
    }
    const { error, finished } = result
    if (error === 'gone') {
      this.#finish(delivery, result, 'cancelled', 'gone', unwritten)
      this.#setGone(alert, finished, unwritten)
      this.#endAll(this.#byAlert.all(alert), 'gone', finished, unwritten)
      return 'cancelled'
    }
    if (error === 'rejected') return this.#finish(delivery, result, 'cancelled', error, unwritten)
    if (delivery.ending !== null) return this.#finish(delivery, result, 'cancelled', error, unwritten)
    const next = nextAttempt(delivery.digest ?? delivery.id, delivery.attempts, finished, result.retryAfterSeconds)
    if (next === null) return this.#finish(delivery, result, 'exhausted', error, unwritten)
    delivery.due = next
    delivery.phase = 'waiting'
    this.#timers.push(next, delivery.id)
    unwritten.attempt(delivery, { ...result, outcome: 'retry', error, due: next })
    unwritten.delivery(delivery, 'due', this.#partition, finished)
    return 'retry'
  }

  /** Forgets what has been known long enough; it is looked for once a second, or again at once where more is left. */
  forget(now: Micros, unwritten: UnwrittenRecords): void {
    if (now >= this.#forgotAt && now < this.#forgotAt + FORGET_EVERY) return
    this.#holding.forget(now)
    const finished = this.#finished.forget(now)
    const gone = this.#gone.forget(now)
    if (Math.max(finished.length, gone.length) < FORGET_MAX) this.#forgotAt = now
    for (const id of finished) unwritten.put(id, null)
    for (const id of gone) unwritten.put(goneKey(id), null)
    if (this.#timers.size > 2 * this.#open.size + FORGET_MAX)
      this.#timers.sweep((id, key) => {
        const delivery = this.#open.get(id)
        return delivery?.phase === 'waiting' && delivery.due === key
      })
  }

  /** Destinations that want to be left alone, as what is not finished knows, and until when. */
  leftAlone(): ReadonlyMap<string, Micros> {
    const until = new Map<string, Micros>()
    for (const { receiver, leftAloneUntil: to } of this.#open.values())
      if (to !== null) until.set(receiver, Math.max(to, until.get(receiver) ?? 0))
    return until
  }

  /** Why a new trigger is not to be attempted; its owner's own test is, even where the receiver said 410. */
  #endingOf(delivery: Delivery): Ending | undefined {
    if (!delivery.test && this.#isGone(delivery)) return 'gone'
    return this.#isBeyondShare(delivery) ? 'backlog' : undefined
  }

  #isBeyondShare({ receiver, alertId, test, byHand }: Delivery): boolean {
    const { open, asked } = this.#limits
    if (test || byHand) return this.#asked.count(receiver) >= (asked - this.#asked.size) * OPEN_SHARE
    const room = open - (this.#open.size - this.#asked.size)
    return this.#byReceiver.count(receiver) + this.#byAlert.count(ownersId(alertId)) >= room * OPEN_SHARE
  }

  #isGone({ alertId }: Delivery): boolean {
    return this.#gone.has(ownersId(alertId))
  }

  #isFull(delivery: Delivery): boolean {
    const room = this.#limits.held - this.#held.size
    return this.#held.count(destinationKey(delivery)) >= room * HELD_SHARE
  }

  /** That a ring is over waits for the ring, which may be tried again, and leaves its digest for that; but for one that tells both. */
  #waitForRing(delivery: Delivery, now: Micros): boolean {
    const ring = this.#open.get(ringOf(delivery.id) ?? '')
    if (ring === undefined || (delivery.digest !== null && delivery.digest === ring.digest)) return false
    this.#byDigest.delete(delivery)
    this.#held.delete(delivery)
    delivery.digest = null
    delivery.due = Math.max(ring.due, now) + BEHIND_RING
    delivery.phase = 'waiting'
    this.#timers.push(delivery.due, delivery.id)
    return true
  }

  /** The ring has ended: that it is over is due now, unless it was tried before. */
  #letFollow(ring: string, now: Micros): void {
    const over = this.#open.get(overId(ring))
    if (over?.phase !== 'waiting' || over.digest !== null || over.attempts > 0) return
    over.due = now
    this.#timers.push(now, over.id)
  }

  #restore(record: Pending): void {
    const delivery = restored(record)
    if (delivery === undefined) return
    this.#newest = Math.max(this.#newest, record.time)
    this.#keep(delivery, record.time)
    this.#holding.restore(delivery)
    this.#timers.push(delivery.due, delivery.id)
  }

  /** It waits for its digest, and that is told. */
  #hold(delivery: Delivery, { digest, due }: Hold, now: Micros, unwritten: UnwrittenRecords): undefined {
    delivery.digest = digest
    delivery.due = due
    delivery.phase = 'waiting'
    unwritten.attempt(delivery, { ...none(now), outcome: 'digested', error: null, due })
    this.#add(delivery, now, unwritten)
    this.#timers.push(due, delivery.id)
  }

  #sendAgain(delivery: Delivery, now: Micros, unwritten: UnwrittenRecords): Delivery | undefined {
    if (!this.#isBeyondShare(delivery)) return this.#add(delivery, now, unwritten)
    this.#endWithout(delivery, 'backlog', now, unwritten)
    return undefined
  }

  #add(delivery: Delivery, now: Micros, unwritten: UnwrittenRecords): Delivery {
    this.#finished.delete(delivery.id) // it is open again under the key of its end
    this.#keep(delivery, now)
    unwritten.delivery(delivery, 'due', this.#partition, now)
    return delivery
  }

  #keep(delivery: Delivery, now: Micros): void {
    this.#open.set(delivery.id, delivery)
    this.#byAlert.add(delivery)
    this.#byReceiver.add(delivery)
    if (delivery.test || delivery.byHand) this.#asked.add(delivery)
    if (delivery.digest === null) return
    this.#byDigest.add(delivery)
    if (delivery.attempts === 0 && delivery.due > now + BURST_TIME) this.#held.add(delivery)
  }

  #ready(delivery: Delivery): Delivery {
    delivery.phase = 'ready'
    this.#held.delete(delivery)
    return delivery
  }

  #endAll(deliveries: readonly Delivery[], ending: 'stopped' | 'gone', now: Micros, unwritten: UnwrittenRecords): void {
    for (const delivery of deliveries) {
      if (delivery.phase === 'sending') {
        delivery.ending = ending
        unwritten.delivery(delivery, 'stopped', this.#partition, now)
      } else this.#endWithout(delivery, ending, now, unwritten)
    }
  }

  #endWithout(delivery: Delivery, ending: Ending, now: Micros, unwritten: UnwrittenRecords): void {
    const outcome = ending === 'backlog' ? 'exhausted' : 'cancelled'
    unwritten.attempt({ ...delivery, attempts: 0 }, { ...none(now), outcome, error: ending })
    this.#end(delivery, now, unwritten)
  }

  #finish(
    delivery: Delivery,
    result: Result,
    outcome: 'delivered' | 'exhausted' | 'cancelled',
    error: string | null,
    unwritten: UnwrittenRecords,
  ): Attempt['outcome'] {
    unwritten.attempt(delivery, { ...result, outcome, error, due: null })
    this.#end(delivery, result.finished, unwritten)
    return outcome
  }

  #end(delivery: Delivery, now: Micros, unwritten: UnwrittenRecords): void {
    const { id } = delivery
    if (this.#open.get(id) === delivery) {
      this.#open.delete(id)
      this.#byAlert.delete(delivery)
      this.#byReceiver.delete(delivery)
      this.#asked.delete(delivery)
      this.#byDigest.delete(delivery)
      this.#held.delete(delivery)
    }
    this.#finished.set(id, now)
    unwritten.delivery(delivery, 'finished', this.#partition, now)
    this.#letFollow(id, now)
  }

  #setGone(alertId: string, now: Micros, unwritten: UnwrittenRecords): void {
    this.#gone.set(alertId, now)
    unwritten.gone(alertId, now)
  }
}

/** Only a destination of its own: behind the host of a webhook are many owners, whom the limit of one does not concern. */
function leftAloneUntil(
  { receiver }: Delivery,
  { status, finished, retryAfterSeconds }: Pick<Result, 'status' | 'finished'> & { retryAfterSeconds?: number },
): Micros | null {
  if (status !== 429 || channelShown(receiver) === undefined) return null
  const asked = Math.round((retryAfterSeconds ?? 0) * 1_000_000) // the log takes whole microseconds
  return finished + Math.min(LEFT_ALONE.max, Math.max(LEFT_ALONE.min, asked))
}
