import type { Flow, FlowHour, Gap, SubscriptionChange, Trade } from '../../../../schemas/records.ts'
import { HOUR, M, MINUTE, perp, SECOND, type Fact } from './time.ts'

/** Flow of BTC, trades of ETH, gaps. */
export function tradeFacts(): Fact[] {
  return [
    ...flows.map((value): Fact => ['derived.flow', { type: 'flow', value }]),
    ['derived.flow', { type: 'flow_hour', value: hourBefore }],
    ...ethTrades().map((value): Fact => ['market.trades', { type: 'trade', value }]),
    ...gaps.map((value): Fact => ['market.trades', { type: 'gap', value }]),
    [
      'market.trades',
      {
        type: 'mark',
        value: { writer: 'feeds', run: M, time: M, venues: [], changes: subscribed, venue_time: M, positions: [] },
      },
    ],
  ]
}

export const flow = (
  instrument: string,
  seconds: number,
  ohlc: number[],
  [buy, sell]: readonly [number, number],
): Flow => {
  const [open = 0, high = 0, low = 0, close = 0] = ohlc
  const bucket = M + seconds * SECOND
  return {
    asset: 'btc',
    instrument,
    bucket,
    part: 0,
    buy,
    sell,
    buy_quote: buy * 100,
    sell_quote: sell * 100,
    buy_count: 2,
    sell_count: 1,
    open,
    high,
    low,
    close,
    open_time: bucket + 1,
    close_time: bucket + 2,
    first_id: bucket,
    last_id: bucket + 1,
    final: true,
    v: 1_000 + seconds,
  }
}

/** Binance over three minutes, an hour before them already; Coinbase is silent in the second. */
const flows: readonly Flow[] = [
  flow(perp, -3600, [90, 90, 90, 90], [10, 5]),
  flow(perp, 0, [100, 101, 99, 100], [3, 1]),
  flow(perp, 60, [100, 103, 100, 101], [1, 2]),
  flow(perp, 70, [101, 102, 101, 102], [0, 2]),
  flow(perp, 120, [102, 102, 98, 99], [4, 1]),
  flow('coinbase:spot:BTC-USD', 0, [100.5, 100.5, 100.5, 100.5], [1, 0]),
  flow('coinbase:spot:BTC-USD', 120, [99.5, 99.5, 99.5, 99.5], [0, 2]),
]

/** The hour before, whose only bucket is the first of `flows`. */
const hourBefore: FlowHour = (({ bucket, ...rest }) => ({ ...rest, hour: bucket - (bucket % HOUR) }))(
  flow(perp, -3600, [90, 90, 90, 90], [10, 5]),
)

/** ETH by the second: Coinbase does what Binance did a second before. One trade of Binance's is a hundred times as large. */
function ethTrades(): Trade[] {
  const binance = [100, 101, 101, 103, 103, 102, 102]
  const coinbase = [100, 100, 101, 101, 103, 103, 102]
  const trade = (instrument: string, price: number, second: number): Trade => ({
    instrument,
    asset: 'eth',
    first_id: 1 + second,
    last_id: 1 + second,
    count: 1,
    sequence: null,
    price,
    size: instrument.startsWith('binance') && second === 3 ? 100 : 1,
    quote: instrument.startsWith('binance') && second === 3 ? 10_300 : price,
    size_factor: 1,
    price_factor: 1,
    taker: 'buy',
    time: M + second * SECOND,
    received: M + second * SECOND + 5_000 * (second + 1),
    origin: 'stream',
    gap_id: null,
  })
  return [
    ...binance.map((price, second) => trade('binance:perp:ETHUSDT', price, second)),
    ...coinbase.map((price, second) => trade('coinbase:spot:ETH-USD', price, second)),
  ]
}

const gap = (change: Partial<Gap>): Gap => ({
  instrument: 'coinbase:spot:BTC-USD',
  asset: 'btc',
  gap_id: 7,
  state: 'unfillable',
  reason: 'too_old',
  from_id: 7,
  to_id: 11,
  from_time: M + 60 * SECOND,
  to_time: M + 90 * SECOND,
  missing: 5,
  feed: 'feeds',
  time: M + 100 * SECOND,
  ...change,
})
/** Coinbase: 60 to 90 s and 80 to 105 s lost, so 45 s of 240; Binance: one that was filled. */
const gaps: readonly Gap[] = [
  gap({}),
  gap({ gap_id: 9, from_time: M + 80 * SECOND, to_time: M + 105 * SECOND, missing: 2 }),
  gap({ instrument: perp, gap_id: 8, state: 'filled', missing: 0 }),
]
const subscribed: SubscriptionChange[] = [
  { instrument: perp, asset: 'btc', state: 'acknowledged', time: M - 60 * MINUTE },
]
