import { IntervalSet, type Interval } from './intervals.ts'
import type { Micros } from '../../../schemas/records.ts'

/** How long a hole may be a reordering: OKX interleaves ids of one order, and two sockets are never in step. */
export const reorderGraceMs = 2_000
/** Intervals kept per instrument; beyond it the oldest are taken as seen. */
export const maxIntervals = 10_000
/** So many known ids, one behind the other, later than all that came before, are other trades under ids that begin anew. */
const anewAfter = 100

/** Ids that did not come, between two that did. */
export interface Hole extends Interval {
  /** Venue time of the last trade before it and of the first after it; bounds, not exact where reports were mixed. */
  readonly fromTime: Micros
  readonly toTime: Micros
}

interface Suspect extends Hole {
  readonly since: number
}

/**
 * What came of one instrument whose ids go up by one.
 *
 * A hole that lasts for `reorderGraceMs` is handed out once; from then on it is the repairer's, who reports what it
 * found with `seen` and what nobody serves with `lose`. Times `now` are the caller's clock, milliseconds.
 */
export class IdTracker {
  readonly #seen = new IntervalSet()
  readonly #lost = new IntervalSet()
  /** What was handed out as a hole: two reports of one hole are one gap. */
  readonly #handed = new IntervalSet()
  #suspects: Suspect[] = []
  /** Highest id that is known to exist. */
  #top: number | undefined
  #topTime: Micros = 0
  /** Ids below it count as seen: before our time, or forgotten. */
  #floor = 0
  #bornAt = 0
  #bornTime: Micros = 0
  /** Venue time of the latest trade that was taken. */
  #latest: Micros = 0
  /** Trades of known ids that came last and are later than that, and the latest of them. */
  #later = 0
  #laterTime: Micros = 0

  /** Highest id that is known to exist, undefined before the first. */
  get top(): number | undefined {
    return this.#top
  }

  /** Venue time of the newest trade. */
  get topTime(): Micros {
    return this.#topTime
  }

  /** Ids below it are not ours to judge. */
  get floor(): number {
    return this.#floor
  }

  /** Takes one trade of the stream; `duplicate` where it is known already. */
  observe(id: number, time: Micros, now: number): 'new' | 'duplicate' {
    if (this.#top === undefined) this.#start(id, time, now)
    else if ((id < this.#floor && !this.#lowerFloor(id, now)) || this.#seen.has(id)) return this.#again(time)
    this.#later = 0
    this.#reveal(id - 1, time, now)
    this.#note(id, time)
    return 'new'
  }

  /** The venue counts its trades anew, from ids that are known: between these times none was taken. */
  get anew(): { readonly from: Micros; readonly to: Micros } | undefined {
    return this.#later < anewAfter ? undefined : { from: this.#latest, to: this.#laterTime }
  }

  /** The venue's word that ids up to `id` exist, without the trade itself. */
  tell(id: number, time: Micros, now: number): void {
    if (this.#top === undefined) this.#start(id + 1, time, now)
    this.#reveal(id, time, now)
  }

  /** Marks ids as being in the log: from it at a restart, or by repair. Does not open holes. */
  seen(from: number, to: number, time: Micros): void {
    if (this.#top === undefined) this.#start(from, time, -Infinity)
    this.#floor = Math.min(this.#floor, from)
    this.#seen.add(from, to)
    this.#latest = Math.max(this.#latest, time)
    if (to >= (this.#top ?? to)) this.#raise(to, time)
  }

  /** Up to here everything came or was given up, and so it was written; undefined before the first. */
  get position(): { readonly last_id: number; readonly time: Micros } | undefined {
    if (this.#top === undefined) return undefined
    const missing = this.missing(this.#floor, this.#top)[0]?.from ?? this.#top + 1
    return { last_id: missing - 1, time: this.#topTime }
  }

  /** Before its first trade; undefined before that came. */
  get began(): { readonly last_id: number; readonly time: Micros } | undefined {
    return this.#top === undefined ? undefined : { last_id: this.#floor - 1, time: this.#bornTime }
  }

  /** Takes such a position from the log: what lies between it and the first known trade is missing. */
  stand(id: number, time: Micros): void {
    if (this.#top === undefined) this.#start(id + 1, time, -Infinity)
    if (id + 1 >= this.#floor) return
    this.#suspect({ from: id + 1, to: this.#floor - 1, fromTime: time, toTime: this.#bornTime, since: -Infinity })
    this.#floor = id + 1
  }

  /** Gives ids up: nobody serves them. They are no hole any more, but still welcome. */
  lose(from: number, to: number, time: Micros): void {
    this.seen(from, to, time)
    this.#seen.remove(from, to)
    this.#lost.add(from, to)
    this.#lost.keepHighest(maxIntervals)
  }

  /** No id above `limit` says what is missing: the venue's newest trade is far below it. */
  distrust(limit: number, newest: Readonly<Record<'id' | 'time', number>>): void {
    const last = this.#seen.intervals.findLast(({ from }) => from <= limit)
    const top = Math.max(newest.id, Math.min(last?.to ?? 0, limit))
    this.#top = top
    this.#topTime = newest.time
    this.#floor = Math.min(this.#floor, top + 1)
    this.#suspects = this.#suspects
      .filter(({ from }) => from <= top)
      .map((one) => ({ ...one, to: Math.min(one.to, top) }))
    this.#handed.remove(top + 1, Infinity)
    this.#lost.remove(top + 1, Infinity)
  }

  /** What of `from`..`to` is neither seen nor given up. */
  missing(from: number, to: number): Interval[] {
    return this.#seen.holes(Math.max(from, this.#floor), to).flatMap((hole) => this.#lost.holes(hole.from, hole.to))
  }

  /** Holes whose grace is over by `now`; each is handed out once. */
  due(now: number): Hole[] {
    if (!this.#suspects.some((suspect) => suspect.since + reorderGraceMs <= now)) return []
    const ripe = this.#suspects.filter((suspect) => suspect.since + reorderGraceMs <= now)
    this.#suspects = this.#suspects.filter((suspect) => suspect.since + reorderGraceMs > now)
    return ripe.flatMap((suspect) => this.#handOut(suspect))
  }

  /** The repairer has these ids as a gap already: no hole that is handed out has them. */
  claim(from: number, to: number): void {
    this.#handed.add(from, to)
    this.#handed.keepHighest(maxIntervals)
  }

  #handOut({ from, to, fromTime, toTime }: Suspect): Hole[] {
    const holes = this.missing(from, to).flatMap((hole) => this.#handed.holes(hole.from, hole.to))
    for (const hole of holes) this.claim(hole.from, hole.to)
    return holes.map((hole) => ({ ...hole, fromTime, toTime }))
  }

  /**
   * Takes over what came after: `this` was read from the log, `later` is the live stream of the same instrument. What is
   * missing between the two is a hole whose grace is over.
   */
  absorb(later: IdTracker): void {
    this.#endGrace()
    const top = this.#top
    const first = later.#seen.intervals[0]?.from ?? later.#floor
    if (later.#top === undefined) return
    if (top !== undefined && first > top + 1) {
      this.#suspect({
        from: top + 1,
        to: first - 1,
        fromTime: this.#topTime,
        toTime: later.#bornTime,
        since: -Infinity,
      })
    }
    if (top === undefined) this.#start(first, later.#bornTime, -Infinity)
    for (const { from, to } of later.#seen.intervals) this.#seen.add(from, to)
    for (const suspect of later.#suspects) this.#suspect(suspect)
    this.#latest = Math.max(this.#latest, later.#latest)
    this.#later = later.#later
    this.#laterTime = later.#laterTime
    this.#raise(Math.max(top ?? 0, later.#top), later.#topTime)
  }

  /** The log's times are no ticks of this process, and what it lacks has had its grace. */
  #endGrace(): void {
    this.#suspects = this.#suspects.map((suspect) => ({ ...suspect, since: -Infinity }))
    this.#bornAt = -Infinity
  }

  #start(id: number, time: Micros, now: number): void {
    this.#floor = id
    this.#top = id - 1
    this.#topTime = time
    this.#bornAt = now
    this.#bornTime = time
  }

  /** Right after the first trade an older one may still be on its way: the start moves down to it. */
  #lowerFloor(id: number, now: number): boolean {
    if (now - this.#bornAt > reorderGraceMs) return false
    this.#suspect({ from: id + 1, to: this.#floor - 1, fromTime: this.#topTime, toTime: this.#topTime, since: now })
    this.#floor = id
    return true
  }

  /** All ids up to `id` exist; those above the top that did not come are suspects. */
  #reveal(id: number, time: Micros, now: number): void {
    const top = this.#top ?? id
    if (id <= top) return
    this.#suspect({ from: top + 1, to: id, fromTime: this.#topTime, toTime: time, since: now })
    this.#top = id
  }

  /** The same trade again is no later than the latest. */
  #again(time: Micros): 'duplicate' {
    this.#laterTime = Math.max(time, this.#later === 0 ? 0 : this.#laterTime)
    this.#later = time > this.#latest ? this.#later + 1 : 0
    return 'duplicate'
  }

  #note(id: number, time: Micros): void {
    this.#seen.add(id, id)
    this.#latest = Math.max(this.#latest, time)
    if (id >= (this.#top ?? id)) this.#raise(id, time)
    const forgotten = this.#seen.keepHighest(maxIntervals)
    if (forgotten !== undefined) this.#floor = forgotten
  }

  #raise(id: number, time: Micros): void {
    this.#top = id
    this.#topTime = Math.max(this.#topTime, time)
  }

  #suspect(suspect: Suspect): void {
    if (suspect.from > suspect.to) return
    const last = this.#suspects.at(-1)
    if (this.#suspects.length < maxIntervals || last === undefined) this.#suspects.push(suspect)
    // Full: one suspect spans both. What was seen between them is taken out when it is handed out.
    else this.#suspects[this.#suspects.length - 1] = { ...suspect, from: last.from, fromTime: last.fromTime }
  }
}
