import type { Mark, Micros } from '../../schemas/records.ts'
import { priceVenues } from '../../schemas/venues.ts'
import { ALIVE, type AssetState, type PricesState, type Source } from './state.ts'

/**
 * The sources that count at `now`, in the chain's order: each has spoken within 15 s, or a feed has said so recently
 * that its channel lives and has lived since it spoke. So a quiet market is not a dead one, and a price from before a
 * lost connection waits for the next.
 */
export function aliveSources(state: PricesState, { sources }: AssetState, now: Micros): Source[] {
  const alive: Source[] = []
  for (const venue of priceVenues) {
    const source = sources.get(venue)
    if (source !== undefined && isAlive(state, source, now)) alive.push(source)
  }
  return alive
}

/** Whether any source counts. */
export function hasAlive(state: PricesState, { sources }: AssetState, now: Micros): boolean {
  for (const source of sources.values()) if (isAlive(state, source, now)) return true
  return false
}

function isAlive({ channels }: PricesState, source: Source, now: Micros): boolean {
  return now - source.received <= ALIVE || isHeld(channels, source, now)
}

/** Whether a feed has said lately that the source's channel lives, and has lived since the source spoke. */
function isHeld(channels: PricesState['channels'], { venue, received }: Source, now: Micros): boolean {
  for (const channel of channels.values()) {
    if (channel.venue === venue && channel.since <= received && now - channel.said <= ALIVE) return true
  }
  return false
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
