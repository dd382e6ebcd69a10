import type { Candle } from '../ledger/candles.ts'
import type { Market } from './markets.ts'
import { streamOf, unitOf } from './random.ts'

/** Rows of a minute at most, and its ids. */
const ROWS = 12
const MINUTE_MS = 60_000

/** A row of an archive: trades of one side at one price. Prices and sizes in the market's whole units. */
export interface PastTrade {
  readonly timeMs: number
  /** Up by one within a minute, and from minute to minute. */
  readonly id: number
  readonly price: number
  readonly size: number
  readonly buy: boolean
  /** Fills that it stands for. */
  readonly fills: number
}

/**
 * Trades that make up the minutes of a market's past: what takers bought and sold to the last unit, and the four prices where
 * there are trades enough. The same seed gives the same ones.
 */
export function tradesOfMinutes(market: Market, seed: number, minutes: readonly Candle[]): PastTrade[] {
  const stream = streamOf(`archive ${market.venue} ${market.symbol}`)
  return minutes.flatMap((minute) => {
    const index = Math.floor(minute.startMs / MINUTE_MS)
    const sides = mixedSides(minute, (at) => unitOf(seed, stream, index * ROWS + at))
    const prices = pathOf(minute, sides.length)
    return sides.map(({ size, buy }, at) => ({
      timeMs:
        minute.startMs + Math.floor(((at + unitOf(seed, stream + 1, index * ROWS + at)) * MINUTE_MS) / sides.length),
      id: index * ROWS + at,
      price: prices[at] ?? minute.close,
      size,
      buy,
      fills: partOf(minute.count, sides.length, at),
    }))
  })
}

/** Both sides in parts, in an order by chance. */
function mixedSides({ buy, sell, count }: Candle, chance: (at: number) => number): { size: number; buy: boolean }[] {
  const rows = Math.min(ROWS, Math.max(count, Number(buy > 0) + Number(sell > 0)))
  const buys =
    buy === 0 ? 0 : sell === 0 ? rows : Math.min(rows - 1, Math.max(1, Math.round((rows * buy) / (buy + sell))))
  const parts = (total: number, into: number, isBuy: boolean): { size: number; buy: boolean }[] =>
    Array.from({ length: into }, (_, at) => ({ size: partOf(total, into, at), buy: isBuy }))
  return [...parts(buy, buys, true), ...parts(sell, rows - buys, false)]
    .filter(({ size }) => size > 0)
    .map((row, at) => ({ row, place: chance(at) }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ row }) => row)
}

/** From the open to the close, by the high and the low at a third and at two; the nearer to the open first. */
function pathOf({ open, high, low, close }: Candle, rows: number): number[] {
  const [first, second] = high - open < open - low ? [high, low] : [low, high]
  const last = rows - 1
  const prices = Array.from({ length: rows }, (_, at) => Math.round(open + ((close - open) * at) / Math.max(1, last)))
  if (rows >= 4) prices.splice(Math.round(last / 3), 1, first)
  if (rows >= 4) prices.splice(Math.round((2 * last) / 3), 1, second)
  if (rows === 1) prices[0] = close
  return prices
}

/** One of equal parts of whole units; the first ones take what is left. */
function partOf(total: number, parts: number, at: number): number {
  return Math.floor(total / parts) + (at < total % parts ? 1 : 0)
}
