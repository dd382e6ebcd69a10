import type { Micros } from '../../../schemas/records.ts'
import type { Priority } from '../transport/request-queue.ts'
import type { FactRow } from '../venues/events.ts'
import type { FactTopic, Poll, RestAnswer, RestCall, RestOutcome } from '../venues/venue.ts'
import { type CallEnd, PollPlan, type Settlements } from '../facts/poll-plan.ts'
import type { ChannelState } from '../transport/pool.ts'
import { ticks } from './process-clock.ts'

/** Calls of one poll under way at once; back-reads go one after the other. */
const underWayMax = 4
/** Pages of one answer; more mean that its cursor does not move on. */
const pagesMax = 20
/** A poll whose period is longer says nothing of whether its channel lives. */
const slowMs = 600_000
/** A polled channel lives while its newest answer that says something is no older than this many periods and this. */
const livePeriods = 3
const liveMs = 30_000
/** That of spot prices, which count for 15 s after a sign of life: no older than this many periods, of 10 s. */
const livePeriodsOfPrices = 1.5

/** The budgeted host that a poll calls (`RestClient`). */
export interface PollHost {
  get<Row>(call: RestCall, parse: (body: unknown) => RestAnswer<Row>, priority: Priority): Promise<RestOutcome<Row>>
  readonly unavailable: boolean
}

interface PollReport {
  /** What a page said, in the order of the answer. */
  rows(poll: Poll, rows: readonly FactRow[], received: Micros): void
  ended(poll: Poll, symbol: string, outcome: RestOutcome<FactRow>): void
}

/** One poll of a source: asks its subjects when the plan says so, page by page, and notes how that went. */
export class Poller {
  readonly poll: Poll
  readonly plan: PollPlan
  readonly #host: PollHost
  readonly #report: PollReport
  readonly #now: () => number
  #answeredAt = 0
  /** The same by ticks. */
  #heardAt = -Infinity
  #isAsked = false
  #stopped = false

  /** `now`: the host's clock, milliseconds. */
  constructor(
    poll: Poll,
    number: number,
    host: PollHost,
    report: PollReport,
    settlements: Settlements,
    now: () => number,
  ) {
    this.poll = poll
    this.plan = new PollPlan(poll, number, settlements)
    this.#host = host
    this.#report = report
    this.#now = now
  }

  get topic(): FactTopic {
    return this.poll.topic
  }

  /** When the venue last answered with what the poll is for, the host's milliseconds; 0: never. */
  get answeredAt(): number {
    return this.#answeredAt
  }

  want(symbols: ReadonlySet<string>): void {
    this.plan.want(symbols, this.#now())
  }

  /** Called often. */
  tick(): void {
    const most = this.poll.everyMs === 'once' ? 1 : underWayMax
    while (!this.#stopped && this.plan.underWay < most) {
      const symbol = this.plan.next(this.#now())
      if (symbol === undefined) return
      this.#isAsked = true
      void this.#ask(symbol)
    }
  }

  /** What answers come to after this is not told any more. */
  stop(): void {
    this.#stopped = true
  }

  /** Undefined: not one that tells whether a channel lives, or it waits for its first minute. */
  get state(): ChannelState | undefined {
    const { everyMs, when, topic, afterMinuteMs } = this.poll
    if (everyMs === 'once' || when !== undefined || everyMs > slowMs || this.plan.size === 0) return undefined
    const age = ticks() - this.#heardAt
    const liveFor = topic === 'market.tickers' ? livePeriodsOfPrices * everyMs : livePeriods * everyMs + liveMs
    if (age < liveFor) return { state: 'live', sockets: 0 }
    if (this.#host.unavailable) return { state: 'unavailable', sockets: 0 }
    if (afterMinuteMs !== undefined && !this.#isAsked && this.plan.overdueMs(this.#now()) === 0) return undefined
    return { state: this.#answeredAt === 0 ? 'connecting' : 'down', sockets: 0 }
  }

  async #ask(symbol: string): Promise<void> {
    const { poll } = this
    const priority = poll.everyMs === 'once' && poll.when === undefined ? 'back' : 'poll'
    let call: RestCall | undefined = poll.call(symbol, this.#now())
    let outcome: RestOutcome<FactRow> = { kind: 'rows', rows: [] }
    for (let page = 0; call !== undefined && page < pagesMax && !this.#stopped; page++) {
      outcome = await this.#host.get(call, (body) => poll.parse(symbol, body, this.#now()), priority)
      if (outcome.kind !== 'rows' || this.#stopped) break
      const received = this.#now()
      if (isSignOfLife(poll, outcome.rows)) {
        this.#answeredAt = received
        this.#heardAt = ticks()
      }
      this.#report.rows(poll, outcome.rows, received * 1_000)
      call = outcome.next
    }
    if (this.#stopped) return
    this.#report.ended(poll, symbol, outcome)
    this.plan.ended(symbol, endOf(outcome), this.#now())
    this.tick()
  }
}

/** A whole market without one fact is no answer, where it cannot be that there is none. */
function isSignOfLife({ scope, mayBeEmpty }: Poll, rows: readonly FactRow[]): boolean {
  return scope.of !== 'whole' || mayBeEmpty === true || rows.some((row) => 'kind' in row)
}

function endOf(outcome: RestOutcome<FactRow>): CallEnd {
  switch (outcome.kind) {
    case 'rows':
      return { kind: 'answered' }
    case 'failed':
      return { kind: 'failed' }
    case 'error':
      return { kind: 'refused' }
    case 'limited':
    case 'unavailable':
      return { kind: 'wait', waitMs: outcome.waitMs }
  }
}
