/** What settlements may cost that come to nothing. All gas in wei, all times in milliseconds. */
export interface GasLimits {
  /** Of gas that may be lost within an hour, over all payers. */
  readonly lostMax: bigint
  /** How long nothing is sent for a kind of payers that has lost us gas. */
  readonly coolMs: number
}

/** `held`: it may be sent; `later`: when others have ended; `spent`: when what was lost is an hour old. */
export type Room = 'held' | 'later' | 'spent'

const HOUR_MS = 3_600_000

/**
 * Bounds what payers can make us lose: a contract wallet may accept its payment when it is asked and refuse it in the
 * block, a payer may empty its account on the way. What is on its way counts as lost until it has ended, so that many
 * at once lose no more than the budget either.
 */
export class GasGuard {
  readonly #limits: GasLimits
  /** By transaction: an owner that comes back reads of some again. */
  readonly #lost = new Map<string, { readonly at: number; readonly wei: bigint }>()
  /** What each settlement on its way may cost, by payment. */
  readonly #held = new Map<string, bigint>()
  /** Until when nothing is sent, by what is blamed: an account, or the hash of its code. */
  readonly #cooling = new Map<string, number>()
  /** What the last settlement that asked for room may cost. */
  #asked = 0n

  constructor(limits: GasLimits) {
    this.#limits = limits
  }

  /** Whether a settlement that may cost so much may be sent; from `held` on until `release` it counts as lost. */
  take(id: string, wei: bigint, now: number): Room {
    this.#asked = wei
    const lost = this.lost(now)
    if (lost + wei > this.#limits.lostMax) return 'spent'
    const held = [...this.#held].reduce((sum, [each, cost]) => (each === id ? sum : sum + cost), 0n)
    if (lost + held + wei > this.#limits.lostMax) return 'later'
    this.#held.set(id, wei)
    return 'held'
  }

  /** It was signed anew, or is another owner's: it is on its way in any case. */
  hold(id: string, wei: bigint): void {
    const held = this.#held.get(id) ?? 0n
    this.#held.set(id, wei > held ? wei : held)
  }

  release(id: string): void {
    this.#held.delete(id)
  }

  /** A transaction was undone. */
  lose(tx: string, wei: bigint, at: number): void {
    if (!this.#lost.has(tx)) this.#lost.set(tx, { at, wei })
  }

  /** Lost within the hour before `now`. */
  lost(now: number): bigint {
    for (const [tx, { at }] of this.#lost) if (at <= now - HOUR_MS) this.#lost.delete(tx)
    return [...this.#lost.values()].reduce((sum, { wei }) => sum + wei, 0n)
  }

  cool(blamed: string, from: number): void {
    this.#cooling.set(blamed, Math.max(from + this.#limits.coolMs, this.#cooling.get(blamed) ?? 0))
  }

  isCooling(blamed: string, now: number): boolean {
    return (this.#cooling.get(blamed) ?? 0) > now
  }

  /** Kinds of payers that nothing is sent for. */
  cooling(now: number): number {
    for (const [blamed, until] of this.#cooling) if (until <= now) this.#cooling.delete(blamed)
    return this.#cooling.size
  }

  /** Why nothing is sent, for whoever looks after the service; null: there is room. */
  trouble(now: number): string | null {
    const { lostMax } = this.#limits
    const lost = this.lost(now)
    if (this.#asked === 0n || lost + this.#asked <= lostMax) return null
    return `transactions that were undone have cost ${lost} wei within an hour, and the next may cost ${this.#asked}: PAYMENT_GAS_LOST_WEI_MAX=${lostMax} allows no more, nothing is sent until they are an hour old`
  }
}
