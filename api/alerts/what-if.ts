import { alertKinds } from '../../processors/alerts/kinds/kinds.ts'
import { WhatIf, type WhatIfTerms } from '../../processors/alerts/what-if.ts'
import { seriesName, type SeriesSpec } from '../../processors/alerts/series.ts'
import type { Micros, Trigger } from '../../schemas/records.ts'
import type { Hit, TtlCache } from '../cache.ts'
import { ApiError } from '../errors.ts'
import { RateLimiter } from '../limits.ts'
import type { Database } from '../views/database.ts'
import type { Page } from '../views/what-if.ts'
import { apiKind } from './kinds/kinds.ts'

const SECOND: Micros = 1_000_000
const HOUR: Micros = 3_600 * SECOND

/** How far a trial looks back. */
export const LOOKS_BACK: Micros = 7 * 24 * HOUR
/** Of one query: at five prices a second some 430,000 rows. */
const PAGE: Micros = 24 * HOUR
/** Most records of one trial; at five prices a second a week has three million. */
const ROWS_MAX = 4_000_000
/** A trial that takes longer ends where it is, and says so, milliseconds. */
const TRIAL_MS_MAX = 8_000
/** Points of each figure, spread over what was looked at; as many again where it rang. */
const POINTS = 300
/** One trial at a time, so that it disturbs nobody; more than this waiting are refused. */
const WAITING_MAX = 4
/** The same question is answered again from memory for this long, milliseconds. */
const KEPT_MS = 60_000
/** By caller, each API instance for itself. */
const LIMIT = { perSecond: 0.2, burst: 5, callersMax: 100_000 } as const

/** A time in which the alert would have seen nothing. */
interface Blind {
  readonly from: Micros
  readonly to: Micros
}

/** What the figures were at a time; undefined: not known. */
interface Point {
  readonly time: Micros
  readonly values: readonly (number | undefined)[]
}

export interface Trial {
  readonly asked: Blind
  /** The first and last record that were looked at; null: there was none. */
  readonly seen: Blind | null
  readonly records: number
  readonly gaps: readonly Blind[]
  readonly rang: readonly Trigger[]
  /** The figures that decided, and their values at some times, oldest first. */
  readonly figures: readonly SeriesSpec[]
  readonly points: readonly Point[]
  /** Which bound ended it early; null: none did. */
  readonly stopped: 'rows' | 'seconds' | null
}

interface TrialOptions {
  readonly database: Database
  readonly now: () => number
  readonly cache: TtlCache
  /** How often a caller may try one out. */
  readonly tries?: RateLimiter | undefined
}

/** Tries alerts out: few at a time, each bounded in rows and time, the same question once a minute. */
export class Trials {
  readonly #database: Database
  readonly #now: () => number
  readonly #cache: TtlCache
  readonly #limiter: RateLimiter
  #waiting = 0
  #last: Promise<unknown> = Promise.resolve()

  constructor({ database, now, cache, tries = new RateLimiter(LIMIT) }: TrialOptions) {
    this.#limiter = tries
    this.#database = database
    this.#now = now
    this.#cache = cache
  }

  /** How the alert would have rung in the week up to `to`. Throws `rate_limited` and `overloaded`. */
  async of(alert: WhatIfTerms, to: Micros, caller: string): Promise<Hit<Trial>> {
    const { asset, terms } = alert
    const key = JSON.stringify(['trial', asset, alertKinds.of(terms).write(terms)])
    const known = this.#cache.peek<Trial>(key)
    if (known !== undefined) return known
    this.#admit(caller)
    return this.#cache.get(key, KEPT_MS, () => this.#inTurn(() => this.#run(alert, to)))
  }

  #admit(caller: string): void {
    const verdict = this.#limiter.take(caller, this.#now())
    if (verdict.kind === 'refused')
      throw new ApiError('rate_limited', `Try the next alert out in ${verdict.retryAfterSeconds} s.`, {
        retryAfterSeconds: verdict.retryAfterSeconds,
      })
  }

  async #inTurn(work: () => Promise<Trial>): Promise<Trial> {
    if (this.#waiting >= WAITING_MAX)
      throw new ApiError('overloaded', 'Too many alerts are being tried out; try again in a few seconds.', {
        retryAfterSeconds: 3,
      })
    this.#waiting += 1
    const mine = this.#last.then(work)
    this.#last = mine.catch(() => undefined) // whoever asked gets the failure
    try {
      return await mine
    } finally {
      this.#waiting -= 1
    }
  }

  async #run(alert: WhatIfTerms, to: Micros): Promise<Trial> {
    const asked = { from: to - LOOKS_BACK, to }
    const until = this.#now() + TRIAL_MS_MAX
    const kind = apiKind(alert.terms.kind)
    const figures = kind.figures(alert.terms)
    const trial = new WhatIf({ ...alert, looksAt: figures.map(seriesName) }, asked.from)
    const sight = new Sight(kind.blindAfter)
    let records = 0
    let stopped: Trial['stopped'] = null
    const first = await kind.begins(this.#database, { asset: alert.asset, ...asked }, alert.terms)
    const plot = new Plot(first ?? to, to)
    for (let from = first ?? to; from < to && stopped === null; from += PAGE) {
      const range = { asset: alert.asset, from, to: Math.min(from + PAGE, to), limit: ROWS_MAX - records }
      const page = await kind.history(this.#database, range, alert.terms)
      for (const seen of page.seen) {
        trial.feed(seen)
        if (isLate(seen.message)) continue
        sight.see(seen.message.value.time)
        plot.see(seen.message.value.time, trial)
      }
      records += page.records
      if (page.cut) stopped = 'rows'
      else if (this.#now() > until && range.to < to) stopped = 'seconds'
    }
    const { points } = plot
    const told = sight.told(stopped === null ? to : null)
    return { asked, ...told, records, rang: trial.rang, figures, points, stopped }
  }
}

function isLate({ type, value }: Page['seen'][number]['message']): boolean {
  return type === 'composite_price' && value.late
}

/** Values of a trial's figures, now and then, and whenever it rings. */
class Plot {
  readonly points: Point[] = []
  readonly #every: Micros
  #next: Micros
  #rings = 0

  constructor(from: Micros, to: Micros) {
    this.#next = from
    this.#every = Math.ceil((to - from) / POINTS)
  }

  see(time: Micros, { figures, rang }: WhatIf): void {
    const hasRung = rang.length > this.#rings && this.points.length < 2 * POINTS
    if (time < this.#next && !hasRung) return
    this.#rings = rang.length
    if (time >= this.#next) this.#next = time + this.#every
    if (time > (this.points.at(-1)?.time ?? 0)) this.points.push({ time, values: figures })
  }
}

/** What the alert would have seen, and when it was blind. */
class Sight {
  readonly #longest: Micros
  readonly #gaps: Blind[] = []
  #first: Micros | undefined
  #last = 0

  constructor(longest: Micros) {
    this.#longest = longest
  }

  see(time: Micros): void {
    if (this.#first === undefined) this.#first = time
    else this.#note(time)
    this.#last = Math.max(this.#last, time)
  }

  /** `end`: until when it was meant to look; null: it stopped where it was. */
  told(end: Micros | null): Pick<Trial, 'seen' | 'gaps'> {
    if (this.#first === undefined) return { seen: null, gaps: [] }
    if (end !== null) this.#note(end)
    return { seen: { from: this.#first, to: this.#last }, gaps: this.#gaps }
  }

  #note(time: Micros): void {
    if (time - this.#last > this.#longest) this.#gaps.push({ from: this.#last, to: time })
  }
}
