import type { FrameEvent, PageRow, RestAnswer } from './venue.ts'
import type { Micros } from '../../schemas/records.ts'

/**
 * Guards that the venues' parsers share. Everything from outside is `unknown` until one of them made it a value.
 * `INTEGER`, `DECIMAL` and `SYMBOL` are the same rules as sources of the frame patterns.
 */

/** A whole number as JSON writes it; at most 16 digits, the caller checks that it is a safe integer. */
export const INTEGER = '(?:0|[1-9]\\d{0,15})'

/** A positive decimal without exponent: at most 15 digits before the point and 18 behind it. */
export const DECIMAL = '(?=[0.]*[1-9])\\d{1,15}(?:\\.\\d{1,18})?'

/** Symbols of the quick path; others (Binance has Chinese ones) take the general one. */
export const SYMBOL = '[A-Za-z0-9_-]{1,64}'

const decimalPattern = new RegExp(`^${DECIMAL}$`)
const integerPattern = new RegExp(`^${INTEGER}$`)
const SYMBOL_LENGTH_MAX = 64

/** 2009-01-03 (there was no coin before) and 2100: a time outside is in another unit or a mistake. */
const EARLIEST_MS = 1_230_940_800_000
const LATEST_MS = 4_102_444_800_000

export const notJson: FrameEvent = { kind: 'refused', reason: 'not-json' }
export const notAnObject: FrameEvent = { kind: 'refused', reason: 'not-an-object' }
export const unknownEvent: FrameEvent = { kind: 'refused', reason: 'unknown-event' }
export const badField: FrameEvent = { kind: 'refused', reason: 'bad-field' }
export const offBook: FrameEvent = { kind: 'refused', reason: 'off-book' }
export const merged: FrameEvent = { kind: 'refused', reason: 'merged' }

/** The value of a JSON text; undefined, which JSON cannot say, where it is none. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A whole number from 0 to 2^53 - 1. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

/** A whole number that the venue writes as a string. */
export function countOf(text: unknown): number | undefined {
  if (typeof text !== 'string' || !integerPattern.test(text)) return undefined
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : undefined
}

/** A positive decimal that the venue writes as a string; still text, so that scaling stays exact. */
export function isDecimal(value: unknown): value is string {
  return typeof value === 'string' && decimalPattern.test(value)
}

export function isSymbol(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= SYMBOL_LENGTH_MAX
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Milliseconds since the epoch as microseconds; undefined for what cannot be the time of a trade. */
export function microsOf(ms: number): Micros | undefined {
  return ms >= EARLIEST_MS && ms < LATEST_MS ? ms * 1000 : undefined
}

/** ISO 8601 in UTC with up to nine decimals, cut to microseconds. */
export function microsOfIso(text: string): Micros | undefined {
  if (!isoPattern.test(text)) return undefined
  const seconds = microsOf(Date.parse(`${text.slice(0, 19)}Z`))
  if (seconds === undefined) return undefined
  return seconds + Number(text.slice(20, -1).padEnd(6, '0').slice(0, 6))
}

const isoPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/

/** Judges the numbers that a trade still has to pass, whichever path read it. */
export function tradeEvent(
  symbol: string,
  id: number,
  count: number,
  sequence: number | null,
  price: string,
  size: string,
  taker: 'buy' | 'sell',
  time: Micros | undefined,
): FrameEvent {
  if (time === undefined || !isCount(id) || !(count >= 1 && count <= COUNT_MAX)) return badField
  if (sequence !== null && !isCount(sequence)) return badField
  return { kind: 'trade', trade: { symbol, id, count, sequence, price, size, taker, time } }
}

/** More fills than this are not one record of a venue's stream. */
const COUNT_MAX = 10_000_000

/** The row of a REST page that a stream's event would be. */
export function pageRow(event: FrameEvent): PageRow {
  if (event.kind === 'trade') return event.trade
  return { refused: event.kind === 'refused' ? event.reason : 'unknown-event' }
}

/** A body that is not what the venue documents. */
export function badBody(what: string): RestAnswer<never> {
  return { kind: 'error', code: 'bad-body', message: `${what} expected` }
}
