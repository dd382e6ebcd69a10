import { emptyFields } from '../../../schemas/codec.ts'
import type { Mark, Message, Micros, PriceRange, SpotTicker, VenueState } from '../../../schemas/records.ts'
import type { PriceVenue } from '../../../schemas/venues.ts'

/** What the tests of this folder begin with. */

export const SECOND: Micros = 1_000_000
export const T0: Micros = 1_786_060_800 * SECOND

/** The market that stands for BTC on each venue. */
export const markets: Record<PriceVenue, string> = {
  binance: 'binance:spot:BTCUSDT',
  coinbase: 'coinbase:spot:BTC-USD',
  okx: 'okx:spot:BTC-USDT',
  bybit: 'bybit:spot:BTCUSDT',
  kraken: 'kraken:spot:BTC/USD',
}

/** BTC at 100 USD on Binance, received at T0, but for what is given; venue time 50 ms before. */
export function ticker(fields: Partial<SpotTicker> = {}): Message<'spot_ticker'> {
  const base = { price: 100, received: T0, instrument: markets.binance, ...fields }
  const value: SpotTicker = {
    ...emptyFields('spot_ticker'),
    asset: 'btc',
    bid: base.price,
    ask: base.price,
    last: base.price,
    low: base.price,
    high: base.price,
    quote: base.instrument.endsWith('USDT') ? 'USDT' : 'USD',
    quote_usd: 1,
    time: base.received - 50_000,
    ...base,
  }
  return { type: 'spot_ticker', value }
}

/** A ticker of `venue` at `price`, `seconds` after T0. */
export function at(venue: PriceVenue, price: number, seconds: number): Message<'spot_ticker'> {
  return ticker({ instrument: markets[venue], price, received: T0 + seconds * SECOND })
}

/** A feed's mark `seconds` after T0; each venue in the state that is given. */
export function mark(
  seconds: number,
  venues: readonly VenueState[] = [],
  changes: Mark['changes'] = [],
): Message<'mark'> {
  const time = T0 + seconds * SECOND
  return { type: 'mark', value: { writer: 'feeds', run: T0, time, venues, changes, venue_time: time, positions: [] } }
}

/** What a feed says of a venue: its channel lives since some seconds after T0. */
export function live(venue: PriceVenue, since = -60): VenueState {
  return { venue, state: 'live', sockets: 1, since: T0 + since * SECOND }
}

/** Candles of `venue` between two moments, seconds after T0, all with the same bounds. */
export function range(venue: PriceVenue, from: number, to: number, low: number, high: number): Message<'price_range'> {
  const value: PriceRange = {
    instrument: markets[venue],
    asset: 'btc',
    from: T0 + from * SECOND,
    to: T0 + to * SECOND,
    low,
    high,
    quote: 'USD',
    quote_usd: 1,
    received: T0 + to * SECOND,
    candles: minutesIn(from, to).map((at) => ({ minute: T0 + at * SECOND, low, high })),
  }
  return { type: 'price_range', value }
}

/** Starts of the minutes that touch a time, seconds after T0. */
function minutesIn(from: number, to: number): number[] {
  const first = Math.floor(from / 60)
  return Array.from({ length: Math.ceil(to / 60) - first }, (_, at) => (first + at) * 60)
}
