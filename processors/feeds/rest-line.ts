import { TokenBucket } from './token-bucket.ts'
import type { RestRules } from './venue.ts'

/**
 * What a call is for; the first goes first. `repair`: missing trades, within a share of its own; `poll`: what is asked
 * again and again; `back`: history, which takes what the others leave.
 */
export const lanes = ['repair', 'poll', 'back'] as const
export type Lane = (typeof lanes)[number]

/** Calls on their way at once; the others wait in line. History never takes all places. */
const maxInFlight = 4
const maxInFlightBack = 2
/** Part of the budget that history leaves untouched, so that it never makes a poll wait. */
const backReserve = 0.25

interface Waiting {
  readonly cost: number
  readonly go: () => void
}

/** Who may call a host next: a budget shared by lanes. Time is the caller's, milliseconds. */
export class RestLine {
  readonly #bucket: TokenBucket
  readonly #reserve: number
  readonly #repair: TokenBucket | undefined
  readonly #waiting: Readonly<Record<Lane, Waiting[]>> = { repair: [], poll: [], back: [] }
  readonly #inFlight: Record<Lane, number> = { repair: 0, poll: 0, back: 0 }

  /** `repair`: the share of the host's budget that the repair of trades may use; without it all of it. */
  constructor(host: RestRules, repair?: RestRules) {
    this.#bucket = new TokenBucket(host)
    this.#reserve = host.capacity * backReserve
    this.#repair = repair === undefined ? undefined : new TokenBucket(repair)
  }

  /** Calls that wait for their turn. */
  get length(): number {
    return lanes.reduce((sum, lane) => sum + this.#waiting[lane].length, 0)
  }

  join(lane: Lane, cost: number, go: () => void): void {
    this.#waiting[lane].push({ cost, go })
  }

  left(lane: Lane): void {
    this.#inFlight[lane]--
  }

  /** The venue said "too many". */
  block(ms: number, now: number): void {
    this.#bucket.block(ms, now)
  }

  /** Lets everybody go, whatever the budget: the host is closed or refuses us, and they are told so. */
  dismiss(): void {
    for (const lane of lanes) {
      for (const { go } of this.#waiting[lane].splice(0)) {
        this.#inFlight[lane]++
        go()
      }
    }
  }

  /** Lets go who may; returns when to ask again, ms, or undefined where only an end of a call can help. */
  move(now: number): number | undefined {
    let again: number | undefined
    for (const lane of lanes) {
      for (let head = this.#waiting[lane][0]; head !== undefined; head = this.#waiting[lane][0]) {
        if (!this.#hasPlace(lane)) break
        const share = lane === 'repair' ? (this.#repair?.wait(head.cost, now) ?? 0) : 0
        if (share > 0) {
          again = Math.min(again ?? Infinity, share)
          break
        }
        const wait = this.#bucket.take(head.cost, now, lane === 'back' ? this.#reserve : 0)
        // Who is next waits for its units; those behind it must not take them meanwhile.
        if (wait > 0) return Math.min(again ?? Infinity, wait)
        if (lane === 'repair') this.#repair?.take(head.cost, now)
        this.#waiting[lane].shift()
        this.#inFlight[lane]++
        head.go()
      }
    }
    return again
  }

  #hasPlace(lane: Lane): boolean {
    const total = lanes.reduce((sum, each) => sum + this.#inFlight[each], 0)
    return total < maxInFlight && (lane !== 'back' || this.#inFlight.back < maxInFlightBack)
  }
}
