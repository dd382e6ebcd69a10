import { expect, it } from 'vitest'
import { emptyFields } from '../../../schemas/codec.ts'
import type { Covered, LogCoverage } from '../trades/coverage.ts'
import type { TradeRepair } from '../trades/trade-repair.ts'
import { instrument, start, tradeAt } from '../trades/testing/market.ts'
import { fromStream, newStream } from '../trades/stream.ts'
import { codec, type TestTask, testTask } from '../../kernel/testing/task.ts'
import { Resume } from './resume.ts'

const hourSeconds = 3_600

/** Writes trade `id`, at its second. */
function trade({ broker }: TestTask, id: number): void {
  const { normalise } = newStream('contiguous', instrument, 1)
  const value = codec.encode('market.trades', 'trade', normalise(tradeAt(id), tradeAt(id).time, fromStream))
  broker.append('market.trades', 0, [{ key: 'btc', value, time: tradeAt(id).time / 1_000 }])
}

/** Writes the mark of a run at the second of trade `id`; `upTo`: the trade that it states as its position. */
function mark({ broker }: TestTask, run: number, id: number, upTo?: number): void {
  const positions =
    upTo === undefined ? [] : [{ instrument: instrument.instrument, last_id: upTo, time: tradeAt(upTo).time }]
  const { time } = tradeAt(id)
  const fields = { ...emptyFields('mark'), writer: 'test', run: start + run, time, positions }
  const value = codec.encode('market.trades', 'mark', fields)
  broker.append('market.trades', 0, [{ key: 'mark', value, time: time / 1_000 }])
}

function resumeOf({ broker, ports }: TestTask): Resume {
  const readback = { ...ports, writer: ports.log.writer() }
  return new Resume(broker.connect().reader(), readback, 1, (error) => {
    throw error
  })
}

/** What a repair that begins is told of the instrument. */
async function told(resume: Resume): Promise<Covered | undefined> {
  let hour: LogCoverage | undefined
  const repair: Pick<TradeRepair, 'adoptTimes' | 'adoptAll'> = {
    adoptTimes: () => undefined,
    adoptAll: (coverage) => {
      hour = coverage
    },
  }
  await resume.tell([repair as TradeRepair])
  return hour?.of(instrument.instrument)
}

function missingIn(covered: Covered | undefined): unknown {
  if (covered?.ids !== 'contiguous') return undefined
  return covered.tracker.missing(covered.tracker.floor, covered.tracker.top ?? 0)
}

it('a process that owned no venue when it began compares with the log as it is when one becomes its own', async () => {
  const begun = testTask()
  trade(begun, 1)
  const resume = resumeOf(begun)
  await resume.lookBack()
  await resume.tell([])
  trade(begun, 2)
  const covered = await told(resume)
  expect(covered?.ids === 'contiguous' && covered.tracker.top).toBe(2)
})

it('the hour of the last process that had read the log is read, however many starts ended sooner since', async () => {
  const begun = testTask()
  const stop = 100 * hourSeconds
  trade(begun, 1)
  mark(begun, 1, 1, 1)
  trade(begun, 2)
  mark(begun, 1, 2)
  for (let hour = 0; hour < 5; hour++) {
    const id = stop + hour * hourSeconds
    trade(begun, id)
    mark(begun, id * 1_000_000, id)
  }
  expect(missingIn(await told(resumeOf(begun)))).toMatchObject([
    { from: 3, to: stop - 1 },
    { from: stop + 1 },
    { from: stop + hourSeconds + 1 },
    { from: stop + 2 * hourSeconds + 1 },
    { from: stop + 3 * hourSeconds + 1 },
  ])
})

it('a process that has stated nothing for most of an hour before it ended is none that ended too soon', async () => {
  const begun = testTask()
  trade(begun, 1)
  mark(begun, 1, 1, 1)
  mark(begun, 1, 600)
  trade(begun, 600 + hourSeconds - 1)
  mark(begun, 600_000_000, 600 + hourSeconds - 1)
  expect(missingIn(await told(resumeOf(begun)))).toMatchObject([{ from: 2, to: 600 + hourSeconds - 2 }])
})
