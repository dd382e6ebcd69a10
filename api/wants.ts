import { ApiError } from './errors.ts'
import { WAIT_MS_MAX } from './warmup.ts'

/** A want lapses this long after the last request. */
const WANT_MS = 24 * 3_600_000
/** A want that is still asked for is written again this often at most. */
const RENEW_MS = 5 * 60_000
/** Symbols that a caller may have waiting at once. */
const WAITING_MAX = 20
/** Callers with waiting symbols that are remembered; beyond, the oldest is forgotten. */
const CALLERS_MAX = 10_000

/** Writes one want to the log; resolves when the broker has it. Times are milliseconds. */
export type WriteWant = (asset: string, times: { asked: number; now: number; until: number }) => Promise<void>

interface Want {
  /** When it was asked for, milliseconds; its warm-up counts from here. */
  readonly asked: number
  written: number
  warm: boolean
}

/** What this API instance has asked the feeds to stream, and who waits for it. */
export class Wants {
  readonly #wants = new Map<string, Want>()
  /** Caller to asset to when its place ends. */
  readonly #waiting = new Map<string, Map<string, number>>()
  readonly #write: WriteWant

  constructor(write: WriteWant) {
    this.#write = write
  }

  /** When the asset was asked for, while it has not yet been warm. */
  askedAt(asset: string): number | undefined {
    const want = this.#wants.get(asset)
    return want === undefined || want.warm ? undefined : want.asked
  }

  /** Whether a want that brought the asset has not lapsed: a feed that restarts takes it up again. */
  stands(asset: string, now: number): boolean {
    const want = this.#wants.get(asset)
    return want !== undefined && want.warm && now < want.written + WANT_MS
  }

  /** Asks for an asset that nobody streams. Throws when the log cannot be written. */
  async ask(asset: string, now: number): Promise<void> {
    await this.#put(asset, { asked: now, written: now, warm: false })
  }

  /** The asset is ready: nobody waits for it any more. */
  settle(asset: string): void {
    const want = this.#wants.get(asset)
    if (want !== undefined) want.warm = true
  }

  /** Keeps a wanted asset wanted; rejects when the log cannot be written. */
  async renew(asset: string, now: number): Promise<void> {
    const want = this.#wants.get(asset)
    if (want !== undefined && now - want.written < RENEW_MS) return
    await this.#put(asset, { asked: want?.asked ?? now, written: now, warm: want?.warm ?? true })
  }

  /** Gives `caller` a place for a symbol that warms up; throws `rate_limited` when it has too many. */
  wait(caller: string, asset: string, now: number): void {
    const places = this.#placesOf(caller, now)
    if (!places.has(asset) && places.size >= WAITING_MAX)
      throw new ApiError('rate_limited', `Wait until one of your ${WAITING_MAX} symbols has warmed up.`, {
        field: 'symbol',
        retryAfterSeconds: 10,
      })
    if (!places.has(asset)) places.set(asset, now + WAIT_MS_MAX)
  }

  async #put(asset: string, want: Want): Promise<void> {
    const before = this.#wants.get(asset)
    this.#wants.set(asset, want)
    try {
      await this.#write(asset, { asked: want.asked, now: want.written, until: want.written + WANT_MS })
    } catch (error) {
      if (before === undefined) this.#wants.delete(asset)
      else this.#wants.set(asset, before)
      throw error
    }
  }

  #placesOf(caller: string, now: number): Map<string, number> {
    const places = this.#waiting.get(caller) ?? new Map<string, number>()
    for (const [asset, until] of places) if (until <= now || this.#wants.get(asset)?.warm === true) places.delete(asset)
    this.#waiting.delete(caller)
    this.#waiting.set(caller, places)
    const [oldest] = this.#waiting.keys()
    if (this.#waiting.size > CALLERS_MAX && oldest !== undefined) this.#waiting.delete(oldest)
    return places
  }
}
