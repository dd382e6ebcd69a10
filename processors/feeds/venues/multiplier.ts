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
