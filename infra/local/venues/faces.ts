import { BinanceServer } from './binance/server.ts'
import { BinanceSpotServer } from './binance-spot/server.ts'
import { BybitServer } from './bybit/server.ts'
import { CoinbaseServer } from './coinbase/server.ts'
import { CoinGeckoServer } from './coingecko/server.ts'
import type { Economy } from './economy.ts'
import { GateServer } from './gate/server.ts'
import { KrakenServer } from './kraken/server.ts'
import { OkxServer } from './okx/server.ts'
import type { VenueServer } from './venue-server.ts'
import type { World } from './world.ts'

/** Every venue's face; the first part of its path is its prefix, else its name. */
export function facesOf({
  world,
  economy,
  lifetimeMs,
}: {
  world: World
  economy: Economy
  /** How long Binance keeps a socket. */
  lifetimeMs: number
}): readonly VenueServer[] {
  return [
    new BinanceServer(world, economy, lifetimeMs),
    new BinanceSpotServer(world, economy, lifetimeMs),
    new BybitServer(world, economy),
    new OkxServer(world, economy),
    new CoinbaseServer(world, economy),
    new KrakenServer(world, economy),
    new GateServer(world, economy),
    new CoinGeckoServer(world, economy),
  ]
}
