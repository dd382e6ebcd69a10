import type { PerpMarket, SpotMarket } from './economy.ts'
import type { Micros } from './trade.ts'

/** Whole units to decimal text: `units` of 10^-decimals each, with exactly that many decimals. */
export function fixedText(units: number | bigint, decimals: number): string {
  const text = String(units)
  if (decimals <= 0) return units === 0 || units === 0n ? '0' : text + '0'.repeat(-decimals)
  const negative = text.startsWith('-')
  const digits = (negative ? text.slice(1) : text).padStart(decimals + 1, '0')
  const point = digits.length - decimals
  return `${negative ? '-' : ''}${digits.slice(0, point)}.${digits.slice(point)}`
}

/** As `fixedText`, without trailing zeros: 0.2, 63514.6, 120. */
export function trimmedText(units: number | bigint, decimals: number): string {
  const text = fixedText(units, decimals)
  if (!text.includes('.')) return text
  let end = text.length
  while (text[end - 1] === '0') end -= 1
  return text.slice(0, text[end - 1] === '.' ? end - 1 : end)
}

/** Decimal text to whole units of 10^-decimals; undefined where it has more decimals than that, or is no decimal. */
export function unitsOf(text: string, decimals: number): number | undefined {
  const match = /^(\d+)(?:\.(\d*))?$/.exec(text)
  if (match === null) return undefined
  const fraction = (match[2] ?? '').replace(/0+$/, '')
  if (fraction.length > decimals) return undefined
  const units = Number(`${match[1]}${fraction.padEnd(decimals, '0')}`)
  return Number.isSafeInteger(units) ? units : undefined
}

/** Decimals that a text shows: 2 for 1.30. */
export function decimalsOf(text: string): number {
  const point = text.indexOf('.')
  return point < 0 ? 0 : text.length - point - 1
}

/** What a market's venue counts in: spot markets trade single units. */
export type Scale = Pick<SpotMarket, 'priceDecimals' | 'sizeDecimals'> &
  Partial<Pick<PerpMarket, 'factor' | 'priceFactor'>>

/** A price of one base unit as the venue writes it, with all of the market's decimals. */
export function priceText(market: Scale, price: number): string {
  return fixedText(nearestUnits(price, market.priceDecimals + (market.priceFactor ?? 0)), market.priceDecimals)
}

/** Base units as the venue counts them, with all of the market's decimals. */
export function sizeText(market: Scale, size: number): string {
  return fixedText(nearestUnits(size, market.sizeDecimals - (market.factor ?? 0)), market.sizeDecimals)
}

/** As `priceText`, without trailing zeros. */
export function shortPrice(market: Scale, price: number): string {
  return trimmedText(nearestUnits(price, market.priceDecimals + (market.priceFactor ?? 0)), market.priceDecimals)
}

/** As `sizeText`, without trailing zeros. */
export function shortSize(market: Scale, size: number): string {
  return trimmedText(nearestUnits(size, market.sizeDecimals - (market.factor ?? 0)), market.sizeDecimals)
}

/** A number rounded to `decimals`, with all of them. */
export function fixedNumber(value: number, decimals: number): string {
  return fixedText(nearestUnits(value, decimals), decimals)
}

/** A number rounded to `decimals`, without trailing zeros. */
export function shortNumber(value: number, decimals: number): string {
  return trimmedText(nearestUnits(value, decimals), decimals)
}

/** 10^power as decimal text: 1000, 0.01. */
export function powerText(power: number): string {
  return power >= 0 ? `1${'0'.repeat(power)}` : fixedText(1, -power)
}

/** Whole units of 10^-decimals, the nearest to the number's own decimal text: a float product would miss some. */
function nearestUnits(value: number, decimals: number): bigint {
  const [digits = '0', exponent = '0'] = value.toExponential().split('e')
  const units = Math.round(Number(`${digits}e${Number(exponent) + decimals}`))
  return BigInt(Object.is(units, -0) ? 0 : units)
}

/** RFC 3339 with microseconds. */
export function timeText(time: Micros): string {
  const date = new Date(Math.floor(time / 1000)).toISOString()
  return `${date.slice(0, -1)}${String(Math.floor(time % 1000)).padStart(3, '0')}Z`
}

/** Whole milliseconds since 1970. */
export function msOf(time: Micros): number {
  return Math.floor(time / 1000)
}

/** Four unsigned 32-bit numbers as a UUID's text. */
export function uuidText(words: readonly [number, number, number, number]): string {
  const hex = words.map((word) => word.toString(16).padStart(8, '0')).join('')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** The same number always gives the same UUID of version 4. */
export function uuidOf(number: number, salt: number): string {
  const low = number >>> 0
  const high = Math.floor(number / 0x1_0000_0000)
  const second = ((mix(high, salt + 2) & 0xffff0fff) | 0x4000) >>> 0
  const third = ((mix(low, salt + 3) & 0x3fffffff) | 0x80000000) >>> 0
  return uuidText([mix(low, salt), second, third, mix(low, salt + 4)])
}

/** Scrambles 32 bits (the finaliser of MurmurHash3). */
function mix(value: number, salt: number): number {
  let bits = (value ^ Math.imul(salt + 1, 0x9e3779b1)) >>> 0
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}

/** A short name for a connection, as venues show in their answers. */
export function connectionName(number: number, digits: number): string {
  return mix(number, 7).toString(16).padStart(8, '0').slice(0, digits)
}
