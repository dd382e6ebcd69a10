import type { Gap, Micros, Trade } from '../../../schemas/records.ts'
import type { BackoffRules } from '../time/backoff.ts'
import type { FeedClock } from '../time/clock.ts'
import { type GapReason, gapOf, type NoRows, tradesOf, troubleOf, waitAfter } from './gaps.ts'
import type { Hole } from './id-tracker.ts'
import { type Interval, sizeOf } from './intervals.ts'
import type { VenueTrade, PageRow } from '../venues/events.ts'
import type { Backfill, Rest } from '../venues/venue.ts'
import { findFirst, findFirstSince, findPageSince } from './first-id.ts'
import type { IdStream } from './stream.ts'

/** How far back a gap is repaired; what is older is given up. */
export const repairDepth: Micros = 3_600_000_000
/** REST may lag behind the stream: waits before a page that lacks ids is asked for again, then they are given up. */
const lagRetriesMs: readonly number[] = [500, 500, 500, 2_000, 5_000]
/**
 * An id further above the newest of REST than this is not believed: the busiest market has some 1,000 trades a second, and
 * REST is seconds behind. Nothing is lost by it: the next trade, or what the venue tells of, shows again what is missing.
 */
const aheadMax = 10_000
/** Answers that are the venue's own refusal of the question, before the gap is given up. */
export const maxErrors = 10
/** Gaps of one instrument that wait at once; beyond it a hole above all of them is added to the highest. */
const maxTasksPerStream = 1_000
export const failureBackoff: BackoffRules = { firstMs: 500, maxMs: 30_000 }

/** Where trades and gaps are written. */
export interface TradeLog {
  trade(trade: Trade): void
  gap(gap: Gap): void
}

export interface RepairOptions {
  readonly backfill: Backfill
  readonly rest: Rest
  readonly log: TradeLog
  readonly clock: FeedClock
  /** This feed process, as gap records name it. */
  readonly feed: string
  /** Waits `ms` of the host's time, or less when the process stops. */
  readonly wait: (ms: number) => Promise<void>
  /** Milliseconds that no correction of the clock moves, for deadlines and pauses. */
  readonly ticks: () => number
  /** 0 to 1. */
  readonly random: () => number
  /** Resolves when the log takes records again. */
  readonly room: () => Promise<void>
  readonly report: RepairReport
}

export interface RepairReport {
  gap(state: string, reason: GapReason, missing: number | null, instrument: string): void
  /** The venue counts the trades of an instrument anew: none of them is taken from now on. */
  anew(instrument: string): void
  backfilled(count: number): void
  refused(reason: string): void
  /** REST said no to a repair, whatever the reason. */
  trouble(what: string): void
}

interface Lost extends Hole {
  readonly reason: GapReason
}

interface Task {
  readonly stream: IdStream
  readonly gapId: number
  readonly reason: GapReason
  hole: Hole
  /** What was given up, ascending. */
  readonly lost: Lost[]
  /** The newest id that REST had, asked for before a gap of more than a page is filled. */
  newest?: number
  /** What is too old was given up already. */
  cut: boolean
  /** Venue time of the newest trade that was filled in, or that a page had before the gap. */
  reached: Micros
  lagged: number
  failures: number
  errors: number
  notBefore: number
}

/**
 * Fills the gaps of one venue over REST, in id order and page by page, so that whatever stops it half-way leaves a
 * smaller gap. A gap waits as long as REST cannot be asked; it is given up only where REST answers and does not have it.
 */
export class IdRepair {
  readonly #options: RepairOptions
  /** In turn. */
  readonly #tasks = new Set<Task>()
  /** The same by stream; none is empty. */
  readonly #byStream = new Map<IdStream, Set<Task>>()
  #running = false
  /** Resolves when a gap opens: it is not to wait for what others wait for. */
  #opened = Promise.withResolvers<void>()
  #stopped = false

  constructor(options: RepairOptions) {
    this.#options = options
  }

  /** Gaps that are neither filled nor given up. */
  get pending(): number {
    return this.#tasks.size
  }

  /** Says that a gap has opened and begins to fill it. `known`: it goes on under the id it has in the log. */
  open(stream: IdStream, hole: Hole, reason: GapReason, known?: number): void {
    const own = this.#byStream.get(stream) ?? new Set<Task>()
    const highest = own.size < maxTasksPerStream ? undefined : highestOf(own)
    if (highest !== undefined && highest.hole.to < hole.from) {
      highest.hole = { ...highest.hole, to: hole.to, toTime: hole.toTime }
      delete highest.newest
      this.#record(stream, 'opened', reason, highest.hole, highest.gapId)
      return
    }
    const gapId = known ?? hole.from
    if (known === undefined) this.#record(stream, 'opened', reason, hole, gapId)
    const start = { lost: [], cut: false, reached: 0, lagged: 0, failures: 0, errors: 0, notBefore: 0 }
    const task: Task = { stream, gapId, reason, hole, ...start }
    this.#tasks.add(task)
    this.#byStream.set(stream, own.add(task))
    this.#opened.resolve()
    void this.#run()
  }

  /** Whether a gap of the stream is being filled. */
  repairs(stream: IdStream): boolean {
    return this.#byStream.has(stream)
  }

  /** Says that nothing is missing any more of a gap that the log has as open. */
  close(stream: IdStream, gapId: number, hole: Hole): void {
    this.#record(stream, 'filled', 'restart', hole, gapId)
  }

  /** Ends without a word: the next owner finds the holes in the log. */
  stop(): void {
    this.#stopped = true
    this.#tasks.clear()
    this.#byStream.clear()
  }

  /** Forgets the gaps of a stream that is not wanted any more. */
  drop(stream: IdStream): void {
    for (const task of this.#byStream.get(stream) ?? []) this.#tasks.delete(task)
    this.#byStream.delete(stream)
  }

  /** One page after the other, the gaps in turn, so that a long one does not hold up the short ones. */
  async #run(): Promise<void> {
    if (this.#running) return
    this.#running = true
    for (let task = this.#next(); task !== undefined && !this.#stopped; task = this.#next()) {
      const wait = task.notBefore - this.#options.ticks()
      this.#opened = Promise.withResolvers()
      if (wait > 0) await Promise.race([this.#options.wait(wait), this.#opened.promise])
      else await this.#turn(task)
    }
    this.#running = false
  }

  /** The first in turn that need not wait, or the one that waits the least. */
  #next(): Task | undefined {
    const now = this.#options.ticks()
    let soonest: Task | undefined
    for (const task of this.#tasks) {
      if (task.notBefore <= now) return task
      if (soonest === undefined || task.notBefore < soonest.notBefore) soonest = task
    }
    return soonest
  }

  async #turn(task: Task): Promise<void> {
    const done = await this.#step(task)
    // It may have been dropped while its page was on the way, or all have stopped.
    if (!this.#tasks.delete(task)) return
    if (!done) this.#tasks.add(task)
    else {
      this.#forget(task)
      this.#finish(task)
    }
  }

  #forget(task: Task): void {
    const own = this.#byStream.get(task.stream)
    own?.delete(task)
    if (own?.size === 0) this.#byStream.delete(task.stream)
  }

  /** One call to REST; true when nothing is left to be asked for. */
  async #step(task: Task): Promise<boolean> {
    const { backfill, rest } = this.#options
    const first = missingOf(task)[0]
    if (first === undefined) return true
    if (task.newest === undefined && task.hole.to - first.from >= backfill.pageSize) {
      await this.#compare(task)
      return missingOf(task).length === 0
    }
    if (!task.cut && !(await this.#cutDepth(task))) return false
    // The page goes on behind the gap: it may fill the next ones too, and costs the same.
    const reach = Math.max(task.hole.to, task.stream.tracker.top ?? 0)
    const page = { from: first.from, to: Math.min(first.from + backfill.pageSize - 1, reach) }
    const { symbol } = task.stream
    const call = backfill.page(symbol, page.from, page.to, sinceOf(task))
    const outcome = await rest.get(call, (body) => backfill.parse(symbol, body))
    if (this.#stopped) return false
    if (outcome.kind === 'rows') await this.#take(task, page, outcome.rows)
    else this.#postpone(task, outcome)
    return missingOf(task).length === 0
  }

  /** Asks how far the venue's trades go: a gap up to an id far above that is one up to the newest trade. */
  async #compare(task: Task): Promise<void> {
    const { backfill, rest } = this.#options
    const { symbol, tracker } = task.stream
    const outcome = await rest.get(backfill.newest(symbol), (body) => backfill.parse(symbol, body))
    if (this.#stopped) return
    if (outcome.kind !== 'rows') return this.#postpone(task, outcome)
    const newest = tradesOf(outcome.rows).toSorted((a, b) => b.id - a.id)[0]
    const isAhead = newest !== undefined && task.hole.to - newest.id > aheadMax
    if (isAhead && this.#retries(task)) return
    task.newest = newest?.id ?? 0
    task.lagged = 0
    if (!isAhead) return
    tracker.distrust(newest.id + aheadMax, newest)
    for (const other of this.#byStream.get(task.stream) ?? []) {
      other.hole = { ...other.hole, to: Math.min(other.hole.to, tracker.top ?? 0) }
    }
  }

  /** Gives up what is older than `repairDepth`; false where REST could not say what that is. */
  async #cutDepth(task: Task): Promise<boolean> {
    const { backfill, rest, clock } = this.#options
    const since = clock.now() - repairDepth
    task.cut = true
    if (Math.max(task.hole.fromTime, task.reached) >= since) return true
    const first = missingOf(task)[0]?.from ?? task.hole.to
    const range = { from: first, to: task.hole.to }
    const find = backfill.direction === 'since' ? findPageSince : findFirstSince
    const found = await find(backfill, rest, task.stream.symbol, range, since)
    if (found.kind === 'found') {
      for (const hole of task.stream.tracker.missing(first, found.id - 1)) this.#lose(task, hole, 'too_old', [])
      return true
    }
    this.#postpone(task, found)
    return false
  }

  async #take(task: Task, page: Interval, rows: readonly PageRow[]): Promise<void> {
    const { backfill, report, room } = this.#options
    const trades = tradesOf(rows, (reason) => report.refused(reason)).sort((a, b) => a.id - b.id)
    await room()
    if (this.#stopped) return
    task.failures = 0
    const isBefore = backfill.direction === 'since' && passes(task, trades)
    if (this.#write(task, trades) > 0 || isBefore) {
      task.lagged = 0
      return
    }
    if (this.#retries(task)) return
    const next = await this.#nextServed(task, page, trades)
    if (next === undefined) return
    const reason = trades.length < rows.length ? 'refused' : 'page_short'
    const to = Math.min(Math.max(page.to, next - 1), task.hole.to)
    for (const hole of task.stream.tracker.missing(page.from, to)) this.#lose(task, hole, reason, trades)
  }

  /** REST may lag behind the stream: whether it is asked the same again, after a wait. */
  #retries(task: Task): boolean {
    const wait = lagRetriesMs[task.lagged++]
    if (wait === undefined) task.lagged = 0
    else task.notBefore = this.#options.ticks() + wait
    return wait !== undefined
  }

  /** With which id the venue goes on behind a page that has nothing of the gap; undefined where REST could not say. */
  async #nextServed(task: Task, page: Interval, trades: readonly VenueTrade[]): Promise<number | undefined> {
    const { backfill, rest } = this.#options
    const own = trades.find(({ id }) => id >= page.from)?.id
    const to = Math.min(task.hole.to, task.newest ?? 0)
    // A page that goes up has it, one that goes down ends below it.
    if (backfill.direction !== 'backward' || own !== undefined || to <= page.to) return own ?? page.from
    const range = { from: page.to + 1, to }
    const found = await findFirst(backfill, rest, task.stream.symbol, range, ({ id }) => id >= page.from)
    if (this.#stopped) return undefined
    if (found.kind === 'found') return found.id
    this.#postpone(task, found)
    return undefined
  }

  /**
   * Writes those trades of the page that are missing, under the gaps that they belong to; the stream may have brought
   * some meanwhile. Returns how many were for `task`.
   */
  #write(task: Task, trades: readonly VenueTrade[]): number {
    const { stream } = task
    const gaps = [...(this.#byStream.get(stream) ?? [])]
    let own = 0
    for (const trade of trades) {
      if (stream.tracker.missing(trade.id, trade.id).length === 0) continue
      const gap = gaps.find(({ hole }) => hole.from <= trade.id && trade.id <= hole.to)
      if (gap === undefined) continue // it may still come by the stream
      this.#fill(gap, trade)
      if (gap !== task) continue // the page may begin within it
      task.reached = trade.time
      own++
    }
    return own
  }

  #fill(task: Task, trade: VenueTrade): void {
    const { log, clock, report } = this.#options
    const { stream, gapId } = task
    log.trade(stream.normalise(trade, clock.now(), { origin: 'backfill', gapId }))
    stream.tracker.seen(trade.id, trade.id, trade.time)
    report.backfilled(1)
  }

  #lose(task: Task, { from, to }: Interval, reason: GapReason, near: readonly VenueTrade[]): void {
    const { fromTime, toTime } = task.hole
    const before = near.findLast(({ id }) => id < from)?.time ?? fromTime
    const after = near.find(({ id }) => id > to)?.time ?? toTime
    task.stream.tracker.lose(from, to, fromTime)
    const last = task.lost.at(-1)
    if (last !== undefined && last.to + 1 === from && last.reason === reason) {
      task.lost[task.lost.length - 1] = { ...last, to, toTime: after }
    } else task.lost.push({ from, to, fromTime: before, toTime: after, reason })
  }

  #postpone(task: Task, outcome: NoRows): void {
    const { report, ticks, random } = this.#options
    report.trouble(troubleOf(outcome))
    // What is out of reach by the next try is given up then.
    task.cut = false
    task.notBefore = ticks() + waitAfter(outcome, () => task.failures++, random(), failureBackoff)
    if (outcome.kind !== 'error' || ++task.errors < maxErrors) return
    for (const hole of missingOf(task)) this.#lose(task, hole, 'refused', [])
  }

  /** The gap is filled, but for what was given up: that is a gap of its own, or all that remains of this one. */
  #finish({ stream, gapId, reason, hole: { to, ...bounds }, lost }: Task): void {
    // Of a gap that only an id which is not believed had shown, nothing may be left.
    const hole = { ...bounds, to: Math.max(bounds.from, to) }
    const [first] = lost
    if (first === undefined) this.#record(stream, 'filled', reason, hole, gapId)
    else if (first.from > hole.from) this.#record(stream, 'filled', reason, { ...hole, to: first.from - 1 }, gapId)
    for (const part of lost) {
      this.#record(stream, 'unfillable', part.reason, part, part.from === hole.from ? gapId : part.from)
    }
  }

  #record(
    stream: IdStream,
    state: 'opened' | 'filled' | 'unfillable',
    reason: GapReason,
    hole: Hole,
    gapId: number,
  ): void {
    const { log, clock, feed, report } = this.#options
    const missing = state === 'filled' ? 0 : sizeOf([hole])
    log.gap(gapOf(stream.instrument, { gapId, state, reason, missing }, hole, { feed, time: clock.now() }))
    report.gap(state, reason, missing, stream.instrument.instrument)
  }
}

function highestOf(tasks: Iterable<Task>): Task | undefined {
  let highest: Task | undefined
  for (const task of tasks) if (highest === undefined || task.hole.to >= highest.hole.to) highest = task
  return highest
}

function missingOf({ stream, hole }: Task): Interval[] {
  return stream.tracker.missing(hole.from, hole.to)
}

/** What pages by time is asked for from a little before the gap: times bound it, and are not exact. */
const sinceSlack: Micros = 10_000_000

function sinceOf({ hole, reached }: Task): Micros {
  return Math.max(0, hole.fromTime - sinceSlack, reached)
}

/** A page by time may hold what came before the gap alone: the next one goes on behind it. */
function passes(task: Task, trades: readonly VenueTrade[]): boolean {
  const [first] = missingOf(task)
  const newest = trades.at(-1)
  if (first === undefined || newest === undefined || newest.id >= first.from) return false
  if (newest.time <= sinceOf(task)) return false
  task.reached = newest.time
  return true
}
