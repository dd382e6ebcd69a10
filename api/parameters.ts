import { settlementVenues } from '../schemas/venues.ts'
import type { Param } from './params.ts'
import { channels } from './stream/channels.ts'
import { intervalNames, type IntervalName } from './views/range.ts'
import { venueNames } from './views/venues.ts'

export const symbol = {
  in: 'path',
  rule: { kind: 'symbol' },
  error: 'invalid_symbol',
  description: 'Base asset, any case; BTC and BTCUSDT mean the same',
  example: 'BTC',
} as const satisfies Param

export const interval = {
  in: 'query',
  rule: { kind: 'choice', values: intervalNames, default: '1h' },
  error: 'invalid_interval',
  description: 'Width of a bucket; weeks begin with Monday',
  example: '1m',
} as const satisfies Param

/** Buckets no narrower than `shortest`, which is how often there is something to tell. */
export function intervalFrom(shortest: IntervalName) {
  return {
    ...interval,
    rule: { kind: 'choice', values: intervalNames.slice(intervalNames.indexOf(shortest)), default: '1h' },
    example: shortest,
  } as const satisfies Param
}

export const start = {
  in: 'query',
  rule: { kind: 'time' },
  error: 'invalid_range',
  description: 'Earliest bucket start, inclusive; with it, the oldest `limit` rows are given',
  example: '2026-01-01T00:00:00Z',
} as const satisfies Param

export const end = {
  in: 'query',
  rule: { kind: 'time' },
  error: 'invalid_range',
  description: 'Latest bucket start, exclusive',
  example: '2026-01-02T00:00:00Z',
} as const satisfies Param

export const anchor = {
  in: 'query',
  rule: { kind: 'time' },
  error: 'invalid_range',
  description:
    'Anchor: cvd counts from the bucket that it lies in, and points begin there; without it from the first trade',
  example: '2026-01-01T00:00:00Z',
} as const satisfies Param

/** `rows`: how many there are without it. */
export function limitOf<Rows extends number>(rows: Rows, max: number = 1000) {
  return {
    in: 'query',
    rule: { kind: 'count', min: 1, max, default: rows },
    error: 'invalid_limit',
    description: 'Most rows',
    example: '100',
  } as const satisfies Param
}

export const period = {
  in: 'query',
  rule: { kind: 'choice', values: ['1h', '4h', '24h', '7d'], default: '1h' },
  error: 'invalid_period',
  description: 'Rolling period that ends now',
  example: '4h',
} as const satisfies Param

export const exchangeNames: readonly string[] = [...venueNames, 'all']

export const candleExchange = {
  in: 'query',
  rule: { kind: 'choice', values: exchangeNames, default: 'binance' },
  error: 'invalid_exchange',
  description: 'Whose trades; all merges spot and perpetual prices, so its wicks are wider',
  example: 'coinbase',
} as const satisfies Param

export const fundingExchange = {
  in: 'query',
  rule: { kind: 'choice', values: settlementVenues, default: 'binance' },
  error: 'invalid_exchange',
  description: 'Whose perpetual',
  example: 'bybit',
} as const satisfies Param

export const threshold = {
  in: 'query',
  rule: { kind: 'decimal', min: 0, default: 0.01 },
  error: 'invalid_threshold',
  description: 'Least size of a rate that is flagged, percent',
  example: '0.05',
} as const satisfies Param

export const tokenId = {
  in: 'path',
  rule: { kind: 'token' },
  error: 'market_not_found',
  description: 'Registry id of the token',
  example: 'bitcoin',
} as const satisfies Param

export const symbols = {
  in: 'query',
  rule: { kind: 'batch', max: 20 },
  error: 'invalid_symbols',
  description: 'Symbols, separated by commas; any case',
  example: 'btc,eth',
} as const satisfies Param

export const streamSymbols = {
  in: 'query',
  rule: { kind: 'symbols', max: 20 },
  error: 'invalid_symbols',
  description: 'Symbols, separated by commas; any case; BTC and BTCUSDT mean the same',
  example: 'BTC',
} as const satisfies Param

export const streamChannels = {
  in: 'query',
  rule: { kind: 'choices', values: channels },
  error: 'invalid_channels',
  description: 'What is told',
  example: 'cvd,price',
} as const satisfies Param

export const streamSeconds = {
  in: 'query',
  rule: { kind: 'count', min: 1, max: 3600, default: 3600 },
  error: 'invalid_seconds',
  description: 'How long the stream lasts; where it is paid for, from the payment on',
  example: '60',
} as const satisfies Param

export const symbolFilter = {
  in: 'query',
  rule: { kind: 'filter' },
  error: 'invalid_symbol',
  description: 'One symbol only; BTC and BTCUSDT mean the same',
  example: 'BTCUSDT',
} as const satisfies Param

export const alertId = {
  in: 'path',
  rule: {
    kind: 'shape',
    pattern: /^alert_[a-z0-9_]{1,80}$/,
    description: 'an alert_id as the creation gave it',
    optional: false,
  },
  error: 'alert_not_found',
  description: 'The alert_id that the creation gave',
  example: 'alert_btc_1767323045_48151623',
} as const satisfies Param

export const triggerId = {
  in: 'path',
  rule: {
    kind: 'shape',
    pattern: /^alert_[^\s/]{1,140}$/,
    description: 'a trigger_id of the deliveries',
    optional: false,
  },
  error: 'not_found',
  description: 'The trigger_id of a webhook or of the deliveries',
  example: 'alert_btc_1767323045_48151623_1',
} as const satisfies Param

export const recordId = {
  in: 'path',
  rule: { kind: 'shape', pattern: /^rec_[\w-]{1,80}$/, description: 'the record of a webhook', optional: false },
  error: 'not_found',
  description: 'The record that a webhook names',
  example: 'rec_YWxlcnRzLmlucHV0cy8wLzQy',
} as const satisfies Param

export const wallet = {
  in: 'query',
  rule: {
    kind: 'shape',
    pattern: /^(?:0[xX][0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/,
    description: 'an EVM address (0x and 40 hexadecimal digits) or a Solana address (32 to 44 base58 characters)',
    optional: true,
  },
  error: 'invalid_agent_wallet',
  description: 'Only alerts of this agent_wallet or payer; case does not matter for EVM addresses',
  example: '0x52908400098527886E0F7030069857D2E4169EE7',
} as const satisfies Param

export const payingWallet = {
  in: 'query',
  rule: { kind: 'shape', pattern: /^0x[0-9a-fA-F]{40}$/, description: '0x and 40 hexadecimal digits', optional: false },
  error: 'invalid_agent_wallet',
  description: 'The address that paid',
  example: '0x52908400098527886E0F7030069857D2E4169EE7',
} as const satisfies Param

export const cursor = {
  in: 'query',
  rule: { kind: 'shape', pattern: /^[\w-]{1,300}$/, description: 'next_cursor of the page before', optional: true },
  error: 'invalid_cursor',
  description: 'Where the page before ended: its next_cursor',
  example: 'MTc2NzMyMzA0NTAwMDAwMHxhbGVydF9idGNfMTc2NzMyMzA0NV80ODE1MTYyMw',
} as const satisfies Param

export const keyId = {
  in: 'path',
  rule: { kind: 'shape', pattern: /^[0-9a-f]{20}$/, description: 'a key_id as POST /credit gave it', optional: false },
  error: 'key_not_found',
  description: 'The key_id that the purchase gave',
  example: '0123456789abcdef0123',
} as const satisfies Param

export const month = {
  in: 'query',
  rule: {
    kind: 'shape',
    pattern: /^20\d\d-(?:0[1-9]|1[0-2])$/,
    description: 'a month such as 2026-11',
    optional: true,
  },
  error: 'invalid_month',
  description: 'A month, UTC; left out: this one',
  example: '2026-11',
} as const satisfies Param
