import type { Micros } from '../../schemas/records.ts'
import { isDecimal } from './fields.ts'
import type { Fact, FactRow } from './source.ts'
import type { FrameEvent, RestAnswer } from './venue.ts'

/**
 * Guards for what venues say beside trades. There, zero can be a value (an open interest, a volume), and rates and
 * premiums can be negative. A price of zero or an empty text is a price that the venue has not.
 */
const amountPattern = /^\d{1,15}(?:\.\d{1,30})?$/
const signedPattern = /^-?\d{1,15}(?:\.\d{1,30})?$/
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
export function changeOf(from: string | null, to: string | null): number | null {
  return from === null || to === null ? null : (Number(to) / Number(from) - 1) * 100
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
