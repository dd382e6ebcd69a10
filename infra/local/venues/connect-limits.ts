import { Throttle } from './throttle.ts'

/** New sockets that a venue lets one address open: so many in a window of so many ms. */
const limits: Readonly<Record<string, { readonly sockets: number; readonly windowMs: number }>> = {
  binance: { sockets: 300, windowMs: 300_000 },
  'binance-spot': { sockets: 300, windowMs: 300_000 },
  bybit: { sockets: 500, windowMs: 300_000 },
  okx: { sockets: 3, windowMs: 1_000 },
  // 8 a second with bursts of 20.
  coinbase: { sockets: 20, windowMs: 1_000 },
  kraken: { sockets: 150, windowMs: 600_000 },
}

/** Counts connection attempts; everything here comes from one address. */
export class ConnectLimits {
  private readonly counts = new Map(
    Object.entries(limits).map(([face, { windowMs }]) => [face, new Throttle(windowMs)]),
  )

  /** Counts one attempt at a face (its path's first part); 429 where it is one too many. */
  status(face: string, nowMs: number): number | undefined {
    const [count, limit] = [this.counts.get(face), limits[face]]
    if (count === undefined || limit === undefined) return undefined
    return count.use(nowMs) > limit.sockets ? 429 : undefined
  }
}
