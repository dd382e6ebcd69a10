import { expect, it } from 'vitest'
import { instrument, start, tradeAt } from './testing/market.ts'
import { TradeBook } from './trade-book.ts'

it('a stream without ordered ids is carried from an acknowledgement until no connection has it, and then from the next', () => {
  const { symbol } = instrument
  const book = new TradeBook({
    trades: { venue: 'bybit', market: 'perp', ids: 'none' },
    partitions: 12,
    clock: { now: () => start, see: () => undefined },
    out: { trade: () => undefined, change: () => undefined },
  })
  book.follow(new Map([['btc', instrument]]), new Set(['btc']))
  const carriedSince = (): number | undefined => {
    const stream = book.streams.get(symbol)
    return stream?.ids === 'none' ? stream.carriedSince : undefined
  }
  expect(carriedSince()).toBe(Infinity)
  book.acknowledged([symbol], 100)
  expect(carriedSince()).toBe(-Infinity) // what came before is not ours
  book.lost([symbol], [], 200)
  expect(carriedSince()).toBe(-Infinity)
  book.lost([symbol], [symbol], 300)
  book.forget()
  expect(carriedSince()).toBe(Infinity)
  book.acknowledged([symbol], 400)
  book.acknowledged([symbol], 500)
  expect(carriedSince()).toBe(400)
})

it('a trade is taken once, and its time is told to the clock each time that it comes', () => {
  const seen: unknown[] = []
  const out: unknown[] = []
  const book = new TradeBook({
    trades: { venue: 'okx', market: 'perp', ids: 'contiguous' },
    partitions: 12,
    clock: { now: () => start, see: (venue, time) => void seen.push([venue, time]) },
    out: { trade: ({ first_id }, clamped) => void out.push([first_id, clamped]), change: () => undefined },
  })
  expect(book.take(tradeAt(1), 100)).toBe('unknown-symbol')
  book.follow(new Map([['btc', instrument]]), new Set(['btc']))
  expect([book.take(tradeAt(1), 100), book.take(tradeAt(1), 200), book.take(tradeAt(9), 300)]).toEqual([
    'taken',
    'duplicate',
    'taken',
  ])
  expect(seen).toEqual([1, 1, 9].map((id) => ['okx', tradeAt(id).time]))
  expect(out).toEqual([
    [1, false],
    [9, true],
  ])
  expect(book.streams.get(instrument.symbol)?.lastTradeAt).toBe(300)
})
