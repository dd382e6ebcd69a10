import type { SimToken } from '../market/economy.ts'
import type { Micros } from '../market/trade.ts'
import type { Context, RestReply, VenueApi } from './venue-api.ts'
import { ok, secondsText, Throttle, whole } from './rest.ts'

/** Calls a minute and address without a key; the venue does not say how many, this is the lower end of what is seen. */
const CALLS_PER_MINUTE = 10
/** With a free key. */
const KEYED_CALLS_PER_MINUTE = 100
const MINUTE_MS = 60_000
/** "Cache: every 60 seconds". */
const CACHED: Micros = 60_000_000
const PAGE = 100
const PAGE_MAX = 250

/**
 * The token registry: REST alone.
 * - REST: coins/markets, ping; 60 s old at most
 * - limits: 10 a minute, 100 with a key, 429 with `Retry-After`
 * - listings: traded assets
 */
export function coinGeckoApi({ world, economy }: Context): VenueApi {
  const throttle = new Throttle(MINUTE_MS)
  let cache: { readonly tokens: readonly SimToken[]; readonly since: Micros } | undefined
  /** As of the last full look at the market; nothing is newer than the cache. */
  const tokens = (): readonly SimToken[] => {
    if (cache === undefined || world.now - cache.since >= CACHED) cache = { tokens: economy.tokens(), since: world.now }
    return cache.tokens
  }
  return {
    name: 'coingecko',
    tooMany,
    rest({ path, query, headers, nowMs }) {
      const limit = headers['x-cg-demo-api-key'] === undefined ? CALLS_PER_MINUTE : KEYED_CALLS_PER_MINUTE
      if (throttle.use(nowMs) > limit) return tooMany(throttle.left(nowMs))
      const call = Object.hasOwn(calls, path) ? calls[path] : undefined
      return call?.(tokens, query) ?? refuse(404, 'Incorrect path. Please check https://www.coingecko.com/api/')
    },
  }
}

const calls: Readonly<Record<string, (tokens: () => readonly SimToken[], query: URLSearchParams) => RestReply>> = {
  '/api/v3/ping': () => ok({ gecko_says: '(V3) To the Moon!' }),
  '/api/v3/coins/markets': (tokens, query) => {
    const currency = query.get('vs_currency')
    if (currency === null) return refuse(422, 'Missing parameter vs_currency')
    if (currency !== 'usd') return refuse(400, 'invalid vs_currency')
    const size = whole(query, 'per_page') ?? PAGE
    const page = whole(query, 'page') ?? 1
    if (!(size >= 1 && size <= PAGE_MAX && page >= 1)) return refuse(400, 'invalid pagination')
    const ids = listOf(query.get('ids'))
    const found = tokens().filter(({ id }) => ids === undefined || ids.includes(id))
    const sorted = found.toSorted((left, right) => right.marketCap - left.marketCap)
    const wanted = (listOf(query.get('price_change_percentage')) ?? []).filter(isWindow)
    return ok(sorted.slice((page - 1) * size, page * size).map((token) => marketRow(token, wanted)))
  },
}

function tooMany(leftMs: number): RestReply {
  const error_message =
    "You've exceeded the Rate Limit. Please visit https://www.coingecko.com/en/api/pricing to subscribe to our API plans for higher rate limits."
  const headers = { 'retry-after': secondsText(leftMs) }
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

/** Windows that `price_change_percentage` may ask for, and the tokens' own figure for each. */
const windows = {
  '24h': (token: SimToken) => token.change24h,
  '7d': (token: SimToken) => token.change7d,
  '30d': (token: SimToken) => token.change30d,
} as const
type Window = keyof typeof windows

/** A row of `coins/markets` in dollars. */
function marketRow(token: SimToken, wanted: readonly Window[]): object {
  const before = token.price / (1 + token.change24h / 100)
  const capBefore = token.marketCap / (1 + token.change24h / 100)
  return {
    id: token.id,
    symbol: token.symbol.toLowerCase(),
    name: token.name,
    image: `https://coin-images.coingecko.com/coins/images/1/large/${token.id}.png?1696501400`,
    current_price: token.price,
    market_cap: Math.round(token.marketCap),
    market_cap_rank: token.rank,
    fully_diluted_valuation: token.total === null ? null : Math.round(token.price * token.total),
    total_volume: Math.round(token.volume24h),
    high_24h: Math.max(token.price, before),
    low_24h: Math.min(token.price, before),
    price_change_24h: token.price - before,
    price_change_percentage_24h: token.change24h,
    market_cap_change_24h: token.marketCap - capBefore,
    market_cap_change_percentage_24h: token.change24h,
    circulating_supply: token.circulating,
    total_supply: token.total,
    max_supply: token.total,
    ath: token.ath,
    ath_change_percentage: (token.price / token.ath - 1) * 100,
    ath_date: timeText(token.athTime),
    atl: token.atl,
    atl_change_percentage: (token.price / token.atl - 1) * 100,
    atl_date: timeText(token.atlTime),
    roi: null,
    last_updated: timeText(token.updated),
    ...Object.fromEntries(
      wanted.map((window) => [`price_change_percentage_${window}_in_currency`, windows[window](token)]),
    ),
  }
}

function timeText(time: Micros): string {
  return new Date(Math.floor(time / 1000)).toISOString()
}
