import type { VenueName } from '../../schemas/venues.ts'
import { faultOrder, type Faults } from './faults/faults.ts'
import type { World } from './ledger/world.ts'
import { type Economy, type PerpMarket, perpVenueNames, type SpotMarket, spotVenueNames } from './market/economy.ts'
import { listingChange, type ListingChange } from './market/listings.ts'
import type { Micros } from './market/trade.ts'
import type { OperatorRequest } from './server.ts'
import type { RestReply } from './venues/venue-api.ts'
import { ok } from './venues/rest.ts'

interface Operated {
  readonly venues: readonly VenueName[]
  readonly world: World
  readonly economy: Economy
  readonly faults: Faults
  /** Gives whether it was paused before. */
  readonly pause: (paused: boolean) => boolean
  readonly progress: () => object
  /** The reason where a list cannot be changed so. */
  readonly list: (change: ListingChange) => string | undefined
}

/** The operator's own paths, beside the venues'. */
export async function operate(parts: Operated, request: OperatorRequest): Promise<RestReply> {
  switch (`${request.method} ${request.path}`) {
    case 'GET /ledger':
      return ledger(parts.world, request.query)
    case 'GET /ledger/buckets':
      return bucketLedger(parts.world, request.query)
    case 'GET /ledger/market':
      return marketLedger(parts.economy, request.query, parts.world.now)
    case 'POST /listings':
      return listing(parts, await request.body())
    case 'GET /faults':
      return ok(parts.faults.status())
    case 'POST /faults': {
      const result = faultOrder(await request.body(), parts.venues)
      if ('error' in result) return { status: 400, body: result }
      return ok(parts.faults.start(result.order, Date.now()))
    }
    case 'GET /tape':
      return ok({ ...parts.progress(), now: parts.world.now })
    case 'POST /pause':
    case 'POST /resume': {
      const paused = request.path === '/pause'
      return ok({ paused, was_paused: parts.pause(paused) })
    }
    case 'GET /healthz':
      return ok({ ok: true })
    default:
      return {
        status: 404,
        body: {
          error:
            'see GET /ledger, GET /ledger/buckets, GET /ledger/market, GET|POST /faults, POST /listings, POST /pause, POST /resume, GET /tape, and a path for each venue: /binance, /binance-spot, ...',
        },
      }
  }
}

function listing(parts: Operated, body: unknown): RestReply {
  const change = listingChange(body)
  const refused = typeof change === 'string' ? change : parts.list(change)
  return refused === undefined ? ok({ changed: change }) : { status: 400, body: { error: refused } }
}

function ledger(world: World, query: URLSearchParams): RestReply {
  const [venue, symbol] = [query.get('venue'), query.get('symbol')]
  const bounds = boundsOf(query)
  if (bounds === undefined) return badBounds
  return ok(
    world.ledger({
      ...(venue === null ? {} : { venue }),
      ...(symbol === null ? {} : { symbol }),
      ...bounds,
    }),
  )
}

/** As long as those of `derived.flow`. */
const BUCKET: Micros = 10_000_000

function bucketLedger(world: World, query: URLSearchParams): RestReply {
  const bounds = boundsOf(query)
  return bounds === undefined ? badBounds : ok(world.buckets(BUCKET, bounds))
}

const badBounds = { status: 400, body: { error: 'from and to are microseconds since 1970' } }

/** undefined: they are no times. */
function boundsOf(query: URLSearchParams): { from?: Micros; to?: Micros } | undefined {
  const [from, to] = ['from', 'to'].map((name) => query.get(name))
  if ([from, to].some((text) => typeof text === 'string' && !/^\d+$/.test(text))) return undefined
  return {
    ...(typeof from === 'string' ? { from: Number(from) } : {}),
    ...(typeof to === 'string' ? { to: Number(to) } : {}),
  }
}

const DAY: Micros = 86_400_000_000
const MINUTE: Micros = 60_000_000
const FIVE_MINUTES: Micros = 5 * MINUTE
/** Settlements, liquidations and the like that one answer may hold for each market. */
const ROWS_MAX = 5_000

const ledgerKinds = [
  'spot',
  'perp',
  'premiums',
  'settlements',
  'open-interest',
  'ratios',
  'liquidations',
  'tokens',
] as const

interface Wanted {
  readonly venue: string | null
  /** A venue's symbol or the asset. */
  readonly symbol: string | null
  readonly from: Micros
  readonly to: Micros
}

/** `GET /ledger/market`: the economy's own numbers, in dollars and base units, times in microseconds. */
function marketLedger(economy: Economy, query: URLSearchParams, now: Micros): RestReply {
  const kind = ledgerKinds.find((name) => name === query.get('kind'))
  if (kind === undefined) return { status: 400, body: { error: `kind is one of ${ledgerKinds.join(', ')}` } }
  const [from = '', to = ''] = ['from', 'to'].map((name) => query.get(name) ?? '')
  if (![from, to].every((text) => /^\d*$/.test(text))) {
    return { status: 400, body: { error: 'from and to are microseconds since 1970' } }
  }
  const span = { from: from === '' ? now - DAY : Number(from), to: to === '' ? now + 1 : Number(to) }
  const wanted = { venue: query.get('venue'), symbol: query.get('symbol'), ...span }
  if (kind === 'tokens') return ok(economy.tokens())
  if (kind === 'spot') return ok(spots(economy, wanted))
  return ok(perps(economy, wanted).flatMap((market) => rowsOf(economy, market, kind, wanted)))
}

function spots(economy: Economy, wanted: Wanted): object[] {
  return spotVenueNames
    .flatMap((venue) => economy.spots(venue))
    .filter((market) => concerns(wanted, market))
    .map((market) => ({ ...named(market), quote: market.quote, ...economy.spot(market) }))
}

function perps(economy: Economy, wanted: Wanted): PerpMarket[] {
  return perpVenueNames.flatMap((venue) => economy.perps(venue)).filter((market) => concerns(wanted, market))
}

function rowsOf(
  economy: Economy,
  market: PerpMarket,
  kind: 'perp' | 'premiums' | 'settlements' | 'open-interest' | 'ratios' | 'liquidations',
  { from, to }: Wanted,
): object[] {
  const rows = (found: readonly object[]): object[] =>
    found.slice(0, ROWS_MAX).map((row) => ({ ...named(market), ...row }))
  switch (kind) {
    case 'perp': {
      const { factor, intervalHours, cap, floor, maxLeverage } = market
      return rows([{ factor, intervalHours, cap, floor, maxLeverage, ...economy.perp(market) }])
    }
    case 'premiums':
      return rows(premiums(economy, market, from, to))
    case 'settlements': {
      const hours = Math.ceil((to - from) / 3_600_000_000 / market.intervalHours) + 1
      const settled = economy.settlements(market, Math.min(ROWS_MAX, hours), to)
      return rows(settled.filter(({ time }) => time >= from))
    }
    case 'open-interest':
      return rows(economy.openInterests(market, from, to))
    case 'ratios':
      return rows(ratios(economy, market, from, to))
    case 'liquidations':
      return rows(economy.liquidations(market, from, to))
  }
}

/** Closes of the minutes that are over. */
function premiums(economy: Economy, market: PerpMarket, from: Micros, to: Micros): object[] {
  const end = Math.min(to, economy.perp(market).time - MINUTE + 1)
  const found: object[] = []
  for (let time = Math.ceil(from / MINUTE) * MINUTE; time < end && found.length < ROWS_MAX; time += MINUTE) {
    found.push({ time, close: economy.premiumAt(market, time + MINUTE) })
  }
  return found
}

function ratios(economy: Economy, market: PerpMarket, from: Micros, to: Micros): object[] {
  const found: object[] = []
  for (let time = Math.ceil(from / FIVE_MINUTES) * FIVE_MINUTES; time < to; time += FIVE_MINUTES) {
    const ratio = economy.topTraders(market, time)
    if (ratio !== undefined) found.push({ time, ...ratio })
  }
  return found
}

function concerns({ venue, symbol }: Wanted, market: SpotMarket | PerpMarket): boolean {
  if (venue !== null && venue !== market.venue) return false
  return symbol === null || symbol === market.symbol || symbol === market.asset
}

function named({ venue, symbol, asset }: SpotMarket | PerpMarket): object {
  return { venue, symbol, asset }
}
