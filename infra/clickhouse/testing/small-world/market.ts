import { emptyFields } from '../../../../schemas/codec.ts'
import type {
  Candle,
  ContractTerms,
  DerivativeTicker,
  Liquidation,
  LongShortRatio,
  Settlement,
  SpotTicker,
} from '../../../../schemas/records.ts'
import { M, MINUTE, okx, perp, SECOND, type Fact } from './time.ts'

/** What feeds say beside trades. */
export function marketFacts(): Fact[] {
  return [
    ...spot.map((value): Fact => ['market.tickers', { type: 'spot_ticker', value }]),
    ...[...derivatives, ...rates].map((value): Fact => ['market.funding', { type: 'derivative_ticker', value }]),
    ...terms.map((value): Fact => ['market.funding', { type: 'contract_terms', value }]),
    ...settlements.map((value): Fact => ['market.funding', { type: 'settlement', value }]),
    ...ratios.map((value): Fact => ['market.funding', { type: 'long_short_ratio', value }]),
    ...liquidations.map((value): Fact => ['market.liquidations', { type: 'liquidation', value }]),
    ['market.candles', { type: 'candle', value: candle }],
  ]
}

const spot: readonly SpotTicker[] = [100, 101, 99].map((price, minute) => ({
  instrument: 'binance:spot:BTCUSDT',
  asset: 'btc',
  bid: price - 0.5,
  ask: price + 0.5,
  last: price,
  price,
  low: price,
  high: price,
  change_24h: 1,
  volume_24h: 10,
  quote_volume_24h: 1_000,
  quote: 'USDT',
  quote_usd: 1,
  time: M + minute * MINUTE,
  received: M + minute * MINUTE + 10,
}))

const silent: DerivativeTicker = {
  ...emptyFields('derivative_ticker'),
  instrument: perp,
  asset: 'btc',
  channel: 'markPrice',
  received: M + 10,
}
const derivatives: readonly DerivativeTicker[] = [
  [100, 1_000],
  [102, 1_010],
  [99, 990],
].map(([mark = 0, open_interest = 0], minute) => {
  const time = M + minute * MINUTE
  return { ...silent, mark, index: mark, mark_time: time, open_interest, open_interest_time: time, received: time }
})
const rates: readonly DerivativeTicker[] = [
  { ...silent, rate: 0.0001, next_settlement: M + MINUTE, rate_time: M },
  { ...silent, rate: 0.0003, next_settlement: M + MINUTE, rate_time: M + 1 },
  { ...silent, instrument: okx, rate: -0.0002, next_settlement: M + MINUTE, rate_time: M },
]
/** The last are those of a time behind the small world. */
const terms: readonly ContractTerms[] = (
  [
    [perp, 8, -1],
    [okx, 4, -1],
    [perp, 4, 10],
  ] as const
).map(([instrument, interval_hours, minute]) => ({
  ...emptyFields('contract_terms'),
  instrument,
  asset: 'btc',
  interval_hours,
  max_leverage: 100,
  received: M + minute * MINUTE,
}))
const settlements: readonly Settlement[] = [
  { instrument: perp, asset: 'btc', settled_rate: 0.0002, mark: null, time: M, received: M },
  { instrument: perp, asset: 'btc', settled_rate: -0.0001, mark: null, time: M + MINUTE, received: M },
]
const ratios: readonly LongShortRatio[] = (
  [
    [perp, 1.5, M],
    [perp, 2, M + 1],
    [okx, 1, M],
  ] as const
).map(([instrument, ls_ratio, time]) => ({
  instrument,
  asset: 'btc',
  cohort: 'top_traders',
  basis: 'positions',
  long_ratio: ls_ratio / (1 + ls_ratio),
  short_ratio: 1 / (1 + ls_ratio),
  ls_ratio,
  time,
  received: time,
}))

const liquidations: readonly Liquidation[] = (
  [
    ['1', 'long', 98, 2],
    ['2', 'long', 98.1, 1],
    ['3', 'short', 103, 1],
  ] as const
).map(([id, side, price, size]) => ({
  instrument: perp,
  asset: 'btc',
  id,
  side,
  size,
  price,
  price_kind: 'order',
  value: price * size,
  completeness: 'sampled',
  time: M + 130 * SECOND,
  received: M + 130 * SECOND,
}))

const candle: Candle = {
  instrument: perp,
  asset: 'btc',
  minute: M,
  open: 100,
  high: 101,
  low: 99,
  close: 100,
  volume: 4,
  taker_buy: 3,
  trades: 3,
  received: M + MINUTE,
}
