import { pino } from 'pino'
import { afterEach, describe, expect, it } from 'vitest'
import type { Log } from '../../infra/kafka/seam.ts'
import { MemoryBroker } from '../../processors/kernel/memory-log.ts'
import { hostClock } from '../../infra/clock.ts'
import { FOLLOWED_WITHIN_MS } from '../../infra/kafka/topic-settings.ts'
import { Catching } from './catching.ts'
import { Tail } from './tail.ts'

const TOPIC = 'alerts.state'
const log = pino({ level: 'silent' })
const running: Tail[] = []
afterEach(() => Promise.all(running.splice(0).map((tail) => tail.close())))

interface Followed {
  readonly broker: MemoryBroker
  readonly told: string[]
  readonly catching: Catching
  readonly questions: () => number
  readonly put: (partition: number, ...keys: string[]) => void
}

async function follow(at: 'start' | 'end', before: readonly string[] = [], everyMs = 0): Promise<Followed> {
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
  const tail = new Tail({
    topic: TOPIC,
    partitions: 2,
    reader: client.reader(),
    log,
    everyMs,
    take: ({ key }, partition) => void told.push(`${partition}:${String(key)}`),
  })
  running.push(tail)
  await tail.start(at)
  let questions = 0
  const asking = client.reader()
  const counted = Object.assign(Object.create(asking) as typeof asking, {
    offsets: (...given: Parameters<typeof asking.offsets>) => {
      questions += 1
      return asking.offsets(...given)
    },
  })
  const catching = new Catching({ topic: TOPIC, partitions: 2, reader: counted, tail })
  return { broker, told, catching, questions: () => questions, put }
}

describe('a tail', () => {
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

  it('tells everything from the start, in order, once', async () => {
    const { told, catching, put } = await follow('start', ['a', 'b'])
    put(1, 'c')
    await catching.up()
    expect(told.toSorted()).toEqual(['0:a', '0:b', '1:c'])
    put(0, 'd')
    await catching.up()
    expect(told.filter((one) => one.startsWith('0'))).toEqual(['0:a', '0:b', '0:d'])
  })

  it('tells only what comes from the end on', async () => {
    const { told, catching, put } = await follow('end', ['a'])
    put(0, 'b')
    await catching.up()
    expect(told).toEqual(['0:b'])
  })

  it('tells all of it again where deletions may have been missed while it was away', async () => {
    const broker = new MemoryBroker(hostClock)
    const put = (partition: number, key: string, value: Buffer | null): void =>
      void broker.append(TOPIC, partition, [{ key, value, time: 1 }])
    const told: string[] = []
    const now = { wall: 0, steady: 0 }
    const tail = new Tail({
      topic: TOPIC,
      partitions: 2,
      reader: broker.connect().reader(),
      log,
      take: ({ key }) => void told.push(String(key)),
      onMissed: () => void told.push('void'),
      moment: () => ({ ...now }),
    })
    running.push(tail)
    for (const key of ['a', 'b']) put(0, key, Buffer.from('x'))
    await tail.start('start')
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

  it('goes on where the log begins when its place is gone', async () => {
    const { told, catching, put, broker } = await follow('start')
    await catching.up()
    broker.append(TOPIC, 0, [])
    put(0, 'a', 'b', 'c')
    broker.truncate(TOPIC, 0, 2)
    await catching.up()
    expect(told.at(-1)).toBe('0:c')
  })
})

describe('catching up', () => {
  it('asks the broker once for all that ask at once, and once more for those that come meanwhile', async () => {
    const { catching, questions, told, put } = await follow('start')
    const first = catching.up()
    put(0, 'a')
    const more = Array.from({ length: 100 }, () => catching.up())
    await Promise.all([first, ...more])
    expect([questions(), told]).toEqual([2, ['0:a']])
    await catching.up()
    expect(questions()).toBe(3)
  })
})
