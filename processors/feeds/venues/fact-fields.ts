import type { Micros } from '../../../schemas/records.ts'
import { isCount, isDecimal } from './fields.ts'
import type { DerivativeFact, Fact, FactRow, FrameEvent } from './events.ts'
import type { ListedPrice, RestAnswer } from './venue.ts'
import { percentChange } from '../../prices/decimal.ts'

/**
 * Guards for what venues say beside trades. There, zero can be a value (an open interest, a volume), and rates and
 * premiums can be negative. A price of zero or an empty text is a price that the venue has not.
 */
const amountPattern = /^\d{1,24}(?:\.\d{1,30})?$/ // a day's volume of a coin of 1e-9 USD has more than 15 digits
const signedPattern = /^-?\d{1,24}(?:\.\d{1,30})?$/
const nothingPattern = /^(?:|0+(?:\.0+)?)$/
/** Decimals of a JSON number that is written out: its shortest form has no more that count. */
const NUMBER_DECIMALS = 20

export const MINUTE_MS = 60_000
export const HOUR_MS = 3_600_000
/** Venues settle at multiples of their interval since midnight UTC; none waits longer than this. */
export const SETTLEMENT_MS = 8 * HOUR_MS

export const refusedField: FactRow = { refused: 'bad-field' }
/** The connection lives, whatever its channels have to say. */
export const alive: FrameEvent = { kind: 'heartbeat', symbol: null, lastId: null }

/** A decimal of zero or more. */
export function isAmount(value: unknown): value is string {
  return typeof value === 'string' && amountPattern.test(value)
}

/** A decimal with or without a minus sign. */
export function isSigned(value: unknown): value is string {
  return typeof value === 'string' && signedPattern.test(value)
}

/** A price, or null where there is none (absent, empty, zero); undefined: not a price. */
export function priceOf(value: unknown): string | null | undefined {
  if (value === undefined || value === null) return null
  if (isDecimal(value)) return value
  return typeof value === 'string' && nothingPattern.test(value) ? null : undefined
}

/** An amount, or null where it is not said; undefined: not an amount. */
export function amountOf(value: unknown): string | null | undefined {
  if (value === undefined || value === null || value === '') return null
  return isAmount(value) ? value : undefined
}

/** What a candle may say beside its prices and volume. */
interface CandleMore {
  readonly trades?: unknown
  readonly takerBuy?: unknown
}

/** A candle of trades: open, high, low, close and volume as they came. */
export function candleOf(
  symbol: string,
  minute: Micros | undefined,
  [open, high, low, close, volume]: readonly unknown[],
  more: CandleMore = {},
): FactRow {
  const { trades = null, takerBuy = null } = more
  if (minute === undefined || !isAmount(volume)) return refusedField
  if (!isDecimal(open) || !isDecimal(high) || !isDecimal(low) || !isDecimal(close)) return refusedField
  if ('trades' in more && !isCount(trades)) return refusedField
  if ('takerBuy' in more && !isAmount(takerBuy)) return refusedField
  const beside = { takerBuy: isAmount(takerBuy) ? takerBuy : null, trades: isCount(trades) ? trades : null }
  return { kind: 'candle', symbol, minute, open, high, low, close, volume, ...beside }
}

/** A settled rate, with its mark price where the venue tells it. */
export function settlementOf(
  symbol: string,
  rate: unknown,
  time: Micros | undefined,
  mark: string | null = null,
): FactRow {
  return time === undefined || !isSigned(rate) ? refusedField : { kind: 'settlement', symbol, rate, mark, time }
}

/** What a message has of a spot market, as it came; absent where the message has no such field. */
interface RawTicker {
  readonly bid?: unknown
  readonly ask?: unknown
  readonly last?: unknown
  /** Percent; null: cannot be told. */
  readonly change24h?: number | null
  readonly volume24h?: unknown
  readonly quoteVolume24h?: unknown
}

/**
 * A ticker that says what the message says and nothing else: an empty side of the book is said, a last price or a volume
 * that is missing is not.
 */
export function tickerOf(symbol: string, time: Micros | null, raw: RawTicker): FactRow {
  const [bid, ask, last] = [priceOf(raw.bid), priceOf(raw.ask), priceOf(raw.last)]
  const [volume24h, quoteVolume24h] = [amountOf(raw.volume24h), amountOf(raw.quoteVolume24h)]
  if (bid === undefined || ask === undefined || last === undefined) return refusedField
  if (volume24h === undefined || quoteVolume24h === undefined) return refusedField
  return {
    kind: 'ticker',
    symbol,
    time,
    ...(raw.bid === undefined ? {} : { bid }),
    ...(raw.ask === undefined ? {} : { ask }),
    ...(last === null ? {} : { last }),
    ...(raw.change24h === undefined || raw.change24h === null ? {} : { change24h: raw.change24h }),
    ...(volume24h === null ? {} : { volume24h }),
    ...(quoteVolume24h === null ? {} : { quoteVolume24h }),
  }
}

/** A JSON number as a decimal without exponent; what is none, stays. */
export function plain(value: unknown): unknown {
  if (typeof value !== 'number') return value
  const text = String(value)
  return text.includes('e-') ? value.toFixed(NUMBER_DECIMALS).replace(/\.?0+$/, '') : text
}

/** A fraction as percent: the double that is nearest to the exact product. */
export function percentOf(fraction: string): number {
  return Number(`${fraction}e2`)
}

/** Change from an earlier price to a later one, percent; null where one is missing. */
export function changeOf(from: unknown, to: unknown): number | null {
  return isDecimal(from) && isDecimal(to) ? percentChange(Number(from), Number(to)) : null
}

/** The minute that a time is in, as the time of its start. */
export function minuteOf(time: Micros): Micros {
  return time - (time % (MINUTE_MS * 1_000))
}

export function isFact(row: FactRow): row is Fact {
  return !('refused' in row)
}

/** The event of a stream that a row of an answer would be. */
export function factEvent(row: FactRow): FrameEvent {
  return isFact(row) ? { kind: 'fact', fact: row } : { kind: 'refused', reason: row.refused }
}

/** The rows of an answer; undefined: none of ours, or it says nothing yet. */
export function factRows(list: readonly unknown[], read: (row: unknown) => FactRow | undefined): RestAnswer<FactRow> {
  return { kind: 'rows', rows: list.map(read).filter((row) => row !== undefined) }
}

/** Mark prices of the past with the index of the same time, of candles that are read alike; null where there is none. */
export function withIndexes(marks: readonly FactRow[], indexes: RestAnswer<FactRow>): RestAnswer<FactRow> {
  if (indexes.kind !== 'rows') return indexes
  const priced = (row: FactRow): NonNullable<DerivativeFact['mark']> | undefined =>
    isFact(row) && row.kind === 'derivative' ? row.mark : undefined
  const known = new Map(indexes.rows.map((row) => [priced(row)?.time, priced(row)?.mark ?? null]))
  const joined = marks.map((row): FactRow => {
    const mark = priced(row)
    if (mark === undefined || !isFact(row) || row.kind !== 'derivative') return row
    return { ...row, mark: { ...mark, index: known.get(mark.time) ?? null } }
  })
  return { kind: 'rows', rows: [...joined, ...indexes.rows.filter((row) => !isFact(row))] }
}

/** The last prices of an answer of tickers. */
export function pricesOf(answer: RestAnswer<FactRow>): RestAnswer<ListedPrice> {
  if (answer.kind !== 'rows') return answer
  const rows = answer.rows.flatMap((row) =>
    isFact(row) && row.kind === 'ticker' && typeof row.last === 'string'
      ? [{ symbol: row.symbol, price: Number(row.last) }]
      : [],
  )
  return { kind: 'rows', rows }
}
