import { ask, type Asked } from './ask.ts'
import { Loaded } from './chart-series.ts'

/** Rows of the newest page, which is read again and again, and of an older one, which is read once. */
const NEWEST = 200
const OLDER = 1_000
/** Pages of one reading at most: what is lacking then comes with the next one. */
const PAGES_MAX = 30

/** What every page says. */
export interface PageAnswer {
  readonly as_of: string
  readonly stale: boolean
  readonly next: string | null
  readonly [key: string]: unknown
}

/** One history of a symbol, read page by page from its newest end. */
export class PagedHistory<Row extends { readonly time: string }> {
  readonly #path: string
  readonly #key: string
  #loaded = new Loaded<Row>()

  /** `path`: with its query; `key`: where the rows are in an answer. */
  constructor(path: string, key: string) {
    this.#path = path
    this.#key = key
  }

  /** Oldest first. */
  get rows(): readonly Row[] {
    return this.#loaded.rows
  }

  /** Whether nothing is older than what was read. */
  get isWhole(): boolean {
    return this.#loaded.next === null
  }

  /** Reads the newest page again. */
  async readNewest(): Promise<Asked<PageAnswer>> {
    const answer = await this.#ask(NEWEST)
    if (answer.is === 'ok') this.#loaded.takeNewest(this.#rowsOf(answer.body), answer.body.next)
    return answer
  }

  /** Reads one older page; false: there is none, or it cannot be read now. */
  async readOlder(): Promise<boolean> {
    const { next } = this.#loaded
    if (typeof next !== 'string') return false
    const answer = await this.#ask(OLDER, next)
    // Not what was asked for before all began anew.
    if (answer.is === 'ok' && this.#loaded.next === next)
      this.#loaded.takeOlder(this.#rowsOf(answer.body), answer.body.next)
    return answer.is === 'ok'
  }

  /** Reads older pages until they reach back to a time (ISO). */
  async readBackTo(time: string): Promise<void> {
    for (let page = 0; page < PAGES_MAX; page++) {
      const [first] = this.rows
      if ((first !== undefined && first.time <= time) || !(await this.readOlder())) return
    }
  }

  async #ask(limit: number, end?: string): Promise<Asked<PageAnswer>> {
    return ask<PageAnswer>(`${this.#path}&limit=${limit}${end === undefined ? '' : `&end=${end}`}`)
  }

  /** As its route says. */
  #rowsOf(body: PageAnswer): readonly Row[] {
    return body[this.#key] as readonly Row[]
  }
}
