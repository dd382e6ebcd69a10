import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Funding } from '../../schemas/records.ts'
import { expectSame, noFaults, outcomeOf, PARTITIONS, type Input } from '../kernel/testing/fault-plans.ts'
import { processorsNamed } from '../topology.ts'
import { binance, bybit, HOUR, mark, MINUTE, okx, premium, rate, ratio, settlement, terms } from './testing/records.ts'
import { bounded, LAW_MS } from '../kernel/testing/law.ts'

const [row] = processorsNamed(['funding'])
if (row === undefined) throw new Error('funding is in the topology')

const partition = fc.nat(PARTITIONS - 1)
const instrument = fc.constantFrom(binance, bybit, okx)
const fraction = fc.integer({ min: -300, max: 300 }).map((n) => n / 100_000)
/** Around two settlements, so that series begin anew in the middle of a log. */
const minute = fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 470, max: 500 }))

const messages = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .record({ instrument, fraction, minute })
      .map((given) => premium(given.fraction, given.minute, given.instrument)),
  },
  {
    weight: 2,
    arbitrary: fc
      .record({ instrument, fraction, minute })
      .map((given) => rate(given.fraction, given.minute * MINUTE, { instrument: given.instrument })),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({ instrument, fraction })
      .map((given) => settlement(given.fraction, 8 * HOUR, given.instrument)),
  },
  {
    weight: 1,
    arbitrary: fc.record({ instrument, interval_hours: fc.constantFrom(4, 8) }).map((given) => terms(given)),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({ venue: fc.constantFrom('binance', 'okx', 'gate'), value: fc.integer({ min: 20, max: 300 }), minute })
      .map((given) => ratio(given.venue, given.value / 100, given.minute * MINUTE)),
  },
  { weight: 3, arbitrary: minute.map((after) => mark(after * MINUTE)) },
)

/** Of some perpetuals the interval is known from the start, of others later or never. */
const told = fc.subarray(
  Array.from({ length: PARTITIONS }, (_, at) => at).flatMap((at): Input[] =>
    [binance, bybit, okx].map((name) => ({ partition: at, message: terms({ instrument: name }) })),
  ),
)
const said = fc.array(fc.record({ partition, message: messages }), { maxLength: 120, size: 'max' })
const logs: fc.Arbitrary<Input[]> = fc.tuple(told, said).map((parts) => parts.flat())

describe('the funding processor', () => {
  it(
    'writes the same in the end, whatever the batches, redeliveries, crashes, freezes and owners',
    () => expectSame(row, logs),
    LAW_MS,
  )

  it(
    'rests an average on no more minutes than have passed, and keeps it within what was said',
    async () => {
      await fc.assert(
        fc.asyncProperty(logs, async (log) => {
          const { records } = await outcomeOf(row, log, noFaults)
          const rows = [...records.values()].filter((value): value is Funding =>
            Object.hasOwn(value as object, 'exchanges'),
          )
          for (const { samples, expected, average_premium, interval_hours } of rows.flatMap(
            ({ exchanges }) => exchanges,
          )) {
            expect(samples <= expected && expected <= interval_hours * 60).toBe(true)
            expect(Math.abs(average_premium ?? 0)).toBeLessThanOrEqual(0.003 + 1e-12)
          }
        }),
        { ...bounded, numRuns: 100 },
      )
    },
    LAW_MS,
  )
})
