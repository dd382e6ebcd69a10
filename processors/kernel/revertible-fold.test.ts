import { emptyFields } from '../../schemas/codec.ts'
import { describe, expect, it } from 'vitest'
import { REVERTIBLE_RECORDS } from './revertible-fold.ts'
import { RecordFailure } from './errors.ts'
import { FAILURES_MAX, FAILURES_WINDOW_MS } from './failures.ts'
import { codec, testTask, lettersIn, marks, testTaskOn, round, tally, tallyRow, type TestTask } from './testing/task.ts'
import type { Processor, ProcessorRow } from './processor.ts'
import { Task } from './task.ts'

const IN = 'market.trades'
const after = new RecordFailure('apply', new Error('the one before'))

/** A gap of an asset; the tally takes no notice of it. */
function gaps(asset: string, count: number, time: number): { key: string; value: Buffer; time: number }[] {
  const times = { from_time: 1, to_time: 2, time: 3 }
  const nothing = {
    ...emptyFields('gap'),
    feed: 'feeds',
    reason: 'restart',
    state: 'opened',
  } as const
  return Array.from({ length: count }, (_, gap_id) => {
    const value = codec.encode(IN, 'gap', { ...nothing, ...times, instrument: 'x', asset, gap_id })
    return { key: asset, value, time }
  })
}

/** Throws at each gap of an asset, and counts how often its state was made anew. */
function throwsAt(asset: string): { row: ProcessorRow; loads: () => number } {
  let loads = 0
  const core: Processor<unknown> = {
    ...(tally as Processor<unknown>),
    apply(state, entry, context, emit) {
      ;(tally as Processor<unknown>).apply(state, entry, context, emit)
      if (entry.message.type === 'gap' && entry.message.value.asset === asset) throw new TypeError('each time')
    },
    load(parts) {
      loads += 1
      return tally.load(parts)
    },
  }
  return { row: { ...tallyRow, core }, loads: () => loads }
}

async function workedOff(row: ProcessorRow, begun: TestTask): Promise<Task> {
  const task = await Task.open(row, 0, { ...begun, after })
  await round(task, begun)
  return task
}

describe('a processor of whose records all of one asset fail', () => {
  it('tries few of them, and the others go on', async () => {
    const begun = testTask()
    begun.broker.append(IN, 0, [...gaps('btc', 5_000, 7), ...gaps('eth', 3, 7), ...marks(5, 6)])
    const { row, loads } = throwsAt('btc')
    const task = await workedOff(row, begun)
    expect(task.counts()).toEqual({ marks: 2 })
    expect(loads()).toBeLessThan(FAILURES_MAX + 5)
    expect(Object.groupBy(lettersIn(begun.broker), ({ reason }) => reason)).toMatchObject({
      failed: { length: FAILURES_MAX },
      held: { length: 5_000 - FAILURES_MAX },
    })
  })

  it('tries some again when the window has passed', async () => {
    const begun = testTask()
    const later = FAILURES_WINDOW_MS + 7
    begun.broker.append(IN, 0, [...gaps('btc', 50, 7), ...gaps('btc', 50, later)])
    await workedOff(throwsAt('btc').row, begun)
    const failed = lettersIn(begun.broker).filter(({ reason }) => reason === 'failed')
    expect(failed.map(({ time }) => time / 1_000)).toEqual([
      ...Array.from({ length: FAILURES_MAX }, () => 7),
      ...Array.from({ length: FAILURES_MAX }, () => later),
    ])
  })

  it('counts those of older times with the newest that failed', async () => {
    const begun = testTask()
    const later = FAILURES_WINDOW_MS + 7
    begun.broker.append(IN, 0, [...gaps('btc', 4, later), ...gaps('btc', 10, 7), ...gaps('btc', 10, later)])
    await workedOff(throwsAt('btc').row, begun)
    const failed = lettersIn(begun.broker).filter(({ reason }) => reason === 'failed')
    expect(failed.map(({ time }) => time / 1_000)).toEqual([later, later, later, later, 7, 7, 7, 7])
  })

  it('holds back the same ones after a restart in between', async () => {
    const begun = testTask()
    const { row } = throwsAt('btc')
    begun.broker.append(IN, 0, gaps('btc', 20, 7))
    await workedOff(row, begun)
    const next = testTaskOn(begun.broker)
    next.broker.append(IN, 0, gaps('btc', 20, 8))
    await round(await Task.open(row, 0, next), next)
    const reasons = lettersIn(begun.broker).map(({ reason }) => reason)
    expect(reasons.filter((reason) => reason === 'failed')).toHaveLength(FAILURES_MAX)
    expect(reasons).toHaveLength(40)
  })

  it.each([
    ['no more when nothing has failed for long', [gaps('eth', REVERTIBLE_RECORDS, 60_000)], true],
    ['while what failed is held back', [gaps('eth', REVERTIBLE_RECORDS, 7)], false],
    ['while few have come since', [gaps('eth', 1_000, 60_000)], false],
    [
      'for as long again when one has failed',
      [gaps('eth', REVERTIBLE_RECORDS - 1_000, 60_000), gaps('btc', 1, 60_000), gaps('eth', 1_000, 120_000)],
      false,
    ],
  ])('is careful %s', async (_, records, isOver) => {
    const begun = testTask({}, undefined, 1_000)
    const { row } = throwsAt('btc')
    begun.broker.append(IN, 0, [...gaps('btc', 1, 7), ...records.flat()])
    const task = await workedOff(row, begun)
    while ((task.positions()[0]?.offset ?? 0) < begun.broker.at(IN, 0).end) await round(task, begun)
    begun.broker.append(IN, 0, gaps('btc', 1, 120_000))
    const ended = await round(task, begun).then(
      () => false,
      (error: unknown) => error instanceof RecordFailure && error.from === 'apply',
    )
    expect(ended).toBe(isOver)
  })
})

describe('a record that fails', () => {
  /** Throws at each mark of this time, when it has counted it and said so. */
  function throwsAtMark(time: number, error: (nth: number) => Error): ProcessorRow {
    let thrown = 0
    const core: Processor<unknown> = {
      ...(tally as Processor<unknown>),
      apply(state, entry, context, emit) {
        ;(tally as Processor<unknown>).apply(state, entry, context, emit)
        if (entry.message.type === 'mark' && entry.message.value.time === time) throw error((thrown += 1))
      },
    }
    return { ...tallyRow, core }
  }

  it('leaves nothing of itself: no output, and no time', async () => {
    const begun = testTask()
    begun.broker.append(IN, 0, marks(5))
    const task = await workedOff(
      throwsAtMark(60, () => new Error('each time')),
      begun,
    )
    begun.broker.append(IN, 0, marks(60, 4))
    await round(task, begun)
    const said = begun.broker.records('derived.flow', 0).map(({ value }) => value && codec.decode(value).value)
    expect(said).toMatchObject([
      { run: 1, time: 5 },
      { run: 2, time: 5 },
    ])
  })

  it('in another way each time is given up after six tries', async () => {
    const begun = testTask()
    begun.broker.append(IN, 0, marks(60))
    await workedOff(
      throwsAtMark(60, (nth) => (nth % 2 === 0 ? new TypeError('even') : new RangeError('odd'))),
      begun,
    )
    expect(lettersIn(begun.broker)).toMatchObject([{ reason: 'failed', code: 'TypeError', attempts: 6 }])
  })

  it('brings nothing back that the state had let go of', async () => {
    const core: Processor<{ isOn: boolean }> = {
      empty: () => ({ isOn: false }),
      apply(state, { message }) {
        if (message.type === 'mark' && message.value.time === 60) throw new Error('each time')
        state.isOn = !state.isOn
      },
      save: ({ isOn }) => [['on', isOn ? Buffer.from('on') : null] as const],
      load: (parts) => ({ isOn: parts.has('on') }),
      counts: ({ isOn }) => ({ on: Number(isOn) }),
    }
    const begun = testTask()
    begun.broker.append(IN, 0, marks(5))
    const task = await workedOff({ ...tallyRow, core }, begun)
    begun.broker.append(IN, 0, marks(6))
    await round(task, begun)
    begun.broker.append(IN, 0, marks(60))
    await round(task, begun)
    expect(task.counts()).toEqual({ on: 0 })
  })
})

describe('a core that throws at what it held back', () => {
  /** Emits what it counted when it is asked for it, and cannot once it has counted a mark of this time. */
  function cannotFlush(time: number): ProcessorRow {
    const core: Processor<{ times: number[] }> = {
      empty: () => ({ times: [] }),
      apply: ({ times }, { message }) => void (message.type === 'mark' && times.push(message.value.time)),
      flush({ times }) {
        if (times.includes(time)) throw new Error(`no ${time}`)
      },
      *save({ times }) {
        yield ['times', Buffer.from(JSON.stringify(times))] as const
      },
      load: (parts) => ({ times: JSON.parse(String(parts.get('times') ?? '[]')) as number[] }),
      counts: ({ times }) => ({ marks: times.length }),
    }
    return { ...tallyRow, core }
  }

  it('has the record set aside behind which it cannot any more', async () => {
    const begun = testTask()
    begun.broker.append(IN, 0, marks(5, 6, 7))
    const row = cannotFlush(6)
    const failure: unknown = await round(await Task.open(row, 0, begun), begun).catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'record-failed', from: 'flush' })
    const next = await Task.open(row, 0, { ...begun, after: failure as RecordFailure })
    await round(next, begun)
    expect(next.counts()).toEqual({ marks: 2 })
    expect(lettersIn(begun.broker)).toMatchObject([{ offset: 1, reason: 'failed', message: 'no 6', attempts: 3 }])
  })
})
