import { fundingVenues } from '../schemas/venues.ts'
import type { Param } from './params.ts'
import { exchangeNames } from './routes/ohlcv.ts'

export const symbol = {
  in: 'path',
  rule: { kind: 'symbol' },
  error: 'invalid_symbol',
  says: 'Base asset, any case; BTC and BTCUSDT mean the same',
  example: 'BTC',
} as const satisfies Param

export const interval = {
  in: 'query',
  rule: { kind: 'choice', values: ['1m', '5m', '15m', '1h', '4h', '1d'], default: '1h' },
  error: 'invalid_interval',
  says: 'Width of a bucket',
  example: '1m',
} as const satisfies Param

export const start = {
  in: 'query',
  rule: { kind: 'time' },
  error: 'invalid_range',
  says: 'Earliest bucket start, inclusive; with it, the oldest `limit` rows are given',
  example: '2026-01-01T00:00:00Z',
} as const satisfies Param

export const end = {
  in: 'query',
  rule: { kind: 'time' },
  error: 'invalid_range',
  says: 'Latest bucket start, exclusive',
  example: '2026-01-02T00:00:00Z',
} as const satisfies Param

/** `rows`: how many there are without it. */
export function limitOf<Rows extends number>(rows: Rows, max: number = 1000) {
  return {
    in: 'query',
    rule: { kind: 'count', min: 1, max, default: rows },
    error: 'invalid_limit',
    says: 'Most rows',
    example: '100',
  } as const satisfies Param
}

export const period = {
  in: 'query',
  rule: { kind: 'choice', values: ['1h', '4h', '24h', '7d'], default: '1h' },
  error: 'invalid_period',
  says: 'Rolling period that ends now',
  example: '4h',
} as const satisfies Param

export const candleExchange = {
  in: 'query',
  rule: { kind: 'choice', values: exchangeNames, default: 'binance' },
  error: 'invalid_exchange',
  says: 'Whose trades; all merges spot and perpetual prices, so its wicks are wider',
  example: 'coinbase',
} as const satisfies Param

export const fundingExchange = {
  in: 'query',
  rule: { kind: 'choice', values: fundingVenues, default: 'binance' },
  error: 'invalid_exchange',
  says: 'Whose perpetual',
  example: 'bybit',
} as const satisfies Param

export const threshold = {
  in: 'query',
  rule: { kind: 'decimal', min: 0, default: 0.01 },
  error: 'invalid_threshold',
  says: 'Least size of a rate that is flagged, percent',
  example: '0.05',
} as const satisfies Param

export const tokenId = {
  in: 'path',
  rule: { kind: 'token' },
  error: 'market_not_found',
  says: 'Registry id of the token',
  example: 'bitcoin',
} as const satisfies Param

export const symbols = {
  in: 'query',
  rule: { kind: 'batch', max: 20 },
  error: 'invalid_symbols',
  says: 'Symbols, separated by commas; any case',
  example: 'btc,eth',
} as const satisfies Param

export const symbolFilter = {
  in: 'query',
  rule: { kind: 'filter' },
  error: 'invalid_symbol',
  says: 'One symbol only; BTC and BTCUSDT mean the same',
  example: 'BTCUSDT',
} as const satisfies Param
