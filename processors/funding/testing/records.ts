import { emptyFields } from '../../../schemas/codec.ts'
import type {
  ContractTerms,
  DerivativeTicker,
  LongShortRatio,
  Message,
  Micros,
  Settlement,
} from '../../../schemas/records.ts'

/** What the tests of this folder begin with: BTC on Binance, one interval of 8 h that began at T0. */

export const SECOND: Micros = 1_000_000
export const MINUTE: Micros = 60 * SECOND
export const HOUR: Micros = 60 * MINUTE
/** A settlement of every interval. */
export const T0: Micros = 1_786_060_800 * SECOND

export const binance = 'binance:perp:BTCUSDT'
export const bybit = 'bybit:perp:BTCUSDT'
export const okx = 'okx:perp:BTC-USDT-SWAP'

const nothing = {
  ...emptyFields('derivative_ticker'),
} as const

/** A message of Binance that says only what is given. */
export function says(fields: Partial<DerivativeTicker>): Message<'derivative_ticker'> {
  const { received = T0, ...rest } = fields
  const value = { instrument: binance, asset: 'btc', channel: 'test', ...nothing, received, ...rest }
  return { type: 'derivative_ticker', value }
}

/** The running rate, `after` T0; the settlement is 8 h after T0 unless given. */
export function rate(
  value: number,
  after: Micros,
  fields: Partial<DerivativeTicker> = {},
): Message<'derivative_ticker'> {
  const time = T0 + after
  return says({ rate: value, rate_time: time, next_settlement: T0 + 8 * HOUR, received: time, ...fields })
}

/** The premium's close of the n-th minute after T0, from 0. */
export function premium(value: number, minute: number, instrument = binance): Message<'derivative_ticker'> {
  const time = T0 + minute * MINUTE
  return says({ instrument, premium: value, premium_time: time, received: time + MINUTE })
}

export function settlement(settled_rate: number, after: Micros, instrument = binance): Message<'settlement'> {
  const time = T0 + after
  const value: Settlement = { instrument, asset: 'btc', settled_rate, mark: null, time, received: time }
  return { type: 'settlement', value }
}

export function terms(fields: Partial<ContractTerms>): Message<'contract_terms'> {
  const value: ContractTerms = {
    ...emptyFields('contract_terms'),
    instrument: binance,
    asset: 'btc',
    interval_hours: 8,
    received: T0,
    ...fields,
  }
  return { type: 'contract_terms', value }
}

/** Top traders' positions of a venue, received `after` T0. */
export function ratio(
  venue: string,
  value: number,
  after: Micros,
  fields: Partial<LongShortRatio> = {},
): Message<'long_short_ratio'> {
  const row: LongShortRatio = {
    instrument: `${venue}:perp:BTCUSDT`,
    asset: 'btc',
    cohort: 'top_traders',
    basis: 'positions',
    long_ratio: value / (1 + value),
    short_ratio: 1 / (1 + value),
    ls_ratio: value,
    time: T0 + after - 5 * MINUTE,
    received: T0 + after,
    ...fields,
  }
  return { type: 'long_short_ratio', value: row }
}

export function mark(after: Micros): Message<'mark'> {
  const time = T0 + after
  return {
    type: 'mark',
    value: { writer: 'feeds', run: T0, time, venues: [], changes: [], venue_time: time, positions: [] },
  }
}
