import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LiquidationRisk } from '../../schemas/records.ts'
import { expectSame, noFaults, outcomeOf, PARTITIONS, type Input } from '../kernel/testing/fault-plans.ts'
import { processorsNamed } from '../topology.ts'
import { binance, bybit, mark, okx, says, terms } from './testing/records.ts'
import { bounded, LAW_MS } from '../kernel/testing/law.ts'

const [row] = processorsNamed(['liquidations'])
if (row === undefined) throw new Error('liquidations is in the topology')

const partition = fc.nat(PARTITIONS - 1)
const seconds = fc.integer({ min: 0, max: 200 })
const fields = fc.record({
  instrument: fc.constantFrom(binance, bybit, okx),
  seconds,
  price: fc.integer({ min: 700, max: 1_300 }).map((n) => n / 10),
  size: fc.oneof(fc.integer({ min: 0, max: 5_000 }), fc.constant(0.3)),
})

const messages = fc.oneof(
  { weight: 4, arbitrary: fields.map(({ instrument, seconds, price }) => says(seconds, { instrument, mark: price })) },
  { weight: 3, arbitrary: fields.map(({ instrument, seconds, size }) => says(seconds, { instrument, size })) },
  {
    weight: 1,
    arbitrary: fc
      .record({ instrument: fc.constantFrom(binance, okx), leverage: fc.constantFrom(null, 3, 20, 125) })
      .map(({ instrument, leverage }) => terms(leverage, 0.01, instrument)),
  },
  { weight: 3, arbitrary: seconds.map((after) => mark(after)) },
)

const logs: fc.Arbitrary<Input[]> = fc.array(fc.record({ partition, message: messages }), {
  maxLength: 120,
  size: 'max',
})

function risksOf(records: ReadonlyMap<string, unknown>): LiquidationRisk[] {
  return [...records.values()].filter((value): value is LiquidationRisk => Object.hasOwn(value as object, 'levels'))
}

describe('the liquidations processor', () => {
  it(
    'writes the same sequence, whatever the batches, redeliveries, crashes, freezes and owners',
    () => expectSame(row, logs),
    LAW_MS,
  )

  it(
    'never puts more at risk than there is open, nor less within 10 % than within 5 %',
    async () => {
      let seen = 0
      await fc.assert(
        fc.asyncProperty(logs, async (log) => {
          for (const risk of risksOf((await outcomeOf(row, log, noFaults)).records)) {
            seen += 1
            const all = risk.levels.reduce((sum, { long_usd, short_usd }) => sum + long_usd + short_usd, 0)
            const clusters = risk.clusters.reduce((sum, { usd }) => sum + usd, 0)
            const most = risk.open_interest_usd * (1 + 1e-9)
            expect(all).toBeLessThanOrEqual(clusters * (1 + 1e-9))
            expect(clusters).toBeLessThanOrEqual(most)
            expect(risk.at_risk_5_usd <= risk.at_risk_10_usd && risk.at_risk_10_usd <= all * (1 + 1e-9)).toBe(true)
            expect(risk.levels.every(({ long_usd, short_usd }) => long_usd >= 0 && short_usd >= 0)).toBe(true)
          }
        }),
        { ...bounded, numRuns: 150 },
      )
      expect(seen).toBeGreaterThan(0)
    },
    LAW_MS,
  )
})
