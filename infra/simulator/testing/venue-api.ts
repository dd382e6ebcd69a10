import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Faults } from '../faults/faults.ts'
import { World } from '../ledger/world.ts'
import { serve } from '../server.ts'
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
  /** What has failed in it. */
  readonly failures: readonly unknown[]
  close(): Promise<void>
}

/** Serves `make`'s API; there are no trades. */
export async function testVenueApi(make: (context: Context) => VenueApi): Promise<TestVenueApi> {
  const folder = mkdtempSync(join(tmpdir(), 'venue-api-'))
  const economy = testEconomy()
  const world = new World(folder, [], economy.now)
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
    async close() {
      for (const socket of sockets) socket.close()
      await listening.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Recorded answers and frames of the real venues; they stay outside of the repository. */
export const recordings = join(import.meta.dirname, '../../../../shared/data')
