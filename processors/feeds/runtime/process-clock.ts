import { Counter, Gauge, type Registry } from 'prom-client'
import type { Logger } from '../../../infra/log.ts'
import type { Micros } from '../../../schemas/records.ts'
import { type FeedClock, HostTime, type ClockVerdict } from '../time/clock.ts'

/** The clocks of this process. Nothing else in the feeds reads the host's. */
export const hostTime = new HostTime({ wall: () => Date.now(), mono: () => performance.now() })

/** Milliseconds since the Unix epoch. */
export function hostNow(): number {
  return hostTime.now()
}

/** Milliseconds that no correction of the clock moves: for pauses and deadlines, never for stamps. */
export function ticks(): number {
  return hostTime.ticks()
}

/** The time that trades are stamped with. */
export const hostClock: FeedClock = {
  now: () => hostNow() * 1_000,
  see: (venue, time) => hostTime.venues.see(venue, time, performance.now()),
}

/** Whether a feed's clock may mark, looked at once a second. */
export interface ClockWatch {
  look(): void
  /** What the time is by the venues, for marks; null: none can tell. Undefined: the clock is wrong, and marks nothing. */
  readonly venueTime: Micros | null | undefined
  health(): object
}

/** A tape's clock is the venues' own. */
export function tapeWatch(clock: FeedClock): ClockWatch {
  return {
    look: () => undefined,
    get venueTime() {
      return clock.now()
    },
    health: () => ({ state: 'tape' }),
  }
}

/** Looks at the host's clock, and tells when it is wrong. */
export class HostWatch implements ClockWatch {
  readonly #time: HostTime
  readonly #log: Logger
  readonly #ahead: Gauge
  readonly #marks: Gauge
  readonly #withheld: Counter
  #verdict: ClockVerdict = { state: 'unchecked', aheadMs: null, venueTime: null, venues: [] }

  constructor(time: HostTime, log: Logger, registry: Registry) {
    this.#time = time
    this.#log = log
    const registers = [registry]
    const ahead = 'How far the host’s clock is ahead of the venues’ times; NaN: not known'
    this.#ahead = new Gauge({ name: 'mda_feed_clock_ahead_seconds', help: ahead, registers })
    const marking = '1: marks are written; 0: the host’s clock is wrong'
    this.#marks = new Gauge({ name: 'mda_feed_clock_marks', help: marking, registers })
    const withheld = 'Seconds in which no marks were written because the host’s clock was wrong'
    this.#withheld = new Counter({ name: 'mda_feed_clock_withheld_seconds_total', help: withheld, registers })
  }

  /** Once a second. */
  look(): void {
    const marked = this.venueTime !== undefined
    this.#verdict = this.#time.look()
    const { state, aheadMs, venues } = this.#verdict
    const marks = this.venueTime !== undefined
    this.#ahead.set(aheadMs === null ? NaN : aheadMs / 1_000)
    this.#marks.set(marks ? 1 : 0)
    if (!marks) this.#withheld.inc()
    if (marks === marked) return
    if (marks) this.#log.info({ state, aheadMs }, 'the host’s clock is right again, marks go on')
    else this.#log.error({ state, aheadMs, venues }, 'the host’s clock is wrong, or every stream is late: no marks')
  }

  get venueTime(): Micros | null | undefined {
    const { state, venueTime } = this.#verdict
    if (state === 'wrong' || state === 'stepped') return undefined
    return venueTime === null ? null : Math.floor(venueTime) * 1_000
  }

  health(): { state: string; ahead_ms: number | null; venues: readonly string[] } {
    const { state, aheadMs, venues } = this.#verdict
    return { state, ahead_ms: aheadMs === null ? null : Math.round(aheadMs), venues }
  }
}
