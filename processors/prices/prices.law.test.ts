import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CompositePrice } from '../../schemas/records.ts'
import { priceVenues } from '../../schemas/venues.ts'
import { expectSame, noFaults, outcomeOf, PARTITIONS, type Input } from '../kernel/testing/fault-plans.ts'
import { processorsNamed } from '../topology.ts'
import { live, mark, markets, range, SECOND, T0, ticker } from './testing/records.ts'
import { bounded, LAW_MS } from '../kernel/testing/law.ts'

const [row] = processorsNamed(['prices'])
if (row === undefined) throw new Error('prices is in the topology')

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

describe('the prices processor', () => {
  it(
    'writes the same sequence, whatever the batches, redeliveries, crashes, freezes and owners',
    () => expectSame(row, logs),
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
