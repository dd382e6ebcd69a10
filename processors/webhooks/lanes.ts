/** How a receiver took its attempts: answered in good time, not yet known, or `slow`, which holds its slots long. */
export type Pace = 'good' | 'new' | 'slow'

export interface LaneLimits {
  /** Attempts at once, over all receivers. */
  readonly slots: number
  /** Attempts at once to one receiver. */
  readonly perReceiver: number
}

/** Of its own slots a receiver of that pace has this share, at least one. */
const shareOfOwn: Readonly<Record<Pace, number>> = { good: 1, new: 1 / 4, slow: 1 / 4 }
/** All receivers of that pace together have this share of all slots. */
const shareOfAll: Readonly<Record<Pace, number>> = { good: 1, new: 1 / 2, slow: 1 / 4 }
/** And all that are not good together: the good ones always find room. */
const SHARE_OF_OTHERS = 3 / 4
const paces = ['good', 'new', 'slow'] as const
/** Receivers whose pace is known while nothing waits for them; then the longest known is forgotten. */
const IDLE_KNOWN_MAX = 20_000

interface Lane<Item> {
  readonly receiver: string
  waiting: Item[]
  /** Items before it in `waiting` are gone. */
  head: number
  inFlight: number
  pace: Pace
}

/**
 * What waits for a slot, one queue a receiver, served in turn. A receiver has a limit of its own, a slow or unknown one a
 * lower one, and all of those together cannot take every slot; so whoever waits long delays itself only. Take and offer
 * cost the same however many receivers there are.
 */
export class Lanes<Item> {
  readonly #limits: LaneLimits
  readonly #lanes = new Map<string, Lane<Item>>()
  /** Lanes that have items and room for one more of their own, in turn. */
  readonly #turns: Readonly<Record<Pace, Set<Lane<Item>>>> = { good: new Set(), new: new Set(), slow: new Set() }
  readonly #idle = new Map<string, Pace>()
  readonly #inFlight: Record<Pace, number> = { good: 0, new: 0, slow: 0 }
  #waiting = 0
  #turn = 0

  constructor(limits: LaneLimits) {
    this.#limits = { slots: Math.max(1, limits.slots), perReceiver: Math.max(1, limits.perReceiver) }
  }

  get inFlight(): number {
    return this.#inFlight.good + this.#inFlight.new + this.#inFlight.slow
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
    if (this.inFlight >= this.#limits.slots) return undefined
    this.#turn = (this.#turn + 1) % paces.length
    for (let step = 0; step < paces.length; step++) {
      const pace = paces[(this.#turn + step) % paces.length] ?? 'good'
      if (!this.#hasRoom(pace)) continue
      const [lane] = this.#turns[pace]
      if (lane !== undefined) return this.#start(lane)
    }
    return undefined
  }

  /** What is now known of a receiver that holds a slot. */
  know(receiver: string, pace: Pace): void {
    const lane = this.#lanes.get(receiver)
    if (lane === undefined || lane.pace === pace) return
    this.#turns[lane.pace].delete(lane)
    this.#inFlight[lane.pace] -= lane.inFlight
    lane.pace = pace
    this.#inFlight[pace] += lane.inFlight
    this.#enlist(lane)
  }

  /** Ends what `take` gave. */
  release(receiver: string): void {
    const lane = this.#lanes.get(receiver)
    if (lane === undefined || lane.inFlight === 0) throw new Error(`no slot of ${receiver} is held`)
    lane.inFlight -= 1
    this.#inFlight[lane.pace] -= 1
    if (lane.inFlight === 0 && lane.head === lane.waiting.length) this.#rest(lane)
    else this.#enlist(lane)
  }

  #hasRoom(pace: Pace): boolean {
    const { slots } = this.#limits
    if (this.#inFlight[pace] + 1 > Math.max(1, slots * shareOfAll[pace])) return false
    return pace === 'good' || this.#inFlight.new + this.#inFlight.slow + 1 <= Math.max(1, slots * SHARE_OF_OTHERS)
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
    lane.inFlight += 1
    this.#inFlight[lane.pace] += 1
    this.#enlist(lane)
    return { receiver: lane.receiver, item }
  }

  /** Puts a lane at the end of its turn where it has an item and room. */
  #enlist(lane: Lane<Item>): void {
    const max = Math.max(1, this.#limits.perReceiver * shareOfOwn[lane.pace])
    if (lane.head < lane.waiting.length && lane.inFlight + 1 <= max) this.#turns[lane.pace].add(lane)
  }

  #lane(receiver: string): Lane<Item> {
    const known = this.#lanes.get(receiver)
    if (known !== undefined) return known
    const pace = this.#idle.get(receiver) ?? 'new'
    this.#idle.delete(receiver)
    const lane: Lane<Item> = { receiver, waiting: [], head: 0, inFlight: 0, pace }
    this.#lanes.set(receiver, lane)
    return lane
  }

  #rest({ receiver, pace }: Lane<Item>): void {
    this.#lanes.delete(receiver)
    const [oldest] = this.#idle.keys()
    if (this.#idle.size >= IDLE_KNOWN_MAX && oldest !== undefined) this.#idle.delete(oldest)
    this.#idle.set(receiver, pace)
  }
}
