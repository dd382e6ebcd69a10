import type { Source } from '../source.ts'
import { topTraders } from './contract-stats.ts'
import { listing } from './contracts.ts'

/** Gate, whose top traders are the third ratio. Evidence: README.md beside this file. */
export const gateSource: Source = {
  name: 'gate',
  hosts: { rest: 'https://api.gateio.ws' },
  budgets: {
    // 200 calls in 10 seconds per address and call: 50 at once and 10 a second are at most 150.
    rest: { capacity: 50, refillPerSecond: 10 },
  },
  listings: [{ market: 'perp', host: 'rest', listing }],
  streams: [],
  polls: [topTraders],
}
