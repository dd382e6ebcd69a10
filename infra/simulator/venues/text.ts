import type { Micros } from '../market/trade.ts'

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
