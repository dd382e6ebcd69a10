import type { Micros } from '../../../schemas/records.ts'
import type { TradeArchive } from '../venues/venue.ts'
import type { PastProgress } from './backfill-plan.ts'

const DAY: Micros = 86_400_000_000
/** A day's file is at the venue this long after its end, microseconds; asked for earlier it is not there yet. */
const PUBLISHED: Micros = 6 * 3_600_000_000
/** A file that is not there is waited for until the day is this old; then the venue has none. */
const LATE: Micros = 3 * DAY
const LATE_MS = 3_600_000
/** A file that was damaged so often is left alone until the next start. */
export const TRIES = 3
/** Between two tries, milliseconds. */
const RETRY_MS = 10_000
/** A file that could not be fetched is tried again after this long, and twice that each time, milliseconds; at most so long. */
const FAILED_MS = 15_000
const FAILED_MAX_MS = 3_600_000
/** Rows of a day: of each minute and each hour. */
const ROWS = 1_464

/** Whole days of UTC that are wanted of a symbol: those that begin in [from, to), microseconds. */
export interface Span {
  readonly from: Micros
  readonly to: Micros
}

/** The file of one symbol and day. */
export interface ArchiveDay {
  readonly symbol: string
  /** As 2026-03-01. */
  readonly date: string
  readonly from: Micros
}

/** Whose days are wanted. */
export interface Wanted {
  /** Its asset is streamed: its newest days are wanted too. */
  readonly isStreamed: boolean
  /** What somebody ordered. */
  readonly spans: readonly Span[]
}

interface Subject {
  readonly wanted: Wanted
  readonly days: number
  /** Not in the log yet, oldest first. */
  open: readonly Micros[]
  /** How often a file was damaged, and when the next try is due, by ticks; by day. */
  readonly tries: Map<Micros, number>
  readonly notBefore: Map<Micros, number>
  /** What could not be fetched, which is still to come: the wait, milliseconds, and its end by ticks. */
  readonly failed: Map<Micros, { readonly wait: number; readonly until: number }>
}

/**
 * Which file of the archives is read next: the newest day first, of all symbols in turn. Days are covered one by one, in any
 * order. No clock: times are arguments, milliseconds; `ticks` are those that no correction of the clock moves, by which it
 * waits.
 */
export class ArchivePlan {
  readonly #recentDays: number
  readonly #isDone: (symbol: string, date: string) => boolean
  readonly #startsEarly: boolean
  readonly #subjects = new Map<string, Subject>()
  /** The newest day that is published. */
  #newest: Micros = -1

  /**
   * `recentDays`: of each symbol that is streamed. `isDone`: whether the log has a day, or knows that the venue has none.
   * `startsEarly`: a file's day may begin before its date, so that the end of a span is in the file after it.
   */
  constructor(recentDays: number, isDone: (symbol: string, date: string) => boolean, startsEarly = false) {
    this.#recentDays = recentDays
    this.#isDone = isDone
    this.#startsEarly = startsEarly
  }

  want(wanted: ReadonlyMap<string, Wanted>, now: number): void {
    this.#newest = newestOf(now)
    for (const symbol of this.#subjects.keys()) if (!wanted.has(symbol)) this.#subjects.delete(symbol)
    for (const [symbol, subject] of wanted) this.#take(symbol, subject)
  }

  next(now: number, ticks: number): ArchiveDay | undefined {
    this.#turn(now)
    const due = [...this.#subjects].flatMap(([symbol, { open, notBefore, failed }]) => {
      const from = open.findLast((day) => Math.max(notBefore.get(day) ?? 0, failed.get(day)?.until ?? 0) <= ticks)
      return from === undefined ? [] : [{ symbol, from, left: open.length }]
    })
    const [first] = due.toSorted((a, b) => b.from - a.from || b.left - a.left)
    return first === undefined ? undefined : { symbol: first.symbol, date: dateOf(first.from), from: first.from }
  }

  /** `isDone` says so from now on. */
  done({ symbol, from }: ArchiveDay): void {
    const subject = this.#subjects.get(symbol)
    if (subject !== undefined) subject.open = subject.open.filter((day) => day !== from)
  }

  /** The venue has no such file. True: nor will it have one. */
  absent({ symbol, from }: ArchiveDay, now: number, ticks: number): boolean {
    if (now * 1_000 > from + DAY + LATE) return true
    this.#subjects.get(symbol)?.notBefore.set(from, ticks + LATE_MS)
    return false
  }

  /** The file was not what it should be. True: it is given up. */
  damaged({ symbol, from }: ArchiveDay, ticks: number): boolean {
    const subject = this.#subjects.get(symbol)
    const tries = (subject?.tries.get(from) ?? 0) + 1
    subject?.tries.set(from, tries)
    subject?.notBefore.set(from, tries < TRIES ? ticks + RETRY_MS : Infinity)
    return tries >= TRIES
  }

  /** The file could not be fetched or read: it waits, longer each time, at least `leastMs`; others go on. */
  failed({ symbol, from }: ArchiveDay, ticks: number, leastMs = 0): void {
    const failed = this.#subjects.get(symbol)?.failed
    const wait = Math.min((failed?.get(from)?.wait ?? FAILED_MS / 2) * 2, FAILED_MAX_MS)
    failed?.set(from, { wait, until: ticks + Math.max(wait, leastMs) })
  }

  /** What the log had is gone: all is read again. */
  forget(): void {
    for (const [symbol, { wanted }] of this.#subjects) this.#take(symbol, wanted)
  }

  /** In rows. What is not published yet, or given up, is not counted. */
  progress(now: number, ticks: number): PastProgress {
    this.#turn(now)
    let [wanted, missing] = [0, 0]
    for (const { days, open, notBefore } of this.#subjects.values()) {
      const waiting = open.filter((day) => (notBefore.get(day) ?? 0) > ticks + RETRY_MS).length
      wanted += days - waiting
      missing += open.length - waiting
    }
    return { wanted: wanted * ROWS, missing: missing * ROWS }
  }

  /** With each day one more is published. */
  #turn(now: number): void {
    if (newestOf(now) === this.#newest) return
    this.#newest = newestOf(now)
    for (const [symbol, { wanted }] of this.#subjects) this.#take(symbol, wanted)
  }

  #take(symbol: string, wanted: Wanted): void {
    const to = this.#newest + DAY
    const recent = wanted.isStreamed ? [{ from: to - this.#recentDays * DAY, to }] : []
    const more = this.#startsEarly ? DAY : 0
    const spans = wanted.spans.map((span) => ({ from: span.from, to: span.to + more }))
    const days = daysOf([...spans, ...recent], to)
    const { tries = new Map(), notBefore = new Map(), failed = new Map() } = this.#subjects.get(symbol) ?? {}
    const open = days.filter((day) => !this.#isDone(symbol, dateOf(day)))
    this.#subjects.set(symbol, { wanted, days: days.length, open, tries, notBefore, failed })
  }
}

/** Whether a file's day may begin before its date (OKX: UTC+8). */
export function startsEarly({ begins }: Pick<TradeArchive, 'begins'>): boolean {
  return begins.some((ms) => ms < 0)
}

function newestOf(now: number): Micros {
  return Math.floor((now * 1_000 - PUBLISHED) / DAY) * DAY - DAY
}

/** The days of spans that begin before `end`, oldest first, each once. */
function daysOf(spans: readonly Span[], end: Micros): Micros[] {
  const days = new Set<Micros>()
  for (const { from, to } of spans)
    for (let day = Math.ceil(from / DAY) * DAY; day < Math.min(to, end); day += DAY) days.add(day)
  return [...days].toSorted((a, b) => a - b)
}

function dateOf(day: Micros): string {
  return new Date(day / 1_000).toISOString().slice(0, 10)
}
