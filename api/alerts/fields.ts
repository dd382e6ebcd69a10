import { AHEAD_MAX, FOREVER_HOURS } from '../../processors/alerts/state.ts'
import { ApiError, type ErrorCode } from '../request/errors.ts'
import { upperSymbol } from '../request/params.ts'
import type { Body } from '../request/body.ts'

/** A field's error: what is missing or of the wrong type gets the field's own identifier. */
export function wrong(code: ErrorCode, field: string, message: string): ApiError {
  return new ApiError(code, message, { field })
}

/** A field's value; undefined where it is left out or null, which means the same. */
export function field(body: Body, name: string): unknown {
  return Object.hasOwn(body, name) ? (body[name] ?? undefined) : undefined
}

export function isFigure(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

export const HOURS_MAX = 168
export const LONG_HOURS_MAX = AHEAD_MAX / 3_600_000_000
const HOURS_DEFAULT = 24

/** `expires_in_hours`: 1 to 168, default 24; of what may last for ever to 720, and 0, which is no end. */
export function readLifetime(body: Body, mayLastForever = false): number {
  const name = 'expires_in_hours'
  const hours = field(body, name) ?? HOURS_DEFAULT
  const most = mayLastForever ? LONG_HOURS_MAX : HOURS_MAX
  if (mayLastForever && hours === FOREVER_HOURS) return FOREVER_HOURS
  if (isFigure(hours) && hours > most)
    throw wrong(
      'expires_in_hours_too_long',
      name,
      `${name} may be at most ${most} (${most / 24} days); extend the alert later.`,
    )
  if (!isHours(hours))
    throw wrong('invalid_expires_in_hours', name, `${name} must be a whole number from 1 to ${most}.`)
  return hours
}

/** `add_hours`: 1 to 168, default 24. */
export function readAddHours(body: Body): number {
  const hours = field(body, 'add_hours') ?? HOURS_DEFAULT
  if (!isHours(hours) || hours > HOURS_MAX)
    throw wrong('invalid_add_hours', 'add_hours', `add_hours must be a whole number from 1 to ${HOURS_MAX}.`)
  return hours
}

function isHours(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 1
}

/** In any case, as in a path; answered and sent in upper case. */
export function readSymbol(body: Body): string {
  const text = field(body, 'symbol')
  const symbol = typeof text === 'string' ? upperSymbol(text) : undefined
  if (symbol === undefined)
    throw wrong('invalid_symbol', 'symbol', 'symbol must be 1 to 20 letters and digits, for example BTC.')
  return symbol
}

/** Symbols of one alert. */
export const SYMBOLS_MAX = 50

/** `symbols` of a rule for several: a list, each once, or `all`; undefined where it is for one. */
export function readSymbols(body: Body): readonly string[] | 'all' | undefined {
  const given = field(body, 'symbols')
  if (given === undefined) return undefined
  if (field(body, 'symbol') !== undefined) throw wrong('invalid_symbol', 'symbols', 'Give symbol or symbols, not both.')
  if (given === 'all') return 'all'
  const texts: readonly unknown[] = Array.isArray(given) ? given : []
  const symbols = texts.flatMap((text) => (typeof text === 'string' ? (upperSymbol(text) ?? []) : []))
  if (symbols.length === 0 || symbols.length !== texts.length || symbols.length > SYMBOLS_MAX)
    throw wrong(
      'invalid_symbol',
      'symbols',
      `symbols must be "all", or a list of 1 to ${SYMBOLS_MAX} such as ["BTC", "ETH"].`,
    )
  return [...new Set(symbols)]
}

const EVM = /^0[xX][0-9a-fA-F]{40}$/
const SOLANA = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/

/** `agent_wallet` as submitted; undefined where it is left out. */
export function readWallet(body: Body): string | undefined {
  const name = 'agent_wallet'
  const wallet = field(body, name)
  if (wallet === undefined) return undefined
  if (typeof wallet !== 'string' || !(EVM.test(wallet) || SOLANA.test(wallet)))
    throw wrong(
      'invalid_agent_wallet',
      name,
      `${name} must be an EVM address (0x and 40 hexadecimal digits) or a Solana address (32 to 44 base58 characters).`,
    )
  return wallet
}
