import { join } from 'node:path'
import { BinanceServer } from './binance/server.ts'
import { BybitServer } from './bybit/server.ts'
import { CoinbaseServer } from './coinbase/server.ts'
import { OkxServer } from './okx/server.ts'
import { simulatedMarkets, type Market } from './markets.ts'
import { MarketModel, type DrawnFills } from './model.ts'
import { numberedAfter } from './numbering.ts'
import { Random } from './random.ts'
import { serve, type Gate, type OperatorRequest } from './server.ts'
import type { Micros } from './trade.ts'
import type { RestReply, VenueServer } from './venue-server.ts'
import { World } from './world.ts'

export interface SimulatorOptions {
  readonly dataDir: string
  readonly host: string
  readonly port: number
  readonly seed: number
  /** Trades a second over all markets. */
  readonly rate: number
}

export interface Simulator {
  readonly url: string
  close(): Promise<void>
}

/** The market is asked this often for what has traded. */
const STEP_MS = 5
const DAY_MS = 86_400_000

/** Starts the four venues over a seeded market, on one port. */
export async function startVenues(options: SimulatorOptions): Promise<Simulator> {
  const world = new World(join(options.dataDir, 'market'), simulatedMarkets, hostMicros())
  const venues: readonly VenueServer[] = [
    new BinanceServer(world, DAY_MS),
    new BybitServer(world),
    new OkxServer(world),
    new CoinbaseServer(world),
  ]
  const source = modelSource(world, options)
  let paused = false
  const gate: Gate = {
    tamper: (_link, _market, frame) => [frame],
    socketStatus: () => undefined,
    restReply: () => ({}),
    opened: () => undefined,
    closed: () => undefined,
    operator: (request) => operate(world, request, (value) => (paused = value)),
  }
  const timer = setInterval(() => {
    const now = hostMicros()
    world.now = now
    const drawn = source(now)
    if (paused) return
    for (const { market, fills } of drawn) trade(world, venues, { market, fills })
  }, STEP_MS)
  const listening = await serve(venues, gate, options)
  const close = async (): Promise<void> => {
    clearInterval(timer)
    await listening.close()
    world.close()
  }
  return { url: listening.url, close }
}

const random = new Random(1)

function trade(world: World, venues: readonly VenueServer[], { market, fills }: DrawnFills): void {
  const history = world.get(market)
  const trades = numberedAfter(history.newest, market, fills, random)
  history.append(trades)
  venues.find((venue) => venue.name === market.venue)?.publish(market, trades)
}

function modelSource(world: World, { seed, rate }: SimulatorOptions): (now: Micros) => DrawnFills[] {
  const prices = new Map<Market, number>()
  for (const market of simulatedMarkets) {
    const { newest } = world.get(market)
    if (newest !== undefined) prices.set(market, newest.price / 10 ** market.priceDecimals)
  }
  const model = new MarketModel({ seed, rate, start: hostMicros(), prices })
  return (now) => model.advance(now)
}

function operate(world: World, request: OperatorRequest, pause: (value: boolean) => void): RestReply {
  const route = `${request.method} ${request.path}`
  switch (route) {
    case 'GET /ledger':
      return { status: 200, body: world.ledger(Object.fromEntries(request.query)) }
    case 'POST /pause':
    case 'POST /resume':
      pause(request.path === '/pause')
      return { status: 200, body: { paused: request.path === '/pause' } }
    default:
      return { status: 404, body: { error: 'unknown path' } }
  }
}

function hostMicros(): Micros {
  return Date.now() * 1000
}
