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

/** Counts connection attempts; everything here comes from one address. */
export class SocketLimits {
  private readonly counts = new Map<VenueApi, Throttle>()

  /** Counts one attempt at an API; 429 where it is one too many. */
  status(api: VenueApi, nowMs: number): number | undefined {
    if (api.sockets === undefined) return undefined
    const count = this.counts.get(api) ?? new Throttle(api.sockets.windowMs)
    this.counts.set(api, count)
    return count.use(nowMs) > api.sockets.most ? 429 : undefined
  }
}
