import type { PaymentEvent, PaymentIntent } from '../../schemas/records.ts'
import { ApiError } from '../request/errors.ts'
import type { Outcome, Standing } from './payments.ts'

/** Payments that are waited for at once; beyond, 503 before anything is written. */
export const WAITING_MAX = 2_000

interface Waiting {
  readonly id: string
  readonly request: string
  readonly resolve: (outcome: Outcome) => void
}

type Open = Extract<Standing, { is: 'open' }> & {
  /** As signed, seconds. */
  readonly validBefore: number
  /** Highest offset of its request's intents; -1: none is known. */
  readonly v: number
}

const UNSENT = { isSent: false, transaction: '' } as const

interface Failed {
  /** Highest offset of the intents that were told so. */
  readonly v: number
  readonly validBefore: number
}

/** What intents and events say: how each payment stands, and what became of the intents that are waited for. */
export class Outcomes {
  readonly #settled = new Map<string, PaymentEvent>()
  /** Payments that were asked for, or sent, and have no end yet. */
  readonly #open = new Map<string, Open>()
  readonly #failed = new Map<string, Failed>()
  readonly #waiting = new Map<string, Set<Waiting>>()
  #count = 0

  get size(): number {
    return this.#settled.size + this.#open.size + this.#failed.size
  }

  find(id: string): Standing | undefined {
    const event = this.#settled.get(id)
    return event === undefined ? this.#open.get(id) : { is: 'settled', event }
  }

  /** The transaction that may be moving the money now; empty: none is known. */
  transaction(id: string): string {
    return this.#open.get(id)?.transaction ?? ''
  }

  /** Waits for what becomes of an intent; call it before the intent is written, and `leave` it in the end. */
  wait(intent: PaymentIntent): { outcome: Promise<Outcome>; leave: () => void } {
    const { payment_id: id, request_id: request } = intent
    if (this.#count >= WAITING_MAX)
      throw new ApiError('overloaded', 'Too many payments are being settled; send the same again in a second.', {
        retryAfterSeconds: 1,
      })
    const { promise: outcome, resolve } = Promise.withResolvers<Outcome>()
    const waiting = { id, request, resolve }
    const all = this.#waiting.get(id) ?? new Set()
    this.#waiting.set(id, all.add(waiting))
    this.#count += 1
    const known = this.#settled.get(id)
    if (known !== undefined) resolve({ is: 'settled', event: known })
    else if (!this.#open.has(id)) this.#note(intent, { ...UNSENT, v: -1 })
    return { outcome, leave: () => this.#leave(waiting) }
  }

  #leave(waiting: Waiting): void {
    const all = this.#waiting.get(waiting.id)
    if (all?.delete(waiting) !== true) return
    this.#count -= 1
    if (all.size === 0) this.#waiting.delete(waiting.id)
  }

  /** An intent of the log, whoever wrote it. Its event may have been heard before it. */
  asked(intent: PaymentIntent, offset: number): void {
    const { payment_id: id, fingerprint } = intent
    const isAnswered = offset <= (this.#failed.get(id)?.v ?? -1)
    const open = this.#open.get(id)
    if (!isAnswered && open === undefined) this.#note(intent, { ...UNSENT, v: offset })
    else if (open?.fingerprint === fingerprint) this.#open.set(id, { ...open, v: Math.max(open.v, offset) })
  }

  /** An event of the log. A settlement counts for every request, anything else for the request that it names. */
  heard(event: PaymentEvent): void {
    const { payment_id: id } = event
    switch (event.event) {
      case 'broadcast':
        return this.#note(event, {
          isSent: true,
          transaction: event.tx ?? this.transaction(id),
          v: Math.max(event.v, this.#open.get(id)?.v ?? -1),
        })
      case 'settled':
      case 'reserved':
        this.#open.delete(id)
        this.#failed.delete(id)
        this.#settled.set(id, event)
        return this.#tell(id, undefined, { is: 'settled', event })
      case 'failed':
        this.#end(event)
        this.#failed.set(id, { v: Math.max(event.v, this.#failed.get(id)?.v ?? -1), validBefore: event.valid_before })
        return this.#tell(id, event.request_id, {
          is: 'failed',
          reason: event.reason ?? 'unexpected_settle_error',
          transaction: event.tx ?? '',
        })
      case 'conflict':
        return this.#tell(id, event.request_id, { is: 'conflict' })
      case 'pending':
        return this.#tell(id, event.request_id, { is: 'pending', transaction: event.tx ?? this.transaction(id) })
      case 'unknown':
    }
  }

  /** A newer intent than the one that has failed is under way. */
  #end({ payment_id: id, v }: PaymentEvent): void {
    const open = this.#open.get(id)
    if (open === undefined || open.v <= v) this.#open.delete(id)
    else this.#open.set(id, { ...open, ...UNSENT })
  }

  #tell(id: string, request: string | undefined, outcome: Outcome): void {
    for (const waiting of this.#waiting.get(id) ?? [])
      if (request === undefined || waiting.request === request) waiting.resolve(outcome)
  }

  #note(
    { payment_id: id, fingerprint, valid_before: validBefore }: PaymentIntent | PaymentEvent,
    how: Pick<Open, 'isSent' | 'transaction' | 'v'>,
  ): void {
    if (!this.#settled.has(id)) this.#open.set(id, { is: 'open', fingerprint, validBefore, ...how })
  }

  /** Forgets what ended before `time`, microseconds: its authorization cannot be brought again. */
  forget(time: number): void {
    for (const known of [this.#open, this.#failed])
      for (const [id, { validBefore }] of known) if (validBefore * 1e6 < time) known.delete(id)
    for (const [id, event] of this.#settled) {
      if (event.time >= time) return // the log is in the order of time
      this.#settled.delete(id)
    }
  }
}
