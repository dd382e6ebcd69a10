import { describe, expect, it } from 'vitest'
import type { Position, Slice } from '../../infra/kafka/seam.ts'
import { stillClock } from './testing/memory-log.ts'
import {
  counted,
  testTask,
  HandMembership,
  lettersIn,
  marks,
  testTaskOn,
  tally,
  tallyRow,
  type TestTask,
} from './testing/task.ts'
import type { ProcessorRow } from './processor.ts'
import { PartitionOwner } from './partition-owner.ts'
import { Task } from './task.ts'

const IN = 'market.trades'

type Owner = PartitionOwner<Task>

function own(begun: TestTask, row = tallyRow): Owner {
  const nothing = (): void => undefined
  return new PartitionOwner(0, {
    name: row.name,
    membership: new HandMembership(),
    ports: begun.ports,
    open: (partition, after) => Task.open(row, partition, { ...begun, after }),
    onWant: nothing,
    onWorked: nothing,
    onFatal: nothing,
  })
}

/** What it wants, once it wants something. */
async function wanted(owner: Owner): Promise<readonly Position[]> {
  await expect.poll(() => owner.state).toBe('idle')
  return owner.wants() ?? []
}

function fetch({ ports }: TestTask, positions: readonly Position[]): Promise<Slice[]> {
  return ports.reader.fetch(positions, { maxWaitMs: 0, maxBytesPerPartition: 1e6 })
}

describe('the owner of a partition', () => {
  it('takes one batch while another is worked on, and no more', async () => {
    const begun = testTask()
    const owner = own(begun)
    const first = await wanted(owner)
    begun.broker.append(IN, 0, marks(5))
    owner.offer(first, await fetch(begun, first))
    const second = owner.wants() ?? []
    expect(second).toEqual([{ topic: IN, partition: 0, offset: 1 }])
    begun.broker.append(IN, 0, marks(6))
    const slices = begun.broker.at(IN, 0).slice({ topic: IN, partition: 0, offset: 1 }, 1e6)
    owner.offer(second, [slices])
    expect(owner.wants()).toBeUndefined()
    await expect.poll(() => counted(begun.broker)).toEqual([1, 2])
    expect(owner.wants()).toEqual([{ topic: IN, partition: 0, offset: 2 }])
  })

  it('lets go of what was fetched for a task that has failed since: the next one stands further back', async () => {
    const begun = testTask()
    const owner = own(begun)
    const first = await wanted(owner)
    begun.broker.append(IN, 0, marks(5))
    const slices = await fetch(begun, first)
    await begun.broker.connect().claim('tally-0', [])
    owner.offer(first, slices)
    const ahead = owner.wants() ?? []
    expect(ahead).toEqual([{ topic: IN, partition: 0, offset: 1 }])
    begun.broker.append(IN, 0, marks(6))
    const tooFar = await fetch(begun, ahead)
    expect(await wanted(owner)).toEqual(first)
    owner.offer(ahead, tooFar)
    expect(owner.wants()).toEqual(first)
    expect(counted(begun.broker)).toEqual([])
  })

  it('opens again as soon as its claim cannot be renewed, though it has nothing to write', async () => {
    const begun = testTask()
    const owner = own(begun)
    await wanted(owner)
    await begun.broker.connect().claim('tally-0', [])
    begun.broker.renew()
    await expect.poll(() => begun.notes.sums['fenced']).toBe(1)
    const first = await wanted(owner)
    begun.broker.append(IN, 0, marks(5))
    owner.offer(first, await fetch(begun, first))
    await expect.poll(() => counted(begun.broker)).toEqual([1])
  })

  it('takes nothing once it was dropped', async () => {
    const begun = testTask()
    const owner = own(begun)
    const first = await wanted(owner)
    begun.broker.append(IN, 0, marks(5))
    owner.drop()
    owner.offer(first, await fetch(begun, first))
    expect(owner.wants()).toBeUndefined()
    expect(counted(begun.broker)).toEqual([])
  })

  it('sets a record aside at which the core throws each time, and goes on with the others', async () => {
    const begun = testTask()
    begun.broker.append(IN, 0, marks(5, 6, 7))
    const owner = own(begun, throwsAt(6))
    await workOff(owner, begun)
    expect(counted(begun.broker).at(-1)).toBe(2) // it counts marks
    expect(lettersIn(begun.broker)).toMatchObject([
      { processor: 'tally', topic: IN, offset: 1, reason: 'failed', code: 'TypeError', message: 'at 6' },
    ])
    expect(owner.failingMs(1e9)).toBe(0)
  })

  it('does not fail again at what was set aside before a restart', async () => {
    const begun = testTask()
    begun.broker.append(IN, 0, marks(5, 6, 7))
    const row = throwsAt(6)
    await workOff(own(begun, row), begun)
    const next = testTaskOn(begun.broker)
    next.broker.append(IN, 0, marks(8))
    await workOff(own(next, row), next)
    expect(next.notes.sums['failed']).toBeUndefined()
    expect(lettersIn(begun.broker)).toHaveLength(1)
    expect(counted(begun.broker).at(-1)).toBe(3)
  })

  it('applies a record that failed only at first', async () => {
    const begun = testTask()
    begun.broker.append(IN, 0, marks(5, 6, 7))
    let left = 2
    await workOff(
      own(
        begun,
        throwsAt(6, () => left-- > 0),
      ),
      begun,
    )
    expect(counted(begun.broker).at(-1)).toBe(3)
    expect(lettersIn(begun.broker)).toEqual([])
  })

  it('takes no record for the cause where the host has no memory', async () => {
    const begun = testTask({}, { ...stillClock, delay: () => new Promise((resolve) => setImmediate(resolve)) })
    begun.broker.append(IN, 0, marks(5))
    const owner = own(
      begun,
      throwsAt(5, () => true, Object.assign(new RangeError('no'), { code: 'ERR_MEMORY_ALLOCATION_FAILED' })),
    )
    for (let tries = 0; tries < 10; tries += 1) await workOff(owner, begun, 1)
    expect(begun.notes.sums['failed']).toBeGreaterThan(3)
    expect(lettersIn(begun.broker)).toEqual([])
    owner.drop()
  })
})

/** The tally, but for the mark of that time, at which it throws when it has counted it. */
function throwsAt(time: number, isNow = () => true, error: Error = new TypeError(`at ${time}`)): ProcessorRow {
  const apply: typeof tally.apply = (state, entry, context, emit) => {
    tally.apply(state, entry, context, emit)
    if (entry.message.type === 'mark' && entry.message.value.time === time && isNow()) throw error
  }
  return { ...tallyRow, core: { ...tally, apply } }
}

/** Fetches for it until it is at the log's end, or so often. */
async function workOff(owner: Owner, begun: TestTask, roundsMax = 20): Promise<void> {
  const end = begun.broker.at(IN, 0).end
  for (let rounds = 0; rounds < roundsMax; rounds += 1) {
    const positions = await wanted(owner)
    if (positions[0]?.offset === end) return
    owner.offer(positions, await fetch(begun, positions))
    await expect.poll(() => owner.state).not.toBe('busy')
  }
}
