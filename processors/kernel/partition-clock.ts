import type { Mark, Micros, TopicClock } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'

/** A clock this far ahead of the venues' times is wrong. */
const AHEAD_MAX: Micros = 5_000_000
/** A mark that tells no venue time may be this far ahead of the last: a feed that was started again. */
const STEP_MAX: Micros = 60_000_000

/** How far a partition's time has come: in all, and by the feeds' marks of each topic. */
export interface PartitionTime {
  readonly time: Micros
  readonly clocks: Readonly<Record<string, TopicClock>>
}

/** That of a partition that has seen nothing. */
export const noTime: PartitionTime = { time: 0, clocks: {} }

/**
 * The time of one partition: the largest mark that was followed. A processor's mark is, since it was judged where it was
 * read; a feed's is unless nothing confirms it. One that tells the venues' time may be 5 s ahead of that. One that tells
 * none may be 60 s ahead of the topic's last; further ahead it waits for the next, and counts from there if that is as far.
 */
export class PartitionClock {
  #time: Micros
  readonly #clocks: Map<string, TopicClock>

  constructor({ time, clocks }: PartitionTime) {
    this.#time = time
    this.#clocks = new Map(Object.entries(clocks))
  }

  /** Largest mark that was followed, 0 before the first. */
  get time(): Micros {
    return this.#time
  }

  /** Takes a mark in; false: it is not followed, and nobody is to read it. */
  follow(topic: TopicName, mark: Mark): boolean {
    if (topic.startsWith('market.') && !this.#confirms(topic, mark)) return false
    this.#time = Math.max(this.#time, mark.time)
    return true
  }

  /** What a snapshot keeps of it. */
  save(): PartitionTime {
    return { time: this.#time, clocks: Object.fromEntries(this.#clocks) }
  }

  #confirms(topic: TopicName, { time, venue_time: told }: Mark): boolean {
    const known = this.#clocks.get(topic) ?? unmarked
    if (told !== null && time > told + AHEAD_MAX) return false
    const next = told === null ? followed(known, time) : { time: Math.max(known.time, time), waiting: 0 }
    this.#clocks.set(topic, next)
    return next.waiting === 0
  }
}

/** Partition time between two marks of a topic of few records, whose readers wait for none. */
export const RARE: Micros = 10_000_000

/** Whether a mark that moves partition time from `before` to `time` is also written to topics of few records. */
export function isRareMark(before: Micros, time: Micros): boolean {
  return Math.floor(before / RARE) < Math.floor(time / RARE)
}

const unmarked: TopicClock = { time: 0, waiting: 0 }

/** A clock after a time that nothing confirms: it follows, or the time waits for the next. */
export function followed({ time: last, waiting }: TopicClock, time: Micros): TopicClock {
  const isNear = last === 0 || time <= last + STEP_MAX || (waiting > 0 && time >= waiting - AHEAD_MAX)
  return isNear ? { time: Math.max(last, time), waiting: 0 } : { time: last, waiting: time }
}
