import type { Micros } from '../../schemas/records.ts'
import type { Aged } from './legs.ts'
import type { TickerRow } from './tickers.ts'
import { heardOn, type World } from './world.ts'

/** Spot prices older than this are stale. */
export const SPOT_STALE: Micros = 15_000_000

/** The same, as it was at a moment. */
export function spotAt(ticker: Pick<TickerRow, 'venue' | 'time'>, world: World, moment: Micros): Aged {
  const asOf = Math.max(ticker.time, Math.min(moment, spotOf(ticker, world).asOf))
  return { asOf, freshUntil: asOf + SPOT_STALE }
}

/** How old a spot price is: a quiet market is not a dead one, so it stands while its venue's channel is alive. */
export function spotOf({ venue, time }: Pick<TickerRow, 'venue' | 'time'>, world: World): Aged {
  const asOf = Math.max(time, heardOn(world, 'market.tickers', venue))
  return { asOf, freshUntil: asOf + SPOT_STALE }
}
