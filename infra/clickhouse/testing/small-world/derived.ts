import { emptyFields } from '../../../../schemas/codec.ts'
import type { Audit, CompositePrice, LiquidationRisk, Signal } from '../../../../schemas/records.ts'
import { M, MINUTE, perp, SECOND, type Fact } from './time.ts'

/** What processors derive. */
export function derivedFacts(): Fact[] {
  return [
    ...prices.map((value): Fact => ['alerts.inputs', { type: 'composite_price', value }]),
    ...risks.map((value): Fact => ['alerts.inputs', { type: 'liquidation_risk', value }]),
    ['derived.funding', { type: 'funding', value: { asset: 'btc', exchanges: [], time: M, v: 1 } }],
    ...signals.map((value): Fact => ['derived.signals', { type: 'signal', value }]),
    ...audits.map((value): Fact => ['derived.audit', { type: 'audit', value }]),
  ]
}

/** Every half minute; Kraken is 0.1 USD dearer than Binance, in the third record a whole dollar. */
const prices: readonly CompositePrice[] = [100, 101, 102, 102, 99, 100, 101].map((price, index) => {
  const time = M + 30 * index * SECOND
  const source = (exchange: string, at: number) => {
    const instrument = `${exchange}:spot:BTC`
    return { exchange, instrument, price: at, low: at, high: at, time }
  }
  const sources = [source('binance', price), source('kraken', price + (index === 2 ? 1 : 0.1))]
  const common = { asset: 'btc', price, low: price, high: price, change_24h: null, sources } as const
  return { ...common, quality: 'good', late: false, bounds_from: 0, time, v: 1 + index }
})

export const risk = (seconds: number, swept_long_usd: number): LiquidationRisk => ({
  asset: 'btc',
  price: 100,
  open_interest_usd: 100_000,
  exchanges: [{ exchange: 'binance', open_interest_usd: 100_000, mark: 100, time: M }],
  levels: [{ price: 99, long_usd: 500, short_usd: 0 }],
  clusters: [{ leverage: 100, side: 'long', price: 99, usd: 500 }],
  at_risk_5_usd: 7_000,
  at_risk_5_pct: 7,
  at_risk_10_usd: 7_000,
  at_risk_10_pct: 7,
  cascade_risk: 'medium',
  swept_long_usd,
  swept_short_usd: 0,
  since: M - MINUTE,
  time: M + seconds * SECOND,
  v: 100 + seconds,
})
const risks: readonly LiquidationRisk[] = [risk(0, 100), risk(200, 1_100)]

const signals: readonly Signal[] = (
  [
    [0, 'cvd', '1h', 'bullish_pressure'],
    [60, 'cvd', '1h', 'strong_bullish_pressure'],
    [90, 'cvd', '1h', 'bearish_pressure'],
    [100, 'cvd', '1h', 'neutral'],
    [120, 'cvd', '1h', 'bearish_pressure'],
    [60, 'sentiment', '', 'Bullish'],
    [120, 'sentiment', '', 'Extremely bearish'],
  ] as const
).map(([seconds, kind, period, to]) => ({
  asset: 'btc',
  kind,
  period,
  from: 'neutral',
  to,
  value: 0.1,
  evidence: { buy: 3, sell: 2 },
  exchange: null,
  time: M + seconds * SECOND,
  v: 1 + seconds,
}))

const audits: readonly Audit[] = [0, 0.5, 0.01].map((off, minute) => ({
  ...emptyFields('audit'),
  instrument: perp,
  asset: 'btc',
  minute: M + minute * MINUTE,
  ours_volume: 10 * (1 + off),
  theirs_volume: 10,
  volume_difference: off,
  ours_delta: 2,
  ours_trades: 5,
  state: off === 0 ? 'equal' : 'different',
  time: M + (minute + 3) * MINUTE,
  v: 1 + minute,
}))
