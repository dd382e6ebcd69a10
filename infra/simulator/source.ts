import type { World } from './ledger/world.ts'
import { echoesOf } from './market/further.ts'
import { type Market, tradeVenueNames } from './market/markets.ts'
import { MarketModel } from './market/model.ts'
import { Random } from './market/random.ts'
import { type Micros, numberedAfter, type Trade } from './market/trade.ts'

/** Trades of one market that leave together. */
export interface Batch {
  readonly market: Market
  readonly trades: readonly Trade[]
  /** The venues' clock when they leave. */
  readonly now: Micros
}

/** Where the trades come from. */
export interface Source {
  /** The venues' clock at the host's time. */
  clock(host: Micros): Micros
  /** What trades until the host's time; ids follow on what the world holds. `unread`: bytes at the slowest reader. */
  advance(host: Micros, unread: number): Iterable<Batch>
  /** Nothing trades until the host's time. */
  skip(host: Micros): void
  /** For `GET /tape`. */
  progress(): object
  close(): void
}

interface ModelOptions {
  readonly seed: number
  readonly rate: number
  readonly start: Micros
  /** How far a market's price is from its asset's, as a factor. */
  readonly basis: (market: Market, time: Micros) => number
}

/** The seeded market. After a restart it goes on from the last prices, with other numbers than before. */
export function modelSource(world: World, { seed, rate, start, basis }: ModelOptions): Source {
  const prices = new Map<Market, number>()
  let rows = 0
  for (const history of tradeVenueNames.flatMap((venue) => world.of(venue))) {
    const { market, newest } = history
    if (newest !== undefined) {
      prices.set(market, newest.price / 10 ** market.priceDecimals / basis(market, newest.time))
    }
    rows += history.rows.end
  }
  const model = new MarketModel({ seed: seed + rows, rate, start, prices, basis })
  const random = new Random(seed + rows, 1)
  const echoRandom = new Random(seed + rows, 2)
  return {
    clock: (host) => host,
    *advance(host) {
      for (const { market, fills } of model.advance(host)) {
        const trades = numberedAfter(world.get(market).tail, market, fills, random)
        yield { market, trades, now: host }
        if (market.venue !== 'binance') continue
        for (const further of world.furtherOf(market.asset)) {
          const echoes = echoesOf(further, market, trades, echoRandom)
          const own = numberedAfter(world.get(further).tail, further, echoes, echoRandom)
          if (own.length > 0) yield { market: further, trades: own, now: host }
        }
      }
    },
    skip: (host) => model.skip(host),
    progress: () => ({ source: 'model', done: false }),
    close: () => undefined,
  }
}
