import type { FrameEvent } from '../events.ts'
import { isRecord, isSymbol, textOf, unknownEvent } from '../fields.ts'
import type { RestAnswer } from '../venue.ts'

/**
 * Requests for a channel. Heartbeats come with it: they prove that a quiet product has lost nothing. Requests have no
 * number here.
 */
export function requestsFor(
  channel: string,
): Record<'subscribe' | 'unsubscribe', (symbols: readonly string[]) => string[]> {
  const request = (type: string, symbols: readonly string[]): string[] => {
    const channels = [channel, 'heartbeat'].map((name) => ({ name, product_ids: symbols }))
    return symbols.length === 0 ? [] : [JSON.stringify({ type, channels })]
  }
  return {
    subscribe: (symbols) => request('subscribe', symbols),
    unsubscribe: (symbols) => request('unsubscribe', symbols),
  }
}

export const { subscribe, unsubscribe } = requestsFor('matches')

/** The answer to either request lists everything that is subscribed from then on. */
export function readSubscriptions(message: Record<string, unknown>, name = 'matches'): FrameEvent {
  const { channels } = message
  if (!Array.isArray(channels)) return unknownEvent
  const ours: unknown = channels.find((channel) => isRecord(channel) && channel['name'] === name)
  const products = isRecord(ours) ? ours['product_ids'] : []
  if (!Array.isArray(products) || !products.every(isSymbol)) return unknownEvent
  return { kind: 'subscribed', symbols: products, id: null, whole: true }
}

/** `{"message":"NotFound"}`; a refusal for the rate says so in words. */
export function refusal(body: unknown): RestAnswer<never> | undefined {
  if (!isRecord(body) || typeof body['message'] !== 'string') return undefined
  const message = textOf(body['message'])
  if (/rate limit/i.test(message)) return { kind: 'limited' }
  return { kind: 'error', code: message.slice(0, 40), message }
}
