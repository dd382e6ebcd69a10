import type { VenueName } from '../../schemas/venues.ts'
import { binance } from './binance/venue.ts'
import { bybit } from './bybit/venue.ts'
import { coinbase } from './coinbase/venue.ts'
import { okx } from './okx/venue.ts'
import type { Venue } from './venue.ts'

/** Every venue that we can stream. The order decides which venue an asset's plain id is from (`instruments.ts`). */
export const venues: Readonly<Record<VenueName, Venue>> = { binance, bybit, okx, coinbase }
