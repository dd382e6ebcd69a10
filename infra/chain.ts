import { setTimeout as delay } from 'node:timers/promises'
import { createPublicClient, http, type HttpTransportConfig, type PublicClient } from 'viem'

/** Between a call that got no answer and its one repetition. */
const AGAIN_MS = 100

/**
 * A node of a chain. `callMs`: most that one call takes, its answer's body and its one repetition included; afterwards it
 * rejects with viem's `HttpRequestError`.
 */
export function connectNode(url: string, callMs: number): PublicClient {
  // viem's own deadline ends with the answer's head, and its repetition waits for as long as the node asks it to.
  const transport = http(url, { timeout: 0, retryCount: 0, fetchFn: within(callMs) })
  return createPublicClient({ transport, cacheTime: 0 })
}

/** Asks, and once more where no answer came or the node is busy: any call may come twice, that of a transaction too. */
function within(callMs: number): NonNullable<HttpTransportConfig['fetchFn']> {
  return async (url, init) => {
    const bounded = { ...init, signal: AbortSignal.timeout(callMs) }
    const first = await fetch(url, bounded).catch(() => undefined) // the next says why
    if (first !== undefined && first.status !== 429 && first.status < 500) return first
    await first?.body?.cancel()
    await delay(AGAIN_MS)
    return fetch(url, bounded)
  }
}
