/**
 * What each worked query has to say of the small world, worked out by hand from `small-world`, numbers to six digits.
 */
type Rows = readonly Readonly<Record<string, unknown>>[]

const minute = (n: number): string => `2024-08-08T23:5${4 + n}:00.000000Z`
const perp = 'binance:perp:BTCUSDT'

export const answers: Readonly<Record<string, Rows>> = {
  '01_ohlcv': [
    candle(0, [100, 101, 99, 100], [3, 1], 3),
    // Two buckets of 10 s: the second's close, both volumes.
    candle(1, [100, 103, 100, 102], [1, 4], 6),
    candle(2, [102, 102, 98, 99], [4, 1], 3),
  ],
  '02_cvd_against_price': [
    // Binance 3 - 1 and Coinbase 1.
    { time: minute(0), close: 100, change_pct: null, delta: 3, cvd: 3, divergence: '' },
    { time: minute(1), close: 102, change_pct: 2, delta: -3, cvd: 0, divergence: 'price up, takers sell' },
    // 99 / 102 - 1; Binance 4 - 1, Coinbase -2.
    { time: minute(2), close: 99, change_pct: -2.94118, delta: 1, cvd: 1, divergence: 'price down, takers buy' },
  ],
  '03_funding_heat': [
    // Binance: mean of 0.0001 and 0.0003, three times a day; OKX: -0.0002, six times.
    { asset: 'btc', binance_pct: 21.9, bybit_pct: null, okx_pct: -43.8, mean_pct: -10.95, spread_pct: 65.7 },
  ],
  // 0.02 % paid, 0.01 % earned, over 16 hours.
  '04_funding_paid': [{ instrument: perp, settlements: 2, paid_pct: 0.01, annual_pct: 5.475 }],
  '05_liquidation_clusters': [
    // 98 and 98.1 lie in 1.005^919 to 1.005^920; 2 x 98 + 98.1.
    { from_price: 97.8612, to_price: 98.3506, side: 'long', events: 2, value_usd: 294.1, venues: ['binance'] },
    { from_price: 102.866, to_price: 103.38, side: 'short', events: 1, value_usd: 103, venues: ['binance'] },
  ],
  '06_liquidation_model': [
    {
      asset: 'btc',
      expected_long_usd: 1_000,
      observed_long_usd: 294.1,
      expected_short_usd: 0,
      observed_short_usd: 103,
      ratio: 0.3971,
    },
  ],
  '07_signal_hit_rate': [
    // At 90 s 102, at 150 s 100: it pointed down and it fell. At 120 s 99, at 180 s 101: wrong, and half of it the same time.
    { ...signal('bearish_pressure', 2.97089, { hit_rate: 0.5, hit_low: 0.0546191, hit_high: 0.945381 }), signals: 2 },
    // At 0 s 100, at 60 s 102.
    signal('bullish_pressure', 200, { hit_rate: 1, hit_low: 0.206543, hit_high: 1 }),
    // At 60 s 102, at 120 s 99: wrong.
    signal('strong_bullish_pressure', -294.118, { hit_rate: 0, hit_low: 0, hit_high: 0.793457 }),
    // At 60 s 102, at 120 s 99, at 180 s 101: both wrong.
    sentiment('Bullish', -294.118),
    sentiment('Extremely bearish', 202.02),
  ],
  '08_venue_lead_lag': [
    // Coinbase does what Binance did a second before.
    { leader: 'binance', follower: 'coinbase', lag_s: 1, correlation: 1, seconds: 5 },
    { leader: 'binance', follower: 'coinbase', lag_s: 0, correlation: -0.129631, seconds: 6 },
    { leader: 'coinbase', follower: 'binance', lag_s: 0, correlation: -0.129631, seconds: 6 },
    { leader: 'coinbase', follower: 'binance', lag_s: 1, correlation: -0.142082, seconds: 5 },
  ],
  '09_delivery_latency': [
    // First attempts after 100 and 200 ms, taken after 300 and 5,300; of two values the median is the larger. Two have none.
    {
      day: '2024-08-08',
      triggers: 4,
      undelivered: 2,
      first_p50_ms: 200,
      first_p99_ms: 200,
      delivered_p50_ms: 5_300,
      delivered_p99_ms: 5_300,
    },
  ],
  '10_delivery_outcomes': [
    { outcome: 'delivered', http_status: '204', reason: '', attempts: 2, alerts: 2, seconds: 0.15 },
    { outcome: 'retry', http_status: '503', reason: 'status', attempts: 1, alerts: 1, seconds: 0.1 },
  ],
  '11_trigger_slippage': [
    // Below 100 at 99 is 100 bp beyond; a minute later 101, which is against it.
    {
      time: minute(2),
      trigger_id: 'alert_btc_2_1',
      condition: 'below',
      target_price: 100,
      price: 99,
      overshoot_bp: 100,
      slippage_bp: -202.02,
    },
    {
      time: minute(1),
      trigger_id: 'alert_btc_1_1',
      condition: 'above',
      target_price: 101.5,
      price: 102,
      overshoot_bp: 49.2611,
      slippage_bp: -294.118,
    },
  ],
  '12_revenue': [
    { ...paid('/cvd/:symbol'), payments: 2, payers: 2, earned_usd: 0.04 },
    { ...paid('/price/:symbol'), payments: 1, payers: 1, earned_usd: 0.005 },
  ],
  '13_completeness': [
    // 60 to 90 s and 80 to 105 s are 45 s of 240.
    {
      instrument: 'coinbase:spot:BTC-USD',
      gaps: 2,
      filled: 0,
      missing_records: 7,
      lost_s: 45,
      complete: 0.8125,
    },
    { instrument: perp, gaps: 1, filled: 1, missing_records: null, lost_s: 0, complete: 1 },
  ],
  '14_audit_worst': [
    // The second minute is as wrong as can be, but a gap of Binance's lies in it.
    {
      instrument: perp,
      minute: minute(2),
      ours_volume: 10.1,
      theirs_volume: 10,
      volume_difference: 0.01,
      delta_difference: null,
    },
  ],
  '15_open_interest_against_price': [
    interest(0, [1_000, 100], [null, null], ''),
    interest(1, [1_010, 102], [1, 2], 'longs open'),
    interest(2, [990, 99], [-1.9802, -2.94118], 'longs close'),
  ],
  '16_basis_history': [
    { time: minute(0), instrument: perp, mark: 100, spot: 100, basis_pct: 0, annual_pct: 0 },
    // 102 / 101; 1,095 intervals of 8 h a year.
    { time: minute(1), instrument: perp, mark: 102, spot: 101, basis_pct: 0.990099, annual_pct: 1_084.16 },
    { time: minute(2), instrument: perp, mark: 99, spot: 99, basis_pct: 0, annual_pct: 0 },
  ],
  '17_long_short': [{ time: minute(0), binance: 2, okx: 1, gate: null, mean: 1.5, spread: 1 }],
  '18_venue_spread': [
    // 0.1 of 100 and of 101; then 1 and 0.1 of 102; and so on.
    spread(0, 2, [9.9505, 10]),
    spread(1, 2, [53.9216, 98.0392]),
    spread(2, 2, [10.0505, 10.101]),
    spread(3, 1, [9.90099, 9.90099]),
  ],
  '19_feed_latency': ['binance perp', 'coinbase spot'].map((name) => {
    const [venue, market] = name.split(' ')
    return { venue, market, trades: 7, p50_ms: 20, p99_ms: 35, max_ms: 35 }
  }),
  '20_large_trades': [
    // 10,300 of 10,909 in all.
    { venue: 'binance', trades: 7, median_usd: 102, large_trades: 1, large_share: 0.944175, net_large_usd: 10_300 },
    { venue: 'coinbase', trades: 7, median_usd: 101, large_trades: 0, large_share: 0, net_large_usd: 0 },
  ],
  '21_realised_volatility': [
    { time: minute(0), minutes: 0, annual_pct: null, range_pct: 2.0202 },
    // ln(1.02) x sqrt(525,600).
    { time: minute(1), minutes: 1, annual_pct: 1_435.66, range_pct: 3 },
    { time: minute(2), minutes: 1, annual_pct: 2_164.29, range_pct: 4.08163 },
  ],
}

function candle(n: number, ohlc: readonly number[], [buy, sell]: readonly [number, number], trades: number): Rows[0] {
  const [open, high, low, close] = ohlc
  const volumes = { volume: buy + sell, buy_volume: buy, sell_volume: sell }
  return { time: minute(n), open, high, low, close, ...volumes, trades }
}

function signal(name: string, bp: number, share: object): Rows[0] {
  return {
    kind: 'cvd',
    period: '1h',
    class: name,
    signals: 1,
    independent: 1,
    ...share,
    mean_return_bp: bp,
    median_return_bp: bp,
  }
}

function sentiment(name: string, bp: number): Rows[0] {
  return { ...signal(name, bp, { hit_rate: 0, hit_low: 0, hit_high: 0.793457 }), kind: 'sentiment', period: '' }
}

function paid(route: string): Rows[0] {
  return { day: '2024-08-08', chain_id: 84_532, method: 'GET', route }
}

function interest(
  n: number,
  [open_interest, price]: readonly [number, number],
  [interest_change_pct, price_change_pct]: readonly [number | null, number | null],
  reading: string,
): Rows[0] {
  return { instrument: perp, time: minute(n), open_interest, price, interest_change_pct, price_change_pct, reading }
}

function spread(n: number, prices: number, [mean_bp, largest_bp]: readonly [number, number]): Rows[0] {
  return { time: minute(n), prices, mean_bp, largest_bp, dearest: 'kraken', cheapest: 'binance' }
}
