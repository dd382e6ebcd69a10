import { BinanceServer } from './binance/server.ts'
import { BybitServer } from './bybit/server.ts'
import { CoinbaseServer } from './coinbase/server.ts'
import type { Economy } from './economy.ts'
import { OkxServer } from './okx/server.ts'
import type { VenueServer } from './venue-server.ts'
import type { World } from './world.ts'

/** Every venue's face; the first part of its path is its prefix, else its name. */
export function facesOf({
  world,
  lifetimeMs,
}: {
  world: World
  economy: Economy
  /** How long Binance keeps a socket. */
  lifetimeMs: number
}): readonly VenueServer[] {
  return [new BinanceServer(world, lifetimeMs), new BybitServer(world), new OkxServer(world), new CoinbaseServer(world)]
}
