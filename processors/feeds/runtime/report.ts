import type { Logger } from '../../../infra/log.ts'
import type { Micros, SubscriptionChange, Trade } from '../../../schemas/records.ts'
import type { FactVerdict } from '../facts/fact-book.ts'
import type { RepairReport } from '../trades/id-repair.ts'
import type { Fact, FactRow } from '../venues/events.ts'
import type { Poll, RestOutcome } from '../venues/venue.ts'
import type { ArchiveReport } from './archive-reader.ts'
import type { FramesWriter } from './frames-writer.ts'
import type { FeedMetrics } from './metrics.ts'
import { hostNow, ticks } from './process-clock.ts'

/** A refusal or a failed call of one kind is shown this often; all are counted, and the tapes have the frames of trades. */
const showEveryMs = 10_000
const shownLength = 300
/** Days of archives that are left out are told one by one, so many in an hour. */
const leftPerHour = 500

/** Counts, logs and keeps what the feeds tell. */
export class Report {
  readonly #log: Logger
  readonly #metrics: FeedMetrics
  readonly #frames: FramesWriter | undefined
  readonly #onUnknown: (venue: string) => void
  readonly #shownAt = new Map<string, number>()
  #left = { hour: 0, told: 0 }

  /** `onUnknown`: a venue refused a symbol that we thought it lists. */
  constructor(log: Logger, metrics: FeedMetrics, frames: FramesWriter | undefined, onUnknown: (venue: string) => void) {
    this.#log = log
    this.#metrics = metrics
    this.#frames = frames
    this.#onUnknown = onUnknown
  }

  /** Tapes have the frames of trades. */
  frame(venue: string, channel: string, text: string, received: Micros, json: boolean): void {
    this.#metrics.frames.inc({ venue, channel })
    if (channel === 'trades') this.#frames?.write(venue, text, received, json)
  }

  trade(venue: string, { received, time }: Trade, clamped: boolean): void {
    this.#metrics.trades.inc({ venue, origin: 'stream' })
    this.#metrics.lag.observe({ venue }, (received - time) / 1e6)
    if (clamped) this.clamped(venue)
  }

  duplicate(venue: string): void {
    this.#metrics.duplicates.inc({ venue })
  }

  clamped(venue: string): void {
    this.#metrics.clamped.inc({ venue })
  }

  fact(venue: string, { kind }: Fact, verdict: FactVerdict): void {
    this.#metrics.facts.inc({ venue, kind, verdict })
  }

  record(type: string): void {
    this.#metrics.records.inc({ record: type })
  }

  refused(venue: string, channel: string, reason: string, frame: string): void {
    this.#metrics.refusals.inc({ venue, channel, reason })
    if (!this.#mayShow(`${venue} ${channel} ${reason}`)) return
    // Off-book trades are the venue's own business and no fault.
    const level = reason === 'off-book' ? 'debug' : 'warn'
    this.#log[level](
      { venue, channel, reason, frame: frame.slice(0, shownLength) },
      'a frame or row says nothing for us',
    )
  }

  unknown(venue: string, channel: string, symbols: readonly string[]): void {
    this.#metrics.refusals.inc({ venue, channel, reason: 'symbol-refused' }, symbols.length)
    this.#log.warn({ venue, channel, symbols: symbols.slice(0, 10) }, 'the venue refuses symbols')
    this.#onUnknown(venue)
  }

  polled(venue: string, { name: poll }: Poll, symbol: string, outcome: RestOutcome<FactRow>): void {
    this.#metrics.calls.inc({ venue, poll, outcome: outcome.kind })
    if (outcome.kind === 'rows' || !this.#mayShow(`${venue} ${poll} ${outcome.kind}`)) return
    this.#log.warn({ venue, poll, symbol, outcome }, 'a poll was not answered')
  }

  change({ instrument, state }: SubscriptionChange): void {
    this.#log.debug({ instrument, state }, 'subscription')
  }

  note(venue: string, channel: string, what: string, details: Readonly<Record<string, unknown>>): void {
    this.#log.info({ venue, channel, ...details }, what)
  }

  /** For the repair of a venue's trades. */
  repair(venue: string): RepairReport {
    const metrics = this.#metrics
    return {
      gap: (state, reason, missing, instrument) => {
        metrics.gaps.inc({ venue, state })
        const level = state === 'unfillable' ? 'warn' : 'debug'
        this.#log[level]({ instrument, reason, missing }, `gap ${state}`)
      },
      anew: (instrument) => {
        metrics.gaps.inc({ venue, state: 'unfillable' })
        this.#log.error(
          { instrument },
          'the venue counts this market’s trades anew: none is taken, their time is a gap',
        )
      },
      backfilled: (count) => metrics.trades.inc({ venue, origin: 'backfill' }, count),
      refused: (reason) => metrics.refusals.inc({ venue, channel: 'trades', reason: `rest-${reason}` }),
      trouble: (what) => this.#log.warn({ venue, what }, 'REST did not answer a repair'),
    }
  }

  /** For the reading back of a venue's past. */
  past(venue: string): ArchiveReport {
    const metrics = this.#metrics
    return {
      written: (rows) => metrics.past.inc({ venue }, rows),
      refused: (reason, count = 1) => metrics.refusals.inc({ venue, channel: 'past', reason }, count),
      trouble: (what, details) => {
        if (this.#mayShow(`${venue} past`)) this.#log.warn({ venue, ...details }, what)
      },
      left: (what, details) => {
        metrics.refusals.inc({ venue, channel: 'past', reason: 'archive-left' })
        if (this.#mayTell()) this.#log.warn({ venue, ...details }, what)
      },
    }
  }

  /** Each is told, up to a bound in an hour: beyond it they are counted alone. */
  #mayTell(): boolean {
    const hour = Math.floor(hostNow() / 3_600_000)
    if (hour !== this.#left.hour) this.#left = { hour, told: 0 }
    this.#left.told += 1
    return this.#left.told <= leftPerHour
  }

  #mayShow(what: string): boolean {
    const now = ticks()
    if (now - (this.#shownAt.get(what) ?? 0) < showEveryMs) return false
    this.#shownAt.set(what, now)
    return true
  }
}
