import type { Candle } from '../ledger/candles.ts'
import type { Link } from '../link.ts'
import { shortNumber, trimmedText, msOf } from '../market/text.ts'
import { furtherMarkets } from '../market/further.ts'
import type { Market } from '../market/markets.ts'
import type { Trade } from '../market/trade.ts'
import { answerOf, Burst, type Calls, listedRows, ok, whole } from './rest.ts'
import { fieldsIn, fieldsOf, Subscribers, VenueSession } from './socket.ts'
import { candlesOf, fundedLike, settlementsOf } from './candles.ts'
import type { Context, RestReply, VenueApi } from './venue-api.ts'

/** "Frequency limit: 10 times/1s (IP)". */
const CALLS_PER_SECOND = 10
const TRADES_MAX = 1000
/** "10 messages per second"; without a `ping` for two minutes the connection ends. */
const MESSAGES_PER_SECOND = 10
const IDLE_MS = 120_000
/** Trades of a snapshot. */
const SNAPSHOT_TRADES = 100
const instType = 'USDT-FUTURES'

const markets = furtherMarkets.filter(({ venue }) => venue === 'bitget')

const tooMany: RestReply = { status: 429, body: { code: '429', msg: 'Too Many Requests', data: null } }

/**
 * Bitget's futures in USDT: trades, the list of contracts and their last prices.
 * - streams: `trade` of USDT-FUTURES, newest first, with a snapshot
 * - control: one ack a symbol, error 30001, texts `ping` and `pong`; 10 messages/s, 120 s idle
 * - REST: contracts, tickers, fills-history (newest first), history-candles, history-fund-rate
 * - limits: 10/s, 429
 * - listings: traded assets; to be left out: dated, shares, `off`
 */
export function bitgetApi(context: Context): VenueApi {
  const subscribers = new Subscribers()
  const burst = new Burst(CALLS_PER_SECOND, CALLS_PER_SECOND)
  return {
    name: 'bitget',
    tooMany: () => tooMany,
    sockets: { most: 300, windowMs: 300_000 },
    connect: (path) => (path === '/v2/ws/public' ? (link) => new BitgetSession(link, context, subscribers) : 404),
    rest({ path, query, nowMs }) {
      if (!burst.takes(nowMs)) return tooMany
      return answerOf(calls, path, context, query) ?? refuse('40404', 'Request URL NOT FOUND')
    },
    publish(market, trades) {
      subscribers.trades(market.symbol, market, () => [dataFrame(context, 'update', market, trades)])
    },
  }
}

const calls: Calls = {
  '/api/v2/mix/market/contracts': (context) => {
    const decoys = (first: ReturnType<typeof contractRow>) => [
      { ...first, symbol: 'BTCUSDT_260925', symbolType: 'delivery' },
      { ...first, symbol: 'TSLAUSDT', baseCoin: 'TSLA', isRwa: 'YES' },
      { ...first, symbol: 'OLDUSDT', baseCoin: 'OLD', symbolStatus: 'off' },
    ]
    return say(
      context,
      listedRows(markets.map(contractRow), ({ symbol }) => symbol, decoys),
    )
  },
  '/api/v2/mix/market/tickers': (context) =>
    say(
      context,
      markets.map((market) => ({
        symbol: market.symbol,
        lastPr: lastOf(context, market),
        ts: String(context.world.nowMs),
      })),
    ),
  '/api/v2/mix/market/history-candles': (context, query) => candles(context, query),
  '/api/v2/mix/market/history-fund-rate': (context, query) => fundingRates(context, query),
  /** Newest first; the newest where no id is given. */
  '/api/v2/mix/market/fills-history': (context, query) => {
    const history = context.world.find('bitget', query.get('symbol') ?? '')
    if (history === undefined) return refuse('40034', 'Parameter does not exist')
    const limit = Math.min(whole(query, 'limit') ?? 500, TRADES_MAX)
    const { rows, market } = history
    const page = rows.read(rows.end - limit, rows.end).reverse()
    return say(
      context,
      page.map((trade) => ({ ...tradeRow(market, trade), side: trade.buy ? 'Buy' : 'Sell', symbol: market.symbol })),
    )
  },
}

const CANDLES_MAX = 200
const granularities: Readonly<Record<string, number>> = { '1m': 1, '5m': 5, '15m': 15, '30m': 30, '1H': 60, '4H': 240 }

/** `history-candles`, oldest first: of [startTime, endTime) the newest `limit`. */
function candles(context: Context, query: URLSearchParams): RestReply {
  const history = context.world.find('bitget', query.get('symbol') ?? '')
  if (history === undefined) return refuse('40034', 'Parameter does not exist')
  const minutes = granularities[query.get('granularity') ?? '']
  if (minutes === undefined) return refuse('400171', 'Parameter verification failed')
  const intervalMs = minutes * 60_000
  const limit = Math.min(whole(query, 'limit') ?? 100, CANDLES_MAX)
  const toMs = Math.min(whole(query, 'endTime') ?? Infinity, context.world.nowMs)
  const fromMs = Math.max(whole(query, 'startTime') ?? 0, toMs - (limit + 1) * intervalMs)
  const found = candlesOf(context, history, { intervalMs, fromMs, toMs })
  return ok({
    code: '00000',
    msg: 'success',
    requestTime: context.world.nowMs,
    data: found.slice(-limit).map((candle) => candleRow(history.market, candle)),
  })
}

const RATES_MAX = 100

/** `history-fund-rate`, newest first, by the page: 20 a page where nothing is said. Funding as Binance's of the asset. */
function fundingRates(context: Context, query: URLSearchParams): RestReply {
  const symbol = query.get('symbol')
  const like = fundedLike(context, markets.find((market) => market.symbol === symbol)?.asset)
  if (like === undefined) return refuse('40034', 'Parameter does not exist')
  const size = Math.min(whole(query, 'pageSize') ?? 20, RATES_MAX)
  const page = whole(query, 'pageNo') ?? 1
  const rows = settlementsOf(context, like, { limit: page * size }).slice((page - 1) * size)
  return say(
    context,
    rows.map(({ time, rate }) => ({ symbol, fundingRate: shortNumber(rate, 6), fundingTime: String(msOf(time)) })),
  )
}

/** "[start, open, high, low, close, volume in coins, volume in dollars]", text. */
function candleRow({ priceDecimals, sizeDecimals }: Market, candle: Candle): string[] {
  const prices = [candle.open, candle.high, candle.low, candle.close].map((price) => trimmedText(price, priceDecimals))
  const size = trimmedText(candle.buy + candle.sell, sizeDecimals)
  return [
    String(candle.startMs),
    ...prices,
    size,
    trimmedText(candle.buyQuote + candle.sellQuote, priceDecimals + sizeDecimals),
  ]
}

function say({ world }: Context, data: readonly object[]): RestReply {
  return ok({ code: '00000', msg: 'success', requestTime: world.nowMs, data })
}

function refuse(code: string, msg: string): RestReply {
  return { status: 400, body: { code, msg, requestTime: 0, data: null } }
}

/** Of the same asset's perpetual on Binance, whose trades this market follows. */
function lastOf({ economy }: Context, market: Market): string {
  const like = economy.perps('binance').find(({ asset }) => asset === market.asset)
  const last = like === undefined ? market.startPrice : economy.perp(like).last
  return last.toFixed(market.priceDecimals)
}

function contractRow(market: Market) {
  return {
    symbol: market.symbol,
    baseCoin: market.base,
    quoteCoin: 'USDT',
    symbolType: 'perpetual',
    symbolStatus: 'normal',
    pricePlace: String(market.priceDecimals),
    priceEndStep: '1',
    volumePlace: String(market.sizeDecimals),
    supportMarginCoins: ['USDT'],
    isRwa: 'NO',
  }
}

/** Ids have 19 digits. */
function tradeRow(market: Market, trade: Trade): object {
  return {
    ts: String(msOf(trade.time)),
    price: trimmedText(trade.price, market.priceDecimals),
    size: trimmedText(trade.size, market.sizeDecimals),
    side: trade.buy ? 'buy' : 'sell',
    tradeId: String(1_000_000_000_000_000_000n + BigInt(trade.id) * 4096n),
  }
}

function argOf(symbol: string): object {
  return { instType, channel: 'trade', instId: symbol }
}

function dataFrame({ world }: Context, action: string, market: Market, trades: readonly Trade[]): string {
  // Newest first, as over REST.
  const data = trades.map((trade) => tradeRow(market, trade)).reverse()
  return JSON.stringify({ action, arg: argOf(market.symbol), data, ts: world.nowMs })
}

/** One public socket; the `trade` channel of USDT-FUTURES. */
class BitgetSession extends VenueSession {
  private readonly context: Context

  constructor(link: Link, context: Context, subscribers: Subscribers) {
    super(link, subscribers)
    this.context = context
  }

  receive(text: string): void {
    this.heardAtMs = Date.now()
    if (!this.within(MESSAGES_PER_SECOND)) {
      this.link.close(1008)
      return
    }
    if (text === 'ping') {
      this.link.control('pong')
      return
    }
    const { op, args } = fieldsIn(text) ?? {}
    const asked = Array.isArray(args) ? args.map(fieldsOf) : []
    if (op !== 'subscribe' && op !== 'unsubscribe')
      this.link.control({ event: 'error', code: 30003, msg: 'Invalid op' })
    else for (const arg of asked) this.change(op, arg)
  }

  tick(nowMs: number): void {
    if (nowMs - this.heardAtMs > IDLE_MS) this.link.close(1000)
  }

  private change(op: 'subscribe' | 'unsubscribe', arg: Readonly<Record<string, unknown>>): void {
    const symbol = String(arg['instId'])
    const history = this.context.world.find('bitget', symbol)
    if (history === undefined || arg['channel'] !== 'trade' || arg['instType'] !== instType) {
      const msg = `instType:${String(arg['instType'])},channel:${String(arg['channel'])},instId:${symbol} doesn't exist`
      this.link.control({ event: 'error', arg, code: 30001, msg })
      return
    }
    if (op === 'unsubscribe') {
      this.leave(symbol)
      this.link.control({ event: 'unsubscribe', arg })
      return
    }
    history.enter()
    this.join(symbol)
    this.link.control({ event: 'subscribe', arg })
    const last = history.rows.read(history.rows.end - SNAPSHOT_TRADES, history.rows.end)
    if (last.length > 0) this.link.control(dataFrame(this.context, 'snapshot', history.market, last))
  }
}
