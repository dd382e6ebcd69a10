import type { Economy, SimToken } from '../economy.ts'
import { ok, whole } from '../query.ts'
import { Throttle } from '../throttle.ts'
import type { Micros } from '../trade.ts'
import type { RestReply, RestRequest, VenueServer } from '../venue-server.ts'
import type { World } from '../world.ts'
import { listRows, marketRow, priceRow, windows, type Window } from './rows.ts'

/** Calls a minute and address without a key; the venue does not say how many, this is the lower end of what is seen. */
const CALLS_PER_MINUTE = 10
/** With a free key. */
const KEYED_CALLS_PER_MINUTE = 100
const MINUTE_MS = 60_000
/** "Cache: every 60 seconds". */
const CACHED: Micros = 60_000_000
const PAGE = 100
const PAGE_MAX = 250

/** The token registry: REST alone. */
export class CoinGeckoServer implements VenueServer {
  readonly name = 'coingecko'
  private readonly world: World
  private readonly economy: Economy
  private readonly calls = new Throttle(MINUTE_MS)
  private cache: { readonly tokens: readonly SimToken[]; readonly since: Micros } | undefined

  constructor(world: World, economy: Economy) {
    this.world = world
    this.economy = economy
  }

  connect(): number {
    return 404
  }

  publish(): void {
    // It has no trades.
  }

  rest({ path, query, headers, nowMs }: RestRequest): RestReply {
    const limit = headers['x-cg-demo-api-key'] === undefined ? CALLS_PER_MINUTE : KEYED_CALLS_PER_MINUTE
    if (this.calls.use(nowMs) > limit) return tooMany(this.calls.left(nowMs))
    switch (path) {
      case '/api/v3/ping':
        return ok({ gecko_says: '(V3) To the Moon!' })
      case '/api/v3/coins/list':
        return ok(listRows(this.tokens()))
      case '/api/v3/coins/markets':
        return this.markets(query)
      case '/api/v3/simple/price':
        return this.prices(query)
      default:
        return { status: 404, body: { error: 'Incorrect path. Please check https://www.coingecko.com/api/' } }
    }
  }

  /** As of the last full look at the market; nothing is newer than the cache. */
  private tokens(): readonly SimToken[] {
    if (this.cache === undefined || this.world.now - this.cache.since >= CACHED) {
      this.cache = { tokens: this.economy.tokens(), since: this.world.now }
    }
    return this.cache.tokens
  }

  private markets(query: URLSearchParams): RestReply {
    const currency = query.get('vs_currency')
    if (currency === null) return refuse(422, 'Missing parameter vs_currency')
    if (currency !== 'usd') return refuse(400, 'invalid vs_currency')
    const size = whole(query, 'per_page') ?? PAGE
    const page = whole(query, 'page') ?? 1
    if (!(size >= 1 && size <= PAGE_MAX && page >= 1)) return refuse(400, 'invalid pagination')
    const ids = listOf(query.get('ids'))
    const found = this.tokens().filter(({ id }) => ids === undefined || ids.includes(id))
    const sorted = found.toSorted((left, right) => right.marketCap - left.marketCap)
    const wanted = (listOf(query.get('price_change_percentage')) ?? []).filter(isWindow)
    return ok(sorted.slice((page - 1) * size, page * size).map((token) => marketRow(token, wanted)))
  }

  /** Unknown ids are left out without a word. */
  private prices(query: URLSearchParams): RestReply {
    const ids = listOf(query.get('ids'))
    if (ids === undefined) return refuse(422, 'Missing parameter ids')
    if (query.get('vs_currencies') === null) return refuse(422, 'Missing parameter vs_currencies')
    const found = this.tokens().filter(({ id }) => ids.includes(id))
    const asked = (figure: string): boolean => query.get(figure) === 'true'
    return ok(Object.fromEntries(found.map((token) => [token.id, priceRow(token, asked)])))
  }
}

function tooMany(leftMs: number): RestReply {
  const error_message =
    "You've exceeded the Rate Limit. Please visit https://www.coingecko.com/en/api/pricing to subscribe to our API plans for higher rate limits."
  const headers = { 'retry-after': String(Math.max(1, Math.ceil(leftMs / 1000))) }
  return { status: 429, headers, body: { status: { error_code: 429, error_message } } }
}

function refuse(status: number, error: string): RestReply {
  return { status, body: { error } }
}

function listOf(text: string | null): string[] | undefined {
  return text === null || text === '' ? undefined : text.split(',').map((item) => item.trim())
}

function isWindow(text: string): text is Window {
  return Object.hasOwn(windows, text)
}
