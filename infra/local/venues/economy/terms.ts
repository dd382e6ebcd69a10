import type { AssetRow } from '../assets.ts'
import type { PerpMarket, PerpVenueName } from '../economy.ts'
import { streamOf, unitOf } from './noise.ts'

type Terms = Pick<PerpMarket, 'intervalHours' | 'cap' | 'floor' | 'maxLeverage' | 'tiers'>

/** Assets that settle every 4 hours or every hour; a venue may differ from the others. All others every 8. */
const fourHourly: ReadonlySet<string> = new Set(['ARB', 'UNI', 'APT', 'OP', 'SUI', 'NEAR', 'ATOM', 'MATIC', 'TON'])
const hourly: ReadonlySet<string> = new Set(['bybit PEPE', 'binance SHIB', 'okx APT'])
const large: ReadonlySet<string> = new Set(['BTC', 'ETH'])

/** A perpetual's terms on a venue: interval, cap and floor of a rate, leverage, margin tiers. Only plausible. */
export function termsOf(asset: AssetRow, venue: PerpVenueName): Terms {
  const rate = large.has(asset.asset) ? 0.004 : asset.weight >= 1.4 ? 0.005 : 0.01
  const cap = venue === 'bybit' ? 0.005 : 0.75 * rate
  return {
    intervalHours: intervalOf(asset.asset, venue),
    cap,
    floor: -cap,
    maxLeverage: large.has(asset.asset) ? (venue === 'okx' ? 100 : 125) : asset.weight >= 1.4 ? 100 : 50,
    tiers: tiersOf(rate, asset.weight * 400_000),
  }
}

/** The same for a made-up asset, whose rate may go far. */
export function fillerTermsOf(asset: string, venue: PerpVenueName): Terms {
  const draw = unitOf(streamOf(asset), streamOf(venue) & 3, 1)
  return {
    intervalHours: draw < 0.45 ? 8 : draw < 0.95 ? 4 : 1,
    cap: 0.02,
    floor: -0.02,
    maxLeverage: 50,
    tiers: tiersOf(0.01, 50_000),
  }
}

function intervalOf(asset: string, venue: PerpVenueName): number {
  if (hourly.has(`${venue} ${asset}`)) return 1
  return fourHourly.has(asset) ? 4 : 8
}

/** Each tier takes more and lets in larger positions. */
function tiersOf(rate: number, upTo: number): Terms['tiers'] {
  const steps = [
    [1, 1],
    [5, 1.25],
    [20, 2.5],
    [100, 5],
    [Number.POSITIVE_INFINITY, 12.5],
  ] as const
  return steps.map(([size, more]) => ({ upTo: upTo * size, rate: rate * more }))
}
