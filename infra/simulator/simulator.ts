import { join } from 'node:path'
import { Faults } from './faults/faults.ts'
import { FaultSchedule } from './faults/schedule.ts'
import { World } from './ledger/world.ts'
import type { Economy } from './market/economy.ts'
import type { ListingChange } from './market/listings.ts'
import { furtherMarkets, isFurther } from './market/further.ts'
import { type Market, simulatedMarkets, tradeVenueNames } from './market/markets.ts'
import { SimulatedEconomy } from './market/simulated-economy.ts'
import type { Micros, Trade } from './market/trade.ts'
import { operate } from './operator.ts'
import { type OperatorRequest, serve } from './server.ts'
import { modelSource, type Source } from './source.ts'
import { TapeEconomy } from './tape/economy.ts'
import { openTape } from './tape/tape.ts'
import { tradesOf, type RestReply } from './venues/venue-api.ts'
import { venueApisOf, SocketLimits } from './venues/venues.ts'

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
  /** An answer failed, which is a defect; where nobody wants to know, the process ends. */
  readonly failed?: (error: unknown) => void
}

export interface Simulator {
  readonly url: string
  close(): Promise<void>
}

/** The source is asked this often for what has traded. */
const STEP_MS = 5
/** The venues' APIs are asked this often to say what they say beside trades. */
const BEAT_MS = 250

/** Starts the venues over a seeded market or a tape, on one port. */
export async function startVenues(options: SimulatorOptions): Promise<Simulator> {
  const { world, source, economy, simulated } = await openSource(options)
  const venues = venueApisOf({
    world,
    economy,
    seed: options.seed,
    ...(options.lifetimeMs === undefined ? {} : { lifetimeMs: options.lifetimeMs }),
  })
  const faults = new Faults(options.seed)
  const schedule = options.faults === true ? new FaultSchedule(options.seed, Date.now()) : undefined
  const limits = options.connectLimits === false ? undefined : new SocketLimits()
  let paused = false
  const pause = (value: boolean): boolean => {
    const before = paused
    paused = value
    return before
  }
  const list = (change: ListingChange): string | undefined => {
    if (simulated === undefined) return 'a tape’s instrument lists do not change'
    const refused = simulated.list(change)
    if (refused === undefined) recount(world, simulated)
    return refused
  }
  const names = venues.map(({ name }) => name)
  const operated = { venues: names, world, economy, faults, pause, progress: () => source.progress(), list }
  const operator = (request: OperatorRequest): Promise<RestReply> => operate(operated, request)
  const listening = await serve(venues, { faults, limits, operator, failed: options.failed ?? thrown }, options)
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
        const further = isFurther(market)
        if (!further && simulated !== undefined && simulated.listed(market) === undefined) continue
        history.append(trades)
        if (!further) simulated?.traded(market, trades)
        venues.find((api) => tradesOf(api) === market.venue)?.publish?.(history.market, trades)
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
  const world = new World(join(options.dataDir, 'market'), simulatedMarkets, now, furtherMarkets)
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

/** Out of the caller's hands, as an error that nobody catches. */
function thrown(error: unknown): void {
  queueMicrotask(() => {
    throw error
  })
}

function hostMicros(): Micros {
  return Date.now() * 1000
}
