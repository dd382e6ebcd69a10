/**
 * A trade id of linear contracts, a UUID, as a number: its first 52 random bits, which are its first 13 hexadecimal
 * digits without the version (the 13th). Two trades of one 10 s bucket share it once in millions of years.
 */
export function idOf(uuid: string): number | undefined {
  if (uuid.length !== UUID_LENGTH) return undefined
  let id = 0
  for (let at = 0; at < LAST_DIGIT; at++) {
    if (at === 8 || at === 13) {
      if (uuid.charCodeAt(at) !== DASH) return undefined
    } else if (at !== VERSION) {
      const digit = digitOf(uuid.charCodeAt(at))
      if (digit < 0) return undefined
      id = id * 16 + digit
    }
  }
  return id
}

const UUID_LENGTH = 36
/** Places in `xxxxxxxx-xxxx-Vxxx-...`: the version, and one past the 13th random digit. */
const VERSION = 14
const LAST_DIGIT = 16
const DASH = 45

/** The value of a hexadecimal digit; -1 of anything else. */
function digitOf(code: number): number {
  if (code >= 48 && code <= 57) return code - 48
  return code >= 97 && code <= 102 ? code - 87 : -1
}
