import { fixedText } from '../decimal.ts'
import type { Market } from '../markets.ts'
import type { Trade } from '../trade.ts'

/**
 * One aggregate trade of the USD-M stream: field order and types as recorded in October 2026. `m`: the buyer was the
 * maker, so the taker sold. `nq` leaves out retail price improvement fills, `q` does not.
 */
export function aggTradeFrame(market: Market, trade: Trade, sentMs: number): string {
  const price = fixedText(trade.price, market.priceDecimals)
  const size = fixedText(trade.size, market.sizeDecimals)
  const normal = trade.rpi ? fixedText(0, market.sizeDecimals) : size
  const time = Math.floor(trade.time / 1000)
  return `{"e":"aggTrade","E":${sentMs},"a":${trade.id},"s":"${market.symbol}","p":"${price}","q":"${size}","nq":"${normal}","f":${trade.first},"l":${trade.last},"T":${time},"m":${!trade.buy},"st":1}`
}

/** The same trade in REST, where it has no `nq`. */
export function aggTradeRow(market: Market, trade: Trade): object {
  return {
    a: trade.id,
    p: fixedText(trade.price, market.priceDecimals),
    q: fixedText(trade.size, market.sizeDecimals),
    f: trade.first,
    l: trade.last,
    T: Math.floor(trade.time / 1000),
    m: !trade.buy,
  }
}

/**
 * The raw trades that an aggregate merges, as the undocumented `@trade` stream of `/public` has them: equal parts, the
 * last one takes the rest.
 */
export function rawTradeFrames(market: Market, trade: Trade, sentMs: number): string[] {
  const fills = Math.min(trade.last - trade.first + 1, trade.size)
  const part = Math.floor(trade.size / fills)
  return Array.from({ length: fills }, (_, index) => {
    const size = index === fills - 1 ? trade.size - part * (fills - 1) : part
    const price = fixedText(trade.price, market.priceDecimals)
    return `{"e":"trade","E":${sentMs},"T":${Math.floor(trade.time / 1000)},"s":"${market.symbol}","t":${trade.first + index},"p":"${price}","q":"${fixedText(size, market.sizeDecimals)}","X":"${trade.rpi ? 'RPI' : 'MARKET'}","m":${!trade.buy}}`
  })
}

/** As the combined endpoint `/stream` wraps it. */
export function combined(stream: string, frame: string): string {
  return `{"stream":"${stream}","data":${frame}}`
}
