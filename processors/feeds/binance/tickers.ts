import type { Micros } from '../../../schemas/records.ts'
import { amountOf, isSigned, priceOf, refusedField } from '../fact-fields.ts'
import { isCount, isRecord, isSymbol, microsOf } from '../fields.ts'
import type { FactRow } from '../source.ts'
import { isUsdtMarket } from './listed.ts'

/** A message of spot `<symbol>@ticker`: `c` last, `b` and `a` the top of the book, `P` the change in percent. */
export function readTicker({ s, c, b, a, P, v, q, E }: Record<string, unknown>): FactRow {
  const time = isCount(E) ? microsOf(E) : undefined
  if (!isSymbol(s) || time === undefined) return refusedField
  return tickerOf(s, time, { last: c, bid: b, ask: a, change: P, volume: v, quoteVolume: q }) ?? refusedField
}

/** A row of spot `ticker/24hr`, of its `closeTime`. Undefined: not one of our markets, or one without any price. */
export function readTicker24h(row: unknown): FactRow | undefined {
  if (!isRecord(row)) return refusedField
  const { symbol, lastPrice, bidPrice, askPrice, priceChangePercent, volume, quoteVolume, closeTime } = row
  const time = isCount(closeTime) ? microsOf(closeTime) : undefined
  if (!isSymbol(symbol) || time === undefined) return refusedField
  if (!isUsdtMarket(symbol)) return undefined
  const change = priceChangePercent
  return tickerOf(symbol, time, { last: lastPrice, bid: bidPrice, ask: askPrice, change, volume, quoteVolume })
}

interface Figures {
  readonly last: unknown
  readonly bid: unknown
  readonly ask: unknown
  readonly change: unknown
  readonly volume: unknown
  readonly quoteVolume: unknown
}

/** Undefined where there is no price at all: a market that never traded or is over ("0.00000000" everywhere). */
function tickerOf(symbol: string, time: Micros, figures: Figures): FactRow | undefined {
  const last = priceOf(figures.last)
  const bid = priceOf(figures.bid)
  const ask = priceOf(figures.ask)
  const change24h = changeOf(figures.change)
  const volume24h = amountOf(figures.volume)
  const quoteVolume24h = amountOf(figures.quoteVolume)
  if (last === undefined || bid === undefined || ask === undefined) return refusedField
  if (change24h === undefined || volume24h === undefined || quoteVolume24h === undefined) return refusedField
  if (last === null && bid === null && ask === null) return undefined
  return { kind: 'ticker', symbol, bid, ask, last, change24h, volume24h, quoteVolume24h, time }
}

/** Percent already. */
function changeOf(value: unknown): number | null | undefined {
  if (value === undefined || value === null) return null
  return isSigned(value) ? Number(value) : undefined
}
