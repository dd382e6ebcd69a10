import type { Micros } from '../../../../schemas/records.ts'
import type { DerivativeFact, FactRow } from '../events.ts'
import { amountOf, isSigned, priceOf, refusedField } from '../fact-fields.ts'
import { isCount, isDecimal, isRecord, isSymbol, microsOf } from '../fields.ts'
import type { DataStream, SocketRules } from '../venue.ts'
import { isUsdtMarket } from './listing.ts'
import { parserOf, requestsFor } from './messages.ts'
import { trades } from './trades.ts'

/** A message of spot `<symbol>@ticker`: `c` last, `b` and `a` the top of the book, `P` the change in percent. */
function readTicker({ s, c, b, a, P, v, q, E }: Record<string, unknown>): FactRow {
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

/**
 * An element of `!markPrice@arr@1s`: `p` mark, `i` index, `r` the running rate for the settlement at `T` (not the last
 * settled one), `E` when. Frames before 2020 have no index. `ap`, `P` and `st` are not used.
 */
function readMarkPrice({ s, p, i, r, T, E }: Record<string, unknown>): FactRow | undefined {
  return derivative(s, p, i, r, T, E)
}

/** A row of `premiumIndex`: the same under other names; `lastFundingRate` is the running rate too. */
export function readPremiumIndex(row: unknown): FactRow | undefined {
  if (!isRecord(row)) return refusedField
  const { symbol, markPrice, indexPrice, lastFundingRate, nextFundingTime, time } = row
  return derivative(symbol, markPrice, indexPrice, lastFundingRate, nextFundingTime, time)
}

/** Undefined: not one of our markets. */
function derivative(
  symbol: unknown,
  mark: unknown,
  index: unknown,
  rate: unknown,
  next: unknown,
  ms: unknown,
): FactRow | undefined {
  const time = isCount(ms) ? microsOf(ms) : undefined
  if (!isSymbol(symbol) || time === undefined) return refusedField
  if (!isUsdtMarket(symbol)) return undefined
  const prices = { mark: priceOf(mark), index: priceOf(index) }
  const running = rateOf(rate, next)
  if (running === undefined || prices.mark === undefined || prices.index === undefined) return refusedField
  if (prices.mark === null && prices.index === null) return refusedField
  return {
    kind: 'derivative',
    symbol,
    mark: { mark: prices.mark, index: prices.index, time },
    ...(running !== null && { rate: { ...running, time } }),
  }
}

type Running = Omit<NonNullable<DerivativeFact['rate']>, 'time'>

/** Null: the market has none, as dated futures (`r` is empty, `T` 0). */
function rateOf(rate: unknown, next: unknown): Running | null | undefined {
  if (rate === undefined || rate === '') return null
  const settlement = next === 0 ? null : isCount(next) ? microsOf(next) : undefined
  return isSigned(rate) && settlement !== undefined ? { rate, next: settlement } : undefined
}

/**
 * A message of `!forceOrder@arr`: "for each symbol, only the largest liquidation order within 1000ms is pushed", so it is
 * a sample, and a lower bound.
 *
 * `S` is the order's side: SELL closes a long. `z` is what was filled, `ap` at which average. The id is the second of the
 * push (`E`): pushes of a symbol are at least a second apart, their orders' own times (`T`) need not be.
 */
function readForceOrder({ o: order, E }: Record<string, unknown>): FactRow | undefined {
  if (!isRecord(order) || !isCount(E) || microsOf(E) === undefined) return refusedField
  const { s, S, z, ap, X, T } = order
  const time = isCount(T) ? microsOf(T) : undefined
  if (!isSymbol(s) || time === undefined || (S !== 'SELL' && S !== 'BUY') || typeof X !== 'string') return refusedField
  // An order that is not done will be pushed again when it is, if it is the largest then.
  if (!isUsdtMarket(s) || X !== 'FILLED') return undefined
  if (!isDecimal(z) || !isDecimal(ap)) return refusedField
  return {
    kind: 'liquidation',
    symbol: s,
    id: String(Math.floor(E / 1000)),
    side: S === 'SELL' ? 'long' : 'short',
    size: z,
    price: ap,
    priceKind: 'average_fill',
    completeness: 'sampled',
    time,
  }
}

/** As for trades, below `/market` too. */
const futuresSocket: SocketRules = { ...trades.socket, copies: 1 }

const spotSocket: SocketRules = {
  path: '/stream',
  copies: 1,
  // "A single connection is only valid for 24 hours."
  lifetimeMs: 24 * 3_600_000,
  silentAfterMs: 30_000,
  // "A single connection can listen to a maximum of 1024 streams"; fewer keep a lost connection small.
  maxSymbolsPerConnection: 200,
  // "WebSocket connections have a limit of 5 incoming messages per second", and pongs count.
  minFrameSpacingMs: 300,
  // 300 connection attempts in 5 minutes per address.
  minConnectSpacingMs: 1_000,
}

/** Once a second for each pair on which something happened. */
export const spotTickers: DataStream = {
  name: 'spot-tickers',
  host: 'spotWs',
  topic: 'market.tickers',
  scope: { of: 'catalogue', market: 'spot' },
  socket: spotSocket,
  request: requestsFor((symbol) => `${symbol.toLowerCase()}@ticker`),
  parse: parserOf('24hrTicker', readTicker),
}

/** One array a second of all markets (of shares and metals in another). */
export const markPrices: DataStream = {
  name: 'mark-price',
  host: 'ws',
  topic: 'market.funding',
  scope: { of: 'whole', symbol: '!markPrice@arr@1s', market: 'perp' },
  socket: { ...futuresSocket, silentAfterMs: 15_000 },
  request: requestsFor((stream) => stream),
  parse: parserOf('markPriceUpdate', readMarkPrice),
}

/** Silent while nobody is liquidated: ten minutes of it in the whole market have not been seen. */
export const liquidations: DataStream = {
  name: 'liquidations',
  host: 'ws',
  topic: 'market.liquidations',
  scope: { of: 'whole', symbol: '!forceOrder@arr', market: 'perp' },
  socket: { ...futuresSocket, silentAfterMs: 600_000 },
  request: requestsFor((stream) => stream),
  parse: parserOf('forceOrder', readForceOrder),
}
