import { beforeEach, describe, expect, it } from 'vitest'
import fc from 'fast-check'
import { MemoryBroker, stillClock } from '../../../processors/kernel/testing/memory-log.ts'
import { localCodec, emptyFields } from '../../../schemas/codec.ts'
import type { Mark, Micros } from '../../../schemas/records.ts'
import { noTime, PartitionClock } from '../../../processors/kernel/partition-clock.ts'
import { timeFaults, PlainTime } from './times.ts'

const SECOND: Micros = 1_000_000
const NOW: Micros = 1_760_000_000 * SECOND
const MINUTE = 60 * SECOND
const codec = localCodec()

let broker: MemoryBroker
beforeEach(() => {
  broker = new MemoryBroker(stillClock)
})

/** A mark `after` NOW; `told`: what a feed says of its venues. */
function enter(topic: 'alerts.inputs' | 'market.tickers', after: Micros, told: Micros | null = null): void {
  const writer = topic === 'alerts.inputs' ? 'prices' : 'feeds'
  const venue_time = told === null ? null : NOW + told
  const mark: Mark = { writer, run: 0, time: NOW + after, venues: [], changes: [], venue_time, positions: [] }
  broker.append(topic, 0, [{ key: writer, value: codec.encode(topic, 'mark', mark), time: NOW / 1_000 }])
}

const faults = (after: Micros): Promise<string[]> =>
  timeFaults({
    reader: broker.connect().reader(),
    codec,
    partitions: 1,
    since: NOW / 1_000,
    now: () => (NOW + after) / 1_000,
  })

describe('time in the log of alerts', () => {
  it('is sound where every mark follows from one that its venues confirm', async () => {
    for (const after of [MINUTE, MINUTE + SECOND]) {
      enter('market.tickers', after, after - SECOND)
      enter('alerts.inputs', after)
    }
    expect(await faults(2 * MINUTE)).toEqual([])
  })

  it('is not where a mark follows from one that lies, nor where it is from the future', async () => {
    enter('market.tickers', MINUTE, MINUTE)
    enter('market.tickers', 55 * MINUTE, MINUTE)
    enter('alerts.inputs', MINUTE)
    enter('alerts.inputs', 55 * MINUTE)
    const lie = `a mark in alerts.inputs-0 of ${new Date((NOW + 55 * MINUTE) / 1_000).toISOString()}`
    expect(await faults(90 * MINUTE)).toEqual([`${lie}, which market.tickers does not confirm`])
    expect(await faults(2 * MINUTE)).toEqual([lie, `${lie}, which market.tickers does not confirm`])
  })
})

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
          ...emptyFields('mark'),
          writer: 'feeds',
          run: T,
          time,
          venue_time: told ? now : null,
        }
        expect(plain.take(mark)).toBe(clock.follow('market.tickers', mark))
      }
      expect(clock.time).toBe(Math.max(0, ...plain.followed))
    }),
    { numRuns: 2_000 },
  )
})
