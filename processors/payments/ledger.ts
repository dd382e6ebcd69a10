import { emptyFields } from '../../schemas/codec.ts'
import type { PaymentEvent, PaymentIntent } from '../../schemas/records.ts'
import type { Micros } from '../../schemas/records.ts'
import type { Outcome, Sent } from './settler.ts'
import { hex } from './token.ts'

/** An intent with its offset in the log, plus what a lost tail took from the offsets before it. */
export interface LoggedIntent {
  readonly intent: PaymentIntent
  readonly offset: number
}

/** A payment that is under way. */
export interface Open {
  readonly state: 'open'
  readonly fingerprint: string
  /** What it holds against other payments; null: nothing. */
  readonly purchase: string | null
  /** Offset of the intent that it began with; earlier ones were answered. */
  readonly from: number
  /** The requests that brought it, the first one first; empty until its intent was read again after a restart. */
  readonly requests: LoggedIntent[]
  /** Requests that were told of an earlier failure of it: they wait for nothing any more. */
  readonly told: ReadonlySet<string>
  /** Whether it was sent before an earlier failure. */
  readonly wasSent: boolean
  readonly sent: Sent[]
  isPending: boolean
}

type Known = Open | Ended

interface Ended {
  readonly state: 'settled' | 'failed'
  readonly fingerprint: string
  readonly purchase: string | null
  /** Of a failure: the highest offset that it was said to. Of a settling: the offset that it began with. */
  readonly v: number
  /** Seconds since the Unix epoch. */
  readonly until: number
  /** Of a failure: the requests that were told. */
  readonly told: ReadonlySet<string>
  /** Others may have seen it: it stays with its request, or whoever brings it first would have what it buys. */
  readonly wasSent: boolean
}

/**
 * What an intent asks for.
 * - `settle`: begin, or go on with what a former owner has begun;
 * - `conflict`: its payment is in use for another request;
 * - `stale`: nobody waits for it any more, and nothing was sent: it must not be charged now;
 * - `bought`: another payment buys the same, or has bought it: it must not be charged;
 * - `nothing`: it was answered, or it joins one that is under way.
 */
export type Task = 'settle' | 'conflict' | 'stale' | 'bought' | 'nothing'

const SECOND: Micros = 1_000_000
/** Whoever asked has long been told to come again. */
export const STALE_AFTER: Micros = 300 * SECOND
/** What the log is read back over at a start: no authorization lasts for a day, and it may be asked about later. */
export const KNOWN_MS = 26 * 3_600_000
/** Requests that one payment may be brought by while it is under way; more wait for the settling alone. */
const REQUESTS_MAX = 1_000

/** All payments of the last day, by id. Restored from the events, then fed with the intents in their order. */
export class Ledger {
  readonly #known = new Map<string, Known>()
  /** The payment that is under way, or has settled, for a purchase. */
  readonly #buyers = new Map<string, string>()
  /** Offsets of intents that a former owner told of their conflict. */
  readonly #conflicts = new Set<number>()
  #isRestored = false

  get size(): number {
    return this.#known.size
  }

  /** An event that a former owner, or this one, has written. */
  restore(event: PaymentEvent): void {
    const { payment_id: id, fingerprint, purchase, v } = event
    const known = this.#known.get(id)
    switch (event.event) {
      case 'conflict':
        this.#conflicts.add(v)
        return
      case 'settled':
      case 'reserved':
        this.#known.set(id, {
          state: 'settled',
          fingerprint,
          purchase,
          v,
          until: knownUntil(event, event.event),
          told: NOBODY,
          wasSent: true,
        })
        this.#hold(purchase, id)
        return
      case 'failed': {
        const before = known?.state === 'failed' ? known.v : -1
        const told = new Set(known?.told).add(event.request_id)
        const ended = { fingerprint, purchase, v: Math.max(v, before), until: knownUntil(event, 'failed') }
        if (known?.state !== 'settled') this.#fail(id, { ...ended, told, wasSent: wasSent(known) })
        return
      }
      case 'broadcast':
      case 'pending':
        this.#reopen(event, known?.state === 'open' ? known : undefined)
        return
      case 'unknown':
    }
  }

  #reopen({ payment_id: id, event, fingerprint, purchase, tx, raw, v }: PaymentEvent, known: Open | undefined): void {
    const before = this.#known.get(id)
    const begun = { fingerprint, purchase, from: v, told: before?.told ?? NOBODY, wasSent: wasSent(before) }
    const open: Open = known ?? { state: 'open', ...begun, requests: [], sent: [], isPending: false }
    if (event === 'pending') open.isPending = true
    else open.sent.push({ tx: tx === null ? null : hex(tx), raw: raw === null ? null : hex(raw) })
    this.#known.set(id, open)
    this.#hold(purchase, id)
  }

  #hold(purchase: string | null, id: string): void {
    if (purchase !== null) this.#buyers.set(purchase, id)
  }

  #fail(id: string, ended: Omit<Ended, 'state'>): void {
    this.#known.set(id, { state: 'failed', ...ended })
    this.#letGo(ended.purchase, id)
  }

  #letGo(purchase: string | null, id: string): void {
    if (purchase !== null && this.#buyers.get(purchase) === id) this.#buyers.delete(purchase)
  }

  /** What the intent at that offset asks for; `now` in microseconds. */
  take({ intent, offset }: LoggedIntent, now: Micros): Task {
    const { payment_id: id, fingerprint } = intent
    const known = this.#known.get(id)
    if (this.#conflicts.has(offset)) return 'nothing'
    if (known === undefined || known.state === 'failed') return this.#begin({ intent, offset }, known, now)
    if (offset < (known.state === 'open' ? known.from : known.v)) return 'nothing'
    if (known.fingerprint !== fingerprint) return 'conflict'
    if (known.state !== 'open') return 'nothing'
    const { requests } = known
    const isFirst = requests.length === 0
    const again = requests.findIndex((placed) => placed.intent.request_id === intent.request_id)
    if (again >= 0)
      requests[again] = { intent, offset } // written again, since the log had lost it
    else if (requests.length < REQUESTS_MAX) requests.push({ intent, offset })
    return isFirst ? 'settle' : 'nothing'
  }

  #begin({ intent, offset }: LoggedIntent, failed: Ended | undefined, now: Micros): Task {
    const { payment_id: id, request_id: request, fingerprint, purchase } = intent
    const told = failed?.told ?? NOBODY
    if (failed !== undefined && (offset <= failed.v || told.has(request))) return 'nothing'
    if (failed?.wasSent === true && failed.fingerprint !== fingerprint) return 'conflict'
    const requests = [{ intent, offset }]
    const begun = { fingerprint, purchase, from: offset, requests, told, wasSent: wasSent(failed) }
    this.#known.set(id, { state: 'open', ...begun, sent: [], isPending: false })
    if (purchase !== null && (this.#buyers.get(purchase) ?? id) !== id) return 'bought'
    this.#hold(purchase, id)
    return now - intent.created > STALE_AFTER ? 'stale' : 'settle'
  }

  /** All that a former owner may have answered was taken. */
  restored(): void {
    this.#isRestored = true
    this.#conflicts.clear()
  }

  /** The intents from an offset on whose payments are under way. */
  underWay(from: number): readonly LoggedIntent[] {
    const open = [...this.#known.values()].flatMap((known) => (known.state === 'open' ? known.requests : []))
    return open.filter(({ offset }) => offset >= from).sort((a, b) => a.offset - b.offset)
  }

  open(id: string): Open | undefined {
    const known = this.#known.get(id)
    return known?.state === 'open' ? known : undefined
  }

  /** The payment has ended; gives the intents that are to be told: of a settling one, of a failure all. */
  end(id: string, outcome: { readonly is: End }): readonly LoggedIntent[] {
    const open = this.open(id)
    const [first] = open?.requests ?? []
    if (open === undefined || first === undefined) return []
    const { fingerprint, purchase, from, requests } = open
    const hasFailed = outcome.is === 'failed'
    const v = hasFailed ? Math.max(...requests.map(({ offset }) => offset)) : from
    const told = new Set([...open.told, ...requests.map(({ intent }) => intent.request_id)])
    const until = knownUntil(first.intent, outcome.is)
    const ended = { fingerprint, purchase, v, until, told, wasSent: wasSent(open) }
    if (hasFailed) this.#fail(id, ended)
    else this.#known.set(id, { state: 'settled', ...ended })
    return hasFailed ? requests : [first]
  }

  /**
   * Forgets what nobody can bring again; `now` in seconds. Before `restored` nothing: an intent that is read once more
   * would be taken for a new one.
   */
  forget(now: number): void {
    if (!this.#isRestored) return
    for (const [id, known] of this.#known) {
      if (known.state === 'open' || known.until >= now) continue
      this.#known.delete(id)
      this.#letGo(known.purchase, id)
    }
  }
}

const NOBODY: ReadonlySet<string> = new Set()

function wasSent(known: Known | undefined): boolean {
  return known?.wasSent === true || (known?.state === 'open' && known.sent.length > 0)
}

/** How a payment ended, or what only reserves its purchase. */
type End = Outcome['is'] | 'reserved'

/** After its authorization's end a payment is known for this long, seconds. */
const KEPT_SECONDS = 2 * 3_600
/** One that has bought something under an `Idempotency-Key`, for as long as the key means the same. */
const HELD_SECONDS = 24 * 3_600

/** Seconds since the Unix epoch. A reservation's own time is that of its key: behind it the key is another's. */
function knownUntil(
  { purchase, valid_before: end }: Pick<PaymentEvent, 'purchase' | 'valid_before'>,
  how: End,
): number {
  if (how === 'reserved') return end
  return end + (how === 'settled' && purchase !== null ? HELD_SECONDS : KEPT_SECONDS)
}

/** The event's fields that follow from the intent. */
export function eventOf(
  { intent, offset }: LoggedIntent,
  event: Pick<PaymentEvent, 'event' | 'time'> & Partial<PaymentEvent>,
): PaymentEvent {
  const { payment_id, request_id, method, route, fingerprint, purchase } = intent
  const { from: payer, value: amount, valid_before } = intent
  return {
    ...emptyFields('payment_event'),
    payment_id,
    request_id,
    method,
    route,
    fingerprint,
    purchase,
    payer,
    amount,
    valid_before,
    by: 'us',
    v: offset,
    stood: {},
    ...event,
  }
}
