import type { Codec } from '../../schemas/codec.ts'
import type { Writer } from '../../infra/kafka/seam.ts'
import { rateLimited } from '../request/limits.ts'
import { within } from '../log/log-connection.ts'

/** A want lapses this long after the last request. */
const WANT_MS = 24 * 3_600_000
/** A want that is still asked for is written again this often at most. */
const RENEW_MS = 5 * 60_000
/** Symbols that a caller may have waiting at once. */
const WAITING_MAX = 20
/** Callers with waiting symbols that are remembered; beyond, the oldest is forgotten. */
const CALLERS_MAX = 10_000
/** A warm symbol has been streamed this long. Source: decisions, "Warm-up". */
const WARM_MS = 10_000
/** No symbol warms up for longer: what is missing then is missing. */
const WARM_MS_MAX = 30_000
/** The wanter's name: all API instances want as one. */
const WANTER = 'api'
/** The caller waits for the broker no longer, milliseconds. */
const DEADLINE_MS = 3_000

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
    const wants = this.#placesOf(caller, now)
    if (!wants.has(asset) && wants.size >= WAITING_MAX)
      throw rateLimited(
        `Wait until one of your ${WAITING_MAX} symbols has warmed up.`,
        { limit: WAITING_MAX, retryAfterSeconds: 10 },
        { field: 'symbol' },
      )
    if (!wants.has(asset)) wants.set(asset, now + WAIT_MS_MAX)
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
    const wants = this.#waiting.get(caller) ?? new Map<string, number>()
    for (const [asset, until] of wants) if (until <= now || this.#wants.get(asset)?.warm === true) wants.delete(asset)
    this.#waiting.delete(caller)
    this.#waiting.set(caller, wants)
    const [oldest] = this.#waiting.keys()
    if (this.#waiting.size > CALLERS_MAX && oldest !== undefined) this.#waiting.delete(oldest)
    return wants
  }
}

/** Ages are milliseconds; undefined: it has not happened. */
export interface StreamFacts {
  /** Venues that list the asset. */
  readonly listed: ReadonlySet<string>
  /** Venues that stream it to a feed process that is alive. */
  readonly acknowledged: ReadonlySet<string>
  /** Meant to be streamed whatever the feeds say just now: from the start, or since an earlier request. */
  readonly meant: boolean
  /** Since this API asked for it because nobody streamed it. */
  readonly askedAge: number | undefined
  /** Since the earliest acknowledgement that stands. */
  readonly acknowledgedAge: number | undefined
  /** Since the first trade in the log. */
  readonly firstTradeAge: number | undefined
}

/**
 * - `unwanted`: nobody streams it: it has to be asked for;
 * - `warming`: asked for, not yet to be relied upon;
 * - `unavailable`: asked for, and nothing came.
 */
export type Readiness = 'ready' | 'unwanted' | 'warming' | 'unavailable'

/**
 * Whether an asset's figures can be given.
 *
 * Warm-up ends when every venue that lists the asset has acknowledged its subscription and 10 s have passed, or after
 * 30 s. A symbol that was streamed already when it was asked for is past it: a feed that restarts records its gap.
 */
export function readiness(facts: StreamFacts): Readiness {
  const { listed, acknowledged, askedAge, firstTradeAge } = facts
  if (askedAge === undefined) {
    const streamed = acknowledged.size > 0 || (facts.meant && firstTradeAge !== undefined)
    if (!streamed) return 'unwanted'
    if (firstTradeAge !== undefined && firstTradeAge >= WARM_MS) return 'ready'
  }
  const age = askedAge ?? facts.acknowledgedAge ?? 0
  if (age >= WARM_MS_MAX) return acknowledged.size > 0 || firstTradeAge !== undefined ? 'ready' : 'unavailable'
  const allHeard = listed.size > 0 && [...listed].every((venue) => acknowledged.has(venue))
  return allHeard && age >= WARM_MS ? 'ready' : 'warming'
}

/** How long a caller's place in the queue is kept at most, milliseconds. */
const WAIT_MS_MAX = WARM_MS_MAX

/** What it takes to write to the log; made at the first want and again after a failure. */
export interface LogAccess {
  readonly writer: Writer
  readonly codec: Codec
}

/** One connection for all who write; `connect` is tried anew as long as it fails. */
export function sharedAccess<Access>(connect: () => Promise<Access>): () => Promise<Access> {
  let access: Promise<Access> | undefined
  return () => {
    access ??= connect().catch((error: unknown) => {
      access = undefined
      throw error
    })
    return access
  }
}

/** Writes wants to `control.subscriptions`. */
export function wantWriter(connected: () => Promise<LogAccess>): WriteWant {
  return (asset, times) =>
    within(
      DEADLINE_MS,
      connected().then((there) => send(there, asset, times)),
      () => new Error(`the log did not take the want within ${DEADLINE_MS} ms`),
    )
}

type Times = Parameters<WriteWant>[1]

async function send({ writer, codec }: LogAccess, asset: string, { asked, now, until }: Times): Promise<void> {
  const want = { asset, wanter: WANTER, asked: asked * 1000, until: until * 1000 }
  const value = codec.encode('control.subscriptions', 'subscription', want)
  await writer.send('control.subscriptions', 0, [{ key: `${asset}|${WANTER}`, value, time: now }])
}
