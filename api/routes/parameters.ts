import { settlementVenues } from '../../schemas/venues.ts'
import { walletPurposes } from '../alerts/wallet.ts'
import {
  batch,
  choice,
  choices,
  count,
  decimal,
  optional,
  shape,
  symbolList,
  symbolRule,
  timeRule,
  tokenRule,
  type Param,
} from '../request/params.ts'
import { channels } from '../stream/channels.ts'
import { intervalNames, type IntervalName } from '../views/range.ts'
import { venueNames } from '../views/venues.ts'

export const symbol = {
  in: 'path',
  rule: symbolRule,
  error: 'invalid_symbol',
  description: 'Base asset, any case; BTC and BTCUSDT mean the same',
  example: 'BTC',
} satisfies Param

export const interval = {
  in: 'query',
  rule: choice(intervalNames, '1h'),
  error: 'invalid_interval',
  description: 'Width of a bucket; weeks begin with Monday',
  example: '1m',
} satisfies Param

/** Buckets no narrower than `shortest`, which is how often there is something to tell. */
export function intervalFrom(shortest: IntervalName) {
  return {
    ...interval,
    rule: choice(intervalNames.slice(intervalNames.indexOf(shortest)), '1h'),
    example: shortest,
  } satisfies Param
}

export const start = {
  in: 'query',
  rule: timeRule,
  error: 'invalid_range',
  description: 'Earliest bucket start, inclusive; with it, the oldest `limit` rows are given',
  example: '2026-01-01T00:00:00Z',
} satisfies Param

export const end = {
  in: 'query',
  rule: timeRule,
  error: 'invalid_range',
  description: 'Latest bucket start, exclusive',
  example: '2026-01-02T00:00:00Z',
} satisfies Param

export const anchor = {
  in: 'query',
  rule: timeRule,
  error: 'invalid_range',
  description:
    'Anchor: cvd counts from the bucket that it lies in, and points begin there; without it from the first trade',
  example: '2026-01-01T00:00:00Z',
} satisfies Param

/** `rows`: how many there are without it. */
export function limitOf(rows: number, max = 1000) {
  return {
    in: 'query',
    rule: count({ min: 1, max, usual: rows }),
    error: 'invalid_limit',
    description: 'Most rows',
    example: '100',
  } satisfies Param
}

export const period = {
  in: 'query',
  rule: choice(['1h', '4h', '24h', '7d'], '1h'),
  error: 'invalid_period',
  description: 'Rolling period that ends now',
  example: '4h',
} satisfies Param

export const exchangeNames: readonly string[] = [...venueNames, 'all']

export const candleExchange = {
  in: 'query',
  rule: choice(exchangeNames, 'binance'),
  error: 'invalid_exchange',
  description: 'Whose trades; all merges spot and perpetual prices, so its wicks are wider',
  example: 'coinbase',
} satisfies Param

export const fundingExchange = {
  in: 'query',
  rule: choice(settlementVenues, 'binance'),
  error: 'invalid_exchange',
  description: 'Whose perpetual',
  example: 'bybit',
} satisfies Param

export const threshold = {
  in: 'query',
  rule: decimal({ min: 0, usual: 0.01 }),
  error: 'invalid_threshold',
  description: 'Least size of a rate that is flagged, percent',
  example: '0.05',
} satisfies Param

export const tokenId = {
  in: 'path',
  rule: tokenRule,
  error: 'market_not_found',
  description: 'Registry id of the token',
  example: 'bitcoin',
} satisfies Param

export const symbols = {
  in: 'query',
  rule: batch(20),
  error: 'invalid_symbols',
  description: 'Symbols, separated by commas; any case',
  example: 'btc,eth',
} satisfies Param

export const streamSymbols = {
  in: 'query',
  rule: symbolList(20),
  error: 'invalid_symbols',
  description: 'Symbols, separated by commas; any case; BTC and BTCUSDT mean the same',
  example: 'BTC',
} satisfies Param

export const streamChannels = {
  in: 'query',
  rule: choices(channels),
  error: 'invalid_channels',
  description: 'What is told',
  example: 'cvd,price',
} satisfies Param

export const streamSeconds = {
  in: 'query',
  rule: count({ min: 1, max: 3600, usual: 3600 }),
  error: 'invalid_seconds',
  description: 'How long the stream lasts; where it is paid for, from the payment on',
  example: '60',
} satisfies Param

export const symbolFilter = {
  in: 'query',
  rule: optional(symbolRule),
  error: 'invalid_symbol',
  description: 'One symbol only; BTC and BTCUSDT mean the same',
  example: 'BTCUSDT',
} satisfies Param

export const alertId = {
  in: 'path',
  rule: shape(/^alert_[a-z0-9_]{1,80}$/, 'an alert_id as the creation gave it'),
  error: 'alert_not_found',
  description: 'The alert_id that the creation gave',
  example: 'alert_btc_1767323045_48151623',
} satisfies Param

export const triggerId = {
  in: 'path',
  rule: shape(/^alert_[^\s/]{1,140}$/, 'a trigger_id of the deliveries'),
  error: 'not_found',
  description: 'The trigger_id of a webhook or of the deliveries',
  example: 'alert_btc_1767323045_48151623_1',
} satisfies Param

export const recordId = {
  in: 'path',
  rule: shape(/^rec_[\w-]{1,80}$/, 'the record of a webhook'),
  error: 'not_found',
  description: 'The record that a webhook names',
  example: 'rec_YWxlcnRzLmlucHV0cy8wLzQy',
} satisfies Param

export const wallet = {
  in: 'query',
  rule: optional(
    shape(
      /^(?:0[xX][0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/,
      'an EVM address (0x and 40 hexadecimal digits) or a Solana address (32 to 44 base58 characters)',
    ),
  ),
  error: 'invalid_agent_wallet',
  description: 'Only alerts of this agent_wallet or payer; case does not matter for EVM addresses',
  example: '0x52908400098527886E0F7030069857D2E4169EE7',
} satisfies Param

export const payingWallet = {
  in: 'query',
  rule: shape(/^0x[0-9a-fA-F]{40}$/, '0x and 40 hexadecimal digits'),
  error: 'invalid_agent_wallet',
  description: 'The address that paid',
  example: '0x52908400098527886E0F7030069857D2E4169EE7',
} satisfies Param

export const walletPurpose = {
  in: 'query',
  rule: choice(walletPurposes, 'alerts'),
  error: 'invalid_wallet_proof',
  description: 'What it is signed for: alerts for POST /wallet/alerts, keys for POST /wallet/keys',
  example: 'alerts',
} satisfies Param

export const cursor = {
  in: 'query',
  rule: optional(shape(/^[\w-]{1,300}$/, 'next_cursor of the page before')),
  error: 'invalid_cursor',
  description: 'Where the page before ended: its next_cursor',
  example: 'MTc2NzMyMzA0NTAwMDAwMHxhbGVydF9idGNfMTc2NzMyMzA0NV80ODE1MTYyMw',
} satisfies Param

export const keyId = {
  in: 'path',
  rule: shape(/^[0-9a-f]{20}$/, 'a key_id as POST /credit gave it'),
  error: 'key_not_found',
  description: 'The key_id that the purchase gave',
  example: '0123456789abcdef0123',
} satisfies Param

export const month = {
  in: 'query',
  rule: optional(shape(/^20\d\d-(?:0[1-9]|1[0-2])$/, 'a month such as 2026-11')),
  error: 'invalid_month',
  description: 'A month, UTC; left out: this one',
  example: '2026-11',
} satisfies Param
