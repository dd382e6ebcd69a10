import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mark, SECOND, T0, trade } from '../cvd/testing/records.ts'
import { processorsNamed } from '../topology.ts'
import { FAILURES_MAX } from './failures.ts'
import type { Entry, ProcessorRow } from './processor.ts'
import { noFaults, outcomeOf, PARTITIONS, plans, type Input, type Outcome } from './testing/fault-plans.ts'
import { bounded, LAW_MS } from './testing/law.ts'

const [healthy] = processorsNamed(['cvd'])
if (healthy === undefined) throw new Error('cvd is in the topology')

/** Trades by their id, marks by their time. */
function isPoison({ message: { type, value } }: Pick<Entry, 'message'>): boolean {
  return type === 'trade' ? value.first_id % 5 < 2 : type === 'mark' && (value.time / SECOND) % 7 === 0
}

/** The real core; at some records it throws, when it has changed its state and has said what follows, or before. */
const sick: ProcessorRow = {
  ...healthy,
  core: {
    ...healthy.core,
    apply(state, entry, context, emit) {
      const { type, value } = entry.message
      if (type === 'trade' && value.first_id % 5 === 0) throw new TypeError('poison')
      healthy.core.apply(state, entry, context, emit)
      if (isPoison(entry)) throw new RangeError('poison')
    },
  },
}

const place = { partition: fc.nat(PARTITIONS - 1), after: fc.integer({ min: 0, max: 120 }) }
const trades = fc
  .record({ ...place, id: fc.integer({ min: 1, max: 60 }), asset: fc.constantFrom('btc', 'eth') })
  .map(({ partition, after, id, asset }): Input => {
    const instrument = `binance:perp:${asset.toUpperCase()}USDT`
    return { partition, message: trade({ asset, instrument, first_id: id, size: id, time: T0 + after * SECOND }) }
  })
const marks = fc.record(place).map(({ partition, after }): Input => ({ partition, message: mark(T0 + after * SECOND) }))
const logs = fc.array(fc.oneof({ weight: 4, arbitrary: trades }, { weight: 1, arbitrary: marks }), {
  maxLength: 120,
  size: 'max',
})
/** From a log whose failures all fall into one window to one that has many windows. */
const paces = fc.constantFrom(1, 400, 3_000)

/** What was set aside, and everything else. */
function parted({ records }: Outcome): { letters: [string, { reason: string }][]; others: Map<string, unknown> } {
  const all = [...records]
  const isLetter = ([key]: readonly [string, unknown]): boolean => key.startsWith('cvd|')
  return {
    letters: all.filter(isLetter) as [string, { reason: string }][],
    others: new Map(all.filter((entry) => !isLetter(entry))),
  }
}

/** The index in the log of the record at a place. */
function indexOf(log: readonly Input[], letter: string): number {
  const [, , partition, offset] = letter.split('|').map(Number)
  return [...log.keys()].filter((index) => log[index]?.partition === partition)[offset ?? -1] ?? -1
}

function at(log: readonly Input[], index: number): Input {
  const input = log[index]
  if (input === undefined) throw new Error(`nothing stands at ${index}`)
  return input
}

describe('a core that throws at some records', () => {
  it(
    'writes the same and sets the same aside, whatever the batches, crashes, freezes and owners',
    async () => {
      await fc.assert(
        fc.asyncProperty(logs, plans, paces, async (log, plan, everyMs) => {
          expect(await outcomeOf(sick, log, plan, { everyMs })).toEqual(
            await outcomeOf(sick, log, noFaults, { everyMs }),
          )
        }),
        { ...bounded, numRuns: 150 },
      )
    },
    LAW_MS,
  )

  it(
    'goes on as if what was set aside had never been there',
    async () => {
      await fc.assert(
        fc.asyncProperty(logs, plans, paces, async (log, plan, everyMs) => {
          const outcome = await outcomeOf(sick, log, plan, { everyMs })
          const { letters, others } = parted(outcome)
          const gone = new Set(letters.map(([key]) => indexOf(log, key)))
          const without = await outcomeOf(healthy, log, noFaults, { everyMs, gone })
          expect(others).toEqual(without.records)
          expect(outcome.counts).toEqual(without.counts)
        }),
        { ...bounded, numRuns: 100 },
      )
    },
    LAW_MS,
  )

  it(
    'has every such record set aside, and of the others only what is held behind many of them',
    async () => {
      await fc.assert(
        fc.asyncProperty(logs, paces, async (log, everyMs) => {
          const { letters } = parted(await outcomeOf(sick, log, noFaults, { everyMs }))
          const found = new Map(letters.map(([key, { reason }]) => [indexOf(log, key), reason]))
          const missed = log.filter((input, index) => isPoison(input) && !found.has(index))
          const triedInVain = [...found].filter(([index, reason]) => reason === 'failed' && !isPoison(at(log, index)))
          expect([missed, triedInVain]).toEqual([[], []])
          const failed = letters.filter(([, { reason }]) => reason === 'failed')
          expect(failed.length >= FAILURES_MAX || failed.length === letters.length).toBe(true)
        }),
        { ...bounded, numRuns: 100 },
      )
    },
    LAW_MS,
  )
})
