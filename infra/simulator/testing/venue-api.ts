import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Faults } from '../faults/faults.ts'
import { World } from '../ledger/world.ts'
import { furtherMarkets } from '../market/further.ts'
import { serve } from '../server.ts'
import type { TradeVenueName } from '../../../schemas/venues.ts'
import { Random } from '../market/random.ts'
import { type Fill, numberedAfter } from '../market/trade.ts'
import { type Context, prefixOf, type VenueApi } from '../venues/venue-api.ts'
import { openSocket, type TestSocket } from './client.ts'
import { testEconomy, type TestEconomy } from './economy.ts'

/** One venue’s API over an economy that the test moves, on a port of its own. */
export interface TestVenueApi {
  readonly economy: TestEconomy
  readonly world: World
  get(path: string): Promise<{ status: number; body: unknown }>
  open(path: string, frames?: readonly object[]): TestSocket
  /** Lets the API publish, `ms` after the last time; the venues' clock goes on as much. */
  beat(ms: number): void
  /** A market of the world trades this, now. */
  trade(
    venue: TradeVenueName,
    symbol: string,
    fills: readonly (Pick<Fill, 'price' | 'size' | 'buy'> & Partial<Fill>)[],
  ): void
  /** What has failed in it. */
  readonly failures: readonly unknown[]
  close(): Promise<void>
}

/** Serves `make`'s API; what trades the test says. */
export async function testVenueApi(make: (context: Context) => VenueApi): Promise<TestVenueApi> {
  const folder = mkdtempSync(join(tmpdir(), 'venue-api-'))
  const economy = testEconomy()
  const world = new World(folder, [], economy.now, furtherMarkets)
  const api = make({ world, economy })
  const failures: unknown[] = []
  const listening = await serve(
    [api],
    {
      faults: new Faults(1),
      operator: () => ({ status: 404, body: {} }),
      failed: (error) => failures.push(error),
    },
    { host: '127.0.0.1', port: 0 },
  )
  const url = `${listening.url}/${prefixOf(api)}`
  const sockets: TestSocket[] = []
  return {
    economy,
    world,
    failures,
    async get(path) {
      const answer = await fetch(`${url}${path}`)
      const text = await answer.text()
      return { status: answer.status, body: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text }
    },
    open(path, frames = []) {
      const socket = openSocket(
        `${url.replace('http', 'ws')}${path}`,
        frames.map((frame) => JSON.stringify(frame)),
      )
      sockets.push(socket)
      return socket
    },
    beat(ms) {
      economy.now += ms * 1000
      world.now = economy.now
      api.beat?.(economy.now / 1000)
    },
    trade(venue, symbol, fills) {
      const history = world.find(venue, symbol)
      if (history === undefined) throw new Error(`${venue} has no ${symbol}`)
      const common = { time: economy.now, fills: 1, block: false, rpi: false }
      const all = fills.map((fill) => ({ ...common, ...fill }))
      const trades = numberedAfter(history.tail, history.market, all, new Random(1))
      history.append(trades)
      api.publish?.(history.market, trades)
    },
    async close() {
      for (const socket of sockets) socket.close()
      await listening.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Recorded answers and frames of the real venues; they stay outside of the repository. */
export const recordings = join(import.meta.dirname, '../../../../shared/data')
