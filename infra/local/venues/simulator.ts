import { join } from 'node:path'
import { ConnectLimits } from './connect-limits.ts'
import type { Economy } from './economy.ts'
import { SimulatedEconomy } from './economy/simulated-economy.ts'
import type { ListingChange } from './economy/listings.ts'
import { facesOf } from './faces.ts'
import { Faults } from './faults.ts'
import { simulatedMarkets, tradeVenueNames, type Market } from './markets.ts'
import { operate } from './operator.ts'
import { FaultSchedule } from './schedule.ts'
import { prefixOf, serve, type Gate } from './server.ts'
import { modelSource, type Source } from './source.ts'
import { openTape } from './tape.ts'
import { TapeEconomy } from './tape-economy.ts'
import type { Micros, Trade } from './trade.ts'
import { World } from './world.ts'

export interface SimulatorOptions {
  readonly dataDir: string
  readonly host: string
  readonly port: number
  readonly seed: number
  /** Trades a second over all markets. */
  readonly rate: number
  /** Made-up assets whose perpetuals are listed beside those that trade. */
  readonly fillers?: number
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
/** The faces are asked this often to say what they say beside trades. */
const BEAT_MS = 250
const DAY_MS = 86_400_000

/** Starts the venues over a seeded market or a tape, on one port. */
export async function startVenues(options: SimulatorOptions): Promise<Simulator> {
  const { world, source, economy, simulated } = await openSource(options)
  const venues = facesOf({ world, economy, lifetimeMs: options.lifetimeMs ?? DAY_MS })
  const faults = new Faults(options.seed)
  const schedule = options.faults === true ? new FaultSchedule(options.seed, Date.now()) : undefined
  const limits = options.connectLimits === false ? undefined : new ConnectLimits()
  let paused = false
  const pause = (value: boolean): void => {
    paused = value
  }
  const list = (change: ListingChange): string | undefined => {
    if (simulated === undefined) return 'a tape’s instrument lists do not change'
    const refused = simulated.list(change)
    if (refused === undefined) recount(world, simulated)
    return refused
  }
  const listening = await serve(
    venues,
    gateOf({ world, economy, faults, pause, progress: () => source.progress(), limits, list }),
    options,
  )
  let beatMs = 0
  const timer = setInterval(() => {
    const host = hostMicros()
    for (const order of schedule?.due(host / 1000) ?? []) faults.start(order, host / 1000)
    faults.tick(host / 1000)
    if (paused) source.skip(host)
    else
      for (const { market, trades, now } of source.advance(host, faults.unread())) {
        world.now = now
        const history = world.get(market)
        // What its venue has taken off the list does not trade.
        if (simulated !== undefined && simulated.listed(market) === undefined) continue
        history.append(trades)
        simulated?.traded(market, trades)
        venues
          .find(({ name, prefix }) => name === market.venue && prefix === undefined)
          ?.publish(history.market, trades)
      }
    world.now = source.clock(host)
    simulated?.advance(world.now, paused)
    if (host / 1000 - beatMs < BEAT_MS) return
    beatMs = host / 1000
    for (const venue of venues) venue.beat?.(beatMs)
  }, STEP_MS)
  const close = async (): Promise<void> => {
    clearInterval(timer)
    await listening.close()
    source.close()
    simulated?.close()
    world.close()
  }
  return { url: listening.url, close }
}

interface Way {
  readonly world: World
  readonly economy: Economy
  readonly faults: Faults
  readonly pause: (paused: boolean) => void
  readonly progress: () => object
  readonly limits: ConnectLimits | undefined
  readonly list: (change: ListingChange) => string | undefined
}

function gateOf(way: Way): Gate {
  const { faults } = way
  return {
    tamper: faults,
    socketStatus: (face) => faults.socketStatus(face.name) ?? way.limits?.status(prefixOf(face), Date.now()),
    restReply: (venue) => faults.restReply(venue, Date.now()),
    opened: (link, session) => faults.opened(link, session),
    closed: (link) => faults.closed(link),
    operator: (request) => operate(way, request),
  }
}

interface Opened {
  readonly world: World
  readonly source: Source
  readonly economy: Economy
  /** The same economy where it is simulated: it wants to know what trades. */
  readonly simulated: SimulatedEconomy | undefined
}

async function openSource(options: SimulatorOptions): Promise<Opened> {
  if (options.tape !== undefined) {
    const { world, source } = await openTape(options.tape, join(options.dataDir, 'tape'))
    return { world, source, economy: new TapeEconomy(world), simulated: undefined }
  }
  const now = hostMicros()
  const world = new World(join(options.dataDir, 'market'), simulatedMarkets, now)
  const simulated = new SimulatedEconomy({
    folder: join(options.dataDir, 'economy'),
    seed: options.seed,
    rate: options.rate,
    fillers: options.fillers ?? 0,
    now,
    newest: newestOf(world),
  })
  recount(world, simulated)
  const basis = simulated.basis.bind(simulated)
  const source = modelSource(world, { seed: options.seed, rate: options.rate, start: now, basis })
  return { world, source, economy: simulated, simulated }
}

/** Markets whose contracts got another value are shown so from now on. */
function recount(world: World, economy: SimulatedEconomy): void {
  for (const history of tradeVenueNames.flatMap((venue) => world.of(venue))) {
    history.market = economy.listed(history.market) ?? history.market
  }
}

/** The newest trade of each market that has traded. */
function newestOf(world: World): { market: Market; trade: Trade }[] {
  const histories = tradeVenueNames.flatMap((venue) => world.of(venue))
  return histories.flatMap(({ market, newest }) => (newest === undefined ? [] : [{ market, trade: newest }]))
}

function hostMicros(): Micros {
  return Date.now() * 1000
}
