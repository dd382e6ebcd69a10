import { randomUUID } from 'node:crypto'
import { chargedToday, creditCommand, LEASE } from '../../processors/credit/credit.ts'
import type { ApiKey, CreditUse } from '../../schemas/records.ts'
import { ApiError } from '../request/errors.ts'
import type { CreditLog } from './key-store.ts'

/** A lease is charged to for this long, milliseconds: half of what its owner gives, so that clocks may differ. */
const USED_MS = LEASE / 2_000
/** Then nobody pays what was not told. */
const OVER_MS = LEASE / 1_000
/** What is not used for so long is given back, milliseconds. */
const IDLE_MS = 5_000
/** Leases that a request waits for; then others of the same key were faster each time. */
const TRIES_MAX = 20
const RETRY_AFTER_SECONDS = 2

/** Why a request cannot be charged. */
export type Refusal = 'no_credit' | 'held' | 'daily_max' | 'ended'

/** Credit that is set aside for one request. */
export interface Charge {
  /** The answer is given: `route` as entries name it. */
  commit(route: string): void
  /** It is not. */
  release(): void
}

export interface PursesOptions {
  readonly log: Pick<CreditLog, 'command' | 'tell'>
  /** Milliseconds. */
  readonly now: () => number
  /** Called with charges that could not be told in time, which nobody pays; atomic units. */
  readonly onLost: (amount: number) => void
}

/** A lease of ours. */
interface Held {
  readonly id: string
  readonly amount: number
  /** What the key could spend on a day when it was given. */
  readonly dailyMax: number | null
  readonly askedAt: number
  used: number
  reserved: number
  /** Of what is used, what the log has. */
  told: number
  usedAt: number
  /** Nobody hears of it any more. */
  isOver: boolean
  readonly uses: Map<string, CreditUse>
}

/** The leases of one key. */
interface Purse {
  current: Held | undefined
  readonly old: Set<Held>
  asking: Promise<Asked> | undefined
}

interface Asked {
  readonly amount: number
  readonly refusal: Refusal | undefined
}

/**
 * What this instance may charge to keys without asking: a request is charged to a lease at once, and only the first one of
 * a lease waits for the log. Every quarter of a second (`flush`, by a timer) the log is told what was charged.
 */
export class Purses {
  readonly #options: PursesOptions
  readonly #purses = new Map<string, Purse>()
  #flushing: Promise<void> = Promise.resolve()
  /** The flush that comes after the one that is under way. */
  #next: Promise<void> | undefined

  constructor(options: PursesOptions) {
    this.#options = options
  }

  /** Sets credit aside for one request, or says why not; rejects with `data_unavailable` or `overloaded`. */
  async reserve(key: Pick<ApiKey, 'key_id' | 'daily_max'>, amount: number): Promise<Charge | Refusal> {
    const { key_id: id, daily_max: dailyMax } = key
    const purse = this.#purses.get(id) ?? { current: undefined, old: new Set(), asking: undefined }
    this.#purses.set(id, purse)
    if (purse.current?.dailyMax !== dailyMax) retire(purse) // it may be more than a day may have now
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const { current } = purse
      if (current !== undefined && this.#hasRoom(current, amount)) return this.#charge(current, amount)
      purse.asking ??= this.#ask(id, purse, amount).finally(() => (purse.asking = undefined))
      const asked = await purse.asking
      if (asked.refusal !== undefined && asked.amount <= amount) return asked.refusal
    }
    throw new ApiError('overloaded', 'Too many requests of this key come at once for the credit that it has left.', {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    })
  }

  /**
   * Tells the log what was charged, and gives back what is not used. All who ask while it is under way have the one that
   * comes after it. Never rejects.
   */
  flush(): Promise<void> {
    this.#next ??= this.#flushing = this.#flushAll(this.#flushing)
    return this.#next
  }

  /** Tells all and gives all back. */
  async close(): Promise<void> {
    for (const purse of this.#purses.values()) retire(purse)
    await this.flush()
  }

  async #flushAll(before: Promise<void>): Promise<void> {
    await before
    this.#next = undefined
    const now = this.#options.now()
    await Promise.all([...this.#purses].map(([id, purse]) => this.#flushOne(id, purse, now)))
  }

  #hasRoom({ amount: all, used, reserved, askedAt }: Held, amount: number): boolean {
    return all - used - reserved >= amount && this.#options.now() - askedAt < USED_MS
  }

  #charge(held: Held, amount: number): Charge {
    const { now, onLost } = this.#options
    held.reserved += amount
    held.usedAt = now()
    return {
      commit(route) {
        if (held.isOver) return onLost(amount)
        held.reserved -= amount
        held.used += amount
        const { requests, amount: sum } = held.uses.get(route) ?? { requests: 0, amount: 0 }
        held.uses.set(route, { route, requests: requests + 1, amount: sum + amount })
      },
      release() {
        held.reserved -= amount
      },
    }
  }

  async #ask(id: string, purse: Purse, amount: number): Promise<Asked> {
    const { log, now } = this.#options
    retire(purse)
    await this.#flushOld(id, purse, now()) // what is left of it is free again before more is asked for
    const lease = randomUUID()
    const askedAt = now()
    const time = askedAt * 1_000
    const written = await log.command(
      creditCommand({ key_id: id, op: 'lease', request_id: lease, time, lease, amount }),
    )
    const granted = written.leases.find((each) => each.lease === lease)
    if (granted === undefined) return { amount, refusal: refusalOf(written, amount) }
    const fresh = { used: 0, reserved: 0, told: 0, usedAt: askedAt, isOver: false, uses: new Map() }
    purse.current = { id: lease, amount: granted.amount, dailyMax: written.daily_max, askedAt, ...fresh }
    return { amount, refusal: undefined }
  }

  async #flushOne(id: string, purse: Purse, now: number): Promise<void> {
    const { current } = purse
    if (current !== undefined && (now - current.askedAt >= USED_MS || now - current.usedAt >= IDLE_MS)) retire(purse)
    else if (current !== undefined && current.used > current.told) await this.#tell(id, current, false)
    await this.#flushOld(id, purse, now)
    if (purse.current === undefined && purse.old.size === 0 && purse.asking === undefined) this.#purses.delete(id)
  }

  async #flushOld(id: string, { old }: Purse, now: number): Promise<void> {
    for (const held of old) {
      const isDone = held.reserved === 0
      if (now - held.askedAt >= OVER_MS) {
        old.delete(held)
        held.isOver = true
        if (held.used > held.told) this.#options.onLost(held.used - held.told)
      } else if ((isDone || held.used > held.told) && (await this.#tell(id, held, isDone)) && isDone) old.delete(held)
    }
  }

  /** Whether the log has it. */
  async #tell(id: string, held: Held, ends: boolean): Promise<boolean> {
    const { log, now } = this.#options
    const { id: lease, used } = held
    const spend = { key_id: id, op: 'spend', request_id: lease, time: now() * 1_000 } as const
    try {
      await log.tell(creditCommand({ ...spend, lease, uses: [...held.uses.values()], ends }))
      held.told = used
      return true
    } catch {
      return false // it is told again, until nobody would hear it any more
    }
  }
}

function retire(purse: Purse): void {
  if (purse.current !== undefined) purse.old.add(purse.current)
  purse.current = undefined
}

/** `held`: it has enough, of its credit and for the day, which is set aside for requests that are under way. */
function refusalOf(key: ApiKey, amount: number): Refusal {
  const { outcome, bought, charged, daily_max: most } = key
  if (outcome === 'ended') return outcome
  if (bought - charged < amount) return 'no_credit'
  return most !== null && most - chargedToday(key, key.time) < amount ? 'daily_max' : 'held'
}
