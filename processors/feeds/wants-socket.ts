import type { LogReader } from '../../infra/kafka/seam.ts'
import type { Codec } from '../../schemas/codec.ts'
import type { Wants } from './wants.ts'

const fetchOptions = { maxWaitMs: 500, maxBytesPerPartition: 512 * 1024 }
const retryMs = 1_000

export interface WantsTail {
  /** Resolves when everything that stood in the topic at the start was read. */
  readonly caughtUp: Promise<void>
  stop(): Promise<void>
}

/**
 * Follows `control.subscriptions` into `wants`, from its start and for ever. A want has an end of its own, so that it does
 * not matter if its deletion was missed.
 */
export function tailWants(reader: LogReader, codec: Codec, wants: Wants, onError: (error: unknown) => void): WantsTail {
  const stop = new AbortController()
  const started = Promise.withResolvers<void>()
  const run = async (): Promise<void> => {
    let next: number | undefined
    while (!stop.signal.aborted) {
      try {
        next ??= (await reader.offsets('control.subscriptions', [0], 'start')).get(0) ?? 0
        next = await readOnce(reader, codec, wants, next, started.resolve)
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
  codec: Codec,
  wants: Wants,
  offset: number,
  caughtUp: () => void,
): Promise<number> {
  const [slice] = await reader.fetch([{ topic: 'control.subscriptions', partition: 0, offset }], fetchOptions)
  if (slice === undefined) return offset
  if (slice.error === 'out-of-range') return slice.start
  for (const { key, value } of slice.records) {
    const message = value === null ? undefined : codec.decode(value)
    const want = message?.type === 'subscription' ? message.value : null
    wants.apply(key?.toString('utf8') ?? '', want)
  }
  if (slice.error === undefined && slice.next >= slice.end) caughtUp()
  return slice.next
}
