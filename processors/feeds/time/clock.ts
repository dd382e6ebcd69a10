import { CLOCK_OFF_MAX_MS, VenueClocks } from './venue-clocks.ts'
import type { Micros } from '../../../schemas/records.ts'

/** The feed's time: receive times, marks and Kafka record times. Microseconds since the Unix epoch. */
export interface FeedClock {
  /** 0 while it is not known. */
  now(): Micros
  /** Something of this venue time has come. */
  see(venue: string, time: Micros): void
}

/** The newest venue time seen: a tape of last year is written in its own time. */
export function tapeClock(): FeedClock {
  let newest = 0
  return {
    now: () => newest,
    see: (_venue, time) => {
      newest = Math.max(newest, time)
    },
  }
}

/**
 * What is to be thought of the host's clock. `right`: venues confirm it. `unchecked`: none has said enough yet. `wrong`:
 * they say another time. `stepped`: it has jumped, and no venue has said anything since.
 */
type ClockState = 'right' | 'unchecked' | 'wrong' | 'stepped'

export interface ClockVerdict {
  readonly state: ClockState
  /** How far the host's clock is ahead of the venues, milliseconds; null: nobody can tell. */
  readonly aheadMs: number | null
  /** What the time is by the venues, milliseconds; null likewise. */
  readonly venueTime: number | null
  /** Who says so. */
  readonly venues: readonly string[]
}

/** The two clocks of a machine, milliseconds: one that can be set, and one that only runs. */
interface HostClocks {
  wall(): number
  mono(): number
}

/**
 * The time that a feed process stamps with: the host's clock, while nothing speaks against it. Where it jumps, the time
 * runs on as before until venues confirm the jump; where they say that it is wrong, theirs is taken. So what is received
 * has a right time even while the host's is wrong.
 */
export class HostTime {
  readonly venues = new VenueClocks()
  readonly #clocks: HostClocks
  /** What is added to the monotonic clock; undefined before the first look: the host's clock as it is. */
  #shift: number | undefined
  /** The host's clock less the monotonic one, at the last look. */
  #hostShift: number | undefined

  constructor(clocks: HostClocks) {
    this.#clocks = clocks
  }

  /** Milliseconds since the Unix epoch. */
  now(): number {
    return Math.floor(this.#shift === undefined ? this.#clocks.wall() : this.#clocks.mono() + this.#shift)
  }

  /** Once a second: compares the clocks. */
  look(): ClockVerdict {
    const [wall, mono] = [this.#clocks.wall(), this.#clocks.mono()]
    const hostShift = wall - mono
    if (isFar(hostShift, this.#hostShift)) this.venues.forget()
    this.#hostShift = hostShift
    const agreed = this.venues.agreed(mono, wall)
    if (agreed === undefined) return this.#unheard(hostShift)
    const aheadMs = wall - agreed.time
    const state = Math.abs(aheadMs) <= CLOCK_OFF_MAX_MS ? 'right' : 'wrong'
    if (state === 'right') this.#shift = hostShift
    else if (this.#shift === undefined || isFar(this.#shift, agreed.time - mono)) this.#shift = agreed.time - mono
    return { state, aheadMs, venueTime: agreed.time, venues: agreed.venues }
  }

  #unheard(hostShift: number): ClockVerdict {
    const isStepped = isFar(hostShift, this.#shift)
    if (!isStepped) this.#shift = hostShift
    return { state: isStepped ? 'stepped' : 'unchecked', aheadMs: null, venueTime: null, venues: [] }
  }
}

function isFar(a: number, b: number | undefined): boolean {
  return b !== undefined && Math.abs(a - b) > CLOCK_OFF_MAX_MS
}
