import { describe, expect, it } from 'vitest'
import type { LogRecord, OutRecord, Writer } from '../../infra/kafka/seam.ts'
import { DEAD_LETTERS, DeadLetters, DEAD_VALUE_BYTES_MAX, type Cause } from './dead-letters.ts'
import { codec, counted, testTask, lettersIn, mark, marks, testTaskOn, round, tallyRow } from './testing/task.ts'
import { Task } from './task.ts'

const IN = 'market.trades'

describe('a task', () => {
  it('sets aside what cannot be decoded, each with its place and why, and goes on', async () => {
    const begun = testTask()
    const bad = { key: 'x', value: Buffer.from('nonsense'), time: 7 }
    const cut = { key: null, value: codec.encode(IN, 'mark', mark(5).value).subarray(0, 7), time: 0 }
    begun.broker.append(IN, 0, [bad, ...marks(5), cut, ...Array.from({ length: 98 }, () => bad), ...marks(6)])
    await round(await Task.open(tallyRow, 0, begun), begun)
    expect(counted(begun.broker)).toEqual([1, 2])
    expect(begun.notes.sums).toMatchObject({ undecodable: 100, applied: 102 })
    expect(begun.notes.lines).toHaveLength(7) // the 1st, 2nd, 4th, 8th and so on
    const letters = lettersIn(begun.broker)
    expect(letters).toHaveLength(100)
    expect({ ...letters[0] }).toEqual({
      processor: 'tally',
      topic: IN,
      partition: 0,
      offset: 0,
      time: 7_000,
      reason: 'undecodable',
      code: 'not-wire-format',
      message: 'cannot decode: not-wire-format, schema id -1',
      at: null,
      attempts: 1,
      key: Buffer.from('x'),
      size: 8,
      value: Buffer.from('nonsense'),
    })
    expect(letters[1]).toMatchObject({ offset: 2, reason: 'undecodable', code: 'bad-body', key: null })
  })

  it('keeps of a long record that it sets aside what a letter holds', async () => {
    const begun = testTask()
    begun.broker.append(IN, 0, [{ key: null, value: Buffer.alloc(3 * DEAD_VALUE_BYTES_MAX, 'x'), time: 0 }])
    await round(await Task.open(tallyRow, 0, begun), begun)
    const [letter] = lettersIn(begun.broker)
    expect(letter?.size).toBe(3 * DEAD_VALUE_BYTES_MAX)
    expect(letter?.value).toEqual(Buffer.alloc(DEAD_VALUE_BYTES_MAX, 'x'))
  })

  it('writes its letters again under the same keys where it crashed before its snapshot', async () => {
    const begun = testTask({}, undefined, Infinity)
    begun.broker.append(IN, 0, [{ key: 'x', value: Buffer.from('nonsense'), time: 0 }])
    await round(await Task.open(tallyRow, 0, begun), begun)
    const next = testTaskOn(begun.broker)
    await round(await Task.open(tallyRow, 0, next), next)
    const [first, second] = begun.broker.records(DEAD_LETTERS, 0)
    expect(first?.key?.toString()).toBe(`tally|${IN}|0|0`)
    expect([second?.key, second?.value]).toEqual([first?.key, first?.value])
  })

  it('is refused its letters too once another has claimed', async () => {
    const begun = testTask()
    const old = await Task.open(tallyRow, 0, begun)
    await Task.open(tallyRow, 0, testTaskOn(begun.broker))
    begun.broker.append(IN, 0, [{ key: 'x', value: Buffer.from('nonsense'), time: 0 }])
    await expect(round(old, begun)).rejects.toMatchObject({ code: 'fenced' })
    expect(lettersIn(begun.broker)).toEqual([])
  })
})

describe('letters', () => {
  const cause: Cause = { reason: 'failed', code: 'TypeError', message: 'no', at: null, attempts: 3 }

  interface Written {
    readonly dead: DeadLetters
    readonly batches: (readonly OutRecord[])[]
    /** Gives how many. */
    readonly write: () => Promise<number>
  }

  function letters(): Written {
    const dead = new DeadLetters('reader', 0, testTask().ports)
    const batches: (readonly OutRecord[])[] = []
    const send: Writer['send'] = async (_topic, _partition, records) => {
      batches.push(records)
      return 0
    }
    return { dead, batches, write: () => dead.write({ send, close: () => Promise.resolve() }) }
  }

  function record(offset: number, value = Buffer.from('value')): LogRecord {
    return { offset, time: 1, key: null, value }
  }

  it('are written once, and counted', async () => {
    const { dead, batches, write } = letters()
    dead.add(IN, record(0), cause)
    dead.add(IN, record(1), cause)
    expect([await write(), await write(), batches.length]).toEqual([2, 0, 1])
  })

  it('say of a long reason how it begins, and of what was held back untried its place alone', async () => {
    const { dead, batches, write } = letters()
    dead.add(IN, record(0), { ...cause, message: 'x'.repeat(5_000) })
    dead.add(IN, record(1), { ...cause, reason: 'held' })
    await write()
    const said = batches.flat().map(({ value }) => value && codec.decode(value).value)
    expect(said).toMatchObject([
      { message: 'x'.repeat(1_000), value: Buffer.from('value') },
      { reason: 'held', size: 5, value: Buffer.alloc(0) },
    ])
  })

  it('go in batches of at most a thousand, and of four megabytes', async () => {
    const { dead, batches, write } = letters()
    for (let offset = 0; offset < 2_500; offset++) dead.add(IN, record(offset), cause)
    await write()
    expect(batches.splice(0).map(({ length }) => length)).toEqual([1_000, 1_000, 500])
    const long = Buffer.alloc(DEAD_VALUE_BYTES_MAX)
    for (let offset = 0; offset < 150; offset++) dead.add(IN, record(offset, long), cause)
    await write()
    expect(batches.map(({ length }) => length)).toEqual([60, 60, 30])
  })
})
