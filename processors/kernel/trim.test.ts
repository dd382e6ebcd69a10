import { describe, expect, it } from 'vitest'
import type { Slice } from '../../infra/kafka/seam.ts'
import { MemoryBroker, stillClock } from './testing/memory-log.ts'
import { codec, Notes, testTask, mark, testTaskOn, round, tallyRow, type TestTask } from './testing/task.ts'
import type { ProcessorRow } from './processor.ts'
import { Task } from './task.ts'
import { Trim, Trims } from './trim.ts'

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

/** What a fetch of so many records of 120 bytes brought, where the log has these. */
function seen(count: number, start: number, end: number): Slice {
  const value = Buffer.alloc(100)
  const records = Array.from({ length: count }, (_, offset) => ({ offset, time: 0, key: null, value }))
  return { topic: IN, partition: 0, from: 0, records, next: count, start, end }
}

/** Where an input is to begin that may have 2,000 such records, all of them applied or up to an offset. */
function cutAt(slice: Slice, applied = slice.end): number | undefined {
  const trim = new Trim(2_000 * 120)
  trim.saw(slice)
  return trim.before({ topic: IN, partition: 0, offset: applied })?.offset
}

it('lets a little over the limit stand, so that cuts are few', () => {
  expect(cutAt(seen(1_000, 0, 2_200))).toBeUndefined()
  expect(cutAt(seen(1_000, 0, 2_201))).toBe(201)
})

it('counts what the log still has, and cuts nothing that is gone', () => {
  expect(cutAt(seen(1_000, 5_000, 7_200))).toBeUndefined()
  expect(cutAt(seen(1_000, 5_000, 7_201))).toBe(5_201)
  expect(cutAt(seen(1_000, 5_000, 9_000), 5_000)).toBeUndefined()
})

it('says nothing of sizes before it has seen a thousand records', () => {
  expect(cutAt(seen(999, 0, 9_000))).toBeUndefined()
  expect(cutAt(seen(1_000, 0, 9_000))).toBe(7_000)
})

it('cuts one at a time, and tries again what could not be cut', async () => {
  const asked: PromiseWithResolvers<void>[] = []
  const notes = new Notes()
  const trim = (): Promise<void> => {
    const one = Promise.withResolvers<void>()
    asked.push(one)
    return one.promise
  }
  const trims = new Trims(row, 120, { log: { ...new MemoryBroker(stillClock).connect(), trim }, report: notes.report })
  trims.saw(seen(1_000, 0, 9_000))
  const cut = (): void => trims.cut([{ topic: IN, partition: 0, offset: 9_000 }])
  cut()
  cut()
  expect(asked).toHaveLength(1)
  asked[0]?.reject(new Error('no broker'))
  await expect.poll(() => (cut(), asked.length)).toBe(2)
  expect(notes.lines).toEqual(['warn: an input could not be cut; it is tried again'])
  asked[1]?.resolve()
})
