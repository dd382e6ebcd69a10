import type { Candle } from '../candles.ts'
import { trimmedText } from '../decimal.ts'
import type { History } from '../history.ts'
import type { Market } from '../markets.ts'
import { ok, whole } from '../query.ts'
import type { RestReply, RestRequest } from '../venue-server.ts'
import type { World } from '../world.ts'
import { timeText, tradeRow } from './frames.ts'
import { currencies, products } from './listing.ts'

/** "10 requests per second per IP, up to 15 in bursts." */
const REQUESTS_PER_SECOND = 10
const BURST = 15
const PAGE_MAX = 1000
const CANDLES_MAX = 300
const granularities: ReadonlySet<number> = new Set([60, 300, 900, 3600, 21_600, 86_400])

/** Coinbase Exchange REST. */
export class CoinbaseRest {
  private readonly world: World
  private tokens = BURST
  private filledAtMs = 0

  constructor(world: World) {
    this.world = world
  }

  answer({ path, query, headers, nowMs }: RestRequest): RestReply {
    if (headers['user-agent'] === undefined) return refuse(400, 'User-Agent header is required.')
    if (!this.within(nowMs)) return refuse(429, 'Public rate limit exceeded')
    const markets = this.world.of('coinbase').map(({ market }) => market)
    switch (path) {
      case '/time':
        return ok({ iso: new Date(this.world.nowMs).toISOString(), epoch: this.world.nowMs / 1000 })
      case '/products':
        return ok(products(markets))
      case '/currencies':
        return ok(currencies(markets))
      default:
        return this.product(path, query)
    }
  }

  private within(nowMs: number): boolean {
    const refill = ((nowMs - this.filledAtMs) / 1000) * REQUESTS_PER_SECOND
    this.tokens = Math.min(BURST, this.tokens + Math.max(0, refill))
    this.filledAtMs = nowMs
    if (this.tokens < 1) return false
    this.tokens -= 1
    return true
  }

  private product(path: string, query: URLSearchParams): RestReply {
    const match = /^\/products\/([^/]+)(?:\/(trades|candles|ticker))?$/.exec(path)
    const history = this.world.find('coinbase', match?.[1] ?? '')
    if (match === null || history === undefined) return refuse(404, 'NotFound')
    switch (match[2]) {
      case 'trades':
        return trades(history, query)
      case 'candles':
        return this.candles(history, query)
      case 'ticker':
        return this.ticker(history)
      default:
        return ok(products([history.market])[0])
    }
  }

  private candles({ candles, market }: History, query: URLSearchParams): RestReply {
    const granularity = Number(query.get('granularity') ?? 60)
    if (!granularities.has(granularity)) return refuse(400, 'Unsupported granularity')
    const intervalMs = granularity * 1000
    const endMs = momentOf(query.get('end')) ?? this.world.nowMs
    const startMs = momentOf(query.get('start')) ?? endMs - CANDLES_MAX * intervalMs
    if ((endMs - startMs) / intervalMs > CANDLES_MAX) {
      return refuse(
        400,
        `granularity too small for the requested time range. Count of aggregations requested exceeds ${CANDLES_MAX}`,
      )
    }
    return ok(
      candles
        .every(intervalMs, startMs, endMs + 1)
        .reverse()
        .map((candle) => candleRow(market, candle)),
    )
  }

  private ticker({ market, newest }: History): RestReply {
    const price = trimmedText(
      newest?.price ?? Math.round(market.startPrice * 10 ** market.priceDecimals),
      market.priceDecimals,
    )
    return ok({
      ask: price,
      bid: price,
      volume: '0',
      trade_id: newest?.id ?? 0,
      price,
      size: trimmedText(newest?.size ?? 0, market.sizeDecimals),
      time: timeText(newest?.time ?? this.world.now),
      rfq_volume: '0',
    })
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
