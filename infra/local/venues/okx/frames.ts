import { trimmedText } from '../decimal.ts'
import type { Market } from '../markets.ts'
import type { Trade } from '../trade.ts'

/** `trades-all`: one message for each single trade. `sz` counts contracts, `side` is the taker's. */
export function tradesAllFrame(market: Market, trade: Trade): string {
  return `{"arg":{"channel":"trades-all","instId":"${market.symbol}"},"data":[{${fieldsOf(market, trade, trade.size)},"source":"${trade.rpi ? 1 : 0}"}]}`
}

/** `trades`: one message for what one taker order filled at one price; `tradeId` is the last of the merged ids. */
export function tradesFrame(market: Market, merged: readonly Trade[]): string {
  const last = merged.at(-1)
  if (last === undefined) return ''
  const size = merged.reduce((sum, trade) => sum + trade.size, 0)
  return `{"arg":{"channel":"trades","instId":"${market.symbol}"},"data":[{${fieldsOf(market, last, size)},"count":"${merged.length}","source":"${last.rpi ? 1 : 0}","seqId":${last.sequence}}]}`
}

/** Neighbours that one taker order filled at one price. */
export function mergeable(left: Trade, right: Trade): boolean {
  return left.time === right.time && left.price === right.price && left.buy === right.buy && left.rpi === right.rpi
}

/** A row of the REST pages. */
export function tradeRow(market: Market, trade: Trade): object {
  return {
    instId: market.symbol,
    side: trade.buy ? 'buy' : 'sell',
    sz: trimmedText(trade.size, market.sizeDecimals),
    source: trade.rpi ? '1' : '0',
    px: trimmedText(trade.price, market.priceDecimals),
    tradeId: String(trade.id),
    ts: String(Math.floor(trade.time / 1000)),
  }
}

function fieldsOf(market: Market, trade: Trade, size: number): string {
  const price = trimmedText(trade.price, market.priceDecimals)
  return `"instId":"${market.symbol}","tradeId":"${trade.id}","px":"${price}","sz":"${trimmedText(size, market.sizeDecimals)}","side":"${trade.buy ? 'buy' : 'sell'}","ts":"${Math.floor(trade.time / 1000)}"`
}
