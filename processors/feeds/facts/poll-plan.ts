import type { Micros } from '../../../schemas/records.ts'
import type { Poll } from '../venues/venue.ts'

/** Neighbours on the golden ratio's steps are far apart, however many subjects come and go: an even spread, no bursts. */
const goldenRatio = 0.618_033_988_749_895
/** The same for the polls of a source among themselves. */
const plasticRatio = 0.754_877_666_246_693
/** The first round of a slow poll does not take its whole period: answers are wanted soon after the start. */
const firstRoundMs = 30_000
/** Where minute data are asked: so far apart at most, and within so much of the period. */
const slotMsMax = 250
const spreadPart = 0.8
/** After a settlement: when it is first asked for, over how long all are spread, and how often at most. */
const settledAfterMs = 5_000
const settledSpreadMs = 25_000
const settledTries = 8
/** A call that failed is tried again so soon so many times, then each minute of its period; a back-read so many times in all. */
const tries = 3
const backTries = 8
const retryMs = 1_000
/** A clock that goes back by more was corrected. */
const setBackMs = 5_000
const maxRetryMs = 60_000

/** What the plan of a settlement poll has to know of its subjects. */
export interface Settlements {
  /** The upcoming settlement; undefined where it is not known. */
  next(symbol: string, now: number): Micros | undefined
  /** Whether its settled rate is known. */
  has(symbol: string, at: Micros): boolean
}

/** How a call ended: rows came, or when it may be tried again; `refused`: the venue has nothing to say of the subject. */
export type CallEnd =
  { readonly kind: 'answered' | 'failed' | 'refused' } | { readonly kind: 'wait'; readonly waitMs: number }

interface PolledSymbol {
  /** Its place in the period, 0 to 1. */
  readonly phase: number
  /** Infinity: not to be asked for now. */
  dueAt: number
  tries: number
  underWay: boolean
  /** The settlement whose rate is waited for, and the last one that was given up. */
  awaited: Micros | undefined
  missed: Micros | undefined
}

/** When which subject of one poll is asked for. Pure: times are the caller's, milliseconds. */
export class PollPlan {
  readonly #poll: Poll
  readonly #settlements: Settlements | undefined
  readonly #seed: number
  readonly #symbols = new Map<string, PolledSymbol>()
  /** Subjects that are wanted; while they are being added, more than there are. */
  #size = 0
  #begun = 0
  #underWay = 0
  #givenUp = 0
  #askedAt = 0

  /** `number`: that of the poll in its source, so that polls of one source do not fall on the same moments. */
  constructor(poll: Poll, number: number, settlements?: Settlements) {
    this.#poll = poll
    this.#seed = number * plasticRatio
    this.#settlements = poll.when === 'settlement' ? settlements : undefined
  }

  /** Asks for exactly these from now on. */
  want(symbols: ReadonlySet<string>, now: number): void {
    this.#size = symbols.size
    for (const symbol of this.#symbols.keys()) if (!symbols.has(symbol)) this.#symbols.delete(symbol)
    for (const symbol of symbols) if (!this.#symbols.has(symbol)) this.#begin(symbol, now)
  }

  get size(): number {
    return this.#symbols.size
  }

  get underWay(): number {
    return this.#underWay
  }

  /** Subjects that were not asked for any more after too many failures. */
  get givenUp(): number {
    return this.#givenUp
  }

  /** How long the most overdue subject has waited, ms. */
  overdueMs(now: number): number {
    let longest = 0
    for (const { dueAt, underWay } of this.#symbols.values()) if (!underWay) longest = Math.max(longest, now - dueAt)
    return longest
  }

  /** The subject that is most overdue, which is under way from now on; undefined: none is due. */
  next(now: number): string | undefined {
    if (now < this.#askedAt - setBackMs) this.#setBack(now)
    this.#askedAt = now
    let first: [string, PolledSymbol] | undefined
    for (const entry of this.#symbols) {
      const [symbol, subject] = entry
      if (this.#settlements !== undefined && subject.dueAt === Infinity) this.#expect(symbol, subject, now)
      if (subject.underWay || subject.dueAt > now) continue
      if (first === undefined || subject.dueAt < first[1].dueAt) first = entry
    }
    if (first === undefined) return undefined
    first[1].underWay = true
    this.#underWay++
    return first[0]
  }

  ended(symbol: string, end: CallEnd, now: number): void {
    this.#underWay--
    const subject = this.#symbols.get(symbol)
    if (subject === undefined) return
    subject.underWay = false
    if (end.kind === 'wait') {
      subject.dueAt = now + end.waitMs
      return
    }
    if (this.#settlements !== undefined) return this.#afterSettlement(symbol, subject, now)
    subject.tries = end.kind === 'answered' ? 0 : subject.tries + 1
    if (this.#poll.everyMs === 'once') this.#afterBackRead(subject, end, now)
    else this.#afterPoll(subject, end, now, this.#poll.everyMs)
  }

  #begin(symbol: string, now: number): void {
    const phase = (this.#begun++ * goldenRatio + this.#seed) % 1
    const dueAt = this.#firstAt(phase, now)
    this.#symbols.set(symbol, { phase, dueAt, tries: 0, underWay: false, awaited: undefined, missed: undefined })
  }

  /** What is due by a clock that was ahead would wait as long as that was: it begins anew, and settlements are expected again. */
  #setBack(now: number): void {
    for (const subject of this.#symbols.values()) {
      if (subject.dueAt === Infinity) continue
      const again = this.#firstAt(subject.phase, now)
      subject.dueAt = this.#settlements === undefined ? Math.min(subject.dueAt, again) : again
    }
  }

  #firstAt(phase: number, now: number): number {
    const { everyMs, when, afterMinuteMs } = this.#poll
    if (everyMs === 'once') return now
    if (when === 'settlement') return Infinity
    if (afterMinuteMs !== undefined) return this.#slot(phase, everyMs, now)
    // One subject alone (a whole market) is asked at once.
    return this.#size === 1 ? now : now + phase * Math.min(everyMs, firstRoundMs)
  }

  /** The next time of this phase after `now`. */
  #slot(phase: number, everyMs: number, now: number): number {
    const { afterMinuteMs } = this.#poll
    const free = (everyMs - (afterMinuteMs ?? 0)) * spreadPart
    const spread = afterMinuteMs === undefined ? everyMs : Math.min(free, this.#size * slotMsMax)
    const offset = (afterMinuteMs ?? 0) + phase * spread
    return Math.floor((now - offset) / everyMs + 1) * everyMs + offset
  }

  #afterPoll(subject: PolledSymbol, end: CallEnd, now: number, everyMs: number): void {
    const again = end.kind === 'failed' ? now + retryAfter(subject.tries, everyMs) : Infinity
    // A slow answer takes no part of the next period: half of one is the least between two calls.
    const next = this.#slot(subject.phase, everyMs, now + (this.#poll.afterMinuteMs === undefined ? everyMs / 2 : 0))
    subject.dueAt = Math.min(again, next)
    if (again > next) subject.tries = 0
  }

  #afterBackRead(subject: PolledSymbol, end: CallEnd, now: number): void {
    const over = end.kind !== 'failed' || subject.tries >= backTries
    if (over && end.kind !== 'answered') this.#givenUp++
    subject.dueAt = over ? Infinity : now + backoff(subject.tries)
  }

  /** Waits for the next settlement that the venue names, or asks again for one that has passed. */
  #expect(symbol: string, subject: PolledSymbol, now: number): void {
    const next = this.#settlements?.next(symbol, now)
    if (next === undefined || next === subject.missed || this.#settlements?.has(symbol, next) === true) return
    subject.awaited = next
    subject.tries = 0
    subject.dueAt = Math.max(now, next / 1_000) + settledAfterMs + subject.phase * settledSpreadMs
  }

  #afterSettlement(symbol: string, subject: PolledSymbol, now: number): void {
    const { awaited } = subject
    subject.tries++
    // A whole market's rates may not all be there when the first are.
    const enough = this.#poll.scope.of !== 'whole' || subject.tries > 1
    if (awaited === undefined || (enough && this.#settlements?.has(symbol, awaited) === true)) {
      return this.#settled(subject)
    }
    // Answered without it: the venue has not published it yet.
    if (subject.tries >= settledTries) {
      this.#givenUp++
      subject.missed = awaited
      return this.#settled(subject)
    }
    subject.dueAt = now + backoff(subject.tries + 1)
  }

  #settled(subject: PolledSymbol): void {
    subject.awaited = undefined
    subject.dueAt = Infinity
  }
}

/** Infinity: not before the next period. */
function retryAfter(attempt: number, everyMs: number): number {
  if (attempt <= tries) return backoff(attempt)
  return everyMs > maxRetryMs ? maxRetryMs : Infinity
}

function backoff(attempt: number): number {
  return Math.min(maxRetryMs, retryMs * 2 ** attempt)
}
