import fc from 'fast-check'
import { expect, it } from 'vitest'
import { noTime, PartitionClock } from '../../../processors/kernel/partition-clock.ts'
import type { Mark } from '../../../schemas/records.ts'
import { PlainTime } from './plain-time.ts'

const SECOND = 1_000_000
const T = 1_700_000_000_000_000

const steps = fc.array(
  fc.record({
    passed: fc.constantFrom(0, 1, 1, 1, 59, 60, 61, 3_600),
    ahead: fc.constantFrom(0, 0, 0, 4.9, 5, 5.1, 60, 61, 3_300, -3_300),
    told: fc.boolean(),
  }),
  { maxLength: 40 },
)

it('follows the marks that the kernel follows', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const [clock, plain] = [new PartitionClock(noTime), new PlainTime()]
      let now = T
      for (const { passed, ahead, told } of all) {
        now += passed * SECOND
        const time = now + ahead * SECOND
        const mark: Mark = {
          writer: 'feeds',
          run: T,
          time,
          venues: [],
          changes: [],
          venue_time: told ? now : null,
          positions: [],
        }
        expect(plain.take(mark)).toBe(clock.follow('market.tickers', mark))
      }
      expect(clock.time).toBe(Math.max(0, ...plain.followed))
    }),
    { numRuns: 2_000 },
  )
})
