import type { TradeVenue } from '../venue.ts'
import { pastCandles, pastSettlements } from './past.ts'
import { trades } from './trades.ts'

/** Hyperliquid's trades. Evidence: README.md beside this file. */
export const hyperliquid: TradeVenue = {
  name: 'hyperliquid',
  // "Aggregated weight limit of 1200 per minute" and address: 100 at once and 15 a second are at most 1000 in any minute.
  budgets: { rest: { capacity: 100, refillPerSecond: 15 } },
  trades,
  listings: [],
  streams: [],
  polls: [],
  past: pastCandles,
  pastFacts: [pastSettlements],
}
