import { describe, expect, it } from 'vitest'
import { DEAD_LETTERS, DEAD_VALUE_BYTES_MAX } from './dead-letters.ts'
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
