import type { Micros } from '../../../../schemas/records.ts'
import type { FactRow } from '../events.ts'
import { HOUR_MS, isAmount, isSigned, refusedField, changeOf, settlementOf, tickerOf } from '../fact-fields.ts'
import { countOf, isDecimal, isRecord, isSymbol, microsOf } from '../fields.ts'
import { spotPair, type Listed, type Listing } from '../venue.ts'
import { type ReadRow, answerOf } from './messages.ts'
import { readPrices } from './trades.ts'

/** Digits behind the point that count of a daily interest rate. */
const INTEREST_DECIMALS = 12

type Row = Record<string, unknown>

/**
 * Rows of swaps only: `funding-rate?instId=ANY` has futures without an end among them. Some old and shortened answers do
 * not say the type, but the name does.
 */
function ofSwap(read: (row: Row, symbol: string) => readonly FactRow[]): ReadRow {
  return (row) => {
    if (!isRecord(row) || !isSymbol(row['instId'])) return [refusedField]
    const { instId, instType = instId.endsWith('-SWAP') ? 'SWAP' : 'other' } = row
    return instType === 'SWAP' ? read(row, row['instId']) : []
  }
}

/**
 * `funding-rate`: "fundingRate" runs for "fundingTime", the settlement to come; "nextFundingTime" is the one after it.
 * "premium" is the index of this moment, not a minute's close: those are of `premium-history`.
 */
export const readFunding = ofSwap((row, symbol) => {
  const rate = row['fundingRate']
  const next = timeOf(row['fundingTime'])
  const time = timeOf(row['ts'])
  if (!isSigned(rate) || next === undefined || time === undefined) return [refusedField]
  return [{ kind: 'derivative', symbol, rate: { rate, next, time } }, ...readSettled(symbol, row)]
})

/** "settState settled: settFundingRate is that of the previous settlement", at "prevFundingTime" where that is told. */
function readSettled(symbol: string, row: Row): readonly FactRow[] {
  const { settState, settFundingRate: rate, prevFundingTime } = row
  if (settState !== 'settled' || prevFundingTime === undefined || prevFundingTime === '') return []
  return [settlementOf(symbol, rate, timeOf(prevFundingTime))]
}

/** The terms in `funding-rate`: interval, cap, floor, interest. */
export const readTerms = ofSwap((row, symbol) => {
  const next = timeOf(row['fundingTime'])
  const after = timeOf(row['nextFundingTime'])
  if (next === undefined || after === undefined || after <= next) return [refusedField]
  const intervalHours = (after - next) / 1_000 / HOUR_MS
  const cap = limitOf(row['maxFundingRate'])
  const floor = limitOf(row['minFundingRate'])
  if (cap === undefined || floor === undefined) return [refusedField]
  const limits = { ...(cap === null ? {} : { cap }), ...(floor === null ? {} : { floor }) }
  return [{ kind: 'terms', symbol, intervalHours, ...limits, interestDaily: interestOf(row, intervalHours) }]
})

function limitOf(value: unknown): number | null | undefined {
  if (value === undefined || value === '') return null
  return isSigned(value) ? Number(value) : undefined
}

/** "interestRate" is for one interval; where it is empty, 0.03 % a day by the formula with one, none by the other. */
function interestOf({ interestRate, formulaType }: Row, intervalHours: number): number {
  if (isSigned(interestRate)) return Number(((Number(interestRate) * 24) / intervalHours).toFixed(INTEREST_DECIMALS))
  return formulaType === 'noRate' ? 0 : 0.0003
}

/**
 * Highest leverage, of the list of markets. The tiers of margin (`position-tiers`) count contracts: their notionals
 * would move with the price, so they are no terms.
 */
export const readLeverage = ofSwap((row, symbol) => {
  if (row['settleCcy'] !== 'USDT') return []
  return isDecimal(row['lever']) ? [{ kind: 'terms', symbol, maxLeverage: Number(row['lever']) }] : [refusedField]
})

/** `mark-price`. */
export const readMark = ofSwap((row, symbol) => {
  const mark = row['markPx']
  const time = timeOf(row['ts'])
  if (!isDecimal(mark) || time === undefined) return [refusedField]
  return [{ kind: 'derivative', symbol, mark: { mark, index: null, time } }]
})

/** `index-tickers`: the index BTC-USDT is that of the swap BTC-USDT-SWAP. */
export function readIndex(row: unknown): readonly FactRow[] {
  if (!isRecord(row)) return [refusedField]
  const { instId, idxPx: index } = row
  const time = timeOf(row['ts'])
  if (!isSymbol(instId) || !isDecimal(index) || time === undefined) return [refusedField]
  return [{ kind: 'derivative', symbol: `${instId}-SWAP`, mark: { mark: null, index, time } }]
}

/** `open-interest`: "oi" counts contracts, as the sizes of trades do; "oiCcy" the same in coins. */
export const readOpenInterest = ofSwap((row, symbol) => {
  const size = row['oi']
  const time = timeOf(row['ts'])
  if (!isAmount(size) || time === undefined) return [refusedField]
  return [{ kind: 'derivative', symbol, openInterest: { size, time } }]
})

export function timeOf(text: unknown): Micros | undefined {
  return microsOf(countOf(text) ?? 0)
}

/**
 * An instrument's part of a message of `liquidation-orders`: "recent liquidation orders, not the total". A message may
 * come again after subscribing; rows have no id, so what they say is one, with a number for those that say the same.
 */
export function readLiquidations(row: unknown): readonly FactRow[] {
  if (!isRecord(row) || !isSymbol(row['instId']) || !Array.isArray(row['details'])) return [refusedField]
  const { instId, details } = row
  const counts = new Map<string, number>()
  return details.map((detail: unknown) => readDetail(instId, detail, counts))
}

/** `side` is the order's: selling closes a long; `posSide` may be "net". `sz` counts contracts. */
function readDetail(symbol: string, detail: unknown, counts: Map<string, number>): FactRow {
  if (!isRecord(detail)) return refusedField
  const { side: order, bkPx: price, sz: size, ts } = detail
  const time = timeOf(ts)
  if (time === undefined || !isDecimal(price) || !isDecimal(size) || (order !== 'sell' && order !== 'buy'))
    return refusedField
  const identity = `${time / 1_000}-${order}-${price}-${size}`
  const nth = (counts.get(identity) ?? 0) + 1
  counts.set(identity, nth)
  const side = order === 'sell' ? 'long' : 'short'
  return {
    kind: 'liquidation',
    symbol,
    id: `${identity}-${nth}`,
    side,
    size,
    price,
    priceKind: 'bankruptcy',
    completeness: 'sampled',
    time,
  }
}

export const SPOT_TICKERS = '/api/v5/market/tickers?instType=SPOT'

/** Spot pairs of coins in USDT and USDC. */
export const spotListing: Listing = {
  first: { path: '/api/v5/public/instruments?instType=SPOT', cost: 2 },
  parse: (body) => answerOf(body, (row) => readInstrument(row) ?? []),
  seed: 'BTC ETH SOL XRP BNB DOGE LINK ARB ADA AVAX DOT POL UNI APT OP SUI NEAR ATOM PEPE SHIB GRAM TRX LTC USDC'
    .split(' ')
    .map((base) => listed(base, 'USDT', null, true)),
  fromSymbol(symbol) {
    const [, base, quote] = /^([^-]+)-(USDT|USDC)$/.exec(symbol) ?? []
    return base === undefined || quote === undefined ? undefined : listed(base, quote, null, true)
  },
  prices: { first: { path: SPOT_TICKERS, cost: 2 }, parse: readPrices },
}

function listed(base: string, quote: string, tick: number | null, live: boolean): Listed {
  return spotPair(`${base}-${quote}`, base, quote, tick, live)
}

/** `instCategory` 1 is crypto; answers before 2025 do not have the field. */
function readInstrument(row: unknown): Listed | undefined {
  if (!isRecord(row) || row['instType'] !== 'SPOT') return undefined
  const { instId, baseCcy, quoteCcy, state, tickSz, instCategory = '1' } = row
  if (!isSymbol(baseCcy) || (quoteCcy !== 'USDT' && quoteCcy !== 'USDC') || instCategory !== '1') return undefined
  if (instId !== `${baseCcy}-${quoteCcy}`) return undefined
  return listed(baseCcy, quoteCcy, isDecimal(tickSz) ? Number(tickSz) : null, state === 'live')
}

/** A row of `tickers`, of the stream and of the call alike. `vol24h` of spot counts coins, `volCcy24h` the quote. */
export function readTicker(row: unknown): readonly FactRow[] {
  if (!isRecord(row) || !isSymbol(row['instId'])) return [refusedField]
  if (row['instType'] !== 'SPOT') return [{ refused: 'unknown-symbol' }]
  const { instId, bidPx: bid, askPx: ask, last, open24h, vol24h: volume24h, volCcy24h: quoteVolume24h, ts } = row
  const time = microsOf(countOf(ts) ?? 0)
  if (time === undefined) return [refusedField]
  return [tickerOf(instId, time, { bid, ask, last, change24h: changeOf(open24h, last), volume24h, quoteVolume24h })]
}
