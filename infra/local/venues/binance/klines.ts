import { withFlatCandles, type Candle } from '../candles.ts'
import { fixedText } from '../decimal.ts'
import type { History } from '../history.ts'
import type { Market } from '../markets.ts'
import { ok, whole } from '../query.ts'
import type { RestReply } from '../venue-server.ts'
import { intervalMsOf } from './intervals.ts'

const LIMIT_MAX = 1500

/** `/fapi/v1/klines`: oldest first; from `startTime` on where it is given, else the newest. */
export function klines({ candles, market }: History, query: URLSearchParams, nowMs: number): RestReply {
  const intervalMs = intervalMsOf(query.get('interval'))
  if (intervalMs === undefined) return { status: 400, body: { code: -1120, msg: 'Invalid interval.' } }
  const limit = whole(query, 'limit') ?? 500
  if (!(limit >= 1 && limit <= LIMIT_MAX)) {
    return { status: 400, body: { code: -1130, msg: "Data sent for parameter 'limit' is not valid." } }
  }
  const start = whole(query, 'startTime')
  const all = candles.every(intervalMs, start ?? 0, (whole(query, 'endTime') ?? nowMs) + 1)
  const filled = withFlatCandles(all, intervalMs)
  const page = start === undefined ? filled.slice(-limit) : filled.slice(0, limit)
  return ok(page.map((candle) => klineRow(market, candle, intervalMs)))
}

/** Open time, prices, volume, close time, quote volume, trades, what takers bought of both, and a field without use. */
function klineRow({ priceDecimals, sizeDecimals }: Market, candle: Candle, intervalMs: number): unknown[] {
  const quoteDecimals = priceDecimals + sizeDecimals
  return [
    candle.startMs,
    ...[candle.open, candle.high, candle.low, candle.close].map((price) => fixedText(price, priceDecimals)),
    fixedText(candle.buy + candle.sell, sizeDecimals),
    candle.startMs + intervalMs - 1,
    fixedText(candle.buyQuote + candle.sellQuote, quoteDecimals),
    candle.count,
    fixedText(candle.buy, sizeDecimals),
    fixedText(candle.buyQuote, quoteDecimals),
    '0',
  ]
}
