import { setImmediate as others } from 'node:timers/promises'
import { alertKinds } from '../../processors/alerts/kinds/kinds.ts'
import { WhatIf, type Ring, type WhatIfTerms } from '../../processors/alerts/what-if.ts'
import { PastReader, type Past } from '../../processors/alerts/past.ts'
import { lookBackOf, seriesName, type SeriesSpec } from '../../processors/alerts/series.ts'
import type { Micros } from '../../schemas/records.ts'
import type { TradeVenueRow } from '../../schemas/venues.ts'
import type { Hit, TtlCache } from '../request/cache.ts'
import { ApiError } from '../request/errors.ts'
import { RateLimiter } from '../request/limits.ts'
import type { Database } from '../views/database.ts'
import { noPastOf, readPastInputs, type PastAsked } from '../views/past-inputs.ts'
import type { Page, Stretch } from '../views/what-if.ts'
import { apiKind } from './kinds/kinds.ts'
import { backOf, readPastOf } from './warm.ts'

const SECOND: Micros = 1_000_000
const HOUR: Micros = 3_600 * SECOND
const DAY: Micros = 24 * HOUR

/** How far a trial may look back, days. */
export const DAYS_MAX = 30
/** What begins this much later is whole: the first whole candle of an hour, and some minutes. */
export const LATE_START: Micros = HOUR + 300 * SECOND
/** Where our own log begins within this, nothing else is looked at. */
const SEAM: Micros = 300 * SECOND
/** Records, or steps of time, that are decided about in one go, some milliseconds; then others have their turn. */
const SLICE = 250
/** Most records of one trial; at five prices a second a week has three million. */
const ROWS_MAX = 4_000_000
/** A trial that takes longer ends where it is, and says so, milliseconds. */
const TRIAL_MS_MAX = 8_000
/** Of so many rings, the newest, more than their number is kept. */
export const RINGS_KEPT = 100
/** Points of each figure, spread over what was looked at; as many again where it rang. */
const POINTS = 300
/** One trial at a time, so that it disturbs nobody; more than this waiting are refused. */
const WAITING_MAX = 4
/** The same question is answered again from memory for this long, milliseconds. */
const KEPT_MS = 60_000
/** By caller, each API instance for itself. */
const LIMIT = { perSecond: 0.2, burst: 5, callersMax: 100_000 } as const

/** What the figures were at a time; undefined: not known. */
interface Point {
  readonly time: Micros
  readonly values: readonly (number | undefined)[]
}

/** A figure of which what was before our own log says nothing, and why. */
interface Untold extends SeriesSpec {
  readonly why: string
}

export interface Trial {
  readonly asked: Stretch
  /** The first and last record that were looked at; null: there was none. */
  readonly seen: Stretch | null
  /** Where our own log begins; null: it has nothing. */
  readonly own: Micros | null
  readonly records: number
  /** Times in which the alert would have seen nothing. */
  readonly gaps: readonly Stretch[]
  /** How often it rang, and the newest times in order. */
  readonly rings: number
  readonly rang: readonly Ring[]
  /** The figures that decided, and their values at some times, oldest first. */
  readonly figures: readonly SeriesSpec[]
  /** Those for which it looks at no more than our own log. */
  readonly untold: readonly Untold[]
  readonly points: readonly Point[]
  /** Which bound ended it early; null: none did. */
  readonly stopped: 'rows' | 'seconds' | null
}

/** An alert to be tried out, up to a time. */
export interface Tried extends WhatIfTerms {
  readonly to: Micros
}

/** What is wanted of a trial. */
interface Wish {
  readonly days: number
  /** The values of its figures, too. */
  readonly isDrawn: boolean
}

interface TrialOptions {
  readonly database: Database
  /** Milliseconds of a steady clock. */
  readonly now: () => number
  readonly cache: TtlCache
  /** Venues whose trades count. */
  readonly counted: readonly TradeVenueRow[]
  /** How often a caller may try one out. */
  readonly tries?: RateLimiter | undefined
}

/** Tries alerts out: few at a time, each bounded in rows and time, the same question once a minute. */
export class Trials {
  readonly #database: Database
  readonly #now: () => number
  readonly #cache: TtlCache
  readonly #limiter: RateLimiter
  readonly #venues: readonly string[]
  #waiting = 0
  #last: Promise<unknown> = Promise.resolve()

  constructor({ database, now, cache, counted, tries = new RateLimiter(LIMIT) }: TrialOptions) {
    this.#venues = counted.map(({ venue }) => venue)
    this.#limiter = tries
    this.#database = database
    this.#now = now
    this.#cache = cache
  }

  /** How each of them would have rung. Throws `rate_limited` and `overloaded`. */
  async of(tried: readonly Tried[], { days, isDrawn }: Wish, caller: string): Promise<Hit<readonly Trial[]>> {
    const key = JSON.stringify([
      'trial',
      days,
      isDrawn,
      tried.map(({ asset, terms }) => [asset, alertKinds.of(terms).write(terms)]),
    ])
    const known = this.#cache.peek<readonly Trial[]>(key)
    if (known !== undefined) return known
    this.#limiter.admit(caller, this.#now(), 'Try the next alert out')
    return this.#cache.get(key, KEPT_MS, () => this.#inTurn(() => this.#runAll(tried, { days, isDrawn })))
  }

  async #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
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

  async #runAll(tried: readonly Tried[], { days, isDrawn }: Wish): Promise<Trial[]> {
    const until = this.#now() + TRIAL_MS_MAX
    const trials: Trial[] = []
    for (const one of tried) trials.push(await this.#run({ ...one, from: one.to - days * DAY }, isDrawn, until))
    return trials
  }

  async #run({ from, to, ...alert }: Tried & Stretch, isDrawn: boolean, until: number): Promise<Trial> {
    const asked = { from, to }
    const kind = apiKind(alert.terms.kind)
    const figures = kind.figures(alert.terms)
    const looksAt = isDrawn ? figures.map(seriesName) : []
    const untold = figures.flatMap((figure) => {
      const why = noPastOf(figure)
      return why === undefined ? [] : [{ ...figure, why }]
    })
    const { asset } = alert
    const own = await kind.begins(this.#database, { asset, ...asked }, alert.terms)
    const ended = (): boolean => this.#now() > until
    const parts: AsyncIterable<Page>[] = []
    const needsMinutes = kind.needsMinutes?.(alert.terms) ?? false
    const told = { from, to: own ?? to, asset, venues: this.#venues, figures, needsMinutes }
    const isOfVenues = untold.length === 0 && told.to - from > SEAM
    if (isOfVenues) parts.push(ahead(readPastInputs(this.#database, told)))
    const past = ended() ? undefined : await this.#pastOf(told, isOfVenues)
    const trial = new WhatIf({ ...alert, looksAt, ...(past !== undefined && { past }) }, from)
    const run = new Run(trial, kind.blindAfter, asked)
    if (own !== undefined)
      parts.push(ahead(kind.history(this.#database, { asset, from: own, to: asked.to, limit: ROWS_MAX }, alert.terms)))
    for (const pages of parts) await run.take(pages, ended)
    await run.end(ended)
    return { asked, own: own ?? null, figures, untold, ...run.told }
  }

  /** What its windows saw before it begins, told by who tells what comes then: as a live rule's are filled. */
  async #pastOf({ from, to, ...asked }: PastAsked, isOfVenues: boolean): Promise<Past | undefined> {
    const names = [...new Set(asked.figures.map(seriesName))].filter((name) => lookBackOf(name) > 0)
    if (names.length === 0) return undefined
    const { asset } = asked
    if (!isOfVenues) return readPastOf(this.#database, { asset, names, since: from, before: Infinity, end: from })
    const past = new PastReader(names, from)
    // A whole candle before the windows', and the one in which it begins.
    const range = { from: from - backOf(names) - HOUR, to: from, end: to }
    for await (const { seen } of readPastInputs(this.#database, { ...asked, ...range }))
      for (const { message } of seen) past.feed(message)
    return past.told
  }
}

/** The same pages, the next of them always being read already while one is looked at; the first at once. */
function ahead(pages: AsyncIterable<Page>): AsyncIterable<Page> {
  const reader = pages[Symbol.asyncIterator]()
  const read = (): Promise<IteratorResult<Page>> => {
    const reading = reader.next()
    reading.catch(() => undefined) // told to who takes it, if anybody does
    return reading
  }
  let next = read()
  const take = async (): Promise<IteratorResult<Page>> => {
    const page = await next
    if (page.done !== true) next = read()
    return page
  }
  return { [Symbol.asyncIterator]: () => ({ next: take }) }
}

/** One trial as it goes on. */
class Run {
  readonly #trial: WhatIf
  readonly #sight: Sight
  readonly #plot: Plot
  readonly #asked: Stretch
  #last: Micros | undefined
  #fed = 0
  #stopped: Trial['stopped'] = null
  records = 0

  constructor(trial: WhatIf, blindAfter: Micros, asked: Stretch) {
    this.#trial = trial
    this.#sight = new Sight(blindAfter)
    this.#plot = new Plot(asked.from, asked.to)
    this.#asked = asked
  }

  get told(): Pick<Trial, 'seen' | 'gaps' | 'records' | 'rings' | 'rang' | 'points' | 'stopped'> {
    const { rang } = this.#trial
    const end = this.#stopped === null ? this.#asked.to : (this.#last ?? this.#asked.from)
    const rings = { rings: rang.length, rang: rang.slice(-RINGS_KEPT) }
    const summary = { records: this.records, points: this.#plot.points, stopped: this.#stopped }
    return { ...this.#sight.told(end), ...rings, ...summary }
  }

  /** Looks at pages until they are over, or a bound is reached. */
  async take(pages: AsyncIterable<Page>, ended: () => boolean): Promise<void> {
    if (this.#stopped !== null) return
    for await (const page of pages) {
      for (const stretch of page.heard) this.#sight.see(stretch)
      await this.#feed(page.seen)
      this.records += page.records
      if (page.cut) this.#stopped = 'rows'
      else if (ended() && (this.#last ?? 0) < this.#asked.to - HOUR) this.#stopped = 'seconds'
      if (this.#stopped !== null) return
    }
  }

  /** Lets the time behind the last record pass. */
  async end(ended: () => boolean): Promise<void> {
    while (this.#stopped === null && !this.#trial.pass(this.#asked.to, SLICE)) {
      if (ended()) this.#stopped = 'seconds'
      await others()
    }
  }

  async #feed(seen: Page['seen']): Promise<void> {
    for (const one of seen) {
      this.#fed += 1
      if (this.#fed % SLICE === 0) await others()
      while (!this.#trial.pass(one.message.value.time, SLICE)) await others()
      const isFed = this.#trial.feed(one)
      if (isLate(one.message)) continue
      this.#last = one.message.value.time
      if (isFed) this.#plot.see(this.#last, this.#trial)
    }
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
  readonly #gaps: Stretch[] = []
  #first: Micros | undefined
  #last = 0

  constructor(longest: Micros) {
    this.#longest = longest
  }

  see({ from, to }: Stretch): void {
    if (this.#first === undefined) this.#first = from
    else this.#note(from)
    this.#last = Math.max(this.#last, to)
  }

  /** `end`: until when it looked. */
  told(end: Micros): Pick<Trial, 'seen' | 'gaps'> {
    if (this.#first === undefined) return { seen: null, gaps: [] }
    this.#note(end)
    const gaps = this.#gaps.filter(({ from }) => from < end)
    return { seen: { from: this.#first, to: Math.min(this.#last, end) }, gaps }
  }

  #note(time: Micros): void {
    if (time - this.#last > this.#longest) this.#gaps.push({ from: this.#last, to: time })
  }
}
