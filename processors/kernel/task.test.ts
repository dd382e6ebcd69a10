import { describe, expect, it } from 'vitest'
import { Codec, localCodec } from '../../schemas/codec.ts'
import { DEAD_LETTERS } from './dead-letters.ts'
import {
  codec,
  counted,
  testTask,
  lettersIn,
  mark,
  marks,
  testTaskOn,
  round,
  tally,
  tallyRow,
  type TestTask,
} from './testing/task.ts'
import type { Message, Snapshot } from '../../schemas/records.ts'
import type { Output, Processor, ProcessorRow } from './processor.ts'
import { erasure, POSITION_KEY, SNAPSHOT_BYTES_MAX, snapshotBatches, StateFold, wholeState } from './snapshot.ts'
import { SNAPSHOT_INPUT_BYTES, Task } from './task.ts'
import { versionOf } from './version.ts'

const IN = 'market.trades'
const noPosition = { applied: {}, time: 0, clocks: {}, failures: [], stood: {}, told: -1, since: 0, built: true }

function stateKeys({ broker }: TestTask): string[] {
  return broker.records('state.cvd', 0).map(({ key, value }) => `${key?.toString()}${value === null ? ' erased' : ''}`)
}

describe('a task', () => {
  it('writes outputs, then its parts and the position as one batch', async () => {
    const begun = testTask()
    begun.broker.append(IN, 0, marks(5, 6))
    const task = await Task.open(tallyRow, 0, begun)
    await round(task, begun)
    expect(counted(begun.broker)).toEqual([1, 2])
    expect(stateKeys(begun)).toEqual(['marks', POSITION_KEY])
  })

  it('goes on where its state says, in another instance', async () => {
    const begun = testTask()
    begun.broker.append(IN, 0, marks(5, 6))
    await round(await Task.open(tallyRow, 0, begun), begun)
    begun.broker.append(IN, 0, marks(7))
    const next = testTaskOn(begun.broker)
    const task = await Task.open(tallyRow, 0, next)
    expect(task.partitionTime).toBe(6)
    await round(task, next)
    expect(counted(begun.broker)).toEqual([1, 2, 3])
  })

  it('writes again what lies beyond its last snapshot', async () => {
    const begun = testTask({}, undefined, 100)
    begun.broker.append(IN, 0, marks(5, 6))
    await round(await Task.open(tallyRow, 0, begun), begun)
    const next = testTaskOn(begun.broker)
    await round(await Task.open(tallyRow, 0, next), next)
    expect(counted(begun.broker)).toEqual([1, 2, 1, 2])
  })

  it('saves its state after much input too: a backlog must not make a snapshot that fits no batch', async () => {
    const begun = testTask({}, undefined, Infinity)
    const task = await Task.open(tallyRow, 0, begun)
    const large = { ...mark(6).value, writer: 'x'.repeat(SNAPSHOT_INPUT_BYTES) }
    begun.broker.append(IN, 0, marks(5))
    await round(task, begun)
    expect(stateKeys(begun)).toEqual([])
    begun.broker.append(IN, 0, [{ key: 'mark', value: codec.encode(IN, 'mark', large), time: 6 }])
    await round(task, begun)
    expect(stateKeys(begun)).toEqual(['marks', POSITION_KEY])
  })

  it('is refused once another has claimed its partition, and is of no use then', async () => {
    const begun = testTask()
    const old = await Task.open(tallyRow, 0, begun)
    await Task.open(tallyRow, 0, testTaskOn(begun.broker))
    begun.broker.append(IN, 0, marks(5))
    await expect(round(old, begun)).rejects.toMatchObject({ code: 'fenced' })
    expect(counted(begun.broker)).toEqual([])
    await expect(round(old, begun)).rejects.toThrow('must be dropped')
  })

  it('passes tombstones', async () => {
    const begun = testTask()
    begun.broker.append(IN, 0, [{ key: 'x', value: null, time: 0 }, ...marks(5)])
    await round(await Task.open(tallyRow, 0, begun), begun)
    expect(counted(begun.broker)).toEqual([1])
    expect(begun.notes.sums['undecodable']).toBeUndefined()
  })

  it('goes on at the log’s start where retention has overtaken it, loudly', async () => {
    const begun = testTask()
    begun.broker.append(IN, 0, marks(5, 6, 7))
    const task = await Task.open(tallyRow, 0, begun)
    begun.broker.truncate(IN, 0, 2)
    await round(task, begun)
    await round(task, begun)
    expect(counted(begun.broker)).toEqual([1])
    expect(begun.notes.sums['skipped']).toBe(2)
    expect(begun.notes.lines).toEqual(['error: position is gone; going on at the log’s start'])
  })

  it('keeps a position for each of its inputs', async () => {
    const row: ProcessorRow = { ...tallyRow, inputs: [IN, 'derived.signals'] }
    const begun = testTask()
    begun.broker.append(IN, 0, marks(5, 6))
    begun.broker.append('derived.signals', 0, [
      { key: 'cvd', value: codec.encode('derived.signals', 'mark', mark(9).value), time: 0 },
    ])
    await round(await Task.open(row, 0, begun), begun)
    const task = await Task.open(row, 0, testTaskOn(begun.broker))
    expect(task.positions()).toEqual([
      { topic: IN, partition: 0, offset: 2 },
      { topic: 'derived.signals', partition: 0, offset: 1 },
    ])
  })

  it('refuses to emit to a topic that it has not claimed', async () => {
    const core: Processor<undefined, Output<'derived.signals'>> = {
      empty: () => undefined,
      apply: (_state, _entry, _context, emit) => emit({ topic: 'derived.signals', key: 'x', message: mark(1) }),
      save: () => [],
      load: () => undefined,
    }
    const begun = testTask()
    begun.broker.append(IN, 0, marks(5))
    const task = await Task.open({ ...tallyRow, core }, 0, begun)
    await expect(round(task, begun)).rejects.toThrow('not among the outputs')
  })
})

describe('a feed’s mark that nothing confirms', () => {
  const MINUTE = 60_000_000

  it('is neither followed nor handed on; it is counted and said', async () => {
    const begun = testTask()
    begun.broker.append(IN, 0, marks(MINUTE, 56 * MINUTE, MINUTE + 1))
    const task = await Task.open(tallyRow, 0, begun)
    await round(task, begun)
    expect(counted(begun.broker)).toEqual([1, 2])
    expect(task.partitionTime).toBe(MINUTE + 1)
    expect(task.refusedMarks).toBe(1)
    expect(begun.notes.sums['refusedMarks']).toBe(1)
    expect(begun.notes.lines).toEqual([
      'warn: feeds’ marks are ahead of all that could confirm them; time does not follow',
    ])
  })

  it('waits for the next in another instance too', async () => {
    const begun = testTask()
    begun.broker.append(IN, 0, marks(MINUTE, 61 * MINUTE))
    await round(await Task.open(tallyRow, 0, begun), begun)
    const next = testTaskOn(begun.broker)
    const task = await Task.open(tallyRow, 0, next)
    expect(task.partitionTime).toBe(MINUTE)
    begun.broker.append(IN, 0, marks(61 * MINUTE + 1))
    await round(task, next)
    expect(task.partitionTime).toBe(61 * MINUTE + 1)
    expect(counted(begun.broker)).toEqual([1, 2])
  })
})

describe('an unknown schema id', () => {
  const nothing = { key: null, at: null, value: Buffer.alloc(0), size: 0, attempts: 1, code: '', message: '' }
  const letter = { ...nothing, processor: '', topic: IN, partition: 0, offset: 0, time: 0, reason: 'failed' } as const

  /** A codec that knows every id but that of marks in market.trades, which it may be told. */
  function forgetful(): { codec: Codec; id: number; teach: () => void } {
    const known = localCodec()
    const id = known.encode(IN, 'mark', mark(1).value).readInt32BE(1)
    const partial = new Codec([
      { id: known.encode('derived.flow', 'mark', mark(1).value).readInt32BE(1), topic: 'derived.flow', record: 'mark' },
      { id: 999, topic: 'state.cvd', record: 'snapshot' },
      {
        id: known.encode(DEAD_LETTERS, 'dead_letter', letter).readInt32BE(1),
        topic: DEAD_LETTERS,
        record: 'dead_letter',
      },
    ])
    return { codec: partial, id, teach: () => partial.add({ id, topic: IN, record: 'mark' }) }
  }

  it('is looked up once and then read', async () => {
    const asked: number[] = []
    const { codec: partial, id, teach } = forgetful()
    const lookUp = async (wanted: number): Promise<boolean> => {
      asked.push(wanted)
      teach()
      return true
    }
    const begun = testTask({ codec: partial, lookUp })
    begun.broker.append(IN, 0, marks(5, 6))
    await round(await Task.open(tallyRow, 0, begun), begun)
    expect(asked).toEqual([id])
    expect(begun.notes.sums['applied']).toBe(2)
    expect(begun.notes.sums['undecodable']).toBeUndefined()
  })

  it('that the registry does not have costs its records and no others', async () => {
    const begun = testTask({ codec: forgetful().codec })
    begun.broker.append(IN, 0, marks(5, 6))
    await round(await Task.open(tallyRow, 0, begun), begun)
    expect(lettersIn(begun.broker)).toMatchObject([
      { offset: 0, reason: 'unknown_schema' },
      { offset: 1, reason: 'unknown_schema' },
    ])
  })

  it('that cannot be asked for stops the task: nothing is skipped because a registry is down', async () => {
    const lookUp = (): Promise<boolean> => Promise.reject(new Error('registry is down'))
    const begun = testTask({ codec: forgetful().codec, lookUp })
    begun.broker.append(IN, 0, marks(5))
    const task = await Task.open(tallyRow, 0, begun)
    await expect(round(task, begun)).rejects.toThrow('registry is down')
  })
})

describe('a state', () => {
  const second: ProcessorRow = { ...tallyRow, generation: 2, reason: 'counts otherwise' }

  it('of an older generation is erased behind a position of the newer one, and everything is folded again', async () => {
    const begun = testTask()
    begun.broker.append(IN, 0, marks(5, 6))
    await round(await Task.open(tallyRow, 0, begun), begun)
    const next = testTaskOn(begun.broker)
    const task = await Task.open(second, 0, next)
    expect(stateKeys(begun)).toEqual(['marks', POSITION_KEY, POSITION_KEY, 'marks erased'])
    expect(next.notes.lines).toEqual(['warn: state is of an older generation; rebuilding from the start of the log'])
    await round(task, next)
    expect(counted(begun.broker)).toEqual([1, 2, 1, 2])
    expect((await Task.open(second, 0, testTaskOn(begun.broker))).partitionTime).toBe(6)
  })

  it('of a newer generation is refused', async () => {
    const begun = testTask()
    begun.broker.append(IN, 0, marks(5))
    await round(await Task.open(second, 0, begun), begun)
    await expect(Task.open(tallyRow, 0, testTaskOn(begun.broker))).rejects.toMatchObject({ code: 'newer-state' })
  })

  it('whose erasure was cut short is no state', async () => {
    const begun = testTask()
    begun.broker.append(IN, 0, marks(5))
    await round(await Task.open(tallyRow, 0, begun), begun)
    begun.broker.append('state.cvd', 0, [{ key: POSITION_KEY, value: null, time: 0 }])
    const task = await Task.open(tallyRow, 0, testTaskOn(begun.broker))
    expect(task.positions()).toEqual([{ topic: IN, partition: 0, offset: 0 }])
    expect(task.counts()).toEqual({ marks: 0 })
  })

  it('survives compaction', async () => {
    const begun = testTask()
    const task = await Task.open(tallyRow, 0, begun)
    for (const time of [5, 6, 7]) {
      begun.broker.append(IN, 0, marks(time))
      await round(task, begun)
    }
    begun.broker.compact('state.cvd', 0)
    expect(stateKeys(begun)).toEqual(['marks', POSITION_KEY])
    expect((await Task.open(tallyRow, 0, testTaskOn(begun.broker))).counts()).toEqual({ marks: 3 })
  })

  it('that cannot be read stops the host', async () => {
    const begun = testTask()
    begun.broker.append('state.cvd', 0, [{ key: 'x', value: Buffer.from('nonsense'), time: 0 }])
    await expect(Task.open(tallyRow, 0, begun)).rejects.toMatchObject({ code: 'unreadable-state' })
  })

  it('a part of which is too large for a batch stops the host before the broker does', async () => {
    const core = { ...tally, save: () => [['marks', Buffer.alloc(SNAPSHOT_BYTES_MAX)] as const] }
    const begun = testTask()
    begun.broker.append(IN, 0, marks(5))
    const task = await Task.open({ ...tallyRow, core }, 0, begun)
    await expect(round(task, begun)).rejects.toMatchObject({ code: 'snapshot-too-large' })
    expect(stateKeys(begun)).toEqual([])
  })

  it('of any number of parts is written, in several batches where it is too large for one', async () => {
    const megabyte = '7'.repeat(1_000_000)
    const parts = Array.from({ length: 40 }, (_, at) => [`part ${at}`, Buffer.from(megabyte)] as const)
    const core = { ...tally, save: () => [...parts, ['marks', Buffer.from('1')] as const] }
    const begun = testTask()
    begun.broker.append(IN, 0, marks(5))
    await round(await Task.open({ ...tallyRow, core }, 0, begun), begun)
    const found: string[] = []
    const load: typeof tally.load = (all) => {
      found.push(...all.keys())
      return tally.load(all)
    }
    const next = await Task.open({ ...tallyRow, core: { ...tally, load } }, 0, testTaskOn(begun.broker))
    expect(next.positions()).toEqual([{ topic: IN, partition: 0, offset: 1 }])
    expect(found.toSorted()).toEqual([...parts.map(([key]) => key), 'marks'].toSorted())
    begun.broker.compact('state.cvd', 0)
    expect(stateKeys(begun).toSorted()).toEqual([POSITION_KEY, ...found].toSorted())
  })

  it.each([
    ['anew', undefined],
    ['over another', { ...noPosition, applied: { [IN]: 0 } }],
  ])(
    'of several batches that is written %s is of a newer release until it stands, wherever it is cut',
    async (_, before) => {
      const target = { codec, owner: tallyRow, recordTime: 0 }
      const was = before === undefined ? [] : [...snapshotBatches(target, before, [['marks', Buffer.from('1')]])].flat()
      const position = { ...(before ?? noPosition), applied: { [IN]: 6 } }
      const parts = [
        ['marks', Buffer.from('7')],
        ['more', Buffer.from('7'.repeat(300))],
      ] as const
      const batches = [...snapshotBatches(target, position, parts, { before, bytesMax: 400 })]
      expect(batches.length).toBeGreaterThan(4)
      const [old, whole] = [before && { marks: '1' }, { marks: '7', more: '7'.repeat(300) }]
      for (const cut of batches.keys()) {
        const begun = testTask()
        begun.broker.append(IN, 0, marks(1, 2, 3, 4, 5, 6, 7))
        begun.broker.append('state.cvd', 0, [...was, ...batches.slice(0, cut + 1).flat()])
        expect(readByFormer(begun)).toEqual(cut + 1 < batches.length ? 'newer-state' : whole)
        const task = await Task.open(tallyRow, 0, begun)
        expect(readByFormer(begun)).toEqual(task.counts()['marks'] === 7 ? whole : old)
      }
    },
  )

  it.each([
    ['not taken is what it was', ['@next|marks'], 1],
    ['taken is that of all of them', ['@next|marks', '@taken'], 7],
    ['put away but for the last batch is what it was', [], 1],
  ])('of several batches that were cut short and %s, with nothing left over', async (_, left, expected) => {
    const begun = testTask()
    begun.broker.append(IN, 0, marks(5))
    await round(await Task.open(tallyRow, 0, begun), begun)
    const position = begun.broker.records('state.cvd', 0)[1]?.value ?? Buffer.alloc(0)
    const { value } = codec.decode(position) as Message<'snapshot'>
    const record = (key: string, state: string) => {
      const unsettled = { ...value, generation: value.generation + 1_000, state: Buffer.from(state) }
      return { key, value: codec.encode('state.cvd', 'snapshot', unsettled), time: 0 }
    }
    begun.broker.append('state.cvd', 0, [
      ...left.map((key) => record(key, key === '@taken' ? '' : '7')),
      record(POSITION_KEY, ''),
    ])
    const task = await Task.open(tallyRow, 0, testTaskOn(begun.broker))
    expect(task.counts()).toEqual({ marks: expected })
    expect((await Task.open(tallyRow, 0, testTaskOn(begun.broker))).counts()).toEqual({ marks: expected })
    begun.broker.compact('state.cvd', 0)
    expect(stateKeys(begun).toSorted()).toEqual([POSITION_KEY, 'marks'])
    expect(readByFormer(begun)).toEqual({ marks: String(expected) })
  })

  it.each([true, false])('whose write in another’s place is cut short says of it still: built %s', async (built) => {
    const target = { codec, owner: second, recordTime: 0 }
    const parts = new Map([1, 2].map((at) => [`part ${at}`, Buffer.alloc(5_000_000)]))
    const position = { ...noPosition, applied: { [IN]: 6 } }
    const erased = [...erasure(target, { stale: ['marks'], built })]
    const batches = built ? erased : [...erased, ...wholeState(target, { parts, position })].slice(0, -1)
    expect(batches).toHaveLength(built ? 2 : 4)
    const { broker } = testTask()
    for (const batch of batches) {
      broker.append('state.cvd', 0, batch)
      const fold = new StateFold(async (value) => (codec.decode(value) as Message<'snapshot'>).value)
      await fold.add(broker.records('state.cvd', 0))
      expect(fold.found(second)).toMatchObject({ kind: 'none', built })
    }
  })
})

/** What a release makes of a state that knows of snapshots of one batch alone. */
function readByFormer({ broker }: ReturnType<typeof testTask>): unknown {
  const latest = new Map<string, Snapshot>()
  for (const { key, value } of broker.records('state.cvd', 0))
    if (value === null) latest.delete(String(key))
    else latest.set(String(key), codec.decode(value).value as Snapshot)
  const position = latest.get(POSITION_KEY)
  latest.delete(POSITION_KEY)
  if (position !== undefined && position.generation > tallyRow.generation) return 'newer-state'
  const isState = position !== undefined && Object.keys(position.applied).length > 0
  return isState ? Object.fromEntries([...latest].map(([key, { state }]) => [key, state.toString()])) : undefined
}

describe('a version', () => {
  it('of a higher generation beats every offset of a lower one, exactly', () => {
    expect(versionOf(2, 0)).toBeGreaterThan(versionOf(1, 2 ** 44 - 1))
    expect(Number.isSafeInteger(versionOf(511, 2 ** 44 - 1))).toBe(true)
    expect(versionOf(1, 7)).toBe(17_592_186_044_423)
  })
})
