import { tradeVenues, venueNames, type TradeVenueName, type VenueName } from '../../../schemas/venues.ts'
import { binance } from './binance/venue.ts'
import { binanceSpot } from './binance_spot/venue.ts'
import { bitget } from './bitget/venue.ts'
import { bybit } from './bybit/venue.ts'
import { coinbase } from './coinbase/venue.ts'
import { coingecko } from './coingecko/venue.ts'
import { gate } from './gate/venue.ts'
import { hyperliquid } from './hyperliquid/venue.ts'
import { kraken } from './kraken/venue.ts'
import { okx } from './okx/venue.ts'
import type { TradeStream, TradeVenue, Venue } from './venue.ts'

/** The folder of each venue of `schemas/venues.ts`. */
const folders: { readonly [Name in VenueName]: Name extends TradeVenueName ? TradeVenue : Venue } = {
  binance,
  bybit,
  okx,
  coinbase,
  kraken,
  gate,
  coingecko,
  binance_spot: binanceSpot,
  bitget,
  hyperliquid,
}

/** All of them, in the order of the table. It decides which venue an asset's plain id is from (`instruments.ts`). */
export const venues: readonly Venue[] = venueNames.map((name) => folders[name])

/** The trades of those that contribute them. */
export const tradeStreams = Object.fromEntries(
  tradeVenues.map(({ venue }) => [venue, folders[venue].trades]),
) as Readonly<Record<TradeVenueName, TradeStream>>
