import type { Route } from './route.ts'
import type { Hit } from './cache.ts'
import type { Kept, Services } from './services.ts'

/** What a request was found to mean: its route, and the key that its answer is kept under. */
export interface Recalled {
  readonly row: Route
  readonly key: string
  /** What a request does beside being answered: it keeps its symbol wanted. */
  readonly used?: () => void
}

/** Requests that are remembered, and how long one may be, characters. */
const TARGETS_MAX = 4_000
const TARGET_LENGTH_MAX = 256

/**
 * What request targets meant a moment ago, so that a repeated question whose answer is still kept is neither routed nor
 * read again. It holds no answers: one that is gone from their cache is found the long way.
 */
export class Recall {
  readonly #targets = new Map<string, Recalled>()
  readonly #answers: Services['answers']

  constructor(answers: Services['answers']) {
    this.#answers = answers
  }

  get size(): number {
    return this.#targets.size
  }

  find(target: string): { readonly recalled: Recalled; readonly hit: Hit<Kept> } | undefined {
    const recalled = this.#targets.get(target)
    if (recalled === undefined) return undefined
    const hit = this.#answers.peek(recalled.key)
    if (hit !== undefined) return { recalled, hit }
    this.#targets.delete(target)
    return undefined
  }

  put(target: string, recalled: Recalled): void {
    if (target.length > TARGET_LENGTH_MAX || this.#targets.has(target)) return
    const [oldest] = this.#targets.size < TARGETS_MAX ? [] : this.#targets.keys()
    if (oldest !== undefined) this.#targets.delete(oldest)
    this.#targets.set(target, recalled)
  }
}
