/**
 * A trade id of linear contracts, a UUID, as a number: its first 52 random bits, which are its first 13 hexadecimal
 * digits without the version (the 13th). Two trades of one 10 s bucket share it once in millions of years.
 */
export function idOf(uuid: string): number | undefined {
  return idAt(uuid, 0, uuid.length)
}

/** The same of a part of a text. */
export function idAt(text: string, from: number, to: number): number | undefined {
  if (to - from !== UUID_LENGTH) return undefined
  if (text.charCodeAt(from + 8) !== DASH || text.charCodeAt(from + 13) !== DASH) return undefined
  const high = hexadecimal(text, from, from + 7)
  const middle = hexadecimal(text, from + 9, from + 13)
  const low = (hexadecimal(text, from + 7, from + 8) << 20) | (middle << 4) | hexadecimal(text, from + 15, from + 16)
  return high < 0 || low < 0 ? undefined : high * 0x1000000 + low
}

const UUID_LENGTH = 36
const DASH = 45

/** The value of at most seven hexadecimal digits in small letters; negative where one of them is none. */
function hexadecimal(text: string, from: number, to: number): number {
  let value = 0
  for (let at = from; at < to; at++) value = (value << 4) | (digits[text.charCodeAt(at)] ?? -1)
  return value
}

/** By the code of a character; -1 where it is no digit. */
const digits = Int8Array.from({ length: 128 }, (_, code) => '0123456789abcdef'.indexOf(String.fromCharCode(code)))
