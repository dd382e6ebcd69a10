import { candlesOf } from '../candles.ts'
import type { Context, RestReply, VenueApi } from '../venue-api.ts'
import { answerOf, Burst, longerCandles, ok, whole, withOpenMinute, type Calls } from '../rest.ts'
import { Changes, EveryPeriod, Subscribers } from '../socket.ts'
import {
  advancedProduct,
  candleRow,
  currencies,
  matchFrame,
  minuteRow,
  products,
  tickerFrame,
  tradeRow,
  withAlias,
  type AdvancedProduct,
  type Shown,
} from './rows.ts'
import { allShown, CoinbaseSession, findShown, topicOf } from './socket.ts'

/** A ticker comes with each match; once a second is enough here. */
const TICKERS_MS = 1000
/** "10 requests per second per IP, up to 15 in bursts." */
const REQUESTS_PER_SECOND = 10
const BURST = 15
const PAGE_MAX = 1000
const CANDLES_MAX = 300
const granularities: ReadonlySet<number> = new Set([60, 300, 900, 3600, 21_600, 86_400])

const ADVANCED = '/api/v3/brokerage/market/products'

/** Coinbase Exchange, spot, and the public REST of Advanced Trade, which is another host with limits of its own. */
export function coinbaseApi(context: Context): VenueApi {
  const subscribers = new Subscribers()
  const changes = new Changes()
  const tickers = new EveryPeriod(TICKERS_MS)
  const [exchange, advanced] = [new Burst(REQUESTS_PER_SECOND, BURST), new Burst(REQUESTS_PER_SECOND, BURST)]
  return {
    name: 'coinbase',
    tooMany: () => refuse(429, 'Public rate limit exceeded'),
    // 8 a second with bursts of 20.
    sockets: { most: 20, windowMs: 1_000 },
    connect: (path) => (path === '/' ? (link) => new CoinbaseSession(link, context, subscribers) : 404),
    rest({ path, query, headers, nowMs }) {
      const isAdvanced = path.startsWith(ADVANCED)
      if (!isAdvanced && headers['user-agent'] === undefined) return refuse(400, 'User-Agent header is required.')
      if (!(isAdvanced ? advanced : exchange).takes(nowMs)) return refuse(429, 'Public rate limit exceeded')
      if (path === ADVANCED) return ok(advancedList(context, query))
      return answerOf(calls, path, context, query) ?? productAnswer(context, path, query)
    },
    beat(nowMs) {
      if (!tickers.isDue(nowMs)) return
      for (const { symbol } of context.economy.spots('coinbase')) {
        const topic = topicOf('ticker', symbol)
        const shown = subscribers.of(topic).size === 0 ? undefined : findShown(context, symbol)
        if (shown === undefined) continue
        const { time: _time, ...prices } = shown.state
        if (!changes.isDue(topic, () => JSON.stringify(prices), nowMs)) continue
        subscribers.tell(topic, shown.market, () => tickerFrame(shown))
      }
    },
    publish(market, trades) {
      const links = subscribers.of(topicOf('matches', market.symbol))
      if (links.size === 0) return
      for (const trade of trades) {
        const frame = matchFrame(market, trade, 'match')
        for (const link of links) link.trade(market, frame)
      }
    },
  }
}

const calls: Calls = {
  '/time': ({ world: { nowMs } }) => ok({ iso: new Date(nowMs).toISOString(), epoch: nowMs / 1000 }),
  '/products': ({ economy }) => ok(products(economy.spots('coinbase'))),
  '/currencies': ({ economy }) => ok(currencies(economy.spots('coinbase'))),
}

function productAnswer(context: Context, path: string, query: URLSearchParams): RestReply {
  const match = /^\/products\/([^/]+)\/(trades|candles)$/.exec(path)
  const shown = findShown(context, match?.[1] ?? '')
  if (match === null || shown === undefined) return refuse(404, 'NotFound')
  return match[2] === 'trades' ? trades(shown, query) : candles(context, shown, query)
}

/**
 * Newest first. `after`: older than that id. `before`: newer than it, but the newest of them, which leaves a hole when
 * there are more than a page. `CB-BEFORE` and `CB-AFTER` are the page's first and last id, to go on from.
 */
function trades({ history }: Shown, query: URLSearchParams): RestReply {
  // What is listed without ever having traded has no rows.
  if (history === undefined) return ok([])
  const { rows, market } = history
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

/** Newest first, of the trades where there are any; otherwise of the economy's minutes. */
function candles(context: Context, { market, state, history }: Shown, query: URLSearchParams): RestReply {
  const { world, economy } = context
  const granularity = Number(query.get('granularity') ?? 60)
  if (!granularities.has(granularity)) return refuse(400, 'Unsupported granularity')
  const intervalMs = granularity * 1000
  const endMs = momentOf(query.get('end')) ?? world.nowMs
  const startMs = momentOf(query.get('start')) ?? endMs - CANDLES_MAX * intervalMs
  if ((endMs - startMs) / intervalMs > CANDLES_MAX) {
    return refuse(
      400,
      `granularity too small for the requested time range. Count of aggregations requested exceeds ${CANDLES_MAX}`,
    )
  }
  if (history !== undefined) {
    const toMs = Math.min(endMs, world.nowMs) + 1
    const found = candlesOf(context, history, { intervalMs, fromMs: startMs, toMs })
    return ok(
      found
        .filter(({ count }) => count > 0)
        .map((candle) => candleRow(history.market, candle))
        .reverse(),
    )
  }
  const minutes = economy.spotMinutes(market, startMs * 1000, (endMs + intervalMs) * 1000)
  const found = longerCandles(withOpenMinute(minutes, state.last, world.now), intervalMs)
    .filter(({ start }) => start >= startMs * 1000 && start <= endMs * 1000)
    .map((minute) => minuteRow(market, minute))
  return ok(found.reverse())
}

/** An ISO time or seconds since 1970, as ms. */
function momentOf(text: string | null): number | undefined {
  if (text === null) return undefined
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text)
  return Number.isNaN(ms) ? undefined : ms
}

function advancedList(context: Context, query: URLSearchParams): object {
  const shown = (query.get('product_type') ?? 'SPOT') === 'SPOT' ? allShown(context) : []
  const wanted = new Set(query.getAll('product_ids'))
  const all = [...shown.flatMap((one) => withAlias(advancedProduct(one))), ...disabled(shown)].filter(
    ({ product_id }) => wanted.size === 0 || wanted.has(String(product_id)),
  )
  const offset = whole(query, 'offset') ?? 0
  const page = all.slice(offset, offset + (whole(query, 'limit') ?? all.length))
  const next = offset + page.length < all.length
  const pagination = { prev_cursor: '', next_cursor: '', has_next: next, has_prev: offset > 0 }
  return { products: page, num_products: all.length, pagination }
}

/** Listed, and to be left out. */
function disabled([first]: readonly Shown[]): AdvancedProduct[] {
  if (first === undefined) return []
  const off = { trading_disabled: true, status: 'delisted', volume_24h: '', price: '0.1868', alias_to: [] }
  return [{ ...advancedProduct(first), product_id: 'EOS-USD', base_currency_id: 'EOS', ...off }]
}

function refuse(status: number, message: string): RestReply {
  return { status, body: { message } }
}
