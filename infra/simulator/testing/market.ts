import type { PerpMarket } from '../market/economy.ts'
import type { Market } from '../market/markets.ts'
import { MarketModel } from '../market/model.ts'
import { SimulatedEconomy } from '../market/simulated-economy.ts'
import type { Micros, Trade } from '../market/trade.ts'

export const MINUTE: Micros = 60_000_000
export const DAY: Micros = 1440 * MINUTE
/** Twenty seconds before a settlement. */
export const START: Micros = Date.UTC(2026, 10, 21, 7, 59, 40) * 1000

interface Opening {
  readonly now?: Micros
  readonly fillers?: number
  readonly newest?: readonly { readonly market: Market; readonly trade: Trade }[]
}

/** An economy of its own folder, as the demo has it. */
export function openEconomy(folder: string, more: Opening = {}): SimulatedEconomy {
  return new SimulatedEconomy({ folder, seed: 7, rate: 150, now: START, fillers: 0, newest: [], ...more })
}

const unnumbered = { id: 0, first: 0, last: 0, sequence: 0, uuid: undefined, direction: 0 }

/** Lets the seeded market trade from the start on, and the economy hear of it, four times a second; each market's newest trade. */
export function letTrade(
  economy: SimulatedEconomy,
  seconds: number,
  stepped: (now: Micros) => void = () => undefined,
): Map<Market, Trade> {
  const model = new MarketModel({
    seed: 7,
    rate: 150,
    start: START,
    basis: (market, time) => economy.basis(market, time),
  })
  const newest = new Map<Market, Trade>()
  for (let quarter = 1; quarter <= seconds * 4; quarter += 1) {
    const now = START + quarter * 250_000
    for (const { market, fills } of model.advance(now)) {
      const trades = fills.map((fill) => ({ ...fill, ...unnumbered }))
      economy.traded(market, trades)
      const last = trades.at(-1)
      if (last !== undefined) newest.set(market, last)
    }
    economy.advance(now)
    stepped(now)
  }
  return newest
}

export function perpOf(economy: SimulatedEconomy, venue: PerpMarket['venue'], asset: string): PerpMarket {
  const market = economy.perps(venue).find((candidate) => candidate.asset === asset)
  if (market === undefined) throw new Error(`${venue} has no ${asset}`)
  return market
}
