import { fixedText } from '../decimal.ts'
import { uuidText } from '../identity.ts'
import type { Market } from '../markets.ts'
import type { Trade } from '../trade.ts'

const directions: Readonly<Record<number, string>> = {
  2: 'PlusTick',
  1: 'ZeroPlusTick',
  [-1]: 'ZeroMinusTick',
  [-2]: 'MinusTick',
}

/** One publicTrade message; `S` is the taker's side, `v` base units (of a multiplied symbol, of 1000). */
export function publicTradeFrame(market: Market, trades: readonly Trade[], sentMs: number): string {
  const rows = trades.map((trade) => tradeText(market, trade)).join(',')
  return `{"topic":"publicTrade.${market.symbol}","type":"snapshot","ts":${sentMs},"data":[${rows}]}`
}

function tradeText(market: Market, trade: Trade): string {
  const { priceDecimals, sizeDecimals, symbol } = market
  return `{"T":${Math.floor(trade.time / 1000)},"s":"${symbol}","S":"${sideOf(trade)}","v":"${fixedText(trade.size, sizeDecimals)}","p":"${fixedText(trade.price, priceDecimals)}","L":"${directions[trade.direction] ?? 'PlusTick'}","i":"${idOf(trade)}","BT":${trade.block},"RPI":${trade.rpi},"seq":${trade.id}}`
}

/** The same trade in REST: other names, and numbers as text. */
export function recentTradeRow(market: Market, trade: Trade): object {
  return {
    execId: idOf(trade),
    symbol: market.symbol,
    price: fixedText(trade.price, market.priceDecimals),
    size: fixedText(trade.size, market.sizeDecimals),
    side: sideOf(trade),
    time: String(Math.floor(trade.time / 1000)),
    isBlockTrade: trade.block,
    isRPITrade: trade.rpi,
    seq: String(trade.id),
  }
}

function sideOf(trade: Trade): string {
  return trade.buy ? 'Buy' : 'Sell'
}

function idOf(trade: Trade): string {
  return uuidText(trade.uuid ?? [0, 0, 0, 0])
}
