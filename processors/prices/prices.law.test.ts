import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CompositePrice } from '../../schemas/records.ts'
import { priceVenues } from '../../schemas/venues.ts'
import { expectSame, noFaults, outcomeOf, PARTITIONS, type Input } from '../kernel/testing/fault-plans.ts'
import { processorsNamed } from '../topology.ts'
import { at, live, mark, markets, range, SECOND, T0, ticker } from './testing/records.ts'
import { CoreTestDriver } from '../kernel/testing/core-test-driver.ts'
import { bounded, LAW_MS } from '../kernel/testing/law.ts'
import { prices } from './prices.ts'

const [row] = processorsNamed(['prices'])
if (row === undefined) throw new Error('prices is in the topology')

const driver = (): CoreTestDriver<ReturnType<typeof prices.empty>> => new CoreTestDriver(prices, 'market.tickers')

const seconds = fc.integer({ min: 0, max: 90 })
const venue = fc.constantFrom(...priceVenues)
const price = fc.integer({ min: 900, max: 1_100 }).map((n) => n / 10)
const partition = fc.nat(PARTITIONS - 1)

const tickers = fc
  .record({ partition, venue, price, after: seconds, asset: fc.constantFrom('btc', 'eth'), low: price })
  .map(({ after, venue, price, low, asset, partition }): Input => {
    const given = { asset, instrument: markets[venue], price, low: Math.min(low, price), received: T0 + after * SECOND }
    return { partition, message: ticker(given) }
  })

const marks = fc
  .record({ partition, after: seconds, venues: fc.uniqueArray(venue) })
  .map(({ partition, after, venues }): Input => ({
    partition,
    message: mark(
      after,
      venues.map((name) => live(name)),
    ),
  }))

const ranges = fc
  .record({ partition, venue, from: seconds, low: price, high: price })
  .map(({ partition, venue, from, low, high }): Input => {
    return { partition, message: range(venue, from, from + 10, Math.min(low, high), Math.max(low, high)) }
  })

const logs = fc.array(
  fc.oneof({ weight: 5, arbitrary: tickers }, { weight: 2, arbitrary: marks }, { weight: 1, arbitrary: ranges }),
  { maxLength: 120, size: 'max' },
)

const three = ['binance', 'okx', 'kraken'] as const
const some = fc.subarray([...three])

/** What comes of a second: tickers where the venues are there, often candles of a while before, and a mark. */
const second = fc.record({
  after: fc.integer({ min: 1, max: 8 }),
  toggles: fc.nat(19).map((n) => n === 0),
  heard: some,
  price,
  candles: fc.option(fc.record({ venue: fc.constantFrom(...three), ago: fc.nat(300), long: fc.nat(100) }), { freq: 3 }),
  alive: some,
})

/** Ten minutes of one asset, with times in which no venue is heard. */
const outages = fc.array(second, { minLength: 100, maxLength: 160 }).map((log) => {
  let [time, isUp] = [0, true]
  return log.flatMap(({ after, toggles, heard, price, candles, alive }) => {
    time += after
    isUp = isUp !== toggles
    const told = isUp ? heard.map((name) => at(name, price, time)) : []
    const from = time - (candles?.ago ?? 0)
    const bounds = candles === null ? [] : [range(candles.venue, from, from + candles.long, price - 10, price + 10)]
    const channels = alive.map((name) => live(name, time - 30))
    return [...told, ...bounds, mark(time, channels)]
  })
})

describe('the prices processor', () => {
  it(
    'writes the same sequence, whatever the batches, redeliveries, crashes, freezes and owners',
    () => expectSame(row, logs),
    LAW_MS,
  )

  it(
    'goes on from what it saved as if nothing had happened, wherever that is',
    () => {
      fc.assert(
        fc.property(outages, (log) => {
          const [calm, restless] = [driver(), driver()]
          for (const message of log) {
            calm.batch(message)
            restless.batch(message).restart()
          }
          expect(restless.take()).toEqual(calm.take())
        }),
        { ...bounded, numRuns: 60 },
      )
    },
    LAW_MS,
  )

  it(
    'never says a price outside of its sources, nor a low above it or a high below',
    async () => {
      await fc.assert(
        fc.asyncProperty(logs, async (log) => {
          const { records } = await outcomeOf(row, log, noFaults)
          for (const { price, low, high, sources } of [...records.values()] as CompositePrice[]) {
            const prices = sources.map((source) => source.price)
            expect(sources.length).toBeGreaterThan(0)
            expect(Math.min(...prices) <= price && price <= Math.max(...prices)).toBe(true)
            expect(low <= price && price <= high).toBe(true)
          }
        }),
        { ...bounded, numRuns: 100 },
      )
    },
    LAW_MS,
  )
})
