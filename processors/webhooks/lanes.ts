/** How a receiver took its last attempt: `slow` ones hold their slots long. */
export type Pace = 'good' | 'slow'

export interface LaneLimits {
  /** Attempts at once, over all receivers. */
  readonly slots: number
  /** Attempts at once to one receiver. */
  readonly perReceiver: number
}

/** A slow receiver has this share of a receiver's slots, at least one. */
const SLOW_SHARE = 1 / 4
/** All slow receivers together have this share of all slots: the others always find room. */
const SLOW_SHARE_OF_ALL = 1 / 2
/** Receivers that are known to be slow while nothing waits for them; then the longest known is forgotten. */
const SLOW_KNOWN_MAX = 10_000

interface Lane<Item> {
  readonly receiver: string
  waiting: Item[]
  /** Items before it in `waiting` are gone. */
  head: number
  inFlight: number
  pace: Pace
}

/**
 * What waits for a slot, one queue a receiver, served in turn. A receiver has a limit of its own, a slow one a lower one,
 * and all slow ones together cannot take every slot; so whoever waits long delays itself only. Take and offer cost the same
 * however many receivers there are.
 */
export class Lanes<Item> {
  readonly #limits: LaneLimits
  readonly #lanes = new Map<string, Lane<Item>>()
  /** Lanes that have items and room for one more of their own, in turn; the slow ones apart. */
  readonly #turns: Readonly<Record<Pace, Set<Lane<Item>>>> = { good: new Set(), slow: new Set() }
  readonly #idleSlow = new Set<string>()
  #inFlight = 0
  #slowInFlight = 0
  #waiting = 0
  #isSlowNext = false

  constructor(limits: LaneLimits) {
    this.#limits = { slots: Math.max(1, limits.slots), perReceiver: Math.max(1, limits.perReceiver) }
  }

  get inFlight(): number {
    return this.#inFlight
  }

  get waiting(): number {
    return this.#waiting
  }

  offer(receiver: string, item: Item): void {
    const lane = this.#lane(receiver)
    lane.waiting.push(item)
    this.#waiting += 1
    this.#enlist(lane)
  }

  /** The next item, whose slot is held until `release` of its receiver; undefined: nothing may start now. */
  take(): { readonly receiver: string; readonly item: Item } | undefined {
    if (this.#inFlight >= this.#limits.slots) return undefined
    const order: readonly Pace[] = this.#isSlowNext ? ['slow', 'good'] : ['good', 'slow']
    this.#isSlowNext = !this.#isSlowNext
    for (const pace of order) {
      if (pace === 'slow' && this.#slowInFlight >= this.#slowMax()) continue
      const [lane] = this.#turns[pace]
      if (lane !== undefined) return this.#start(lane)
    }
    return undefined
  }

  /** Ends what `take` gave; undefined: nothing was learnt about the receiver. */
  release(receiver: string, pace?: Pace): void {
    const lane = this.#lanes.get(receiver)
    if (lane === undefined || lane.inFlight === 0) throw new Error(`no slot of ${receiver} is held`)
    this.#turns[lane.pace].delete(lane)
    this.#count(lane, -1)
    if (pace !== undefined && pace !== lane.pace) this.#repace(lane, pace)
    if (lane.inFlight === 0 && lane.head === lane.waiting.length) this.#rest(lane)
    else this.#enlist(lane)
  }

  #start(lane: Lane<Item>): { receiver: string; item: Item } {
    const item = lane.waiting[lane.head] as Item // a lane in turn has one
    lane.head += 1
    if (lane.head * 2 > lane.waiting.length) {
      lane.waiting = lane.waiting.slice(lane.head)
      lane.head = 0
    }
    this.#waiting -= 1
    this.#turns[lane.pace].delete(lane)
    this.#count(lane, 1)
    this.#enlist(lane)
    return { receiver: lane.receiver, item }
  }

  /** Puts a lane at the end of its turn where it has an item and room. */
  #enlist(lane: Lane<Item>): void {
    const max = lane.pace === 'slow' ? Math.max(1, this.#limits.perReceiver * SLOW_SHARE) : this.#limits.perReceiver
    if (lane.head < lane.waiting.length && lane.inFlight + 1 <= max) this.#turns[lane.pace].add(lane)
  }

  #repace(lane: Lane<Item>, pace: Pace): void {
    this.#slowInFlight += pace === 'slow' ? lane.inFlight : -lane.inFlight
    lane.pace = pace
  }

  #count(lane: Lane<Item>, change: number): void {
    lane.inFlight += change
    this.#inFlight += change
    if (lane.pace === 'slow') this.#slowInFlight += change
  }

  #slowMax(): number {
    return Math.max(1, this.#limits.slots * SLOW_SHARE_OF_ALL)
  }

  #lane(receiver: string): Lane<Item> {
    const known = this.#lanes.get(receiver)
    if (known !== undefined) return known
    const pace = this.#idleSlow.delete(receiver) ? 'slow' : 'good'
    const lane: Lane<Item> = { receiver, waiting: [], head: 0, inFlight: 0, pace }
    this.#lanes.set(receiver, lane)
    return lane
  }

  #rest(lane: Lane<Item>): void {
    this.#lanes.delete(lane.receiver)
    if (lane.pace === 'good') return
    const [oldest] = this.#idleSlow
    if (this.#idleSlow.size >= SLOW_KNOWN_MAX && oldest !== undefined) this.#idleSlow.delete(oldest)
    this.#idleSlow.add(lane.receiver)
  }
}
