import { aggTradesOf } from '../binance/archive.ts'
import { pastSpotCandles } from '../binance/past.ts'
import { spotCandles } from '../binance/polls.ts'
import { MINUTE_MS } from '../fact-fields.ts'
import type { Poll, TradeVenue } from '../venue.ts'
import { trades } from './trades.ts'

/** The two newest minutes that are over, with what takers bought. */
const candles: Poll = {
  name: 'candles',
  host: 'rest',
  topic: 'market.candles',
  subjects: { of: 'wanted', market: 'spot' },
  everyMs: MINUTE_MS,
  afterMinuteMs: 5_000,
  call: (symbol, now) => spotCandles.call(symbol, (now - 2 * MINUTE_MS) * 1_000, now * 1_000),
  parse: (symbol, body, now) => spotCandles.parse(symbol, body, now),
}

/** Binance's spot trades, beside its perpetuals and its spot prices (`../binance`). Evidence: README.md beside this file. */
export const binanceSpot: TradeVenue = {
  name: 'binance_spot',
  // 6000 weight a minute per address, of which prices may take 3000: 400 at once and 40 a second are at most 2800.
  budgets: { rest: { capacity: 400, refillPerSecond: 40 } },
  trades,
  listings: [],
  streams: [],
  polls: [candles],
  past: pastSpotCandles,
  archive: aggTradesOf('spot'),
}
