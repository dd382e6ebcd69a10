import type { Logger } from '../../infra/log.ts'
import { hostNow } from './clock-socket.ts'
import type { FactVerdict } from './fact-book.ts'
import type { RestOutcome } from './rest.ts'
import type { SourceMetrics } from './source-metrics.ts'
import type { Fact, FactRow, Poll } from './source.ts'

/** A refusal or a failed call of one kind is shown this often; all are counted. */
const showEveryMs = 10_000
const shownLength = 300

/** Counts and logs what sources tell. */
export class SourceReport {
  readonly #log: Logger
  readonly #metrics: SourceMetrics
  readonly #onUnknown: (source: string) => void
  readonly #shownAt = new Map<string, number>()

  /** `onUnknown`: a venue refused a symbol that we thought it lists. */
  constructor(log: Logger, metrics: SourceMetrics, onUnknown: (source: string) => void) {
    this.#log = log
    this.#metrics = metrics
    this.#onUnknown = onUnknown
  }

  fact(venue: string, { kind }: Fact, verdict: FactVerdict): void {
    this.#metrics.facts.inc({ venue, kind, verdict })
  }

  refused(venue: string, channel: string, reason: string, frame: string): void {
    this.#metrics.refusals.inc({ venue, channel, reason })
    if (!this.#mayShow(`${venue} ${channel} ${reason}`)) return
    this.#log.warn({ venue, channel, reason, frame: frame.slice(0, shownLength) }, 'a frame or row is no fact')
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

  note(venue: string, channel: string, what: string, details: Readonly<Record<string, unknown>>): void {
    this.#log.info({ venue, channel, ...details }, what)
  }

  #mayShow(what: string): boolean {
    const now = hostNow()
    if (now - (this.#shownAt.get(what) ?? 0) < showEveryMs) return false
    this.#shownAt.set(what, now)
    return true
  }
}
