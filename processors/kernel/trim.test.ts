import { describe, expect, it } from 'vitest'
import { codec, testTask, mark, testTaskOn, round, tallyRow, type TestTask } from './testing/task.ts'
import type { ProcessorRow } from './processor.ts'
import { Task } from './task.ts'
import { Trim } from './trim.ts'

const IN = 'alerts.inputs'
const row: ProcessorRow = { ...tallyRow, name: 'alerts', inputs: [IN] }
/** Of one record as the broker keeps it: a mark's value, its key and some. */
const EACH = codec.encode(IN, 'mark', mark(1_000).value).length + 4 + 20

function fill({ broker }: TestTask, count: number): void {
  const value = codec.encode(IN, 'mark', mark(1_000).value)
  broker.append(
    IN,
    0,
    Array.from({ length: count }, () => ({ key: 'mark', value, time: 1 })),
  )
}

/** What the log has of its input. */
function kept({ broker }: TestTask): number {
  const { start, end } = broker.at(IN, 0)
  return end - start
}

describe('an input with commands', () => {
  it('is cut to its size, when its state is in the log', async () => {
    const begun: TestTask = { ...testTask(), retentionBytes: 12 * 2_000 * EACH }
    fill(begun, 5_000)
    await round(await Task.open(row, 0, begun), begun)
    await expect.poll(() => kept(begun)).toBe(2_000)
  })

  it('is never cut beyond what was applied, however long it grows', async () => {
    const begun: TestTask = { ...testTask(), retentionBytes: 12 * 2_000 * EACH }
    fill(begun, 1_500)
    const task = await Task.open(row, 0, begun)
    const [slice] = await begun.ports.reader.fetch(task.positions(), { maxWaitMs: 0, maxBytesPerPartition: 1e6 })
    fill(begun, 20_000)
    if (slice !== undefined) await task.work([{ ...slice, end: 21_500 }])
    await expect.poll(() => begun.broker.at(IN, 0).start).toBe(1_500)
    const next: TestTask = { ...testTaskOn(begun.broker), retentionBytes: 1 }
    expect((await Task.open(row, 0, next)).positions()).toEqual([{ topic: IN, partition: 0, offset: 1_500 }])
  })

  it('is not cut by a task that has not written its state', async () => {
    const begun: TestTask = { ...testTask({}, undefined, Infinity), retentionBytes: 1 }
    fill(begun, 5_000)
    await round(await Task.open(row, 0, begun), begun)
    expect(begun.broker.at(IN, 0).start).toBe(0)
  })

  it('is left to the broker where it is facts alone', async () => {
    const begun: TestTask = { ...testTask(), retentionBytes: 1 }
    const value = codec.encode('market.trades', 'mark', mark(1_000).value)
    begun.broker.append(
      'market.trades',
      0,
      Array.from({ length: 5_000 }, () => ({ key: 'mark', value, time: 1 })),
    )
    await round(await Task.open(tallyRow, 0, begun), begun)
    expect(begun.broker.at('market.trades', 0).start).toBe(0)
  })
})

it('lets a little over the limit stand, so that cuts are few', () => {
  const trim = new Trim(2_000 * 120)
  const records = Array.from({ length: 1_000 }, (_, offset) => ({
    offset,
    time: 0,
    key: null,
    value: Buffer.alloc(100),
  }))
  const slice = { topic: IN, partition: 0, from: 0, records, next: 1_000, start: 0 }
  const applied = { topic: IN, partition: 0, offset: 2_300 }
  trim.saw({ ...slice, end: 2_200 })
  expect(trim.before(applied)).toBeUndefined()
  trim.saw({ ...slice, end: 2_201 })
  expect(trim.before(applied)?.offset).toBe(201)
})
