import type { PerpMarket } from '../economy.ts'
import type { Micros } from '../trade.ts'
import { Layers, streamOf, unitOf } from './noise.ts'

const FIVE_MINUTES: Micros = 300_000_000

/** Long over short of top traders, by positions and by heads, for each five minutes; Bybit publishes none. */
export function topTradersOf(
  market: PerpMarket,
  seed: number,
): ((time: Micros) => { positions: number; accounts: number }) | undefined {
  if (market.venue === 'bybit') return undefined
  const swing = (kind: string): Layers =>
    new Layers(seed, streamOf(`${kind} ${market.venue} ${market.symbol}`), [
      [172_800, 0.15],
      [14_400, 0.06],
      [1_200, 0.01],
    ])
  const [positions, accounts] = [swing('positions'), swing('accounts')]
  const lean = unitOf(seed, streamOf(market.symbol), 5) - 0.3
  return (time) => {
    const start = Math.floor(time / FIVE_MINUTES) * FIVE_MINUTES
    return {
      positions: Math.exp(0.5 * lean + positions.at(start)),
      accounts: Math.exp(0.2 + 0.7 * lean + accounts.at(start)),
    }
  }
}
