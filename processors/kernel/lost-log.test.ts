import { describe, expect, it } from 'vitest'
import type { LogGap, Micros } from '../../schemas/records.ts'
import { DeadLetters } from './dead-letters.ts'
import { Fold } from './fold.ts'
import { codec, testTask, lettersIn, mark, marks, testTaskOn, type TestTask } from './testing/task.ts'
import { readGaps } from './log-gaps.ts'
import type { Output, Processor, ProcessorRow } from './processor.ts'
import { Task } from './task.ts'
import { OFFSETS } from './version.ts'

const IN = 'market.trades'
const OUT = 'derived.flow'

interface Heard {
  /** Times of marks, and gaps, in the order in which they came, each with its version’s offset. */
  words: string[]
}

/** Keeps what it hears, says each mark on, and says all of it again where its output was lost. */
const listener: Processor<Heard, Output<'derived.flow'>> = {
  empty: () => ({ words: [] }),
  apply(state, { message }, { v }, emit) {
    if (message.type === 'mark') {
      state.words.push(`${message.value.time}@${v - OFFSETS}`)
      emit({ topic: OUT, key: String(message.value.time), message })
    } else if (message.type === 'log_gap') {
      const { reason, position, next } = message.value
      state.words.push(`${reason} ${position}-${next}@${v - OFFSETS}`)
    }
  },
  restate({ words }, output, _context, emit) {
    for (const word of words) {
      const [, time] = /^(\d+)@/.exec(word) ?? []
      if (time !== undefined) emit({ topic: output as typeof OUT, key: time, message: mark(Number(time)) })
    }
  },
  save: ({ words }) => [['words', Buffer.from(JSON.stringify(words))] as const],
  load: (parts) => ({ words: JSON.parse(parts.get('words')?.toString() ?? '[]') as string[] }),
}

/** Knows the last mark alone. */
const forgetful: Processor<unknown> = {
  ...(listener as Processor<unknown>),
  apply(state, entry, context, emit) {
    ;(state as Heard).words = []
    ;(listener as Processor<unknown>).apply(state, entry, context, emit)
  },
}

const row: ProcessorRow = {
  name: 'listener',
  inputs: [IN],
  outputs: [OUT],
  state: 'state.cvd',
  generation: 1,
  reason: 'first version',
  core: listener,
}

/** One fetch and its work. */
async function round(task: Task, { ports }: TestTask): Promise<void> {
  await task.work(await ports.reader.fetch(task.positions(), { maxWaitMs: 0, maxBytesPerPartition: 1e6 }))
}

async function rounds(task: Task, begun: TestTask, count = 3): Promise<void> {
  for (let index = 0; index < count; index++) await round(task, begun)
}

/** What the task's state heard, as its last snapshot has it. */
function heard({ broker }: TestTask): string[] {
  const last = broker.records('state.cvd', 0).findLast(({ key }) => key?.toString() === 'words')
  const message = last?.value === null || last === undefined ? undefined : codec.decode(last.value)
  return message?.type === 'snapshot' ? (JSON.parse(message.value.state.toString()) as string[]) : []
}

function gapsTold({ broker }: TestTask): LogGap[] {
  return broker.records('control.gaps', 0).flatMap(({ value }) => {
    const message = value === null ? undefined : codec.decode(value)
    return message?.type === 'log_gap' ? [message.value] : []
  })
}

function written({ broker }: TestTask): Micros[] {
  return broker.records(OUT, 0).flatMap(({ value }) => {
    const message = value === null ? undefined : codec.decode(value)
    return message?.type === 'mark' ? [message.value.time] : []
  })
}

/** Five marks read, of which the log loses the last three. */
async function cut(everyRecords = 1): Promise<{ begun: TestTask; task: Task }> {
  const begun = testTask({}, undefined, everyRecords)
  begun.broker.append(IN, 0, marks(1, 2, 3, 4, 5))
  const task = await Task.open(row, 0, begun)
  await round(task, begun)
  begun.broker.lose(IN, 0, 2)
  return { begun, task }
}

const afterCut = ['1@0', '2@1', '3@2', '4@3', '5@4', 'cut 5-2@5', '6@6', '7@7', '8@8', '9@9', '10@10', '11@11']

describe('a log that became shorter than a position', () => {
  it('is gone on with where it differs: nothing new is skipped, nothing old folded again, versions rise', async () => {
    const { begun, task } = await cut()
    begun.broker.append(IN, 0, marks(6, 7))
    await rounds(task, begun)
    begun.broker.append(IN, 0, marks(8, 9, 10, 11))
    await rounds(task, begun)
    expect(heard(begun)).toEqual(afterCut)
    expect(gapsTold(begun)).toMatchObject([
      { reader: 'listener', topic: IN, reason: 'cut', position: 5, next: 2, shift: 4, missing: 0 },
    ])
    expect(begun.notes.sums['gaps']).toBe(1)
  })

  it('is a gap up to the last that was read of it, although what comes first in its place is older', async () => {
    const begun = testTask()
    begun.broker.append(IN, 0, marks(1_000, 2_000, 9_000))
    const task = await Task.open(row, 0, begun)
    await round(task, begun)
    begun.broker.lose(IN, 0, 1)
    begun.broker.append(IN, 0, marks(3_000, 12_000, 13_000))
    await rounds(task, begun)
    expect(gapsTold(begun)).toMatchObject([{ reason: 'cut', next: 1, from_time: 1_000, to_time: 9_000 }])
  })

  it('is found although it has grown beyond the position since', async () => {
    const { begun, task } = await cut()
    begun.broker.append(IN, 0, marks(6, 7, 8, 9, 10, 11))
    await rounds(task, begun)
    expect(heard(begun)).toEqual(afterCut)
  })

  it('is found at the next opening', async () => {
    const { begun } = await cut()
    begun.broker.append(IN, 0, marks(6, 7, 8, 9, 10, 11))
    const next = testTaskOn(begun.broker)
    await rounds(await Task.open(row, 0, next), next)
    expect(heard(begun)).toEqual(afterCut)
  })

  it('is told once, although its reader crashed before its state knew of it', async () => {
    const { begun } = await cut()
    const crashing = testTaskOn(begun.broker, {}, undefined, Infinity)
    await Task.open(row, 0, crashing)
    begun.broker.append(IN, 0, marks(6, 7, 8, 9, 10, 11))
    const next = testTaskOn(begun.broker)
    await rounds(await Task.open(row, 0, next), next)
    expect(gapsTold(begun)).toHaveLength(1)
    expect(heard(begun)).toEqual(afterCut)
  })

  it('gives no version twice where a snapshot from before it is gone on from', async () => {
    const { begun, task } = await cut(Infinity) // the state is not written: an owner begins at the log’s start
    begun.broker.append(IN, 0, marks(6))
    await rounds(task, begun)
    const next = testTaskOn(begun.broker)
    await rounds(await Task.open(row, 0, next), next)
    expect(heard(begun)).toEqual(['1@0', '2@1', 'cut 5-2@5', '6@6'])
  })

  it('is replayed as it was lived', async () => {
    const { begun, task } = await cut()
    begun.broker.append(IN, 0, marks(6, 7, 8, 9))
    await rounds(task, begun)
    const dead = new DeadLetters(row.name, 0, begun.ports)
    const replay = Fold.empty(row, 0, await readGaps(begun.ports.reader, begun.decoder, row.name, 0, dead))
    for (const record of begun.broker.records(IN, 0)) {
      if (record.value !== null) replay.apply(IN, record, codec.decode(record.value), () => undefined)
    }
    expect((replay.state as Heard).words).toEqual(['1@0', '2@1', 'cut 5-2@5', '6@6', '7@7', '8@8', '9@9'])
  })

  it('is opened although a gap that it told cannot be read any more: that record is set aside', async () => {
    const { begun } = await cut()
    begun.broker.append('control.gaps', 0, [{ key: 'listener', value: Buffer.from('nonsense'), time: 8 }])
    begun.broker.append(IN, 0, marks(6, 7, 8, 9, 10, 11))
    const next = testTaskOn(begun.broker)
    const task = await Task.open(row, 0, next)
    expect(next.notes.sums).toMatchObject({ undecodable: 1 })
    expect(lettersIn(begun.broker)).toMatchObject([
      { processor: 'listener', topic: 'control.gaps', partition: 0, offset: 1, code: 'not-wire-format' },
    ])
    await rounds(task, next)
    expect(heard(begun)).toEqual(afterCut)
  })

  it('is gone on with by the next owner where the log did not say where it took the gap in', async () => {
    const { begun } = await cut()
    const { log } = begun.ports
    const claim: typeof log.claim = async (...asked) => {
      const made = await log.claim(...asked)
      const send: typeof made.send = async (...at) => {
        const first = await made.send(...at)
        return at[0] === 'control.gaps' ? undefined : first
      }
      return { ...made, send }
    }
    const unsaid = testTaskOn(begun.broker, { log: { ...log, claim } })
    await expect(Task.open(row, 0, unsaid)).rejects.toThrow('did not say where')
    begun.broker.append(IN, 0, marks(6, 7, 8, 9, 10, 11))
    const next = testTaskOn(begun.broker)
    await rounds(await Task.open(row, 0, next), next)
    expect(heard(begun)).toEqual(afterCut)
    expect(gapsTold(begun)).toHaveLength(1)
  })

  it('stops the host where it is to, and says the two ways out', async () => {
    const { begun } = await cut()
    const careful: TestTask = { ...testTaskOn(begun.broker), onLostLog: 'stop' }
    const opening = Task.open(row, 0, careful)
    await expect(opening).rejects.toMatchObject({ code: 'lost-log' })
    await expect(opening).rejects.toThrow(
      /up to 5, and that log lost its tail from 2 on.*bring the log back.*ON_LOST_LOG=go-on/,
    )
    expect(gapsTold(begun)).toEqual([])
  })

  it('twice, at an earlier place, keeps its order', async () => {
    const { begun, task } = await cut()
    begun.broker.append(IN, 0, marks(6, 7))
    await rounds(task, begun)
    begun.broker.lose(IN, 0, 1)
    begun.broker.append(IN, 0, marks(8, 9))
    await rounds(task, begun)
    expect(heard(begun).slice(5)).toEqual(['cut 5-2@5', '6@6', '7@7', 'cut 4-1@8', '8@9', '9@10'])
  })

  it('before anything of it was read, loses nothing that comes in that place', async () => {
    const begun = testTask()
    for (const _mark of [0, 1, 2]) begun.broker.at(IN, 0).skip() // of claims: nobody reads them
    const task = await Task.open(row, 0, begun)
    await round(task, begun)
    begun.broker.lose(IN, 0, 1)
    begun.broker.append(IN, 0, marks(1, 2, 3, 4))
    await rounds(task, begun)
    expect(heard(begun)).toEqual(['cut 3-1@3', '1@4', '2@5', '3@6', '4@7'])
    expect(gapsTold(begun)).toMatchObject([{ reason: 'cut', position: 3, next: 1, missing: 0 }])
  })

  it('before anything of it was read, is no other log', async () => {
    const begun = testTask()
    for (const _mark of [0, 1, 2]) begun.broker.at(IN, 0).skip()
    const task = await Task.open(row, 0, begun)
    await round(task, begun)
    begun.broker.lose(IN, 0, 1)
    await rounds(task, begun)
    begun.broker.append(IN, 0, marks(1))
    await rounds(task, begun)
    expect(heard(begun)).toEqual(['cut 3-1@3', '1@4'])
  })

  it('twice, with nothing but claims’ marks before the place where it differed, is known again', async () => {
    const begun = testTask()
    begun.broker.append(IN, 0, marks(1))
    for (const _mark of [0, 1]) begun.broker.at(IN, 0).skip()
    begun.broker.append(IN, 0, marks(2, 3))
    const task = await Task.open(row, 0, begun)
    await round(task, begun)
    begun.broker.lose(IN, 0, 3)
    await rounds(task, begun)
    begun.broker.lose(IN, 0, 2)
    begun.broker.append(IN, 0, marks(4, 5))
    await rounds(task, begun)
    expect(heard(begun)).toEqual(['1@0', '2@3', '3@4', 'cut 3-2@6', '4@7', '5@8'])
    expect(gapsTold(begun)).toMatchObject([
      { reason: 'cut', position: 5, next: 3 },
      { reason: 'cut', position: 3, next: 2 },
    ])
  })

  it('only of what nobody reads is no gap in what was read', async () => {
    const begun = testTask()
    begun.broker.append(IN, 0, marks(1))
    const task = await Task.open(row, 0, begun)
    await round(task, begun)
    begun.broker.restart()
    begun.broker.append(IN, 0, marks(2))
    await rounds(task, begun)
    expect(heard(begun)).toEqual(['1@0', '2@1'])
    expect(gapsTold(begun)).toEqual([])
  })
})

describe('another log in the place of the one that was read', () => {
  it('is gone on with at its end, with a recorded gap', async () => {
    const begun = testTask()
    begun.broker.append(IN, 0, marks(1, 2))
    await round(await Task.open(row, 0, begun), begun)
    begun.broker.replace(IN, 0)
    begun.broker.append(IN, 0, marks(11, 12, 13))
    const next = testTaskOn(begun.broker)
    const task = await Task.open(row, 0, next)
    begun.broker.append(IN, 0, marks(14))
    await rounds(task, next)
    expect(heard(begun)).toEqual(['1@0', '2@1', 'replaced 2-3@2', '14@3'])
    expect(gapsTold(begun)).toMatchObject([{ reason: 'replaced', position: 2, next: 3, missing: null }])
  })

  it('counts nothing as skipped where it is shorter', async () => {
    const begun = testTask()
    begun.broker.at(IN, 0).renew()
    begun.broker.append(IN, 0, marks(1, 2))
    const task = await Task.open(row, 0, begun)
    await round(task, begun)
    begun.broker.replace(IN, 0)
    begun.broker.append(IN, 0, marks(11))
    await round(task, begun)
    expect(gapsTold(begun)).toMatchObject([{ reason: 'replaced', position: 2, next: 1 }])
    expect(begun.notes.sums['skipped']).toBe(0)
  })

  it('is told once, although its reader crashed before its state knew of it: what came behind the gap is read', async () => {
    const begun = testTask()
    begun.broker.append(IN, 0, marks(1, 2))
    await round(await Task.open(row, 0, begun), begun)
    begun.broker.replace(IN, 0)
    begun.broker.append(IN, 0, marks(11, 12, 13))
    await Task.open(row, 0, testTaskOn(begun.broker, {}, undefined, Infinity))
    begun.broker.append(IN, 0, marks(14, 15))
    const next = testTaskOn(begun.broker)
    await rounds(await Task.open(row, 0, next), next)
    expect(gapsTold(begun)).toHaveLength(1)
    expect(heard(begun)).toEqual(['1@0', '2@1', 'replaced 2-3@2', '14@3', '15@4'])
  })
})

describe('a longer log in the place of the one that was read, of the same epoch', () => {
  it('is known by the record that was read last, when the broker that was away is back', async () => {
    const begun = testTask()
    begun.broker.append(IN, 0, marks(1, 2))
    const task = await Task.open(row, 0, begun)
    await round(task, begun)
    begun.broker.replace(IN, 0)
    begun.broker.append(IN, 0, marks(11, 12, 13))
    task.owned.interrupted()
    await round(task, begun)
    begun.broker.append(IN, 0, marks(14))
    await rounds(task, begun)
    expect(heard(begun)).toEqual(['1@0', '2@1', 'replaced 2-3@2', '14@3'])
  })

  it('is no other where the broker has come back with the same', async () => {
    const begun = testTask()
    begun.broker.append(IN, 0, marks(1, 2))
    const task = await Task.open(row, 0, begun)
    await round(task, begun)
    begun.broker.append(IN, 0, marks(3))
    task.owned.interrupted()
    await rounds(task, begun)
    expect(heard(begun)).toEqual(['1@0', '2@1', '3@2'])
    expect(gapsTold(begun)).toEqual([])
  })
})

describe('retention that overtakes a reader', () => {
  it('is a gap that the core and the journal know, with what was repaired late', async () => {
    const begun = testTask()
    begun.broker.append(IN, 0, marks(100_000_000))
    const task = await Task.open(row, 0, begun)
    await round(task, begun)
    begun.broker.append(IN, 0, marks(102_000_000, 103_000_000, 104_000_000))
    begun.broker.truncate(IN, 0, 3)
    await rounds(task, begun)
    expect(heard(begun)).toEqual(['100000000@0', 'retention 1-3@2', '104000000@3'])
    expect(gapsTold(begun)).toMatchObject([
      { reason: 'retention', position: 1, next: 3, missing: 2, from_time: 40_000_000, to_time: 104_000_000 },
    ])
    expect(begun.notes.sums['skipped']).toBe(2)
  })

  it('does not stop a host that is to stop where its log has lost something', async () => {
    const begun: TestTask = { ...testTask(), onLostLog: 'stop' }
    begun.broker.append(IN, 0, marks(1))
    const task = await Task.open(row, 0, begun)
    await round(task, begun)
    begun.broker.append(IN, 0, marks(2, 3))
    begun.broker.truncate(IN, 0, 2)
    await rounds(task, begun)
    expect(heard(begun)).toEqual(['1@0', 'retention 1-2@1', '3@2'])
  })

  it('is replayed as it was lived, from a copy that has all', async () => {
    const begun = testTask()
    begun.broker.append(IN, 0, marks(1_000, 2_000, 3_000, 4_000))
    const copy = begun.broker.records(IN, 0)
    const told = { offset: 7, gap: { ...plainGap, position: 1, next: 3 } }
    const replay = Fold.empty(row, 0, [told])
    for (const record of copy) {
      if (record.value !== null) replay.apply(IN, record, codec.decode(record.value), () => undefined)
    }
    expect((replay.state as Heard).words).toEqual(['1000@0', 'retention 1-3@2', '4000@3'])
    expect(replay.moment().told).toBe(7)
  })
})

const plainGap: LogGap = {
  reader: 'listener',
  topic: IN,
  partition: 0,
  reason: 'retention',
  position: 0,
  next: 0,
  shift: 0,
  missing: 2,
  from_time: 1,
  to_time: 2,
  time: 3,
}

describe('an output that lost its tail', () => {
  it('is written again from the state when the broker is back', async () => {
    const begun = testTask()
    begun.broker.append(IN, 0, marks(1_000, 2_000, 3_000))
    const task = await Task.open(row, 0, begun)
    await round(task, begun)
    const end = begun.broker.at(OUT, 0).end
    begun.broker.lose(OUT, 0, end - 2)
    begun.broker.append(IN, 0, marks(4_000))
    await rounds(task, begun)
    expect(written(begun)).toEqual([1_000, 1_000, 2_000, 3_000, 4_000])
    expect(gapsTold(begun)).toMatchObject([
      { topic: OUT, reason: 'output_cut', position: end, next: end - 2, missing: 2, from_time: 1_000 },
    ])
  })

  it('is written again as it was since the state was written, whatever that has let go of meanwhile', async () => {
    const begun = testTask({}, undefined, 100)
    const task = await Task.open({ ...row, core: forgetful }, 0, begun)
    begun.broker.append(IN, 0, marks(1))
    await round(task, begun)
    await task.snapshot()
    const { end } = begun.broker.at(OUT, 0)
    begun.broker.append(IN, 0, marks(2, 3, 4))
    await round(task, begun)
    begun.broker.lose(OUT, 0, end)
    begun.broker.append(IN, 0, marks(5))
    await rounds(task, begun)
    expect(written(begun)).toEqual([1, 2, 3, 4, 4, 5])
  })

  it('is written again as it was by the write that finds it, and the last of a key stays the last', async () => {
    const begun = testTask({}, undefined, 100)
    const task = await Task.open({ ...row, core: forgetful }, 0, begun)
    begun.broker.append(IN, 0, marks(1, 2))
    await round(task, begun)
    begun.broker.at(OUT, 0).lose(begun.broker.at(OUT, 0).end - 1)
    begun.broker.append(IN, 0, marks(3, 4))
    await round(task, begun)
    expect(written(begun)).toEqual([1, 3, 4, 2, 3, 4, 4])
  })

  it('is written again as it was although the input has lost as much', async () => {
    const begun = testTask({}, undefined, 100)
    const task = await Task.open({ ...row, core: forgetful }, 0, begun)
    begun.broker.append(IN, 0, marks(1, 2, 3))
    await round(task, begun)
    const { end } = begun.broker.at(OUT, 0)
    begun.broker.lose(OUT, 0, end - 2)
    begun.broker.lose(IN, 0, 1)
    begun.broker.append(IN, 0, marks(4))
    await rounds(task, begun)
    expect(written(begun)).toEqual([1, 2, 3, 3, 4])
  })

  it('is written again at the next opening', async () => {
    const begun = testTask()
    begun.broker.append(IN, 0, marks(1, 2, 3))
    await round(await Task.open(row, 0, begun), begun)
    begun.broker.lose(OUT, 0, begun.broker.at(OUT, 0).end - 2)
    const next = testTaskOn(begun.broker)
    await round(await Task.open(row, 0, next), next)
    expect(written(begun)).toEqual([1, 1, 2, 3])
    await Task.open(row, 0, testTaskOn(begun.broker))
    expect(written(begun)).toEqual([1, 1, 2, 3])
    expect(gapsTold(begun)).toHaveLength(1)
  })

  it('has lost nothing where retention has taken what was written last', async () => {
    const begun = testTask()
    begun.broker.append(IN, 0, marks(1, 2))
    const task = await Task.open(row, 0, begun)
    await round(task, begun)
    begun.broker.append(OUT, 0, marks(8, 9)) // of another that writes there too
    begun.broker.truncate(OUT, 0, begun.broker.at(OUT, 0).end - 1)
    task.owned.interrupted()
    begun.broker.append(IN, 0, marks(3))
    await rounds(task, begun)
    expect(written(begun)).toEqual([9, 3])
    expect(gapsTold(begun)).toEqual([])
  })

  it('is found by the next write, where nothing else tells of it', async () => {
    const begun = testTask()
    begun.broker.append(IN, 0, marks(1, 2, 3))
    const task = await Task.open(row, 0, begun)
    await round(task, begun)
    const { end } = begun.broker.at(OUT, 0)
    begun.broker.at(OUT, 0).lose(end - 2)
    begun.broker.append(IN, 0, marks(4))
    await round(task, begun)
    expect(written(begun)).toEqual([1, 4, 1, 2, 3, 4])
    expect(gapsTold(begun)).toMatchObject([
      { topic: OUT, reason: 'output_cut', position: end, next: end - 2, missing: 2 },
    ])
  })

  it('has the inputs looked at where a write finds it: what was read may be gone as well', async () => {
    const begun = testTask()
    begun.broker.append(IN, 0, marks(1, 2, 3))
    const task = await Task.open(row, 0, begun)
    await round(task, begun)
    begun.broker.at(OUT, 0).lose(begun.broker.at(OUT, 0).end - 2)
    begun.broker.append(IN, 0, marks(4))
    await round(task, begun)
    begun.broker.replace(IN, 0)
    begun.broker.append(IN, 0, marks(11, 12, 13, 14, 15))
    await round(task, begun)
    expect(heard(begun).at(-1)).toBe('4@3')
    expect(gapsTold(begun)).toMatchObject([{ topic: OUT }, { topic: IN, reason: 'replaced', position: 4, next: 5 }])
  })

  it('lacks nothing where another log is in its place that is longer', async () => {
    const begun = testTask()
    begun.broker.append(IN, 0, marks(1))
    const task = await Task.open(row, 0, begun)
    await round(task, begun)
    const { end } = begun.broker.at(OUT, 0)
    begun.broker.replace(OUT, 0)
    begun.broker.append(OUT, 0, marks(11, 12, 13, 14, 15))
    task.owned.interrupted()
    begun.broker.append(IN, 0, marks(2))
    await rounds(task, begun)
    expect(gapsTold(begun)).toMatchObject([{ topic: OUT, position: end, next: 5, missing: 0 }])
  })
})

describe('a state whose log lost its tail', () => {
  it('is not written on: the task ends, and the next goes on from what the log has', async () => {
    const begun = testTask()
    begun.broker.append(IN, 0, marks(1))
    const task = await Task.open(row, 0, begun)
    await round(task, begun)
    const end = begun.broker.at('state.cvd', 0).end
    begun.broker.append(IN, 0, marks(2))
    await round(task, begun)
    begun.broker.lose('state.cvd', 0, end)
    begun.broker.append(IN, 0, marks(3))
    await expect(rounds(task, begun)).rejects.toThrow('the log of the state has lost its tail')
    const next = testTaskOn(begun.broker)
    await rounds(await Task.open(row, 0, next), next)
    expect(heard(begun)).toEqual(['1@0', '2@1', '3@2'])
  })
})
