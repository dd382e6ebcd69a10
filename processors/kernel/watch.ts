import type { Membership } from '../../infra/kafka/seam.ts'

/** Beyond its session: by then the group has given the partitions to others. */
const SILENCE_GRACE_MS = 5_000
/** Outages that are ridden out; longer ones end the process, since a fresh one may find what this one lost. */
const FAILING_MS_MAX = 120_000
/** There are records to read and none comes. */
const STUCK_MS_MAX = 30_000
/** Whoever has not looked for this long was not there itself: frozen, or without a processor. */
const UNSEEN_MS = 10_000
/** Longer than a broker's restart: from here on `/healthz` says so. */
const UNWELL_AFTER_MS = 15_000

/** Why a host must end, and its exit code: 4 nothing helps, 5 its membership is lost, 6 the log cannot be used. */
export interface StopReason {
  readonly exitCode: 4 | 5 | 6
  readonly code: string
  readonly message: string
}

/** What is watched: a partition's place on this host. */
interface Failing {
  /** Milliseconds since it was last known to work, 0 while it does. */
  failingMs(now: number): number
}

interface Progress {
  readonly offset: number
  readonly at: number
  /** When it was looked at last. */
  seen: number
}

/** Notices what a host cannot recover from by itself. Crash-only: the process ends and is started again. */
export class Watch {
  readonly #sessionMs: number
  readonly #memberships: readonly Membership[]
  readonly #progress = new Map<string, Progress>()
  readonly #startedAt: number
  /** By reader: when a fetch of it last came back, and whether one failed since. */
  readonly #fetches = new Map<string, { at: number; isFailing: boolean }>()
  /** By input: since when it cannot be read, and when that was seen last. */
  readonly #missing = new Map<string, { readonly since: number; seen: number }>()
  #stuck: string | undefined

  constructor(sessionMs: number, memberships: readonly Membership[], now: number) {
    this.#sessionMs = sessionMs
    this.#memberships = memberships
    this.#startedAt = now
  }

  /** A fetch of this reader came back. */
  fetched(reader: string, now: number): void {
    this.#fetches.set(reader, { at: now, isFailing: false })
  }

  /** Notes a failed fetch; true for the first in a row, which is the one to log. */
  isFirstFailure(reader: string): boolean {
    const known = this.#fetches.get(reader)
    this.#fetches.set(reader, { at: known?.at ?? this.#startedAt, isFailing: true })
    return known?.isFailing !== true
  }

  /** Notes where an input is and where its end is. */
  at(input: string, offset: number, end: number, now: number): void {
    const known = this.#progress.get(input)
    if (known?.offset !== offset || end <= offset || now - known.seen > UNSEEN_MS)
      this.#progress.set(input, { offset, at: now, seen: now })
    else {
      known.seen = now
      if (now - known.at > STUCK_MS_MAX) this.#stuck = `${input} stands at ${offset} while the log ends at ${end}`
    }
  }

  /** Notes an input that cannot be read, and gives true once: when it is to be told. */
  isMissing(input: string, now: number): boolean {
    const known = this.#missing.get(input)
    const place = known !== undefined && now - known.seen <= UNSEEN_MS ? known : { since: now, seen: now }
    const wasWell = place.seen - place.since < UNWELL_AFTER_MS
    place.seen = now
    this.#missing.set(input, place)
    return wasWell && now - place.since >= UNWELL_AFTER_MS
  }

  /** Notes an input that was read. */
  found(input: string): void {
    this.#missing.delete(input)
  }

  /** False also where one input alone cannot be read; that does not end the process, which works on at the others. */
  isWell(owners: Iterable<Failing>, now: number): boolean {
    for (const { since, seen } of this.#missing.values())
      if (seen - since >= UNWELL_AFTER_MS && now - seen <= UNSEEN_MS) return false
    return this.#failingMs(owners, now) < UNWELL_AFTER_MS
  }

  /** Why the process must end now, if it must. */
  check(owners: Iterable<Failing>, now: number): StopReason | undefined {
    const silentMs = Math.max(0, ...this.#memberships.map(({ lastSeen }) => now - lastSeen))
    if (silentMs > this.#sessionMs + SILENCE_GRACE_MS) {
      return { exitCode: 5, code: 'membership-silent', message: `no sign of the membership for ${silentMs} ms` }
    }
    if (this.#stuck !== undefined) return { exitCode: 6, code: 'stuck', message: this.#stuck }
    const failingMs = this.#failingMs(owners, now)
    if (failingMs <= FAILING_MS_MAX) return undefined
    return { exitCode: 6, code: 'log-unusable', message: `nothing could be read or written for ${failingMs} ms` }
  }

  #failingMs(owners: Iterable<Failing>, now: number): number {
    let failingMs = 0
    for (const { at, isFailing } of this.#fetches.values()) if (isFailing) failingMs = Math.max(failingMs, now - at)
    for (const owner of owners) failingMs = Math.max(failingMs, owner.failingMs(now))
    return failingMs
  }
}
