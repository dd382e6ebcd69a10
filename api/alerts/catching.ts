import type { LogReader } from '../../infra/kafka/seam.ts'
import type { TopicName } from '../../schemas/topics.ts'
import type { Tail } from './tail.ts'

export interface CatchingOptions {
  readonly topic: TopicName
  readonly partitions: number
  /** Not the tail's: its fetches wait long. */
  readonly reader: LogReader
  readonly tail: Tail
}

/**
 * Catches up with a topic's end as of a request. However many ask, one catching up is under way: who comes while it is
 * shares the next one, since the first asked for the end before that request.
 */
export class Catching {
  readonly #options: CatchingOptions
  #asking: Promise<void> | undefined
  #next: Promise<void> | undefined

  constructor(options: CatchingOptions) {
    this.#options = options
  }

  /** Resolves when the tail has told all that was in the log at the call. */
  up(): Promise<void> {
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
    const { topic, partitions, reader, tail } = this.#options
    const asking = reader
      .offsets(topic, [...Array(partitions).keys()], 'end')
      .then((ends) => tail.reach(ends))
      .finally(() => {
        this.#asking = undefined
      })
    this.#asking = asking
    return asking
  }
}
