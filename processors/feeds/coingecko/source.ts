import type { Source } from '../source.ts'
import { markets } from './markets.ts'

/** The token registry. Evidence: README.md beside this file. */
export const coingeckoSource: Source = {
  name: 'coingecko',
  hosts: { rest: 'https://api.coingecko.com' },
  budgets: {
    // Without a key the limit is per address and not disclosed; 5 to 10 calls a minute are safe. We make one, and a few
    // more at a restart.
    rest: { capacity: 3, refillPerSecond: 1 / 15 },
  },
  listings: [],
  streams: [],
  polls: [markets],
}
