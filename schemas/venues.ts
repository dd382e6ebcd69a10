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

/** Whose spot prices make up ours, in the order in which one stands in for another; then the token registry. */
export const priceVenues = ['binance', 'coinbase', 'okx', 'bybit', 'kraken'] as const
export type PriceVenue = (typeof priceVenues)[number]

/** Perpetuals: funding, mark, index, open interest; the order is that of standing in for one another. */
export const fundingVenues = ['binance', 'bybit', 'okx'] as const
export type FundingVenue = (typeof fundingVenues)[number]

/** Venues that publish how their top traders are positioned. Bybit's figure is of all holders and would be a false label. */
export const ratioVenues = ['binance', 'okx', 'gate'] as const
export type RatioVenue = (typeof ratioVenues)[number]

/** Venues that publish liquidations, the complete one first. */
export const liquidationVenues = ['bybit', 'okx', 'binance'] as const

/** Everybody whom a feed may talk to; a name's place is its number when polls and repairs are shared out. */
export const sourceNames = ['binance', 'bybit', 'okx', 'coinbase', 'kraken', 'gate', 'coingecko'] as const
export type SourceName = (typeof sourceNames)[number]

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
