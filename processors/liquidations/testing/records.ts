import { emptyFields } from '../../../schemas/codec.ts'
import type { ContractTerms, DerivativeTicker, Message, Micros } from '../../../schemas/records.ts'

/** What the tests of this folder begin with: BTC on Binance. */

export const SECOND: Micros = 1_000_000
export const T0: Micros = 1_786_060_800 * SECOND

export const binance = 'binance:perp:BTCUSDT'
export const bybit = 'bybit:perp:BTCUSDT'
export const okx = 'okx:perp:BTC-USDT-SWAP'

/** A message with only what is given, `seconds` after T0. */
export function says(
  seconds: number,
  {
    mark,
    size,
    instrument = binance,
    asset = 'btc',
  }: { mark?: number; size?: number; instrument?: string; asset?: string },
): Message<'derivative_ticker'> {
  const time = T0 + seconds * SECOND
  const value: DerivativeTicker = {
    ...emptyFields('derivative_ticker'),
    instrument,
    asset,
    channel: 'test',
    mark: mark ?? null,
    mark_time: mark === undefined ? null : time,
    open_interest: size ?? null,
    open_interest_time: size === undefined ? null : time,
    received: time,
  }
  return { type: 'derivative_ticker', value }
}

export function terms(max_leverage: number | null, margin: number, instrument = binance): Message<'contract_terms'> {
  const value: ContractTerms = {
    ...emptyFields('contract_terms'),
    instrument,
    asset: 'btc',
    interval_hours: 8,
    max_leverage,
    margin_tiers: [{ up_to: null, rate: margin, deduction: 0 }],
    received: T0,
  }
  return { type: 'contract_terms', value }
}

export function mark(seconds: number): Message<'mark'> {
  const time = T0 + seconds * SECOND
  return {
    type: 'mark',
    value: { writer: 'feeds', run: T0, time, venues: [], changes: [], venue_time: time, positions: [] },
  }
}
