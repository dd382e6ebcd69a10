import { expect, it } from 'vitest'
import { latePrice, price, SECOND, T0 } from '../../processors/alerts/testing/records.ts'
import { FakeDatabase } from '../testing/fake-database.ts'
import { readPrices } from './past-prices.ts'

/** A price each minute. */
const MINUTES = 540

it.each([238, 239, 240, 241, 242, 300])(
  'gives late prices where they are in the log, wherever what is read at once ends: an outage to minute %d',
  async (end) => {
    const seconds = Array.from({ length: MINUTES }, (_, at) => at * 60 + 1)
    const live = seconds.filter((at) => at < (end - 6) * 60 || at > end * 60).map((at) => price(at, 100).value)
    const late = Array.from({ length: 6 }, (_, at) => latePrice((end - 5 + at) * 60, 99, 101).value)
    const told = live.findIndex(({ time }) => time > T0 + (end + 3) * 60 * SECOND)
    const database = new FakeDatabase()
    database.market.pastPrices = live.toSpliced(told, 0, ...late)
    const range = { asset: 'btc', from: T0, to: T0 + MINUTES * 60 * SECOND, limit: 10_000 }
    const offsets: number[] = []
    for await (const { seen } of readPrices(database, range, { target: 100, silence: 60 * SECOND }))
      offsets.push(...seen.map(({ offset }) => offset))
    expect(offsets).toEqual([...database.market.pastPrices.keys()])
  },
)
