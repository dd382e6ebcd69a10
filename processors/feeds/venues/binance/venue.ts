import type { TradeVenue } from '../venue.ts'
import { aggTradesOf, trades } from './trades.ts'
import { pastCandles, pastFacts, pastSpotCandles } from './past.ts'
import { polls } from './polls.ts'
import { spotListing } from './listing.ts'
import { liquidations, markPrices, spotTickers } from './streams.ts'

/**
 * Binance beside its trades: spot prices, funding, open interest, liquidations, candles. Evidence: README.md beside this
 * file.
 *
 * One bucket holds all limits of the futures host. It gives 1,980 weight a minute in the long run, of which the repair of
 * trades may take 1,000. What is polled needs, with 600 markets and 8 wanted: premium 600, premium index 20, settlements
 * 21, top positions 88, open interest 32, candles 8: 769 a minute; each further wanted market 16, so that 20 fit beside a
 * repair at its limit and 80 without one; beyond that polls come later than they should. The limits that are counted in
 * calls rather than weight (`/futures/data`, `fundingRate`) are kept by what a call costs here.
 */
export const binance: TradeVenue = {
  name: 'binance',
  budgets: {
    rest: {
      // 2400 weight a minute per address: 300 at once and 33 a second are at most 2280 in any minute.
      capacity: 300,
      refillPerSecond: 33,
    },
    // 6000 weight a minute per address: 600 at once and 40 a second are at most 3000 in any minute; the rest is for the
    // trades of the spot market.
    spotRest: { capacity: 600, refillPerSecond: 40 },
  },
  // At most 1,000 weight in any minute.
  repair: { capacity: 220, refillPerSecond: 13 },
  trades,
  listings: [{ market: 'spot', host: 'spotRest', listing: spotListing }],
  streams: [spotTickers, markPrices, liquidations],
  polls,
  candles: { ...pastSpotCandles, host: 'spotRest' },
  past: pastCandles,
  pastFacts,
  archive: aggTradesOf('futures/um'),
}
