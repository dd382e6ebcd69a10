import { setTimeout as delay } from 'node:timers/promises'
import type { LogReader } from '../../infra/kafka/seam.ts'
import type { Codec } from '../../schemas/codec.ts'
import type { Keeper } from './keeper.ts'
import { logEnd, readCoverage, type LogEnd } from './resume-socket.ts'

/** Read first: enough for the venues whose REST reaches back seconds only. */
const shortWindowMs = 120_000
/** As far back as gaps are repaired. */
const fullWindowMs = 3_600_000
const retryMs = 1_000

export interface OwnedVenue {
  /** Its number among the trade venues is its partition number in the membership. */
  readonly number: number
  /** A keeper is made when the venue becomes ours and stopped when it is not any more. */
  readonly makeKeeper: () => Keeper
}

/** Lets a venue be repaired by this process while the membership says that it is ours. */
export class Ownership {
  readonly #venues: readonly OwnedVenue[]
  readonly #reader: LogReader
  readonly #codec: Codec
  readonly #partitions: number
  readonly #onError: (error: unknown) => void
  readonly #keepers = new Map<OwnedVenue, Keeper>()
  readonly #stop = new AbortController()
  /** The log's end before this process wrote anything; used for the venues that it owns from the start. */
  #before: LogEnd | undefined

  constructor(
    venues: readonly OwnedVenue[],
    log: { reader: LogReader; codec: Codec; partitions: number },
    onError: (error: unknown) => void,
  ) {
    this.#venues = venues
    this.#reader = log.reader
    this.#codec = log.codec
    this.#partitions = log.partitions
    this.#onError = onError
  }

  /** To be called before anything is written. */
  async lookBack(): Promise<void> {
    this.#before = await logEnd(this.#reader, this.#partitions)
  }

  /** The owned numbers as of now. */
  own(numbers: readonly number[]): void {
    const gained: Keeper[] = []
    for (const venue of this.#venues) {
      const keeper = this.#keepers.get(venue)
      const ours = numbers.includes(venue.number)
      if (ours && keeper === undefined) gained.push(this.#gain(venue))
      if (!ours && keeper !== undefined) this.#lose(venue, keeper)
    }
    if (gained.length > 0) void this.#resume(gained)
  }

  tick(now: number): void {
    for (const keeper of this.#keepers.values()) keeper.tick(now)
  }

  pending(venue: OwnedVenue): number {
    return this.#keepers.get(venue)?.pending ?? 0
  }

  stop(): void {
    this.#stop.abort()
    for (const [venue, keeper] of this.#keepers) this.#lose(venue, keeper)
  }

  #gain(venue: OwnedVenue): Keeper {
    const keeper = venue.makeKeeper()
    this.#keepers.set(venue, keeper)
    return keeper
  }

  #lose(venue: OwnedVenue, keeper: Keeper): void {
    keeper.stop()
    this.#keepers.delete(venue)
  }

  /** Reads what the log has and hands it to the keepers; until then the streams go on without repair. */
  async #resume(keepers: readonly Keeper[]): Promise<void> {
    const before = this.#before
    this.#before = undefined
    while (!this.#stop.signal.aborted) {
      try {
        const end = before ?? (await logEnd(this.#reader, this.#partitions))
        const recent = await readCoverage(this.#reader, this.#codec, end, shortWindowMs)
        for (const keeper of keepers) keeper.adoptTimes(recent)
        const hour = await readCoverage(this.#reader, this.#codec, end, fullWindowMs)
        for (const keeper of keepers) keeper.adoptAll(hour)
        return
      } catch (error) {
        if (this.#stop.signal.aborted) return
        this.#onError(error)
        await delay(retryMs, undefined, { signal: this.#stop.signal }).catch(() => undefined) // aborted: asked above
      }
    }
  }
}
