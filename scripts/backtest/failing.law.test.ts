import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { logs as alertLogs } from '../../processors/alerts/testing/any-log.ts'
import { PartitionReplay, type ReadonlyAside } from './core/replay.ts'
import { mark as tickerMark, at as spot } from '../../processors/prices/testing/records.ts'
import { lettersIn } from '../../processors/kernel/testing/task.ts'
import type { ProcessorRow } from '../../processors/kernel/processor.ts'
import { PARTITIONS, plans } from '../../processors/kernel/testing/fault-plans.ts'
import { processorsNamed } from '../../processors/topology.ts'
import type { Message } from '../../schemas/records.ts'
import { liveRun, replayed } from './testing/live-run.ts'
import { bounded, LAW_MS } from '../../processors/kernel/testing/law.ts'

/** Of this name, but that it throws at some records, by their offset, when it has folded them and said what follows. */
function sick(name: string, throwsAt: (offset: number) => boolean): ProcessorRow {
  const [row] = processorsNamed([name])
  if (row === undefined) throw new Error(`${name} is in the topology`)
  const apply: typeof row.core.apply = (state, entry, context, emit) => {
    row.core.apply(state, entry, context, emit)
    if (throwsAt(entry.offset)) throw new TypeError(`at ${entry.offset}`)
  }
  return { ...row, core: { ...row.core, apply } }
}

describe('a replay of a core that throws at some records', () => {
  it(
    'writes what the live host wrote and sets the same aside, whatever befell the host',
    async () => {
      const row = sick('alerts', (offset) => offset % 3 === 1)
      await fc.assert(
        fc.asyncProperty(alertLogs, plans, fc.constantFrom(1, 2_000), async (log, plan, everyMs) => {
          const driver = await liveRun(row, log, plan, everyMs)
          const { check, aside } = await replayed(row, driver, 7)
          expect(check.differences).toEqual([])
          const letters = [...Array(PARTITIONS).keys()].flatMap((partition) => lettersIn(driver.broker, partition))
          const places = letters.map(({ topic, partition, offset }) => `alerts|${topic}|${partition}|${offset}`)
          expect(aside).toEqual([...new Set(places)].sort())
        }),
        { ...bounded, numRuns: 100 },
      )
    },
    LAW_MS,
  )

  it('tells of one by whom it is set aside where the alerts meet the prices of the replay itself', () => {
    const messages: Message[] = [1, 2, 3, 4].flatMap((second) => [
      spot('binance', 100 + second, second),
      tickerMark(second),
    ])
    const rows = [sick('prices', (offset) => offset === 2), sick('alerts', (offset) => offset === 1)]
    const run = (aside: ReadonlyAside | 'search'): { said: string[]; found: string[] } => {
      const said: string[] = []
      const replay = new PartitionReplay({
        partition: 0,
        rows,
        alerts: 'replay',
        gaps: [],
        isEachWanted: true,
        sink: ({ row, output }) => void said.push(`${row} ${output.message?.type}`),
        aside,
      })
      for (const [offset, message] of messages.entries())
        replay.apply('market.tickers', { offset, time: offset }, message)
      return { said, found: [...replay.found.keys()] }
    }
    expect(() => run(new Map())).toThrow('a record could not be applied')
    const { found, said } = run('search')
    expect(found.toSorted()).toEqual(['alerts|alerts.inputs|0|1', 'prices|market.tickers|0|2'])
    expect(said).toEqual([])
    const cause = { reason: 'failed', code: '', message: '', at: null, attempts: 3 } as const
    const aside = new Map(found.map((name) => [name, cause]))
    expect(run(aside).said.length).toBeGreaterThan(3)
  })
})
