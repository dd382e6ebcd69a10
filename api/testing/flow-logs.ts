import fc from 'fast-check'
import { mark, SECOND, T0, trade, type CvdTestDriver } from '../../processors/cvd/testing/records.ts'
import type { Flow, Message } from '../../schemas/records.ts'

const markets = [
  { asset: 'btc', instrument: 'binance:perp:BTCUSDT' },
  { asset: 'btc', instrument: 'bybit:perp:BTCUSDT' },
  { asset: 'eth', instrument: 'okx:perp:ETH-USDT-SWAP' },
]

/** Around the bounds of every period's buckets, sometimes ahead of time or long behind it. */
const seconds = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 3_500, max: 3_700 }) },
  { weight: 1, arbitrary: fc.integer({ min: -90_000, max: 20_000 }) },
)

/** Sizes are eighths and the price is whole, so that sums are exact in any order. */
const trades = fc
  .record({
    market: fc.constantFrom(...markets),
    id: fc.nat(500),
    at: seconds,
    eighths: fc.integer({ min: 1, max: 80 }),
    taker: fc.constantFrom('buy' as const, 'sell' as const),
    gap: fc.option(fc.integer({ min: 1, max: 3 }), { freq: 4 }),
  })
  .map(({ market, id, at, eighths, taker, gap }) => {
    const from = gap === null ? ({} as const) : ({ origin: 'backfill', gap_id: gap } as const)
    return trade({ ...market, ...from, first_id: id, time: T0 + at * SECOND, size: eighths / 8, taker })
  })

const marks = fc
  .oneof(
    { weight: 8, arbitrary: fc.integer({ min: 3_500, max: 3_700 }) },
    { weight: 1, arbitrary: fc.integer({ min: 3_500, max: 800_000 }) },
  )
  .map((at) => mark(T0 + at * SECOND))

const step = fc.oneof({ weight: 4, arbitrary: trades }, { weight: 1, arbitrary: marks })
/** Trades and marks in the batches in which they are read. */
export const batches = fc.array(fc.array<Message>(step, { minLength: 1, maxLength: 12 }), {
  maxLength: 20,
  size: 'max',
})

/** The newest version of each row. */
export function rowsOf(fed: CvdTestDriver): Flow[] {
  const rows = new Map<string, Flow>()
  for (const { key, message } of fed.emitted) {
    const { v = 0 } = rows.get(key) ?? {}
    if (message?.type === 'flow' && message.value.v >= v) rows.set(key, message.value)
  }
  return [...rows.values()]
}
