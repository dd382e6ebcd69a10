import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import type { Log, LogReader } from '../../infra/kafka/seam.ts'
import {
  counted,
  testTask,
  goesAway,
  HandMembership,
  marks,
  testTaskOn,
  tallyRow,
  type TestTask,
} from './testing/task.ts'
import type { ProcessorRow } from './processor.ts'
import { runProcessors, Runner } from './run.ts'
import { Task } from './task.ts'

const IN = 'market.trades'
const PACE_MS = 12_345
const FETCH_WAIT_MS = 500
/** Milliseconds that the hosts' clock is ahead of the test's start. */
let ahead = 0
/** How far the hosts' wall clock is off. */
let off = 0
/** Waits are a hundred times shorter than asked for; the time that is told goes with them. */
const clock = {
  now: (): number => ahead + off,
  steady: (): number => ahead,
  delay: async (ms: number): Promise<void> => {
    await delay(Math.ceil(ms / 100))
    ahead += ms
  },
  turn: (): Promise<void> => delay(0),
}

const runners: Runner<Task>[] = []

afterEach(async () => {
  off = 0
  await Promise.all(runners.splice(0).map((runner) => runner.stop()))
})

interface Hosted {
  readonly begun: TestTask
  readonly membership: HandMembership
  readonly runner: Runner<Task>
}

function host(begun = testTask({}, clock, 10), everyMs = Infinity): Hosted {
  const membership = new HandMembership()
  Object.defineProperty(membership, 'lastSeen', { get: () => ahead, configurable: true })
  const runner = runProcessors({
    rows: [{ row: tallyRow, membership }],
    ports: begun.ports,
    snapshots: { everyMs, everyRecords: 10 },
    partitions: 12,
    sessionMs: 6_000,
    onLostLog: 'go-on',
    retentionBytes: 1e12,
  })
  runners.push(runner)
  return { begun, membership, runner }
}

/** Several processors in one host, all with the same partitions. */
function hostBoth(begun: TestTask, rows: readonly ProcessorRow[], partitions = [0]): { runner: Runner<Task> } {
  const memberships = rows.map(() => new HandMembership())
  const runner = runProcessors({
    rows: rows.map((row, index) => ({ row, membership: memberships[index] ?? new HandMembership() })),
    ports: begun.ports,
    snapshots: { everyMs: Infinity, everyRecords: 10 },
    partitions: 12,
    sessionMs: Number.MAX_SAFE_INTEGER,
    onLostLog: 'go-on',
    retentionBytes: 1e12,
  })
  runners.push(runner)
  for (const membership of memberships) membership.deal(...partitions)
  return { runner }
}

type Fetch = LogReader['fetch']

/** The log of a test with another fetch in the place of its own. */
function fetching(
  { ports: { log } }: TestTask,
  instead: (own: Fetch, ...asked: Parameters<Fetch>) => ReturnType<Fetch>,
): Log {
  const reader = (): LogReader => {
    const own = log.reader()
    const fetch = own.fetch.bind(own)
    return Object.assign(own, { fetch: (...asked: Parameters<Fetch>) => instead(fetch, ...asked) })
  }
  return { ...log, reader }
}

describe('a runner', () => {
  it('is not well while a partition has no leader, tells which, and works on at the others', async () => {
    const { broker } = testTask({}, clock, 10)
    const away = { isAway: false, asked: 0, partition: 1 }
    const begun = testTaskOn(broker, { log: goesAway(broker, away) }, clock, 10)
    const { runner, membership } = host(begun)
    membership.deal(0, 1)
    for (const partition of [0, 1]) broker.append(IN, partition, marks(5))
    await expect.poll(() => counted(broker, 1).length).toBeGreaterThan(0)
    away.isAway = true
    await expect.poll(() => away.asked).toBeGreaterThan(0)
    expect(runner.isWell).toBe(true)
    await expect.poll(() => runner.isWell).toBe(false)
    const from = ahead
    await expect.poll(() => ahead).toBeGreaterThan(from + 130_000) // beyond what ends a host that can read nothing
    expect(begun.notes.lines.filter((line) => line.includes('cannot be read'))).toHaveLength(1)
    expect(begun.notes.fields).toContainEqual(expect.objectContaining({ topic: IN, partition: 1 }))
    const before = counted(broker, 0).length
    broker.append(IN, 0, marks(6))
    await expect.poll(() => counted(broker, 0).length).toBeGreaterThan(before)
    away.isAway = false
    await expect.poll(() => runner.isWell).toBe(true)
  })

  it('works on what it is dealt, each partition by itself', async () => {
    const { begun, membership, runner } = host()
    membership.deal(0, 2)
    for (const partition of [0, 1, 2]) begun.broker.append(IN, partition, marks(5, 6))
    await expect.poll(() => counted(begun.broker, 0)).toEqual([1, 2])
    await expect.poll(() => counted(begun.broker, 2)).toEqual([1, 2])
    expect(counted(begun.broker, 1)).toEqual([])
    expect(runner.partitions()).toEqual({ tally: { running: 2, waiting: 0 } })
    expect(runner.isWell).toBe(true)
    await expect.poll(() => runner.counts().get('tally')?.get('marks')).toBe(4)
  })

  it('goes on with what it keeps and lets go of what it loses', async () => {
    const { begun, membership, runner } = host()
    const withLags = (): number[] => runner.lags().map(({ partition }) => partition)
    membership.deal(0, 1)
    for (const partition of [0, 1]) begun.broker.append(IN, partition, marks(5))
    await expect.poll(() => counted(begun.broker, 1)).toEqual([1])
    await expect.poll(() => counted(begun.broker, 0)).toEqual([1])
    await expect.poll(withLags).toEqual([0, 1])
    membership.deal(0)
    for (const partition of [0, 1]) begun.broker.append(IN, partition, marks(6))
    await expect.poll(() => counted(begun.broker, 0)).toEqual([1, 2])
    expect(counted(begun.broker, 1)).toEqual([1])
    expect(withLags()).toEqual([0])
    membership.deal(0, 1)
    await expect.poll(() => counted(begun.broker, 1)).toEqual([1, 1, 2])
  })

  it('takes nothing that it is dealt once it has ended', async () => {
    const { membership, runner } = host()
    membership.deal(0)
    await expect.poll(() => runner.partitions()['tally']?.running).toBe(1)
    await runner.stop()
    expect(runner.owners()).toEqual([])
    membership.deal(0, 1)
    expect(runner.owners()).toEqual([])
  })

  it('writes its states at a clean end and leaves', async () => {
    const { begun, membership, runner } = host()
    membership.deal(0)
    begun.broker.append(IN, 0, marks(5, 6, 7))
    await expect.poll(() => counted(begun.broker)).toEqual([1, 2, 3])
    expect(begun.broker.records('state.cvd', 0)).toEqual([])
    await runner.stop()
    expect(membership.hasLeft).toBe(true)
    const next = await Task.open(tallyRow, 0, testTaskOn(begun.broker))
    expect(next.positions()).toEqual([{ topic: IN, partition: 0, offset: 3 }])
  })

  it.each([
    ['it pauses between two batches', PACE_MS, [0]],
    ['none of its partitions wants anything', FETCH_WAIT_MS, []],
  ])('ends at once while %s', async (_, waitMs, partitions) => {
    let waits = 0
    const endless = {
      ...clock,
      delay: async (ms: number): Promise<void> => {
        if (ms !== waitMs) return clock.delay(ms)
        waits += 1
        return new Promise(() => undefined)
      },
    }
    const { runner } = hostBoth(testTask({}, endless, 10), [{ ...tallyRow, paceMs: PACE_MS }], partitions)
    await expect.poll(() => waits).toBe(1)
    await runner.stop()
    expect(waits).toBe(1)
  })

  it('does not pause any more where it is ended while a fetch is under way', async () => {
    const pauses: number[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    let asked = 0
    const paced = {
      ...clock,
      delay: (ms: number): Promise<void> => {
        if (ms === PACE_MS) pauses.push(asked)
        return clock.delay(ms)
      },
    }
    const begun = testTask({}, paced, 10)
    const log = fetching(begun, async (fetch, ...at) => {
      asked += 1
      if (asked > 1) await promise
      return fetch(...at)
    })
    const { runner } = hostBoth({ ...begun, ports: { ...begun.ports, log } }, [{ ...tallyRow, paceMs: PACE_MS }])
    await expect.poll(() => asked).toBe(2)
    const stopped = runner.stop()
    resolve()
    await stopped
    expect(pauses).not.toContain(2)
  })

  it('ends when its fetch has come back, and its states are written: no sooner', async () => {
    const events: string[] = []
    const own = testTask({}, clock, 10)
    const { promise, resolve } = Promise.withResolvers<void>()
    let isHeld = false
    const log = fetching(own, async (fetch, ...asked) => {
      if (isHeld) {
        events.push('asked')
        await promise
        events.push('answered')
      }
      return fetch(...asked)
    })
    const reader = (): LogReader => {
      const made = log.reader()
      return Object.assign(made, {
        close: async () => {
          events.push('closed')
        },
      })
    }
    const claim: Log['claim'] = async (...asked) => {
      const made = await log.claim(...asked)
      const send: typeof made.send = async (topic, ...what) => {
        await delay(1)
        if (topic === tallyRow.state) events.push('written')
        return made.send(topic, ...what)
      }
      return { ...made, send }
    }
    const { begun, membership, runner } = host({ ...own, ports: { ...own.ports, log: { ...log, reader, claim } } })
    membership.deal(0)
    begun.broker.append(IN, 0, marks(5))
    await expect.poll(() => counted(begun.broker)).toEqual([1])
    isHeld = true
    await expect.poll(() => events).toEqual(['asked'])
    const stopped = runner.stop().then(() => void events.push('ended'))
    await clock.turn()
    resolve()
    await stopped
    expect(events).toEqual(['asked', 'answered', 'closed', 'written', 'ended'])
  })

  it('hands on what all inputs of a partition have, and nothing while one of them has no leader', async () => {
    const OTHER = 'market.tickers'
    const begun = testTask({}, clock, 10)
    const away = { isAway: true, answers: 0 }
    const log = fetching(begun, async (fetch, from, options) => {
      const slices = await fetch(from, { ...options, maxWaitMs: 0 })
      await clock.delay(10)
      if (!away.isAway) return slices
      away.answers += 1
      return slices.map((slice) => (slice.topic === OTHER ? { ...slice, records: [], error: 'moved' as const } : slice))
    })
    begun.broker.append(IN, 0, marks(6))
    begun.broker.append(OTHER, 0, marks(5))
    const { runner } = hostBoth({ ...begun, ports: { ...begun.ports, log } }, [{ ...tallyRow, inputs: [OTHER, IN] }])
    await expect.poll(() => away.answers).toBeGreaterThan(5)
    expect(counted(begun.broker)).toEqual([])
    expect(runner.owners().map(({ state }) => state)).toEqual(['idle'])
    away.isAway = false
    await expect.poll(() => counted(begun.broker)).toEqual([1, 2])
  })

  it.each([
    ['no broker answers', 'no broker answers', undefined],
    ['the fetch fails', 'fetch failed', new Error('no broker')],
  ])('says once that %s, however often it tries, and once more the next time', async (_, text, error) => {
    const begun = testTask({}, clock, 10)
    const away = { isAway: true, asked: 0 }
    const gone = goesAway(begun.broker, away)
    const reader = (): LogReader => {
      const made = gone.reader()
      const fetch: Fetch = async (...asked) => {
        const slices = await made.fetch(...asked)
        if (away.isAway && error !== undefined) throw error
        return slices
      }
      return { ...made, fetch }
    }
    const told = (): number => begun.notes.lines.filter((line) => line.includes(text)).length
    const { membership, runner } = host({ ...begun, ports: { ...begun.ports, log: { ...gone, reader } } })
    membership.deal(0)
    for (const outage of [1, 2]) {
      away.isAway = true
      const before = away.asked
      await expect.poll(() => away.asked).toBeGreaterThan(before + 5)
      expect(told()).toBe(outage)
      away.isAway = false
      begun.broker.append(IN, 0, marks(outage))
      await expect.poll(() => counted(begun.broker).length).toBe(outage)
      await expect.poll(() => runner.isWell).toBe(true)
    }
  })

  it('writes its states when their time has come', async () => {
    const { begun, membership } = host(testTask({}, clock, 10), 500)
    membership.deal(0)
    begun.broker.append(IN, 0, marks(5))
    await expect.poll(() => begun.broker.records('state.cvd', 0).length).toBeGreaterThan(0)
  })

  it('writes its states when their time has come, though the wall clock was put back', async () => {
    const { begun, membership, runner } = host(testTask({}, clock, 10), 500)
    membership.deal(0)
    await expect.poll(() => runner.partitions()['tally']?.running).toBe(1)
    off = -1e12
    begun.broker.append(IN, 0, marks(5))
    await expect.poll(() => begun.broker.records('state.cvd', 0).length).toBeGreaterThan(0)
  })

  it('goes on where the wall clock is put ahead', async () => {
    const { begun, membership, runner } = host()
    membership.deal(0)
    off = 3_600_000
    begun.broker.append(IN, 0, marks(5))
    await expect.poll(() => counted(begun.broker)).toEqual([1])
    expect(await Promise.race([runner.failed, Promise.resolve('goes on')])).toBe('goes on')
    expect(runner.isWell).toBe(true)
  })

  it('opens a partition again after another had claimed it, while it is assigned', async () => {
    const { begun, membership } = host()
    membership.deal(0)
    begun.broker.append(IN, 0, marks(5))
    await expect.poll(() => counted(begun.broker)).toEqual([1])
    await begun.broker.connect().claim('tally-0', [])
    begun.broker.append(IN, 0, marks(6))
    await expect.poll(() => counted(begun.broker)).toEqual([1, 1, 2])
    expect(begun.notes.sums['fenced']).toBe(1)
  })

  it('keeps a failure within its partition', async () => {
    const begun = testTask({}, clock, 10)
    const { log } = begun.ports
    const broken: Log = {
      ...log,
      claim: (owner, targets) => {
        return owner === 'tally-1' ? Promise.reject(new Error('no claim')) : log.claim(owner, targets)
      },
    }
    const { membership, runner } = host({ ...begun, ports: { ...begun.ports, log: broken } })
    membership.deal(0, 1)
    begun.broker.append(IN, 0, marks(5))
    await expect.poll(() => counted(begun.broker, 0)).toEqual([1])
    await expect.poll(() => begun.notes.sums['failed'] ?? 0).toBeGreaterThan(2)
    expect(runner.partitions()['tally']).toEqual({ running: 1, waiting: 1 })
    await expect.poll(() => runner.isWell).toBe(false)
  })

  it('reads each record for each of two processors of one topic, though one is ahead of the other', async () => {
    const begun = testTask({}, clock, 10)
    begun.broker.append(IN, 0, marks(5, 6))
    const fast = { ...tallyRow, name: 'fast', state: 'state.prices' as const }
    const first = await Task.open(fast, 0, begun)
    await first.work(await begun.ports.reader.fetch(first.positions(), { maxWaitMs: 0, maxBytesPerPartition: 1e6 }))
    await first.snapshot()
    begun.broker.append(IN, 0, marks(7))
    const { runner } = hostBoth(begun, [tallyRow, fast])
    await expect.poll(() => runner.counts().get('tally')?.get('marks')).toBe(3)
    expect(runner.counts().get('fast')?.get('marks')).toBe(3)
  })

  it('sees that the broker has come back with another log', async () => {
    const begun = testTask({}, clock, 1)
    const away = { isAway: false, asked: 0 }
    const { membership } = host({ ...begun, ports: { ...begun.ports, log: goesAway(begun.broker, away) } })
    membership.deal(0)
    begun.broker.append(IN, 0, marks(5, 6))
    await expect.poll(() => counted(begun.broker)).toEqual([1, 2])
    away.isAway = true
    await expect.poll(() => away.asked).toBeGreaterThan(1)
    begun.broker.replace(IN, 0)
    begun.broker.append(IN, 0, marks(11, 12, 13))
    away.isAway = false
    await expect.poll(() => begun.notes.sums['gaps']).toBe(1)
    begun.broker.append(IN, 0, marks(14))
    await expect.poll(() => counted(begun.broker)).toEqual([1, 2, 3])
  })

  it('is well again once the broker answers', async () => {
    const begun = testTask({}, clock, 10)
    const away = { isAway: true, asked: 0 }
    const { membership, runner } = host({ ...begun, ports: { ...begun.ports, log: goesAway(begun.broker, away) } })
    membership.deal(0)
    await expect.poll(() => runner.isWell).toBe(false)
    away.isAway = false
    await expect.poll(() => runner.isWell).toBe(true)
  })

  it('takes all that there is before it pauses', async () => {
    const events: string[] = []
    const paced = {
      ...clock,
      delay: (ms: number): Promise<void> => {
        if (ms === PACE_MS) events.push('pause')
        return clock.delay(ms)
      },
    }
    const begun = testTask({}, paced, 10)
    begun.broker.append(IN, 0, marks(5, 6, 7))
    const log = fetching(begun, (fetch, from, options) => {
      events.push(`from ${from[0]?.offset}`)
      return fetch(from, { ...options, maxBytesPerPartition: 1 })
    })
    hostBoth({ ...begun, ports: { ...begun.ports, log } }, [{ ...tallyRow, paceMs: PACE_MS }])
    await expect.poll(() => counted(begun.broker)).toEqual([1, 2, 3])
    expect(events.join(', ')).toContain('from 0, from 1, from 2')
  })

  it('asks a service after each fetch what its time has come for, and waits as long as it says unless it is full', async () => {
    const begun = testTask({}, clock, 10)
    const waits = new Set<number>()
    const log = fetching(begun, (fetch, from, options) => {
      waits.add(options.maxWaitMs)
      return fetch(from, options)
    })
    const service = { hasRoom: true, ticks: 0, rounds: 0 }
    const tick = (): void => void (service.ticks += 1)
    const open = async (partition: number): Promise<Task> =>
      Object.defineProperties(await Task.open(tallyRow, partition, begun), {
        tick: { value: tick },
        hasRoom: { get: () => partition === 0 || service.hasRoom },
      })
    const membership = new HandMembership()
    const onRound = (): void => void (service.rounds += 1)
    const hosted = [{ name: 'service', membership, open, waitMs: () => 77, onRound }]
    runners.push(new Runner({ hosted, ports: { ...begun.ports, log }, sessionMs: Number.MAX_SAFE_INTEGER }))
    membership.deal(0, 1)
    await expect.poll(() => waits.has(77)).toBe(true)
    waits.clear()
    service.hasRoom = false
    await expect.poll(() => waits.has(3)).toBe(true)
    waits.clear()
    await expect.poll(() => [...waits]).toEqual([3])
    expect(Math.min(service.ticks, service.rounds)).toBeGreaterThan(0)
  })

  it('says how far behind it is', async () => {
    const { begun, membership, runner } = host()
    membership.deal(0)
    begun.broker.append(IN, 0, marks(5, 6))
    await expect.poll(() => runner.lags()).toEqual([{ processor: 'tally', topic: IN, partition: 0, records: 0 }])
  })
})

describe('a runner ends its process', () => {
  it('with 5 when the membership is silent for its session and 5 s more', async () => {
    const { membership, runner } = host()
    Object.defineProperty(membership, 'lastSeen', { value: ahead })
    expect(await runner.failed).toMatchObject({ exitCode: 5, code: 'membership-silent' })
  })

  it('with 5 also where the wall clock is put back', async () => {
    const { membership, runner } = host()
    Object.defineProperty(membership, 'lastSeen', { value: ahead })
    off = -1e12
    expect(await runner.failed).toMatchObject({ exitCode: 5, code: 'membership-silent' })
  })

  it('with 6 when the log cannot be used for two minutes', async () => {
    const begun = testTask({}, clock, 10)
    const away: Log = {
      ...begun.ports.log,
      reader: () => Object.assign(begun.ports.log.reader(), { fetch: () => Promise.reject(new Error('no broker')) }),
    }
    const { membership, runner } = host({ ...begun, ports: { ...begun.ports, log: away } })
    membership.deal(0)
    expect(await runner.failed).toMatchObject({ exitCode: 6, code: 'log-unusable' })
  })

  it('with 6 when there are records to read and none comes', async () => {
    const begun = testTask({}, clock, 10)
    begun.broker.append(IN, 0, marks(5))
    const log = fetching(begun, async (fetch, from, options) => {
      const slices = await fetch(from, options)
      await clock.delay(1_000)
      return slices.map((slice) => ({ ...slice, records: [], next: slice.from }))
    })
    const { membership, runner } = host({ ...begun, ports: { ...begun.ports, log } })
    membership.deal(0)
    expect(await runner.failed).toMatchObject({ exitCode: 6, code: 'stuck' })
  })

  it('with 4 when another process has the same partitions for good', async () => {
    const begun = testTask({}, clock, 10)
    const both = [host(begun), host(testTaskOn(begun.broker, {}, clock, 10))]
    for (const { membership } of both) {
      membership.isFixed = true
      membership.deal(0)
    }
    const failed = Promise.race(both.map(({ runner }) => runner.failed))
    let reason = await Promise.race([failed, clock.delay(0)])
    for (let time = 1; reason === undefined; time += 1) {
      begun.broker.append(IN, 0, marks(time))
      reason = await Promise.race([failed, clock.delay(100)])
    }
    const { message, ...why } = reason
    expect(why).toEqual({ exitCode: 4, code: 'two-owners' })
    expect(message).toContain('End one of them; to share the partitions start all with MEMBERSHIP=group')
  })

  it('with 4 when the state is of newer code', async () => {
    const begun = testTask({}, clock, 10)
    begun.broker.append(IN, 0, marks(5))
    const newer = await Task.open({ ...tallyRow, generation: 2 }, 0, begun)
    await newer.work(await begun.ports.reader.fetch(newer.positions(), { maxWaitMs: 0, maxBytesPerPartition: 1e6 }))
    await newer.snapshot()
    const { membership, runner } = host(testTaskOn(begun.broker, {}, clock, 10))
    membership.deal(0)
    expect(await runner.failed).toMatchObject({ exitCode: 4, code: 'newer-state' })
  })
})

it('goes on behind what a log lost while more comes than it has read', async () => {
  const { begun, membership, runner } = host()
  let time = 0
  const append = (count: number): void => {
    for (let n = 0; n < count; n++) begun.broker.append(IN, 0, marks((time += 1_000)))
  }
  const isAtEnd = (): boolean => {
    const end = begun.broker.at(IN, 0).end
    return runner.owners()[0]?.work?.owned.positions()[0]?.offset === end
  }
  append(100)
  membership.deal(0)
  await expect.poll(isAtEnd).toBe(true)
  const traffic = setInterval(() => append(1), 5)
  try {
    begun.broker.lose(IN, 0, 90)
    append(30)
    await expect.poll(isAtEnd, { timeout: 3_000, interval: 1 }).toBe(true)
  } finally {
    clearInterval(traffic)
  }
})
