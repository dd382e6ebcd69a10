import { binanceFace } from './binance/face.ts'
import { binanceSpotFace } from './binance/spot.ts'
import { bybitFace } from './bybit/face.ts'
import { coinbaseFace } from './coinbase/face.ts'
import { coinGeckoFace } from './coingecko.ts'
import type { Context, VenueFace } from './face.ts'
import { gateFace } from './gate.ts'
import { krakenFace } from './kraken.ts'
import { okxFace } from './okx/face.ts'
import { Throttle } from './rest.ts'

/** Every venue's face; the first part of its path is its prefix, else its name. */
export function facesOf(context: Context): readonly VenueFace[] {
  return [
    binanceFace(context),
    binanceSpotFace(context),
    bybitFace(context),
    okxFace(context),
    coinbaseFace(context),
    krakenFace(context),
    gateFace(context),
    coinGeckoFace(context),
  ]
}

/** New sockets that a face lets one address open: so many in a window of so many ms. */
const socketLimits: Readonly<Record<string, { readonly sockets: number; readonly windowMs: number }>> = {
  binance: { sockets: 300, windowMs: 300_000 },
  'binance-spot': { sockets: 300, windowMs: 300_000 },
  bybit: { sockets: 500, windowMs: 300_000 },
  okx: { sockets: 3, windowMs: 1_000 },
  // 8 a second with bursts of 20.
  coinbase: { sockets: 20, windowMs: 1_000 },
  kraken: { sockets: 150, windowMs: 600_000 },
}

/** Counts connection attempts; everything here comes from one address. */
export class SocketLimits {
  private readonly counts = new Map(
    Object.entries(socketLimits).map(([face, { windowMs }]) => [face, new Throttle(windowMs)]),
  )

  /** Counts one attempt at a face (its path's first part); 429 where it is one too many. */
  status(face: string, nowMs: number): number | undefined {
    const [count, limit] = [this.counts.get(face), socketLimits[face]]
    if (count === undefined || limit === undefined) return undefined
    return count.use(nowMs) > limit.sockets ? 429 : undefined
  }
}
