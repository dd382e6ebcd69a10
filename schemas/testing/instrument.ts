import type { Instrument } from '../records.ts'
import { partsOf } from '../venues.ts'

/** A live market as a venue lists it: of its id, of bitcoin against USDT, unless `change` says otherwise. */
export function listed(instrument: string, change: Partial<Instrument> = {}): Instrument {
  const { venue, market, symbol } = partsOf(instrument)
  const { asset = 'btc', base = asset.toUpperCase() } = change
  const money = { quote: 'USDT', settle: 'USDT', size_factor: 1, price_factor: 1, tick: null }
  const names = { instrument, asset, venue, market, symbol, base }
  return { ...names, ...money, status: 'live', source: 'venue', valid_from: 0, ...change }
}
