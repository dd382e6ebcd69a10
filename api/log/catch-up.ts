import { setTimeout as delay } from 'node:timers/promises'
import { positionsAt, type Follower, type FollowerOptions } from '../../infra/kafka/follower.ts'
import type { LogReader } from '../../infra/kafka/seam.ts'
import { otherLogFrom } from '../../processors/kernel/position-check.ts'
import type { TopicName } from '../../schemas/topics.ts'

/** Where the log goes on that is not the one that was read, for a follower. */
export function differsAt(reader: LogReader): NonNullable<FollowerOptions['differsAt']> {
  return otherLogFrom(reader, delay)
}

export interface CatchUpOptions {
  readonly topic: TopicName
  readonly partitions: number
  /** Not the follower's: its fetches wait long. */
  readonly reader: LogReader
  readonly follower: Follower
}

/**
 * Catches up with a topic's end as of a request. However many ask, one catching up is under way: who comes while it is
 * shares the next one, since the first asked for the end before that request.
 */
export class CatchUp {
  readonly #options: CatchUpOptions
  #asking: Promise<void> | undefined
  #next: Promise<void> | undefined

  constructor(options: CatchUpOptions) {
    this.#options = options
  }

  /** Resolves when the follower has told all that was in the log at the call. */
  toEnd(): Promise<void> {
    if (this.#asking === undefined) return this.#ask()
    this.#next ??= this.#asking
      .catch(() => undefined) // who asked was told
      .then(() => {
        this.#next = undefined
        return this.#ask()
      })
    this.#next.catch(() => undefined) // who asked is told
    return this.#next
  }

  #ask(): Promise<void> {
    const { reader, follower, ...topic } = this.#options
    const asking = positionsAt(reader, topic, 'end')
      .then((ends) => follower.reach(ends))
      .finally(() => {
        this.#asking = undefined
      })
    this.#asking = asking
    return asking
  }
}
