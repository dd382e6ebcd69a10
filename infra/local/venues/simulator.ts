import { join } from 'node:path'
import { BinanceServer } from './binance/server.ts'
import { BybitServer } from './bybit/server.ts'
import { ConnectLimits } from './connect-limits.ts'
import { CoinbaseServer } from './coinbase/server.ts'
import { Faults } from './faults.ts'
import { simulatedMarkets } from './markets.ts'
import { OkxServer } from './okx/server.ts'
import { operate } from './operator.ts'
import { FaultSchedule } from './schedule.ts'
import { serve, type Gate } from './server.ts'
import { modelSource, type Source } from './source.ts'
import { openTape } from './tape.ts'
import type { Micros } from './trade.ts'
import type { VenueServer } from './venue-server.ts'
import { World } from './world.ts'

export interface SimulatorOptions {
  readonly dataDir: string
  readonly host: string
  readonly port: number
  readonly seed: number
  /** Trades a second over all markets. */
  readonly rate: number
  /** Faults come by themselves, on the seed's schedule. */
  readonly faults?: boolean
  /** A tape instead of the market. */
  readonly tape?: { readonly path: string; readonly speed: number; readonly retime: boolean }
  /** How long Binance keeps a socket; a day where nothing is said. */
  readonly lifetimeMs?: number
  /** False: sockets may be opened as fast as anyone likes. */
  readonly connectLimits?: boolean
}

export interface Simulator {
  readonly url: string
  close(): Promise<void>
}

/** The source is asked this often for what has traded. */
const STEP_MS = 5
const DAY_MS = 86_400_000

/** Starts the four venues over a seeded market or a tape, on one port. */
export async function startVenues(options: SimulatorOptions): Promise<Simulator> {
  const { world, source } = await openSource(options)
  const venues: readonly VenueServer[] = [
    new BinanceServer(world, options.lifetimeMs ?? DAY_MS),
    new BybitServer(world),
    new OkxServer(world),
    new CoinbaseServer(world),
  ]
  const faults = new Faults(options.seed)
  const schedule = options.faults === true ? new FaultSchedule(options.seed, Date.now()) : undefined
  const limits = options.connectLimits === false ? undefined : new ConnectLimits()
  let paused = false
  const pause = (value: boolean): void => {
    paused = value
  }
  const listening = await serve(
    venues,
    gateOf(world, faults, { pause, progress: () => source.progress(), limits }),
    options,
  )
  const timer = setInterval(() => {
    const host = hostMicros()
    for (const order of schedule?.due(host / 1000) ?? []) faults.start(order, host / 1000)
    faults.tick(host / 1000)
    if (paused) source.skip(host)
    else
      for (const { market, trades, now } of source.advance(host, faults.unread())) {
        world.now = now
        world.get(market).append(trades)
        venues.find(({ name }) => name === market.venue)?.publish(market, trades)
      }
    world.now = source.clock(host)
  }, STEP_MS)
  const close = async (): Promise<void> => {
    clearInterval(timer)
    await listening.close()
    source.close()
    world.close()
  }
  return { url: listening.url, close }
}

interface Way {
  readonly pause: (paused: boolean) => void
  readonly progress: () => object
  readonly limits: ConnectLimits | undefined
}

function gateOf(world: World, faults: Faults, way: Way): Gate {
  return {
    tamper: faults,
    socketStatus: (venue) => faults.socketStatus(venue) ?? way.limits?.status(venue, Date.now()),
    restReply: (venue) => faults.restReply(venue, Date.now()),
    opened: (link, session) => faults.opened(link, session),
    closed: (link) => faults.closed(link),
    operator: (request) => operate({ world, faults, ...way }, request),
  }
}

async function openSource(options: SimulatorOptions): Promise<{ world: World; source: Source }> {
  if (options.tape !== undefined) return openTape(options.tape, join(options.dataDir, 'tape'))
  const world = new World(join(options.dataDir, 'market'), simulatedMarkets, hostMicros())
  return { world, source: modelSource(world, { ...options, start: hostMicros() }) }
}

function hostMicros(): Micros {
  return Date.now() * 1000
}
