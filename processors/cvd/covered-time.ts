import type { Gap, Micros } from '../../schemas/records.ts'
import { periods } from './periods.ts'

/** A signal of a period of which less than this share is covered says nothing. */
export const COVERED_MIN = 0.25
/** Holes that are kept of one instrument; beyond it the one that began first counts as covered. */
export const HOLES_MAX = 1_000
/** Nothing looks further back. */
export const KEPT: Micros = periods['7d'].length + periods['7d'].bucket

/** A stretch of time, half open, by venue time. */
export interface Stretch {
  readonly from: Micros
  readonly to: Micros
}

/** Which time of one instrument the log holds: all since its first trade but for the holes. */
export interface Covered {
  /** Time of the first trade. */
  readonly since: Micros
  /** Trades that are missing: gaps that are not filled. */
  readonly holes: readonly Stretch[]
  /** Nobody was subscribed; the last has no end while that is so. */
  readonly unsubscribed: readonly Stretch[]
}

/**
 * The share of the time from `from` up to `to` that the log holds: the mean over the instruments that traded before its end
 * and were subscribed at some time of it. In whole microseconds, so that it does not depend on their order.
 */
export function coveredShare(instruments: readonly Covered[], stretch: Stretch): number {
  const { from, to } = stretch
  let wanted = 0
  let covered = 0
  for (const instrument of instruments) {
    if (!wasSubscribed(instrument, stretch)) continue
    wanted += 1
    covered += coveredTime(instrument, from, to)
  }
  return wanted === 0 || to <= from ? 0 : covered / (wanted * (to - from))
}

/** Whether that share is all of it, where any of them traded before its end. For many stretches: it sorts nothing. */
export function isCovered(instruments: readonly Covered[], stretch: Stretch): boolean {
  const begun = instruments.filter(({ since }) => since < stretch.to)
  const wanted = begun.filter((instrument) => wasSubscribed(instrument, stretch))
  return begun.length === 0 || (wanted.length > 0 && wanted.every((instrument) => hasAllOf(instrument, stretch)))
}

function hasAllOf({ since, holes, unsubscribed }: Covered, { from, to }: Stretch): boolean {
  const isWithin = (hole: Stretch): boolean => hole.from < to && hole.to > from
  return since <= from && !holes.some(isWithin) && !unsubscribed.some(isWithin)
}

/** Whether an instrument traded before the end of a stretch and was subscribed at some time of it. */
export function wasSubscribed(
  { since, unsubscribed }: Pick<Covered, 'since' | 'unsubscribed'>,
  { from, to }: Stretch,
): boolean {
  if (since >= to) return false
  return unsubscribed.length === 0 || !unsubscribed.some((un) => un.from <= from && un.to >= to)
}

function coveredTime({ since, holes, unsubscribed }: Covered, from: Micros, to: Micros): Micros {
  let at = Math.max(from, since)
  if (holes.length + unsubscribed.length === 0) return Math.max(0, to - at)
  let covered = 0
  for (const hole of [...holes, ...unsubscribed].sort((a, b) => a.from - b.from)) {
    covered += Math.max(0, Math.min(hole.from, to) - at)
    at = Math.max(at, hole.to)
  }
  return covered + Math.max(0, to - at)
}

/** What is known of one instrument, as the log tells it. */
export class CoveredTime implements Covered {
  #since: Micros
  readonly #gaps: Map<number, Stretch>
  #unsubscribed: readonly Stretch[]
  /** It changed since it was last saved. */
  isChanged = false

  constructor(saved: SavedCovered = { since: null, gaps: [], unsubscribed: [] }) {
    this.#since = saved.since ?? Infinity
    this.#gaps = new Map(saved.gaps.map(([id, from, to]) => [id, { from, to }]))
    this.#unsubscribed = saved.unsubscribed.map(([from, to]) => ({ from, to: to ?? Infinity }))
  }

  get since(): Micros {
    return this.#since
  }

  get holes(): readonly Stretch[] {
    return this.#gaps.size === 0 ? none : [...this.#gaps.values()]
  }

  get unsubscribed(): readonly Stretch[] {
    return this.#unsubscribed
  }

  get saved(): SavedCovered {
    return {
      since: Number.isFinite(this.#since) ? this.#since : null,
      gaps: [...this.#gaps].map(([id, { from, to }]) => [id, from, to]),
      unsubscribed: this.#unsubscribed.map(({ from, to }) => [from, Number.isFinite(to) ? to : null]),
    }
  }

  /**
   * A trade was counted: the first may come later than others. Whether it ends or shortens a time in which nobody was
   * subscribed.
   */
  trade(time: Micros): boolean {
    if (time < this.#since) {
      this.#since = time
      this.isChanged = true
    }
    if (this.#unsubscribed.length === 0 || !this.#unsubscribed.some(({ from, to }) => time > from && time < to))
      return false
    this.#unsubscribed = this.#unsubscribed.map((un) =>
      time > un.from && time < un.to ? { from: un.from, to: time } : un,
    )
    this.isChanged = true
    return true
  }

  /** Since when what came before a trade was missed that is the first, or the first of a new subscription; undefined: it is not. */
  missedBefore(time: Micros): Micros | undefined {
    if (this.#since === Infinity) return 0
    const last = this.#unsubscribed.at(-1)
    return last?.to === Infinity && time > last.from ? last.from : undefined
  }

  /** Whether nobody is subscribed now. */
  get isUnsubscribed(): boolean {
    return this.#unsubscribed.at(-1)?.to === Infinity
  }

  gap({ gap_id, state, from_time, to_time }: Pick<Gap, 'gap_id' | 'state' | 'from_time' | 'to_time'>): void {
    if (state === 'filled') this.isChanged = this.#gaps.delete(gap_id) || this.isChanged
    else {
      this.#gaps.set(gap_id, { from: from_time, to: to_time })
      this.isChanged = true
      if (this.#gaps.size > HOLES_MAX) this.#gaps.delete(oldestOf(this.#gaps))
    }
  }

  /** The subscription ended; whoever subscribes again begins with the next trade. Whether that was not known. */
  ended(time: Micros): boolean {
    if (this.#unsubscribed.some(({ to }) => to > time)) return false
    this.#unsubscribed = [...this.#unsubscribed, { from: time, to: Infinity }].slice(-HOLES_MAX)
    this.isChanged = true
    return true
  }

  /** Forgets holes that no period reaches back to. */
  forget(now: Micros): void {
    if (this.#gaps.size + this.#unsubscribed.length === 0) return
    const isGone = ({ to }: Stretch): boolean => to < now - KEPT
    for (const [id, gap] of this.#gaps) {
      if (!isGone(gap)) continue
      this.#gaps.delete(id)
      this.isChanged = true
    }
    if (!this.#unsubscribed.some(isGone)) return
    this.#unsubscribed = this.#unsubscribed.filter((un) => !isGone(un))
    this.isChanged = true
  }
}

/** As JSON has it: no infinity. */
export interface SavedCovered {
  /** null: no trade yet. */
  readonly since: Micros | null
  readonly gaps: readonly (readonly [id: number, from: Micros, to: Micros])[]
  readonly unsubscribed: readonly (readonly [from: Micros, to: Micros | null])[]
}

const none: readonly Stretch[] = []

function oldestOf(gaps: ReadonlyMap<number, Stretch>): number {
  let oldest: readonly [id: number, from: Micros] = [-1, Infinity]
  for (const [id, { from }] of gaps) if (from < oldest[1]) oldest = [id, from]
  return oldest[0]
}
