import { archiveApisOf } from './archives.ts'
import { binanceApi } from './binance/api.ts'
import { binanceSpotApi } from './binance/spot.ts'
import { bitgetApi } from './bitget.ts'
import { bybitApi } from './bybit/api.ts'
import { coinbaseApi } from './coinbase/api.ts'
import { coinGeckoApi } from './coingecko.ts'
import type { Context, VenueApi } from './venue-api.ts'
import { gateApi } from './gate.ts'
import { hyperliquidApi } from './hyperliquid.ts'
import { krakenApi } from './kraken.ts'
import { okxApi } from './okx/api.ts'
import { Throttle } from './rest.ts'

/** Every venue's API; the first part of its path is its prefix, else its name. */
export function venueApisOf(context: Context): readonly VenueApi[] {
  return [
    binanceApi(context),
    binanceSpotApi(context),
    bybitApi(context),
    okxApi(context),
    coinbaseApi(context),
    krakenApi(context),
    gateApi(context),
    bitgetApi(context),
    hyperliquidApi(context),
    coinGeckoApi(context),
    ...archiveApisOf(context),
  ]
}

/** New sockets that an API lets one address open: so many in a window of so many ms. */
const socketLimits: Readonly<Record<string, { readonly sockets: number; readonly windowMs: number }>> = {
  binance: { sockets: 300, windowMs: 300_000 },
  'binance-spot': { sockets: 300, windowMs: 300_000 },
  bybit: { sockets: 500, windowMs: 300_000 },
  okx: { sockets: 3, windowMs: 1_000 },
  // 8 a second with bursts of 20.
  coinbase: { sockets: 20, windowMs: 1_000 },
  kraken: { sockets: 150, windowMs: 600_000 },
  gate: { sockets: 300, windowMs: 300_000 },
  bitget: { sockets: 300, windowMs: 300_000 },
  hyperliquid: { sockets: 30, windowMs: 60_000 },
}

/** Counts connection attempts; everything here comes from one address. */
export class SocketLimits {
  private readonly counts = new Map(
    Object.entries(socketLimits).map(([prefix, { windowMs }]) => [prefix, new Throttle(windowMs)]),
  )

  /** Counts one attempt at an API (its path's first part); 429 where it is one too many. */
  status(prefix: string, nowMs: number): number | undefined {
    const [count, limit] = [this.counts.get(prefix), socketLimits[prefix]]
    if (count === undefined || limit === undefined) return undefined
    return count.use(nowMs) > limit.sockets ? 429 : undefined
  }
}
