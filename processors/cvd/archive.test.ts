import fc from 'fast-check'
import { expect, it } from 'vitest'
import { emptyFields } from '../../schemas/codec.ts'
import type { FlowHour, Trade } from '../../schemas/records.ts'
import { ArchiveFold, type PastFlow } from './archive.ts'
import { cvd } from './cvd.ts'

const DAY = Date.UTC(2026, 2, 1) * 1_000
const MINUTE = 60_000_000
const HOUR = 3_600_000_000

/** Trades of a few hours in order of time, as a venue with or without ordered ids has them. */
const trades = fc
  .record({
    venue: fc.constantFrom('binance:perp:BTCUSDT', 'bybit:perp:BTCUSDT'),
    rows: fc.array(
      fc.record({
        gap: fc.oneof(fc.nat(50_000), fc.nat(20_000_000), fc.nat(HOUR)),
        price: fc.integer({ min: 1, max: 10_000 }),
        size: fc.integer({ min: 1, max: 1_000 }),
        taker: fc.constantFrom('buy' as const, 'sell' as const),
      }),
      { minLength: 1, maxLength: 300 },
    ),
  })
  .map(({ venue, rows }) => {
    let time = DAY
    return rows.map(({ gap, price, size, taker }, index): Trade => {
      time += gap
      const id = 1_000 + index
      const about = { instrument: venue, asset: 'btc', first_id: id, last_id: id, count: 1, sequence: null }
      const factors = { size_factor: 1, price_factor: 1, gap_id: null }
      return { ...about, ...factors, price, size, quote: price * size, taker, time, received: time, origin: 'import' }
    })
  })

function folded(all: readonly Trade[]): PastFlow[] {
  const fold = new ArchiveFold()
  for (const trade of all) fold.add(trade)
  expect(Object.values(fold.refused).every((count) => count === 0)).toBe(true)
  return fold.end()
}

/** Rows of hours as the processor emits them where its time goes on by other marks. */
function live(all: readonly Trade[], every: number): FlowHour[] {
  const state = cvd.empty()
  const hours = new Map<string, FlowHour>()
  let markedAt = 0
  const apply = (message: Parameters<typeof cvd.apply>[1]['message'], offset: number): void => {
    const entry = { topic: 'market.trades', offset, time: 0, message } as const
    cvd.apply(state, entry, { partition: 0, v: offset, partitionTime: 0 }, ({ key, message: out }) => {
      if (out.type === 'flow_hour') hours.set(key, out.value)
    })
  }
  const mark = (time: number, offset: number): void =>
    apply({ type: 'mark', value: { ...emptyFields('mark'), writer: 'f', run: 1, time } }, offset)
  for (const [index, trade] of all.entries()) {
    if (trade.time - markedAt > every) mark((markedAt = trade.time), 2 * index)
    apply({ type: 'trade', value: trade }, 2 * index + 1)
  }
  mark((all.at(-1)?.time ?? 0) + 2 * HOUR, 2 * all.length)
  return [...hours.values()]
}

it('gives of an archive the hours that live trades give, whenever time was marked', () => {
  fc.assert(
    fc.property(trades, fc.integer({ min: 1_000_000, max: 600_000_000 }), (all, every) => {
      const hours = folded(all).filter(({ seconds }) => seconds === 3_600)
      const rows = live(all, every).toSorted((a, b) => a.hour - b.hour)
      expect(hours).toEqual(
        rows.map(({ asset: _a, instrument: _i, hour: start, part: _p, final: _f, v: _v, ...told }) => {
          return { start, seconds: 3_600, ...told }
        }),
      )
    }),
    { numRuns: 100 },
  )
})

it('gives minutes whose prices and sums are those of their trades', () => {
  fc.assert(
    fc.property(trades, (all) => {
      const minutes = folded(all).filter(({ seconds }) => seconds === 60)
      const groups = [...Map.groupBy(all, ({ time }) => Math.floor(time / MINUTE) * MINUTE)]
      const sum = (of: readonly Trade[], taker: string): number =>
        of.reduce((total, trade) => total + (trade.taker === taker ? trade.size : 0), 0)
      expect(
        minutes.map(({ start, open, high, low, close, buy, sell, buy_count, sell_count }) => {
          return { start, open, high, low, close, buy, sell, count: buy_count + sell_count }
        }),
      ).toEqual(
        groups.map(([start, of]) => ({
          start,
          open: of[0]?.price,
          high: Math.max(...of.map(({ price }) => price)),
          low: Math.min(...of.map(({ price }) => price)),
          close: of.at(-1)?.price,
          buy: sum(of, 'buy'),
          sell: sum(of, 'sell'),
          count: of.length,
        })),
      )
    }),
    { numRuns: 100 },
  )
})

it('counts a trade that stands in an archive twice once', () => {
  fc.assert(
    fc.property(trades, (all) => {
      const fold = new ArchiveFold()
      for (const trade of all) {
        fold.add(trade)
        fold.add(trade)
      }
      expect(fold.refused['duplicate']).toBe(all.length)
      expect(fold.end()).toEqual(folded(all))
    }),
    { numRuns: 50 },
  )
})
