import { keepNewest } from '../kernel/newest.ts'
import { IN_LINE_COUNTED } from './limits.ts'

/** How a receiver took its attempts: answered in good time, not yet known, or `slow`, which holds its slots long. */
export type Pace = 'good' | 'new' | 'slow'

export interface SlotLimits {
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
/** Receivers whose pace is known while nothing waits for them; then the longest known are forgotten. */
const IDLE_KNOWN_MAX = 20_000

interface ReceiverQueue<Item> {
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
export class ReceiverQueues<Item> {
  readonly #limits: SlotLimits
  readonly #queues = new Map<string, ReceiverQueue<Item>>()
  /** Queues that have items and room for one more of their own, in turn. */
  readonly #turns: Readonly<Record<Pace, Set<ReceiverQueue<Item>>>> = {
    good: new Set(),
    new: new Set(),
    slow: new Set(),
  }
  readonly #idle = new Map<string, Pace>()
  /** Receivers that are left alone for now. */
  readonly #held = new Set<string>()
  /** Those that were, while anything waits for them: asked one at a time. */
  readonly #narrow = new Set<string>()
  readonly #inFlight: Record<Pace, number> = { good: 0, new: 0, slow: 0 }
  #waiting = 0
  #waitingForGood = 0
  #turn = 0

  constructor(limits: SlotLimits) {
    this.#limits = { slots: Math.max(1, limits.slots), perReceiver: Math.max(1, limits.perReceiver) }
  }

  get inFlight(): number {
    return this.#inFlight.good + this.#inFlight.new + this.#inFlight.slow
  }

  get waiting(): number {
    return this.#waiting
  }

  /** What waits for receivers that answer well, so that it will soon be taken; of each so much at most. */
  get waitingForGood(): number {
    return this.#waitingForGood
  }

  offer(receiver: string, item: Item): void {
    const queue = this.#queue(receiver)
    this.#waitingForGood -= counted(queue)
    queue.waiting.push(item)
    this.#waitingForGood += counted(queue)
    this.#waiting += 1
    this.#enlist(queue)
  }

  /** The next item, whose slot is held until `release` of its receiver; undefined: nothing may start now. */
  take(): { readonly receiver: string; readonly item: Item } | undefined {
    if (this.inFlight >= this.#limits.slots) return undefined
    this.#turn = (this.#turn + 1) % paces.length
    for (let step = 0; step < paces.length; step++) {
      const pace = paces[(this.#turn + step) % paces.length] ?? 'good'
      if (!this.#hasRoom(pace)) continue
      const [queue] = this.#turns[pace]
      if (queue !== undefined) return this.#start(queue)
    }
    return undefined
  }

  /** What is now known of a receiver that holds a slot. */
  know(receiver: string, pace: Pace): void {
    const queue = this.#queues.get(receiver)
    if (queue === undefined || queue.pace === pace) return
    this.#turns[queue.pace].delete(queue)
    this.#inFlight[queue.pace] -= queue.inFlight
    this.#waitingForGood -= counted(queue)
    queue.pace = pace
    this.#waitingForGood += counted(queue)
    this.#inFlight[pace] += queue.inFlight
    this.#enlist(queue)
  }

  /** What waits for the receiver keeps its place, and nothing of it is taken, until `free`; from then on one at a time. */
  hold(receiver: string): void {
    this.#held.add(receiver)
    this.#narrow.add(receiver)
    const queue = this.#queues.get(receiver)
    if (queue !== undefined) this.#turns[queue.pace].delete(queue)
  }

  free(receiver: string): void {
    if (!this.#held.delete(receiver)) return
    const queue = this.#queues.get(receiver)
    if (queue === undefined) this.#narrow.delete(receiver)
    else this.#enlist(queue)
  }

  /** Ends what `take` gave. */
  release(receiver: string): void {
    const queue = this.#queues.get(receiver)
    if (queue === undefined || queue.inFlight === 0) throw new Error(`no slot of ${receiver} is held`)
    queue.inFlight -= 1
    this.#inFlight[queue.pace] -= 1
    if (queue.inFlight === 0 && queue.head === queue.waiting.length) this.#rest(queue)
    else this.#enlist(queue)
  }

  #hasRoom(pace: Pace): boolean {
    const { slots } = this.#limits
    if (this.#inFlight[pace] + 1 > Math.max(1, slots * shareOfAll[pace])) return false
    return pace === 'good' || this.#inFlight.new + this.#inFlight.slow + 1 <= Math.max(1, slots * SHARE_OF_OTHERS)
  }

  #start(queue: ReceiverQueue<Item>): { receiver: string; item: Item } {
    const item = queue.waiting[queue.head] as Item // a queue in turn has one
    this.#waitingForGood -= counted(queue)
    queue.head += 1
    this.#waitingForGood += counted(queue)
    if (queue.head * 2 > queue.waiting.length) {
      queue.waiting = queue.waiting.slice(queue.head)
      queue.head = 0
    }
    this.#waiting -= 1
    this.#turns[queue.pace].delete(queue)
    queue.inFlight += 1
    this.#inFlight[queue.pace] += 1
    this.#enlist(queue)
    return { receiver: queue.receiver, item }
  }

  /** Puts a queue at the end of its turn where it has an item and room. */
  #enlist(queue: ReceiverQueue<Item>): void {
    if (this.#held.has(queue.receiver)) return
    const own = this.#narrow.has(queue.receiver) ? 1 : this.#limits.perReceiver * shareOfOwn[queue.pace]
    const max = Math.max(1, own)
    if (queue.head < queue.waiting.length && queue.inFlight + 1 <= max) this.#turns[queue.pace].add(queue)
  }

  #queue(receiver: string): ReceiverQueue<Item> {
    const known = this.#queues.get(receiver)
    if (known !== undefined) return known
    const pace = this.#idle.get(receiver) ?? 'new'
    this.#idle.delete(receiver)
    const queue: ReceiverQueue<Item> = { receiver, waiting: [], head: 0, inFlight: 0, pace }
    this.#queues.set(receiver, queue)
    return queue
  }

  #rest({ receiver, pace }: ReceiverQueue<Item>): void {
    this.#queues.delete(receiver)
    if (!this.#held.has(receiver)) this.#narrow.delete(receiver)
    this.#idle.set(receiver, pace)
    keepNewest(this.#idle, IDLE_KNOWN_MAX)
  }
}

function counted({ pace, waiting, head }: ReceiverQueue<unknown>): number {
  return pace === 'good' ? Math.min(waiting.length - head, IN_LINE_COUNTED) : 0
}
