import type { VenueState } from '../../schemas/records.ts'

/** How a channel is: all its connections, or its answers. */
export type PoolState = Pick<VenueState, 'state' | 'sockets'>

/** Best first: one channel that lives keeps a venue alive for its topic. */
const order = ['live', 'connecting', 'down', 'unavailable', 'off', 'unknown'] as const

/** The state of a venue for a topic, of the states of its streams and polls for it. */
export function joined(states: readonly PoolState[]): PoolState {
  const sockets = states.reduce((sum, state) => sum + state.sockets, 0)
  const best = order.find((candidate) => states.some(({ state }) => state === candidate))
  return { state: best ?? 'off', sockets }
}
