import type { TradeVenue } from '../venue.ts'
import { pastCandles, pastSettlements } from './past.ts'
import { trades } from './trades.ts'

/** Bitget's trades. Evidence: README.md beside this file. */
export const bitget: TradeVenue = {
  name: 'bitget',
  // "Frequency limit: 10 times/1s (IP)" of history transactions, 20 of the others: 4 at once and 6 a second are at most 10.
  budgets: { rest: { capacity: 4, refillPerSecond: 6 } },
  trades,
  listings: [],
  streams: [],
  polls: [],
  past: pastCandles,
  pastFacts: [pastSettlements],
}
