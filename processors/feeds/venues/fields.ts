import type { Micros } from '../../../schemas/records.ts'
import type { FrameEvent, PageRow, VenueTrade } from './events.ts'
import type { RestAnswer, ArchiveRefusal, Listed } from './venue.ts'

/**
 * Guards that the venues' parsers share. Everything from outside is `unknown` until one of them made it a value.
 *
 * `DIGITS`, `DECIMAL` and `NAME` are what the patterns of the quick paths take: never more than JSON allows in that
 * place, a little more than we do, and only ASCII. Whatever the reader of such a frame (`frame-reader.ts`) or JSON brought,
 * `tradeEvent` judges it by the same rules.
 */
export const DIGITS = '[1-9]\\d*'
export const DECIMAL = '\\d+(?:\\.\\d+)?'
/** Binance has Chinese symbols too: they take the general path. */
export const NAME = '[\\w-]+'
/** With six decimals, as Coinbase writes it. */
export const ISO_TIME = '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}Z'
const ISO_TIME_LENGTH = 27

/** A positive decimal without exponent: at most 15 digits before the point and 18 behind it. */
const decimalPattern = /^(?=[0.]*[1-9])\d{1,15}(?:\.\d{1,18})?$/
/** A decimal that is no longer has neither too many digits before its point nor behind it. */
const SURE_LENGTH = 15
const integerPattern = /^(?:0|[1-9]\d{0,15})$/
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

/** What `read` says of a frame that is a JSON object. */
export function fromObject(
  frame: string,
  read: (message: Record<string, unknown>) => readonly FrameEvent[],
): FrameEvent[] {
  const message = jsonOf(frame)
  if (message === undefined) return [notJson]
  return isRecord(message) ? [...read(message)] : [notAnObject]
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

const ZERO = 48

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Milliseconds since the epoch as microseconds; undefined for what cannot be the time of a trade. */
export function microsOf(ms: number): Micros | undefined {
  return ms >= EARLIEST_MS && ms < LATEST_MS ? ms * 1000 : undefined
}

/** Seconds since the epoch with up to nine decimals, as a number or a text, cut to microseconds. */
export function microsOfSeconds(seconds: unknown): Micros | undefined {
  const text = typeof seconds === 'number' ? String(seconds) : textOf(seconds)
  const [, whole = '', fraction = ''] = secondsPattern.exec(text) ?? []
  const second = microsOf(Number(whole) * 1_000)
  return second === undefined ? undefined : second + Number(fraction.slice(0, 6).padEnd(6, '0'))
}

const secondsPattern = /^(\d{10})(?:\.(\d{1,9}))?$/

/** ISO 8601 in UTC with up to nine decimals, cut to microseconds. */
export function microsOfIso(text: string): Micros | undefined {
  if (!isoPattern.test(text)) return undefined
  return microsOfIsoAt(
    `${text
      .slice(0, -1)
      .padEnd(20, '.')
      .padEnd(ISO_TIME_LENGTH - 1, '0')}Z`,
    0,
  )
}

const isoPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/

/** The time that stands `at` a place of a text, as a pattern with `ISO_TIME` found it. */
export function microsOfIsoAt(text: string, at: number): Micros | undefined {
  const year = two(text, at + 2)
  const month = two(text, at + 5)
  const day = two(text, at + 8)
  const hour = two(text, at + 11)
  const minute = two(text, at + 14)
  const second = two(text, at + 17)
  if (month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) return undefined
  if (hour > 23 || minute > 59 || second > 59 || two(text, at) !== CENTURY) return undefined
  const days = DAYS_TO_2000 + 365 * year + Math.ceil(year / 4) + daysBefore(year, month) + day - 1
  const seconds = microsOf((((days * 24 + hour) * 60 + minute) * 60 + second) * 1000)
  if (seconds === undefined) return undefined
  return seconds + (two(text, at + 20) * 100 + two(text, at + 22)) * 100 + two(text, at + 24)
}

/** The two digits at a place. */
function two(text: string, at: number): number {
  return (text.charCodeAt(at) - ZERO) * 10 + text.charCodeAt(at + 1) - ZERO
}

/** Days of a year of 2000 to 2099 before a month; months count from 1. */
function daysBefore(year: number, month: number): number {
  return (DAYS_BEFORE[month - 1] ?? NaN) + (month > 2 && year % 4 === 0 ? 1 : 0)
}

const DAYS_BEFORE = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]
/** The times that `microsOf` takes are all of 20xx. */
const CENTURY = 20
const DAYS_TO_2000 = 10_957

/** Days of a month, of a year of 2001 to 2099 by its last two digits; months count from 1. */
function daysOf(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/** Judges a trade's values, whichever path read them. `price` and `size` are texts of digits with at most one point. */
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
  if (!isPositive(price) || !isPositive(size) || symbol.length > SYMBOL_LENGTH_MAX) return badField
  return { kind: 'trade', trade: { symbol, id, count, sequence, price, size, taker, time } }
}

/** Of a short decimal it is enough that it is not zero; most are short, and the pattern takes ten times as long. */
function isPositive(decimal: string): boolean {
  if (decimal.length > SURE_LENGTH) return decimalPattern.test(decimal)
  for (let at = 0; at < decimal.length; at++) if (decimal.charCodeAt(at) > ZERO) return true
  return false
}

/** More fills than this are not one record of a venue's stream. */
const COUNT_MAX = 10_000_000

/** The row of a REST page of `asked` that a stream's event would be. */
export function pageRow(asked: string, event: FrameEvent): PageRow {
  if (event.kind === 'trade') return event.trade.symbol === asked ? event.trade : { refused: 'bad-field' }
  return { refused: event.kind === 'refused' ? event.reason : 'unknown-event' }
}

/** A body that is not what the venue documents. */
export function badBody(what: string): RestAnswer<never> {
  return { kind: 'error', code: 'bad-body', message: `${what} expected` }
}

/** Base ticker with its multiplier taken off: PEPE and 1000 for 1000PEPE, SHIB and 1000 for SHIB1000. */
interface Scaled {
  readonly base: string
  readonly factor: number
}

/**
 * Multipliers that Binance and Bybit write before (`1000PEPE`, `10000SATS`, `1000000MOG`, `1MBABYDOGE`) or, Bybit for
 * Shiba, behind (`SHIB1000`) the ticker. A letter must follow, so that digits of a name stay: 1INCH, 0G, 42.
 */
const before = /^(1000000|10000|1000)(?=\p{L})(.+)$/u
const million = /^1M(?=\p{L}{4})(.+)$/u
const behind = /^(\p{L}+)1000$/u

export function scaledBase(ticker: string): Scaled {
  const prefixed = before.exec(ticker)
  if (prefixed !== null) return { base: prefixed[2] ?? '', factor: Number(prefixed[1]) }
  const short = million.exec(ticker)
  if (short !== null) return { base: short[1] ?? '', factor: 1_000_000 }
  const suffixed = behind.exec(ticker)
  if (suffixed !== null) return { base: suffixed[1] ?? '', factor: 1000 }
  return { base: ticker, factor: 1 }
}

/** A market in USDT: quantity and price of `1000PEPEUSDT` are in and for 1000 PEPE. */
export function scaledMarket(symbol: string, ticker: string, tick: number | null, live: boolean): Listed {
  const { base, factor } = scaledBase(ticker)
  return { symbol, base, quote: 'USDT', settle: 'USDT', sizeFactor: factor, priceFactor: factor, tick, live }
}

type Raw = Pick<VenueTrade, 'symbol' | 'count' | 'taker' | 'time'> &
  Readonly<Record<'id' | 'price' | 'size', string | undefined>>

/** The trade of a line whose texts are what they should be. */
export function archivedTrade({ id, price, size, ...rest }: Raw): VenueTrade | ArchiveRefusal {
  if (!isWhole(id) || !isPlain(price) || !isPlain(size) || rest.count < 1) return 'bad-field'
  return { ...rest, id: Number(id), sequence: null, price, size }
}

export function isWhole(text: string | undefined): text is string {
  return text !== undefined && /^\d{1,16}$/.test(text)
}

function isPlain(text: string | undefined): text is string {
  return text !== undefined && /^\d+(?:\.\d+)?$/.test(text) && Number(text) > 0
}

/** Milliseconds (13 digits) or microseconds (16). */
export function archivedMicros(text: string | undefined): Micros | undefined {
  if (text === undefined || !/^(?:\d{13}|\d{16})$/.test(text)) return undefined
  return text.length === 13 ? Number(text) * 1000 : Number(text)
}
