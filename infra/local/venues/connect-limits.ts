import type { VenueName } from './markets.ts'
import { Throttle } from './throttle.ts'

/** New sockets that a venue lets one address open: so many in a window of so many ms. */
const limits: Readonly<Record<VenueName, { readonly sockets: number; readonly windowMs: number }>> = {
  binance: { sockets: 300, windowMs: 300_000 },
  bybit: { sockets: 500, windowMs: 300_000 },
  okx: { sockets: 3, windowMs: 1_000 },
  // 8 a second with bursts of 20.
  coinbase: { sockets: 20, windowMs: 1_000 },
}

/** Counts connection attempts; everything here comes from one address. */
export class ConnectLimits {
  private readonly counts: Readonly<Record<VenueName, Throttle>> = {
    binance: new Throttle(limits.binance.windowMs),
    bybit: new Throttle(limits.bybit.windowMs),
    okx: new Throttle(limits.okx.windowMs),
    coinbase: new Throttle(limits.coinbase.windowMs),
  }

  /** Counts one attempt; 429 where it is one too many. */
  status(venue: VenueName, nowMs: number): number | undefined {
    return this.counts[venue].use(nowMs) > limits[venue].sockets ? 429 : undefined
  }
}
