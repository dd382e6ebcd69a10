/**
 * Venue names as they appear in answers, topics and configuration, with the market whose trades each contributes.
 * `ids`: trade ids go up by one per instrument (`contiguous`), or have no order (`none`).
 */
export const tradeVenues = [
  { venue: 'binance', market: 'perp', ids: 'contiguous' },
  { venue: 'bybit', market: 'perp', ids: 'none' },
  { venue: 'okx', market: 'perp', ids: 'contiguous' },
  { venue: 'coinbase', market: 'spot', ids: 'contiguous' },
] as const

export type VenueName = (typeof tradeVenues)[number]['venue']
export type Market = 'perp' | 'spot'

/** `venue:market:symbol`, the identity of a market. */
export function instrumentId(venue: string, market: Market, symbol: string): string {
  return `${venue}:${market}:${symbol}`
}

/** The three parts of an instrument id. A symbol may hold colons, a venue and a market never do. */
export function partsOf(instrument: string): { venue: string; market: string; symbol: string } {
  const first = instrument.indexOf(':')
  const second = instrument.indexOf(':', first + 1)
  return {
    venue: instrument.slice(0, first),
    market: instrument.slice(first + 1, second),
    symbol: instrument.slice(second + 1),
  }
}
