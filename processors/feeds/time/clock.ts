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
  /** The host's clock less the monotonic one, at the last look, and at the first. */
  #hostShift: number | undefined
  #firstShift: number | undefined

  constructor(clocks: HostClocks) {
    this.#clocks = clocks
  }

  /** Milliseconds since the Unix epoch. */
  now(): number {
    return Math.floor(this.#shift === undefined ? this.#clocks.wall() : this.#clocks.mono() + this.#shift)
  }

  /**
   * Milliseconds that only run, for pauses and deadlines: from the first look on no correction moves them. They begin at
   * what the host's clock said then, which may be wrong, and are compared with nothing but themselves.
   */
  ticks(): number {
    const shift = this.#firstShift
    return Math.floor(shift === undefined ? this.#clocks.wall() : this.#clocks.mono() + shift)
  }

  /** Once a second: compares the clocks. */
  look(): ClockVerdict {
    const [wall, mono] = [this.#clocks.wall(), this.#clocks.mono()]
    const hostShift = wall - mono
    this.#firstShift ??= hostShift
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

/** The host's clock is right while it is this close to what the venues' times say. */
const CLOCK_OFF_MAX_MS = 5_000
/** Seconds that are kept of a venue, of those in which it said something. */
const SECONDS_KEPT = 5
/** A venue speaks against the clock when it did so in this many seconds: what it sends at first may be old. */
const SECONDS_FIRM = 3
/** A venue that said nothing for this long counts only where no other says anything. */
const QUIET_MS = 60_000

/** What one venue says of the time, as milliseconds beside the monotonic clock: in each second what came fastest. */
interface VenueClock {
  readonly seconds: { readonly second: number; ahead: number }[]
  /** It has told the time itself (HTTP `Date`), which is never old. */
  isTold: boolean
  heardAt: number
}

/** What the venues agree on. */
interface AgreedTime {
  /** The time, milliseconds since the Unix epoch. */
  readonly time: number
  /** Names of those that say so. */
  readonly venues: readonly string[]
}

/**
 * What the time is by the venues' own times. The times of what they send are noted beside the monotonic clock, which no
 * step of the host's clock moves; so it can be told at any moment, also while nothing comes. All times in milliseconds.
 */
export class VenueClocks {
  readonly #venues = new Map<string, VenueClock>()

  /** Something with this venue time has come at `mono`. */
  see(venue: string, time: Micros, mono: number): void {
    this.#note(venue, time / 1_000, mono)
  }

  /** The venue has told the time itself, in whole seconds. */
  told(venue: string, second: number, mono: number): void {
    this.#note(venue, second + 500, mono).isTold = true
  }

  /** What was noted no longer holds: the clocks did not run alike (a machine that slept). */
  forget(): void {
    this.#venues.clear()
  }

  /**
   * What most venues agree on at `mono`, whatever single ones say; of several such times the one nearest to `wall`, the
   * host's clock, which has a say as a venue has. Undefined: no two agree, or the only one has not said enough.
   */
  agreed(mono: number, wall: number): AgreedTime | undefined {
    const heard = this.#heard(mono)
    const states = heard.flatMap(([venue, clock]) => {
      const time = nearest(clock, mono, wall)
      const isFirm = clock.isTold || clock.seconds.length >= SECONDS_FIRM
      return isFirm || agree(time, wall) ? [{ venue, time }] : []
    })
    states.sort((a, b) => Math.abs(a.time - wall) - Math.abs(b.time - wall))
    let best: AgreedTime | undefined
    for (const { time } of states) {
      const venues = states.filter((other) => agree(other.time, time)).map(({ venue }) => venue)
      if (best === undefined || venues.length > best.venues.length) best = { time, venues }
    }
    if (best === undefined || agree(best.time, wall)) return best
    return best.venues.length > 1 || heard.length === 1 ? best : undefined
  }

  /** Those that said something lately; where there is none, all. */
  #heard(mono: number): [string, VenueClock][] {
    const all = [...this.#venues]
    const lately = all.filter(([, { heardAt }]) => mono - heardAt <= QUIET_MS)
    return lately.length > 0 ? lately : all
  }

  #note(venue: string, time: number, mono: number): VenueClock {
    const known = this.#venues.get(venue) ?? { seconds: [], isTold: false, heardAt: mono }
    this.#venues.set(venue, known)
    known.heardAt = mono
    const second = Math.floor(mono / 1_000)
    const newest = known.seconds.at(-1)
    if (newest?.second === second) newest.ahead = Math.max(newest.ahead, time - mono)
    else known.seconds.push({ second, ahead: time - mono })
    if (known.seconds.length > SECONDS_KEPT) known.seconds.shift()
    return known
  }
}

/** The most that a venue can say for the clock: some of what it sends comes late, or in a burst after a pause. */
function nearest({ seconds }: VenueClock, mono: number, wall: number): number {
  const times = seconds.map(({ ahead }) => mono + ahead)
  return times.reduce((best, time) => (Math.abs(time - wall) < Math.abs(best - wall) ? time : best), Infinity)
}

function agree(a: number, b: number): boolean {
  return Math.abs(a - b) <= CLOCK_OFF_MAX_MS
}
