import { isRecord, isSymbol, unknownEvent } from '../fields.ts'
import type { FrameEvent } from '../venue.ts'

/** Heartbeats come with the matches: they prove that a quiet product has lost nothing. Requests have no number here. */
export function subscribe(symbols: readonly string[]): string[] {
  return request('subscribe', symbols)
}

export function unsubscribe(symbols: readonly string[]): string[] {
  return request('unsubscribe', symbols)
}

function request(type: string, symbols: readonly string[]): string[] {
  if (symbols.length === 0) return []
  const channels = ['matches', 'heartbeat'].map((name) => ({ name, product_ids: symbols }))
  return [JSON.stringify({ type, channels })]
}

/** The answer to either request lists everything that is subscribed from then on. */
export function readSubscriptions(message: Record<string, unknown>): FrameEvent {
  const { channels } = message
  if (!Array.isArray(channels)) return unknownEvent
  const matches: unknown = channels.find((channel) => isRecord(channel) && channel['name'] === 'matches')
  const products = isRecord(matches) ? matches['product_ids'] : []
  if (!Array.isArray(products) || !products.every(isSymbol)) return unknownEvent
  return { kind: 'subscribed', symbols: products, id: null, whole: true }
}
