import type { Candle } from '../candles.ts'
import { trimmedText } from '../decimal.ts'
import type { History } from '../history.ts'
import type { Market } from '../markets.ts'
import { ok, whole } from '../query.ts'
import type { RestReply, RestRequest } from '../venue-server.ts'
import { longerCandles, withOpenMinute } from '../minutes.ts'
import {
  advancedProduct,
  advancedTicker,
  minuteRow,
  statsRow,
  tickerRow,
  withAlias,
  type AdvancedProduct,
  type Shown,
} from './data-rows.ts'
import { tradeRow } from './frames.ts'
import { currencies, products } from './listing.ts'
import type { Showcase } from './showcase.ts'

/** "10 requests per second per IP, up to 15 in bursts." */
const REQUESTS_PER_SECOND = 10
const BURST = 15
const PAGE_MAX = 1000
const CANDLES_MAX = 300
const granularities: ReadonlySet<number> = new Set([60, 300, 900, 3600, 21_600, 86_400])

const ADVANCED = '/api/v3/brokerage/market/products'

/** Coinbase Exchange REST, and the public paths of Advanced Trade, which is another host with limits of its own. */
export class CoinbaseRest {
  private readonly showcase: Showcase
  private readonly limits = { exchange: new Burst(), advanced: new Burst() }

  constructor(showcase: Showcase) {
    this.showcase = showcase
  }

  answer({ path, query, headers, nowMs }: RestRequest): RestReply {
    const advanced = path.startsWith(ADVANCED)
    if (!advanced && headers['user-agent'] === undefined) return refuse(400, 'User-Agent header is required.')
    if (!this.limits[advanced ? 'advanced' : 'exchange'].takes(nowMs)) return refuse(429, 'Public rate limit exceeded')
    if (advanced) return this.advanced(path, query)
    const { markets, world } = this.showcase
    switch (path) {
      case '/time':
        return ok({ iso: new Date(world.nowMs).toISOString(), epoch: world.nowMs / 1000 })
      case '/products':
        return ok(products(markets))
      case '/currencies':
        return ok(currencies(markets))
      default:
        return this.product(path, query)
    }
  }

  private advanced(path: string, query: URLSearchParams): RestReply {
    if (path === ADVANCED) return ok(this.allAdvanced(query))
    const [product = '', what] = path.slice(ADVANCED.length + 1).split('/')
    const shown = this.showcase.find(product.replace(/-USDC$/, '-USD'))
    if (shown === undefined)
      return { status: 404, body: { error: 'NOT_FOUND', error_details: 'valid product_id is required' } }
    if (what === 'ticker') return ok(advancedTicker(shown, Math.min(1000, whole(query, 'limit') ?? 100)))
    return ok(withAlias(advancedProduct(shown)).find(({ product_id }) => product_id === product) ?? {})
  }

  private allAdvanced(query: URLSearchParams): object {
    const type = query.get('product_type') ?? 'SPOT'
    const wanted = new Set(query.getAll('product_ids'))
    const all = (type === 'SPOT' ? this.showcase.all() : [])
      .flatMap((shown) => withAlias(advancedProduct(shown)))
      .concat(type === 'SPOT' ? this.disabled() : [])
      .filter(({ product_id }) => wanted.size === 0 || wanted.has(String(product_id)))
    const offset = whole(query, 'offset') ?? 0
    const page = all.slice(offset, offset + (whole(query, 'limit') ?? all.length))
    const next = offset + page.length < all.length
    const pagination = { prev_cursor: '', next_cursor: '', has_next: next, has_prev: offset > 0 }
    return { products: page, num_products: all.length, pagination }
  }

  /** Listed, and to be left out. */
  private disabled(): AdvancedProduct[] {
    const [first] = this.showcase.all()
    if (first === undefined) return []
    const off = { trading_disabled: true, status: 'delisted', volume_24h: '', price: '0.1868', alias_to: [] }
    return [{ ...advancedProduct(first), product_id: 'EOS-USD', base_currency_id: 'EOS', ...off }]
  }

  private product(path: string, query: URLSearchParams): RestReply {
    const match = /^\/products\/([^/]+)(?:\/(trades|candles|ticker|stats))?$/.exec(path)
    const shown = this.showcase.find(match?.[1] ?? '')
    if (match === null || shown === undefined) return refuse(404, 'NotFound')
    switch (match[2]) {
      case 'trades':
        // What is listed without ever having traded has no rows.
        return shown.history === undefined ? ok([]) : trades(shown.history, query)
      case 'candles':
        return this.candles(shown, query)
      case 'ticker':
        return ok(tickerRow(shown))
      case 'stats':
        return ok(statsRow(shown))
      default:
        return ok(products([shown.market])[0])
    }
  }

  private candles(shown: Shown, query: URLSearchParams): RestReply {
    const granularity = Number(query.get('granularity') ?? 60)
    if (!granularities.has(granularity)) return refuse(400, 'Unsupported granularity')
    const intervalMs = granularity * 1000
    const endMs = momentOf(query.get('end')) ?? this.showcase.world.nowMs
    const startMs = momentOf(query.get('start')) ?? endMs - CANDLES_MAX * intervalMs
    if ((endMs - startMs) / intervalMs > CANDLES_MAX) {
      return refuse(
        400,
        `granularity too small for the requested time range. Count of aggregations requested exceeds ${CANDLES_MAX}`,
      )
    }
    return ok(this.rows(shown, { intervalMs, startMs, endMs }).reverse())
  }

  /** Of the trades where there are any; otherwise of the economy's minutes. */
  private rows({ market, state, history }: Shown, { intervalMs, startMs, endMs }: Range): number[][] {
    if (history !== undefined) {
      return history.candles.every(intervalMs, startMs, endMs + 1).map((candle) => candleRow(history.market, candle))
    }
    const { economy, world } = this.showcase
    const minutes = economy.spotMinutes(market, startMs * 1000, (endMs + intervalMs) * 1000)
    return longerCandles(withOpenMinute(minutes, state.last, world.now), intervalMs)
      .filter(({ start }) => start >= startMs * 1000 && start <= endMs * 1000)
      .map((minute) => minuteRow(market, minute))
  }
}

interface Range {
  readonly intervalMs: number
  readonly startMs: number
  /** Included. */
  readonly endMs: number
}

/** So many requests a second, and some more at once. */
class Burst {
  private tokens = BURST
  private filledAtMs = 0

  takes(nowMs: number): boolean {
    const refill = ((nowMs - this.filledAtMs) / 1000) * REQUESTS_PER_SECOND
    this.tokens = Math.min(BURST, this.tokens + Math.max(0, refill))
    this.filledAtMs = nowMs
    if (this.tokens < 1) return false
    this.tokens -= 1
    return true
  }
}

/**
 * Newest first. `after`: older than that id. `before`: newer than it, but the newest of them, which leaves a hole when
 * there are more than a page. `CB-BEFORE` and `CB-AFTER` are the page's first and last id, to go on from.
 */
function trades({ rows, market }: History, query: URLSearchParams): RestReply {
  const limit = whole(query, 'limit') ?? PAGE_MAX
  const [after, before] = [whole(query, 'after'), whole(query, 'before')]
  if (!(limit >= 1) || Number.isNaN(after ?? 0) || Number.isNaN(before ?? 0)) return refuse(400, 'Invalid pagination')
  const end = after === undefined ? rows.end : rows.firstWithId(after)
  const begin = before === undefined ? rows.begin : rows.firstWithId(before + 1)
  const page = rows.read(Math.max(begin, end - Math.min(limit, PAGE_MAX)), end).reverse()
  const [first, last] = [page[0], page.at(-1)]
  const headers =
    first === undefined || last === undefined ? {} : { 'cb-before': String(first.id), 'cb-after': String(last.id) }
  return { status: 200, headers, body: page.map((trade) => tradeRow(market, trade)) }
}

/** `[time in seconds, low, high, open, close, volume]`, as numbers. */
function candleRow({ priceDecimals, sizeDecimals }: Market, candle: Candle): number[] {
  const prices = [candle.low, candle.high, candle.open, candle.close].map((price) =>
    Number(trimmedText(price, priceDecimals)),
  )
  return [candle.startMs / 1000, ...prices, Number(trimmedText(candle.buy + candle.sell, sizeDecimals))]
}

/** An ISO time or seconds since 1970, as ms. */
function momentOf(text: string | null): number | undefined {
  if (text === null) return undefined
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text)
  return Number.isNaN(ms) ? undefined : ms
}

function refuse(status: number, message: string): RestReply {
  return { status, body: { message } }
}
