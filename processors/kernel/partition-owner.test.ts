import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Log, Position, Slice } from '../../infra/kafka/seam.ts'
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
import { RecordFailure } from './errors.ts'
import type { Clock } from './ports.ts'
import type { ProcessorRow } from './processor.ts'
import { PartitionOwner, type OwnerOptions } from './partition-owner.ts'
import { Task } from './task.ts'

const IN = 'market.trades'

type Owner = PartitionOwner<Task>

function own(begun: TestTask, row = tallyRow, options: Partial<OwnerOptions<Task>> = {}): Owner {
  const nothing = (): void => undefined
  return new PartitionOwner(0, {
    name: row.name,
    membership: new HandMembership(),
    ports: begun.ports,
    open: (partition, after) => Task.open(row, partition, { ...begun, after }),
    onWant: nothing,
    onWorked: nothing,
    onFatal: nothing,
    ...options,
  })
}

/** Another has claimed the partition, which the owner hears at the renewal of its own claim. */
async function fence({ broker }: TestTask): Promise<void> {
  await broker.connect().claim('tally-0', [])
  broker.renew()
}

/** A log whose writes take a turn. */
function slow(log: Log): Log {
  const claim: Log['claim'] = async (...asked) => {
    const own = await log.claim(...asked)
    const send: typeof own.send = async (...at) => {
      await turn()
      return own.send(...at)
    }
    return { ...own, send }
  }
  return { ...log, claim }
}

interface HeldTasks {
  readonly opened: Task[]
  /** What they were given. */
  readonly given: (readonly Slice[])[]
  readonly letWork: () => void
  readonly open: OwnerOptions<Task>['open']
}

/** Opens tasks that work when they are let, each as it does by itself, or as given. */
function heldTasks(begun: TestTask, instead?: () => Promise<void>): HeldTasks {
  const { promise, resolve } = Promise.withResolvers<void>()
  const opened: Task[] = []
  const given: (readonly Slice[])[] = []
  const open = async (partition: number): Promise<Task> => {
    const task = await Task.open(tallyRow, partition, begun)
    const own = task.work.bind(task)
    const work = async (slices: readonly Slice[]): Promise<void> => {
      given.push(slices)
      await promise
      await (instead === undefined ? own(slices) : instead())
    }
    opened.push(Object.assign(task, { work }))
    return task
  }
  return { opened, given, letWork: resolve, open }
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

  it('says what was worked on, and each time that it wants records again', async () => {
    const begun = testTask()
    const said: unknown[] = []
    const onWant = (): void => void said.push('wants')
    const onWorked: OwnerOptions<Task>['onWorked'] = ([slice], [position]) =>
      void said.push([slice?.from, position?.offset])
    const { given, letWork, open } = heldTasks(begun)
    letWork()
    const owner = own(begun, tallyRow, { open, onWant, onWorked })
    const first = await wanted(owner)
    begun.broker.append(IN, 0, marks(5, 6))
    owner.offer(first, [begun.broker.at(IN, 0).slice({ topic: IN, partition: 0, offset: 0 }, 1)])
    const second = owner.wants() ?? []
    owner.offer(second, [begun.broker.at(IN, 0).slice({ topic: IN, partition: 0, offset: 1 }, 1)])
    expect(given).toEqual([]) // the fetch for what comes next goes out before work fills the processor
    await expect.poll(() => owner.state).toBe('idle')
    expect(said).toEqual(['wants', [0, 1], 'wants', [1, 2], 'wants'])
  })

  it.each([
    ['waited for its turn', true],
    ['came afterwards', false],
  ])('goes on where a log was cut, without what was fetched behind that and %s', async (_, isWaiting) => {
    const begun = testTask()
    begun.broker.append(IN, 0, marks(1, 2, 3))
    const { given, letWork, open } = heldTasks(begun)
    letWork()
    const owner = own(begun, tallyRow, { open })
    const first = await wanted(owner)
    owner.offer(first, await fetch(begun, first))
    const second = await wanted(owner)
    begun.broker.lose(IN, 0, 1)
    begun.broker.append(IN, 0, marks(4, 5, 6, 7))
    const [more] = await fetch(begun, second)
    if (more === undefined) throw new Error('there is more')
    owner.offer(second, [{ ...more, records: more.records.slice(0, 1), next: 4 }])
    const ahead = owner.wants() ?? []
    const tooFar = [begun.broker.at(IN, 0).slice({ topic: IN, partition: 0, offset: 4 }, 1e6)]
    if (isWaiting) owner.offer(ahead, tooFar)
    await expect.poll(() => owner.state).toBe('idle')
    if (!isWaiting) owner.offer(ahead, tooFar)
    expect([owner.state, given.length]).toEqual(['idle', 2])
    expect(owner.wants()).toEqual([{ topic: IN, partition: 0, offset: 1 }])
  })

  it('tells what is opened of the record that failed, until records are taken in', async () => {
    const begun = testTask()
    begun.broker.append(IN, 0, marks(5, 6))
    const failure = new RecordFailure('apply', new Error('at 5'))
    const ends = [failure, new Error('no broker'), undefined, new Error('no broker'), undefined]
    const told: unknown[] = []
    const open: OwnerOptions<Task>['open'] = async (partition, after) => {
      told.push(after)
      const task = await Task.open(tallyRow, partition, begun)
      const own = task.work.bind(task)
      const work = async ([slice]: readonly Slice[]): Promise<void> => {
        const error = ends.shift()
        if (error !== undefined) throw error
        if (slice !== undefined) await own([{ ...slice, records: slice.records.slice(0, 1), next: slice.from + 1 }])
      }
      return Object.assign(task, { work })
    }
    await workOff(own(begun, tallyRow, { open }), begun)
    expect(told).toEqual([undefined, failure, failure, undefined])
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
    await expect.poll(() => owner.state).toBe('idle')
    owner.offer(ahead, tooFar)
    expect([owner.state, owner.wants()]).toEqual(['idle', first])
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

describe('an owner that ends', () => {
  it('finishes what is under way, takes no more, writes its state and lets go of its claim', async () => {
    const begun = testTask({}, stillClock, 10)
    const ports = { ...begun.ports, log: slow(begun.ports.log) }
    const { opened, given, letWork, open } = heldTasks({ ...begun, ports })
    const owner = own(begun, tallyRow, { open })
    const first = await wanted(owner)
    begun.broker.append(IN, 0, marks(5))
    owner.offer(first, await fetch(begun, first))
    begun.broker.append(IN, 0, marks(6))
    const ahead = owner.wants() ?? []
    owner.offer(ahead, await fetch(begun, ahead))
    const stopped = owner.stop()
    letWork()
    await stopped
    expect([owner.state, opened[0]?.owned.signal.aborted, given.length]).toEqual(['dropped', true, 1])
    expect(counted(begun.broker)).toEqual([1])
    const next = await Task.open(tallyRow, 0, testTaskOn(begun.broker))
    expect(next.positions()).toEqual([{ topic: IN, partition: 0, offset: 1 }])
  })

  it('stays so where it was dropped while it worked, and lets go of its claim', async () => {
    const begun = testTask({}, stillClock, 10)
    const { opened, letWork, open } = heldTasks(begun, () => Promise.resolve())
    const worked: unknown[] = []
    const owner = own(begun, tallyRow, { open, onWorked: (slices) => void worked.push(slices) })
    const first = await wanted(owner)
    begun.broker.append(IN, 0, marks(5))
    owner.offer(first, await fetch(begun, first))
    owner.drop()
    expect(opened[0]?.owned.signal.aborted).toBe(true)
    letWork()
    for (let turns = 0; turns < 20; turns++) await turn()
    expect([owner.state, owner.work, owner.wants(), worked]).toEqual(['dropped', undefined, undefined, []])
  })

  it('ends although its state cannot be written, and says so', async () => {
    const begun = testTask()
    const finish = (): Promise<void> => Promise.reject(new Error('no broker'))
    const { opened, open } = heldTasks(begun)
    const owner = own(begun, tallyRow, { open: async (...asked) => Object.assign(await open(...asked), { finish }) })
    await wanted(owner)
    await owner.stop()
    expect([owner.state, opened[0]?.owned.signal.aborted]).toEqual(['dropped', true])
    expect(begun.notes.lines.join()).toContain('could not write the state at the end')
  })

  it('lets go of what it was opening when it was dropped', async () => {
    const begun = testTask()
    const { promise, resolve } = Promise.withResolvers<void>()
    const opened: Task[] = []
    const open = async (partition: number): Promise<Task> => {
      await promise
      const task = await Task.open(tallyRow, partition, begun)
      opened.push(task)
      return task
    }
    const owner = own(begun, tallyRow, { open })
    owner.drop()
    resolve()
    await expect.poll(() => opened[0]?.owned.signal.aborted).toBe(true)
    expect([owner.state, owner.work, opened.length]).toEqual(['dropped', undefined, 1])
  })
})

it('opens other work once where it hears both from its claim and from its work that another has claimed', async () => {
  const begun = testTask({}, stillClock, 10)
  const { opened, letWork, open } = heldTasks(begun)
  const owner = own(begun, tallyRow, { open })
  const first = await wanted(owner)
  begun.broker.append(IN, 0, marks(5))
  owner.offer(first, await fetch(begun, first))
  await fence(begun)
  await expect.poll(() => opened.length).toBe(2)
  letWork()
  for (let turns = 0; turns < 20; turns++) await turn()
  expect([opened.length, begun.notes.sums['fenced'], owner.work === opened[1]]).toEqual([2, 1, true])
  owner.drop()
})

it('does not open again what it could not open when it was dropped', async () => {
  const begun = testTask()
  const { promise, reject } = Promise.withResolvers<Task>()
  let opens = 0
  const open = (): Promise<Task> => {
    opens += 1
    return promise
  }
  const owner = own(begun, tallyRow, { open })
  owner.drop()
  reject(new Error('no claim'))
  for (let turns = 0; turns < 20; turns++) await turn()
  expect([owner.state, opens]).toEqual(['dropped', 1])
})

describe('an owner whose time goes on', () => {
  /** A clock that stands where it is put. */
  function timed(): { at: { ms: number }; clock: Clock } {
    const at = { ms: 0 }
    return { at, clock: { ...stillClock, steady: () => at.ms, delay: () => turn(), turn: () => turn() } }
  }

  it.each([
    ['five times in a row, each within ten minutes', true, 599_000, 5],
    ['more often, but was held for longer each time', true, 601_000, undefined],
    ['more often, where a group deals partitions out', false, 599_000, undefined],
  ])('ends the host where its claim was lost %s', async (_what, isFixed, heldMs, fatalAfter) => {
    const { at, clock } = timed()
    const begun = testTask({}, clock)
    const fatal: string[] = []
    const membership = Object.assign(new HandMembership(), { isFixed })
    const owner = own(begun, tallyRow, { membership, onFatal: ({ code }) => void fatal.push(code) })
    let lost = 0
    while (lost < 8 && fatal.length === 0) {
      await wanted(owner)
      at.ms += heldMs
      const { work } = owner
      await fence(begun)
      await expect.poll(() => owner.work).not.toBe(work)
      lost += 1
    }
    expect([lost, fatal]).toEqual(fatalAfter === undefined ? [8, []] : [fatalAfter, ['two-owners']])
    for (let turns = 0; turns < 20; turns++) await turn()
    expect(owner.state).toBe(fatalAfter === undefined ? 'idle' : 'waiting') // nor is it opened again
    owner.drop()
  })

  it('does not end the host where its work fails of anything else, however often', async () => {
    const { clock } = timed()
    const begun = testTask({}, clock)
    const fatal: unknown[] = []
    let opens = 0
    const open = (): Promise<Task> => {
      opens += 1
      return Promise.reject(new Error('no broker'))
    }
    const membership = Object.assign(new HandMembership(), { isFixed: true })
    const owner = own(begun, tallyRow, { membership, open, onFatal: (error) => void fatal.push(error) })
    await expect.poll(() => opens).toBeGreaterThan(8)
    owner.drop()
    expect(fatal).toEqual([])
  })

  it('is handed a partition that begins behind its position, though the fetch brings nothing', async () => {
    const begun = testTask()
    const owner = own(begun)
    const first = await wanted(owner)
    begun.broker.append(IN, 0, marks(5, 6, 7))
    begun.broker.truncate(IN, 0, 2)
    owner.offer(first, await fetch(begun, first))
    expect([owner.state, owner.wants()]).toEqual(['busy', undefined]) // nobody knows where it goes on before it has looked
    expect(await wanted(owner)).toEqual([{ topic: IN, partition: 0, offset: 2 }])
  })

  it('writes its state when that is due, though the fetch brings nothing', async () => {
    const { at, clock } = timed()
    const begun: TestTask = { ...testTask({}, clock), snapshots: { everyMs: 500, everyRecords: 10 } }
    const owner = own(begun)
    const first = await wanted(owner)
    begun.broker.append(IN, 0, marks(5))
    owner.offer(first, await fetch(begun, first))
    const second = await wanted(owner)
    expect(begun.broker.records('state.cvd', 0)).toEqual([])
    at.ms = 600
    owner.offer(second, await fetch(begun, second))
    await expect.poll(() => begun.broker.records('state.cvd', 0).length).toBeGreaterThan(0)
  })

  it('is failing since it lost its claim, however long it had nothing to do before', async () => {
    const { at, clock } = timed()
    const begun = testTask({}, clock)
    const owner = own(begun)
    const failing: number[] = []
    for (const ms of [300_000, 310_000]) {
      await wanted(owner)
      at.ms = ms
      const { work } = owner
      await fence(begun)
      await expect.poll(() => owner.work).not.toBe(work)
      failing.push(owner.failingMs(ms))
    }
    expect(failing).toEqual([0, 10_000])
    owner.drop()
  })

  it('is failing while its work does not end, though fetches for what comes next bring nothing', async () => {
    const { at, clock } = timed()
    const begun = testTask({}, clock)
    const { open } = heldTasks(begun)
    const owner = own(begun, tallyRow, { open })
    const first = await wanted(owner)
    begun.broker.append(IN, 0, marks(5))
    owner.offer(first, await fetch(begun, first))
    at.ms = 20_000
    const ahead = owner.wants() ?? []
    owner.offer(ahead, await fetch(begun, ahead))
    expect([owner.state, owner.failingMs(at.ms)]).toEqual(['busy', 20_000])
    owner.drop()
  })

  it('is failing from its last success on until the next, were that a fetch that brings nothing', async () => {
    const { at, clock } = timed()
    const begun = testTask({}, clock)
    let isBroken = true
    const open: OwnerOptions<Task>['open'] = async (partition) => {
      const task = await Task.open(tallyRow, partition, begun)
      const work = task.work.bind(task)
      return Object.assign(task, {
        work: (slices: readonly Slice[]) => (isBroken ? Promise.reject(new Error('no broker')) : work(slices)),
      })
    }
    const owner = own(begun, tallyRow, { open })
    for (const tries of [1, 2, 3]) {
      const positions = await wanted(owner)
      at.ms += 10_000
      if (tries === 1) begun.broker.append(IN, 0, marks(5))
      owner.offer(positions, await fetch(begun, positions))
      await expect.poll(() => begun.notes.sums['failed']).toBe(tries)
    }
    expect(owner.failingMs(at.ms)).toBe(20_000)
    const positions = await wanted(owner)
    expect(owner.failingMs(at.ms)).toBe(20_000)
    isBroken = false
    const [slice] = await fetch(begun, positions)
    if (slice !== undefined) owner.offer(positions, [{ ...slice, records: [], next: slice.from }])
    expect(owner.failingMs(at.ms)).toBe(0)
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
