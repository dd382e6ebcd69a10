import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { listed } from '../../../schemas/testing/instrument.ts'
import { fromStream, isClamped, normaliser } from './stream.ts'
import type { VenueTrade } from '../venues/events.ts'

const pepe = { asset: 'pepe', size_factor: 1000, price_factor: 1000, source: 'seed' }
const instrument = listed('binance:perp:1000PEPEUSDT', pepe)

const trade: VenueTrade = {
  symbol: '1000PEPEUSDT',
  id: 77,
  count: 3,
  sequence: null,
  price: '0.0123400',
  size: '2500',
  taker: 'sell',
  time: 1_790_000_000_000_000,
}

const received = 1_790_000_000_123_456

describe('normalising', () => {
  it('takes the multiplier out of price and size and keeps the factors', () => {
    expect(normaliser(instrument)(trade, received, fromStream)).toEqual({
      instrument: 'binance:perp:1000PEPEUSDT',
      asset: 'pepe',
      first_id: 77,
      last_id: 77,
      count: 3,
      sequence: null,
      price: 0.00001234,
      size: 2_500_000,
      quote: 0.00001234 * 2_500_000,
      size_factor: 1000,
      price_factor: 1000,
      taker: 'sell',
      time: 1_790_000_000_000_000,
      received,
      origin: 'stream',
      gap_id: null,
    })
  })

  it('counts contracts in coins', () => {
    const swap = { ...instrument, size_factor: 0.01, price_factor: 1 }
    expect(normaliser(swap)({ ...trade, price: '65000.1', size: '7' }, received, fromStream)).toMatchObject({
      price: 65_000.1,
      size: 0.07,
    })
  })

  it('names the gap of a backfilled trade', () => {
    expect(normaliser(instrument)(trade, received, { origin: 'backfill', gapId: 70 })).toMatchObject({
      origin: 'backfill',
      gap_id: 70,
    })
  })

  it('lets a venue be five seconds ahead and sets it to that when it is further', () => {
    const record = (ahead: number) => {
      const late = { ...trade, time: received + ahead }
      const result = normaliser(instrument)(late, received, fromStream)
      return [result.time - received, isClamped(late, result)]
    }
    expect(record(5_000_000)).toEqual([5_000_000, false])
    expect(record(5_000_001)).toEqual([5_000_000, true])
    expect(record(-3_600_000_000)).toEqual([-3_600_000_000, false])
  })

  it('prints the exact decimal again, whatever the price', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 99_999_999 }), (ticks) => {
        const price = `${Math.floor(ticks / 10_000)}.${String(ticks % 10_000).padStart(4, '0')}`
        const result = normaliser(instrument)({ ...trade, price }, received, fromStream)
        expect(Math.round(result.price * 1e7)).toBe(ticks)
        expect(Number(result.price.toFixed(7))).toBe(result.price)
      }),
    )
  })
})
