import { fixedText, trimmedText } from '../decimal.ts'
import { uuidOf } from '../identity.ts'
import type { Market } from '../markets.ts'
import type { Micros, Trade } from '../trade.ts'

/** A match. `side` is the maker's: where the taker bought, a resting sell order was hit. */
export function matchFrame(market: Market, trade: Trade, type: 'match' | 'last_match'): string {
  const size = trimmedText(trade.size, market.sizeDecimals)
  const price = trimmedText(trade.price, market.priceDecimals)
  return `{"type":"${type}","trade_id":${trade.id},"maker_order_id":"${uuidOf(trade.first, 1)}","taker_order_id":"${uuidOf(trade.last, 2)}","side":"${makerSide(trade)}","size":"${size}","price":"${price}","product_id":"${market.symbol}","sequence":${trade.sequence},"time":"${timeText(trade.time)}"}`
}

/** One a second and product; it proves that nothing was missed in a quiet market. */
export function heartbeatFrame(product: string, newest: Trade | undefined, time: Micros): string {
  return `{"type":"heartbeat","last_trade_id":${newest?.id ?? 0},"product_id":"${product}","sequence":${newest?.sequence ?? 0},"time":"${timeText(time)}"}`
}

/** A row of the REST pages, which show eight decimals. */
export function tradeRow(market: Market, trade: Trade): object {
  return {
    trade_id: trade.id,
    side: makerSide(trade),
    size: eight(trade.size, market.sizeDecimals),
    price: eight(trade.price, market.priceDecimals),
    time: timeText(trade.time),
  }
}

/** RFC 3339 with microseconds. */
export function timeText(time: Micros): string {
  const date = new Date(Math.floor(time / 1000)).toISOString()
  return `${date.slice(0, -1)}${String(time % 1000).padStart(3, '0')}Z`
}

function eight(units: number, decimals: number): string {
  return decimals >= 8 ? fixedText(units, decimals) : fixedText(BigInt(units) * 10n ** BigInt(8 - decimals), 8)
}

function makerSide(trade: Trade): string {
  return trade.buy ? 'sell' : 'buy'
}
