import { code, QueryError } from './errors.ts'

/** How many statements run at once, and how many may wait for their turn. */
export interface AdmissionLimits {
  readonly running: number
  readonly waiting: number
  readonly waitMs: number
}

/** Lets a bounded number of statements run; others wait in order, and beyond that are refused with code 202. */
export class Admission {
  readonly #limits: AdmissionLimits
  readonly #waiting = new Set<() => void>()
  #running = 0

  constructor(limits: AdmissionLimits) {
    this.#limits = limits
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** Resolves with the function that gives the place back. */
  async enter(): Promise<() => void> {
    if (this.#running < this.#limits.running) this.#running += 1
    else await this.#wait()
    let left = false
    return () => {
      if (!left) this.#leave()
      left = true
    }
  }

  #wait(): Promise<void> {
    if (this.#waiting.size >= this.#limits.waiting) throw tooMany('too many statements wait')
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        this.#waiting.delete(enter)
        reject(tooMany(`no place was free within ${this.#limits.waitMs} ms`))
      }, this.#limits.waitMs)
      this.#waiting.add(enter)
    })
  }

  /** The place goes to the one that waits longest. */
  #leave(): void {
    const [next] = this.#waiting
    if (next === undefined) this.#running -= 1
    else {
      this.#waiting.delete(next)
      next()
    }
  }
}

function tooMany(why: string): QueryError {
  return new QueryError(code.tooManyQueries, `${why}. (TOO_MANY_SIMULTANEOUS_QUERIES)`)
}
