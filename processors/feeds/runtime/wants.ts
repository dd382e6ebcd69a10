import { knownAsset, knownAssets } from '../../../schemas/catalogue.ts'
import type { Micros, Subscription } from '../../../schemas/records.ts'
import type { LogReader } from '../../../infra/kafka/seam.ts'
import { Readback, type ReadbackPorts } from './readback.ts'

/** Wants kept at once; beyond it new ones are not taken, so that nobody can make us subscribe without end. */
export const maxWants = 20_000

/** Which assets are wanted: the pre-subscribed ones, and what stands in `control.subscriptions` and has not lapsed. */
export class Wants {
  readonly #always: readonly string[]
  readonly #wants = new Map<string, Subscription>()

  constructor(always: readonly string[]) {
    this.#always = always
  }

  /** Takes one record of the topic; null: the want was taken back. */
  apply(key: string, want: Subscription | null): void {
    if (want === null) this.#wants.delete(key)
    else if (this.#wants.has(key) || this.#wants.size < maxWants) this.#wants.set(key, want)
  }

  /** The assets that are wanted at `now`; lapsed wants are forgotten. */
  assets(now: Micros): Set<string> {
    const assets = new Set(this.#always)
    for (const [key, { asset, until }] of this.#wants) {
      if (until <= now) this.#wants.delete(key)
      else assets.add(asset)
    }
    return assets
  }
}

/** The assets that are streamed from the start: those of `symbols`, or the catalogue's own eight where it is empty. */
export function streamedAssets(symbols: readonly string[]): string[] {
  if (symbols.length === 0) return knownAssets.flatMap(({ id, streamed }) => (streamed === true ? [id] : []))
  return symbols.map((symbol) => knownAsset(symbol.toUpperCase())?.id ?? symbol.toLowerCase())
}

const TOPIC = 'control.subscriptions'
const fetchOptions = { maxWaitMs: 500, maxBytesPerPartition: 512 * 1024 }
const retryMs = 1_000

interface WantsTail {
  /** Resolves when everything that stood in the topic at the start was read. */
  readonly caughtUp: Promise<void>
  stop(): Promise<void>
}

/**
 * Follows `control.subscriptions` into `wants`, from its start and for ever. A want has an end of its own, so that it does
 * not matter if its deletion was missed.
 */
export function tailWants(
  reader: LogReader,
  ports: ReadbackPorts,
  wants: Wants,
  onError: (error: unknown) => void,
): WantsTail {
  const readback = new Readback(TOPIC, ports)
  const stop = new AbortController()
  const started = Promise.withResolvers<void>()
  const run = async (): Promise<void> => {
    let next: number | undefined
    while (!stop.signal.aborted) {
      try {
        next ??= (await reader.offsets(TOPIC, [0], 'start')).get(0) ?? 0
        next = await readOnce(reader, readback, wants, next, started.resolve)
      } catch (error) {
        if (stop.signal.aborted) return
        onError(error)
        await new Promise((resolve) => {
          setTimeout(resolve, retryMs)
        })
      }
    }
  }
  const done = run()
  return {
    caughtUp: started.promise,
    stop: async () => {
      stop.abort()
      await reader.close()
      await done
    },
  }
}

async function readOnce(
  reader: LogReader,
  readback: Readback,
  wants: Wants,
  offset: number,
  caughtUp: () => void,
): Promise<number> {
  const [slice] = await reader.fetch([{ topic: TOPIC, partition: 0, offset }], fetchOptions)
  if (slice === undefined) return offset
  if (slice.error === 'out-of-range') return slice.start
  for (const { record, message } of await readback.read(slice.records)) {
    const want = message?.type === 'subscription' ? message.value : null
    wants.apply(record.key?.toString('utf8') ?? '', want)
  }
  if (slice.error === undefined && slice.next >= slice.end) caughtUp()
  return slice.next
}
