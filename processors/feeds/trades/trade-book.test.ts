import { expect, it } from 'vitest'
import { instrument, start } from './testing/market.ts'
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
