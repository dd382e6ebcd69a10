import type { RestRules } from '../venues/venue.ts'

/**
 * What a call is for; the first goes first. `repair`: missing trades, within a share of its own; `poll`: what is asked
 * again and again; `back`: history, which takes what the others leave.
 */
const priorities = ['repair', 'poll', 'back'] as const
export type Priority = (typeof priorities)[number]

/** Calls on their way at once; the others wait in line. History never takes all places. */
const maxInFlight = 4
const maxInFlightBack = 2
/** Part of the budget that history leaves untouched, so that it never makes a poll wait. */
const backReserve = 0.25

interface Waiting {
  readonly cost: number
  readonly go: () => void
}

/** Who may call a host next: a budget shared by priorities. Time is the caller's, milliseconds. */
export class RequestQueue {
  readonly #bucket: TokenBucket
  readonly #reserve: number
  readonly #repair: TokenBucket | undefined
  readonly #waiting: Readonly<Record<Priority, Waiting[]>> = { repair: [], poll: [], back: [] }
  readonly #inFlight: Record<Priority, number> = { repair: 0, poll: 0, back: 0 }

  /** `repair`: the share of the host's budget that the repair of trades may use; without it all of it. */
  constructor(host: RestRules, repair?: RestRules) {
    this.#bucket = new TokenBucket(host)
    this.#reserve = host.capacity * backReserve
    this.#repair = repair === undefined ? undefined : new TokenBucket(repair)
  }

  /** Calls that wait for their turn. */
  get length(): number {
    return priorities.reduce((sum, priority) => sum + this.#waiting[priority].length, 0)
  }

  enqueue(priority: Priority, cost: number, go: () => void): void {
    this.#waiting[priority].push({ cost, go })
  }

  ended(priority: Priority): void {
    this.#inFlight[priority]--
  }

  /** The venue said "too many". */
  block(ms: number, now: number): void {
    this.#bucket.block(ms, now)
  }

  /** Lets everybody go, whatever the budget: the host is closed or refuses us, and they are told so. */
  releaseAll(): void {
    for (const priority of priorities) {
      for (const { go } of this.#waiting[priority].splice(0)) {
        this.#inFlight[priority]++
        go()
      }
    }
  }

  /** Lets go who may; returns when to ask again, ms, or undefined where only an end of a call can help. */
  release(now: number): number | undefined {
    let again: number | undefined
    for (const priority of priorities) {
      for (let head = this.#waiting[priority][0]; head !== undefined; head = this.#waiting[priority][0]) {
        if (!this.#hasPlace(priority)) break
        const share = priority === 'repair' ? (this.#repair?.wait(head.cost, now) ?? 0) : 0
        if (share > 0) {
          again = Math.min(again ?? Infinity, share)
          break
        }
        const wait = this.#bucket.take(head.cost, now, priority === 'back' ? this.#reserve : 0)
        // Who is next waits for its units; those behind it must not take them meanwhile.
        if (wait > 0) return Math.min(again ?? Infinity, wait)
        if (priority === 'repair') this.#repair?.take(head.cost, now)
        this.#waiting[priority].shift()
        this.#inFlight[priority]++
        head.go()
      }
    }
    return again
  }

  #hasPlace(priority: Priority): boolean {
    const total = priorities.reduce((sum, each) => sum + this.#inFlight[each], 0)
    return total < maxInFlight && (priority !== 'back' || this.#inFlight.back < maxInFlightBack)
  }
}

/** A venue's request budget: `capacity` units at once, refilled evenly. Time is the caller's, milliseconds. */
export class TokenBucket {
  readonly #capacity: number
  readonly #perMs: number
  #tokens: number
  #at: number | undefined
  #notBefore = 0

  constructor({ capacity, refillPerSecond }: { readonly capacity: number; readonly refillPerSecond: number }) {
    this.#capacity = capacity
    this.#perMs = refillPerSecond / 1_000
    this.#tokens = capacity
  }

  /** Takes `cost` units and returns 0, or takes nothing and returns how long to wait before asking again, ms. */
  take(cost: number, now: number, reserve = 0): number {
    const wait = this.wait(cost, now, reserve)
    if (wait === 0) this.#tokens -= cost
    return wait
  }

  /** How long it takes until `cost` units are there with `reserve` left for others, ms; 0: now. */
  wait(cost: number, now: number, reserve = 0): number {
    if (now < this.#notBefore) return this.#notBefore - now
    this.#refill(now)
    // A call that costs more than the bucket holds waits for a full one, or it would wait for ever.
    const needed = Math.min(cost + reserve, this.#capacity)
    return this.#tokens >= needed ? 0 : Math.ceil((needed - this.#tokens) / this.#perMs)
  }

  /** The venue said "too many": nothing more for `ms`, and the bucket is empty then. */
  block(ms: number, now: number): void {
    this.#notBefore = Math.max(this.#notBefore, now + ms)
    this.#tokens = 0
    this.#at = this.#notBefore
  }

  #refill(now: number): void {
    const elapsed = Math.max(0, now - (this.#at ?? now))
    this.#at = Math.max(now, this.#at ?? now)
    this.#tokens = Math.min(this.#capacity, this.#tokens + elapsed * this.#perMs)
  }
}
