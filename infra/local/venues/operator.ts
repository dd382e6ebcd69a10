import { faultOrder } from './fault-kinds.ts'
import type { Faults } from './faults.ts'
import { ok } from './query.ts'
import type { Economy } from './economy.ts'
import { listingChange, type ListingChange } from './economy/listings.ts'
import { marketLedger } from './market-ledger.ts'
import type { OperatorRequest } from './server.ts'
import type { RestReply } from './venue-server.ts'
import type { World } from './world.ts'

export interface Operated {
  readonly world: World
  readonly economy: Economy
  readonly faults: Faults
  readonly pause: (paused: boolean) => void
  readonly progress: () => object
  /** The reason where a list cannot be changed so. */
  readonly list: (change: ListingChange) => string | undefined
}

/** The operator's own paths, beside the venues'. */
export async function operate(parts: Operated, request: OperatorRequest): Promise<RestReply> {
  switch (`${request.method} ${request.path}`) {
    case 'GET /ledger':
      return ledger(parts.world, request.query)
    case 'GET /ledger/market':
      return marketLedger(parts.economy, request.query, parts.world.now)
    case 'POST /listings':
      return listing(parts, await request.body())
    case 'GET /faults':
      return ok(parts.faults.status())
    case 'POST /faults': {
      const result = faultOrder(await request.body())
      if ('error' in result) return { status: 400, body: result }
      return ok(parts.faults.start(result.order, Date.now()))
    }
    case 'GET /tape':
      return ok(parts.progress())
    case 'POST /pause':
    case 'POST /resume':
      parts.pause(request.path === '/pause')
      return ok({ paused: request.path === '/pause' })
    case 'GET /healthz':
      return ok({ ok: true })
    default:
      return {
        status: 404,
        body: {
          error:
            'see GET /ledger, GET /ledger/market, GET|POST /faults, POST /listings, POST /pause, POST /resume, GET /tape, and /binance, /binance-spot, /bybit, /okx, /coinbase, /kraken, /gate, /coingecko',
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
  const [from, to] = ['from', 'to'].map((name) => query.get(name))
  if ([from, to].some((text) => typeof text === 'string' && !/^\d+$/.test(text))) {
    return { status: 400, body: { error: 'from and to are microseconds since 1970' } }
  }
  return ok(
    world.ledger({
      ...(venue === null ? {} : { venue }),
      ...(symbol === null ? {} : { symbol }),
      ...(typeof from === 'string' ? { from: Number(from) } : {}),
      ...(typeof to === 'string' ? { to: Number(to) } : {}),
    }),
  )
}
