import type { Mark, Micros } from '../../schemas/records.ts'
import { priceVenues } from '../../schemas/venues.ts'
import { ALIVE, type AssetState, type PricesState, type Source } from './state.ts'

/**
 * The sources that count at `now`, in the chain's order: each has spoken within 15 s, or a feed has said so recently
 * that its channel lives and has lived since it spoke. So a quiet market is not a dead one, and a price from before a
 * lost connection waits for the next.
 */
export function aliveSources({ channels }: PricesState, { sources }: AssetState, now: Micros): Source[] {
  return priceVenues.flatMap((venue) => {
    const source = sources.get(venue)
    if (source === undefined) return []
    if (now - source.received <= ALIVE) return [source]
    for (const channel of channels.values()) {
      const isItsOwn = channel.venue === venue && channel.since <= source.received
      if (isItsOwn && now - channel.said <= ALIVE) return [source]
    }
    return []
  })
}

/** Notes what a feed's mark says of its channels. Feeds that fell silent are forgotten. */
export function noteChannels(state: PricesState, { writer, time, venues }: Mark): void {
  for (const { venue, state: condition, since } of venues) {
    const id = `${writer}|${venue}`
    if (condition === 'live') state.channels.set(id, { writer, venue, since, said: time })
    else state.channels.delete(id)
  }
  for (const [id, { said }] of state.channels) if (state.time - said > ALIVE) state.channels.delete(id)
}
