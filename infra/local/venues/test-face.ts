import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Economy } from './economy.ts'
import { prefixOf, serve } from './server.ts'
import { openSocket, type TestSocket } from './test-client.ts'
import { testEconomy, type TestEconomy } from './test-economy.ts'
import type { VenueServer } from './venue-server.ts'
import { World } from './world.ts'

/** One face over an economy that the test moves, on a port of its own. */
export interface TestFace {
  readonly economy: TestEconomy
  readonly world: World
  get(path: string): Promise<{ status: number; body: unknown }>
  open(path: string, frames?: readonly object[]): TestSocket
  /** Lets the face speak, `ms` after the last time; the venues' clock goes on as much. */
  beat(ms: number): void
  close(): Promise<void>
}

/** Serves `make`'s face; there are no trades. */
export async function testFace(make: (world: World, economy: Economy) => VenueServer): Promise<TestFace> {
  const folder = mkdtempSync(join(tmpdir(), 'face-'))
  const economy = testEconomy()
  const world = new World(folder, [], economy.now)
  const face = make(world, economy)
  const listening = await serve(
    [face],
    {
      tamper: {
        trade: (_link, _market, frame) => [frame],
        data: (_link, _market, frame) => [frame],
        speaks: () => true,
      },
      socketStatus: () => undefined,
      restReply: () => ({}),
      opened: () => undefined,
      closed: () => undefined,
      operator: () => ({ status: 404, body: {} }),
    },
    { host: '127.0.0.1', port: 0 },
  )
  const url = `${listening.url}/${prefixOf(face)}`
  const sockets: TestSocket[] = []
  return {
    economy,
    world,
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
      face.beat?.(economy.now / 1000)
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
