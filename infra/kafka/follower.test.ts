import { pino } from 'pino'
import { afterEach, describe, expect, it } from 'vitest'
import type { Log } from './seam.ts'
import { CatchUp, differsAt } from '../../api/log/followed-log.ts'
import { MemoryBroker } from '../../processors/kernel/testing/memory-log.ts'
import { hostClock } from '../clock.ts'
import { Follower, positionsAt } from './follower.ts'
import { FOLLOWED_WITHIN_MS } from './topic-settings.ts'

const TOPIC = 'alerts.state'
const log = pino({ level: 'silent' })
const running: Follower[] = []
afterEach(() => Promise.all(running.splice(0).map((follower) => follower.close())))

interface Followed {
  readonly broker: MemoryBroker
  readonly told: string[]
  readonly follower: Follower
  readonly catchUp: CatchUp
  readonly questions: () => number
  readonly put: (partition: number, ...keys: string[]) => void
}

async function follow(
  at: 'start' | 'end',
  before: readonly string[] = [],
  everyMs = 0,
  isCache = false,
): Promise<Followed> {
  const broker = new MemoryBroker(hostClock)
  const put: Followed['put'] = (partition, ...keys) =>
    broker.append(
      TOPIC,
      partition,
      keys.map((key) => ({ key, value: Buffer.from('x'), time: 1 })),
    )
  put(0, ...before)
  const client: Log = broker.connect()
  const told: string[] = []
  const again = (): ReturnType<typeof positionsAt> => {
    told.push('void')
    return positionsAt(client.reader(), { topic: TOPIC, partitions: 2 }, 'start')
  }
  const follower = new Follower({
    reader: client.reader(),
    log,
    everyMs: () => everyMs,
    take: ({ key }, { partition }) => void told.push(`${partition}:${String(key)}`),
    differsAt: differsAt(client.reader()),
    ...(isCache ? { onMissed: again } : {}),
  })
  running.push(follower)
  follower.start(await positionsAt(client.reader(), { topic: TOPIC, partitions: 2 }, at))
  let questions = 0
  const asking = client.reader()
  const counted = Object.assign(Object.create(asking) as typeof asking, {
    offsets: (...given: Parameters<typeof asking.offsets>) => {
      questions += 1
      return asking.offsets(...given)
    },
  })
  const catchUp = new CatchUp({ topic: TOPIC, partitions: 2, reader: counted, follower })
  return { broker, told, follower, catchUp, questions: () => questions, put }
}

describe('a follower', () => {
  it('fetches no more often than it is told to, and misses nothing', async () => {
    const { told, put } = await follow('end', [], 40)
    const began = performance.now()
    for (const key of ['a', 'b', 'c', 'd']) {
      put(0, key)
      await expect.poll(() => told.at(-1), { interval: 1 }).toBe(`0:${key}`)
    }
    expect(performance.now() - began).toBeGreaterThan(100)
    expect(told).toEqual(['0:a', '0:b', '0:c', '0:d'])
  })

  it('looks at once when it is asked to, and for whom a position is awaited', async () => {
    const { told, put, follower, catchUp } = await follow('end', [], 3_600_000)
    await follower.look() // its first fetch
    put(0, 'a')
    await expect.poll(() => follower.look().then(() => told)).toEqual(['0:a'])
    put(0, 'b')
    await catchUp.toEnd()
    expect(told).toEqual(['0:a', '0:b'])
  })

  it('tells everything from the start, in order, once', async () => {
    const { told, catchUp, put } = await follow('start', ['a', 'b'])
    put(1, 'c')
    await catchUp.toEnd()
    expect(told.toSorted()).toEqual(['0:a', '0:b', '1:c'])
    put(0, 'd')
    await catchUp.toEnd()
    expect(told.filter((one) => one.startsWith('0'))).toEqual(['0:a', '0:b', '0:d'])
  })

  it('tells only what comes from the end on', async () => {
    const { told, catchUp, put } = await follow('end', ['a'])
    put(0, 'b')
    await catchUp.toEnd()
    expect(told).toEqual(['0:b'])
  })

  it('tells all of it again where deletions may have been missed while it was away', async () => {
    const broker = new MemoryBroker(hostClock)
    const put = (partition: number, key: string, value: Buffer | null): void =>
      void broker.append(TOPIC, partition, [{ key, value, time: 1 }])
    const told: string[] = []
    const now = { wall: 0, steady: 0 }
    const reader = broker.connect().reader()
    const follower = new Follower({
      reader,
      log,
      take: ({ key }) => void told.push(String(key)),
      onMissed: () => {
        told.push('void')
        return positionsAt(reader, { topic: TOPIC, partitions: 2 }, 'start')
      },
      moment: () => ({ ...now }),
    })
    running.push(follower)
    for (const key of ['a', 'b']) put(0, key, Buffer.from('x'))
    follower.start(await positionsAt(reader, { topic: TOPIC, partitions: 2 }, 'start'))
    await expect.poll(() => told).toEqual(['a', 'b'])
    now.wall = FOLLOWED_WITHIN_MS - 1
    put(0, 'c', Buffer.from('x'))
    await expect.poll(() => told).toEqual(['a', 'b', 'c'])
    now.wall = 3 * FOLLOWED_WITHIN_MS
    put(0, 'a', null)
    broker.compact(TOPIC, 0)
    put(0, 'd', Buffer.from('x'))
    await expect.poll(() => told).toEqual(['a', 'b', 'c', 'void', 'b', 'c', 'd'])
  })

  it.each([
    ['and is shorter than what was told', 1],
    ['and has grown beyond it since', 5],
  ])('of a cache tells all of it again where the log lost its tail %s', async (_, more) => {
    const { broker, told, put } = await follow('start', ['a', 'b', 'c', 'd'], 0, true)
    await expect.poll(() => told.length).toBe(4)
    broker.lose(TOPIC, 0, 2)
    put(0, ...Array.from({ length: more }, (_value, n) => `new${n}`))
    await expect.poll(() => told.slice(4, 8)).toEqual(['void', '0:a', '0:b', '0:new0'])
  })

  it.each([
    ['and is shorter than what was told', 1],
    ['and has grown beyond it since', 5],
  ])('goes on where the log differs that lost its tail %s', async (_, more) => {
    const { broker, told, put } = await follow('end', ['a'])
    put(0, 'b', 'c', 'd')
    await expect.poll(() => told.length).toBe(3)
    broker.lose(TOPIC, 0, 2)
    const added = Array.from({ length: more }, (_value, n) => `new${n}`)
    put(0, ...added)
    await expect.poll(() => told).toEqual(['0:b', '0:c', '0:d', ...added.map((key) => `0:${key}`)])
  })

  it('lets who waits for an end that is gone wait for the one there is', async () => {
    const { broker, follower, told, put } = await follow('start', ['a', 'b', 'c', 'd'])
    await expect.poll(() => told.length).toBe(4)
    const gone = follower.reach([{ topic: TOPIC, partition: 0, offset: 6 }])
    broker.lose(TOPIC, 0, 2)
    put(0, 'new')
    await gone
    expect(told.at(-1)).toBe('0:new')
  })

  it('tells nothing again where the broker only came back', async () => {
    const { broker, told, put } = await follow('start', ['a', 'b'], 0, true)
    await expect.poll(() => told.length).toBe(2)
    broker.restart()
    put(0, 'c')
    await expect.poll(() => told).toEqual(['0:a', '0:b', '0:c'])
  })

  it('keeps of an answer no more than the last record', async () => {
    const answer = Buffer.alloc(8 * 1024 * 1024, 'x')
    const broker = new MemoryBroker(hostClock)
    broker.append(TOPIC, 0, [{ key: 'a', value: Buffer.from('x'), time: 1 }])
    const reader = broker.connect().reader()
    const shared = Object.assign(Object.create(reader) as typeof reader, {
      fetch: async (...given: Parameters<typeof reader.fetch>) => {
        const slices = await reader.fetch(...given)
        return slices.map((slice) => ({
          ...slice,
          records: slice.records.map((record) => ({ ...record, value: answer.subarray(0, 1) })),
        }))
      },
    })
    const kept: number[] = []
    const follower = new Follower({
      reader: shared,
      log,
      take: () => undefined,
      differsAt: async (_, last) => {
        kept.push(last.value?.buffer.byteLength ?? 0)
        return undefined
      },
    })
    running.push(follower)
    follower.start([{ topic: TOPIC, partition: 0, offset: 0 }])
    await follower.reach([{ topic: TOPIC, partition: 0, offset: 1 }])
    broker.restart() // a new leader's epoch: what it knows of the last record is compared
    broker.append(TOPIC, 0, [{ key: 'b', value: Buffer.from('x'), time: 1 }])
    await expect.poll(() => kept.length).toBeGreaterThan(0)
    expect(Math.max(...kept)).toBeLessThan(answer.length / 8)
  })

  it('goes on where the log begins when its place is gone', async () => {
    const { told, catchUp, put, broker } = await follow('start')
    await catchUp.toEnd()
    broker.append(TOPIC, 0, [])
    put(0, 'a', 'b', 'c')
    broker.truncate(TOPIC, 0, 2)
    await catchUp.toEnd()
    expect(told.at(-1)).toBe('0:c')
  })
})

describe('a follower that is told what it missed', () => {
  it.each([
    ['lost its tail', (broker: MemoryBroker) => broker.lose(TOPIC, 0, 1)],
    [
      'is another one',
      (broker: MemoryBroker) => {
        broker.replace(TOPIC, 0)
        broker.restart()
      },
    ],
  ])('begins anew where a log %s, and holds what that says', async (_, harm) => {
    const broker = new MemoryBroker(hostClock)
    const put = (...keys: string[]): void =>
      void broker.append(
        TOPIC,
        0,
        keys.map((key) => ({ key, value: Buffer.from(key), time: 1 })),
      )
    const reader = broker.connect().reader()
    const held = new Set<string>()
    const start = (): ReturnType<typeof positionsAt> => positionsAt(reader, { topic: TOPIC, partitions: 1 }, 'start')
    const follower = new Follower({
      reader: broker.connect().reader(),
      log,
      take: ({ key }) => void held.add(String(key)),
      differsAt: differsAt(reader),
      onMissed: () => {
        held.clear()
        return start()
      },
    })
    running.push(follower)
    put('a', 'b', 'c')
    follower.start(await start())
    await expect.poll(() => held.size).toBe(3)
    harm(broker)
    put('d', 'e', 'f', 'g')
    const said = new Set(broker.records(TOPIC, 0).map(({ key }) => String(key)))
    await expect.poll(() => held).toEqual(said)
  })
})

describe('catching up', () => {
  it('asks the broker once for all that ask at once, and once more for those that come meanwhile', async () => {
    const { catchUp, questions, told, put } = await follow('start')
    const first = catchUp.toEnd()
    put(0, 'a')
    const more = Array.from({ length: 100 }, () => catchUp.toEnd())
    await Promise.all([first, ...more])
    expect([questions(), told]).toEqual([2, ['0:a']])
    await catchUp.toEnd()
    expect(questions()).toBe(3)
  })
})
