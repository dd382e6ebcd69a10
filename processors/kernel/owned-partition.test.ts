import { describe, expect, it } from 'vitest'
import type { Log, Slice } from '../../infra/kafka/seam.ts'
import type { LogGap } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { openOwned, type OwnedPartition } from './owned-partition.ts'
import { stoodOn } from './position-check.ts'
import { quietMeter } from './quiet.ts'
import { stillClock } from './testing/memory-log.ts'
import { codec, marks, testTask, testTaskOn, type TestTask } from './testing/task.ts'

const IN = 'market.trades'
const OTHER = 'market.tickers'
const BYTES_MAX = 1e6

/** Owns a partition of both inputs; `next`: where it reads the first one on, which it was left at the end of; `heard`: its gaps. */
function own(begun: TestTask, next?: number, heard: string[] = []): Promise<OwnedPartition> {
  const { ports, decoder, onLostLog, broker } = begun
  const owning = { name: 'reader', partition: 0, inputs: [IN, OTHER], outputs: [], ports, decoder, onLostLog } as const
  return openOwned(owning, async (owned) => {
    await owned.readGaps()
    const last = broker.records(IN, 0).at(-1)
    const stood = next === undefined || last === undefined ? {} : { [`${IN}/0`]: stoodOn(last) }
    await owned.begin(new Map(next === undefined ? [] : [[IN, next]]), stood, {
      onGap: ({ gap }) => void heard.push(gap.reason),
      onLostOutputs: () => Promise.resolve(),
    })
    return owned
  })
}

function fetch(owned: OwnedPartition, { ports }: TestTask, maxBytesPerPartition = BYTES_MAX): Promise<Slice[]> {
  return ports.reader.fetch(owned.positions(), { maxWaitMs: 0, maxBytesPerPartition })
}

/** Takes in what was fetched; gives where it lay. */
async function take(owned: OwnedPartition, slices: readonly Slice[]): Promise<string[]> {
  const taken: string[] = []
  for (const slice of slices) {
    const records = await owned.accept(slice)
    if (records === undefined) continue
    taken.push(...records.map(({ offset }) => `${slice.topic} ${offset}`))
    owned.moveTo(slice.topic as TopicName, slice.next, records.at(-1))
  }
  return taken
}

/** Fetches and takes in until it is at the ends. */
async function takeAll(owned: OwnedPartition, begun: TestTask): Promise<string[]> {
  const taken: string[] = []
  const isBehind = (): boolean =>
    owned.positions().some(({ topic, offset }) => offset !== begun.broker.at(topic, 0).end)
  for (let rounds = 0; rounds < 10 && isBehind(); rounds++)
    taken.push(...(await take(owned, await fetch(owned, begun))))
  return taken
}

function offsets(topic: string, from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, index) => `${topic} ${from + index}`)
}

function gapsTold({ broker }: TestTask): LogGap[] {
  return broker.records('control.gaps', 0).flatMap(({ value }) => {
    const message = value === null ? undefined : codec.decode(value)
    return message?.type === 'log_gap' ? [message.value] : []
  })
}

/** Both inputs with three records, all taken in. */
async function readBoth(heard: string[] = []): Promise<{ begun: TestTask; owned: OwnedPartition }> {
  const begun = testTask()
  for (const topic of [IN, OTHER]) begun.broker.append(topic, 0, marks(1, 2, 3))
  const owned = await own(begun, undefined, heard)
  await takeAll(owned, begun)
  return { begun, owned }
}

describe('a partition that is opened', () => {
  /** A log that counts what is let go of of its claims. */
  function countsCloses(log: Log, closed: string[]): Log {
    const claim: Log['claim'] = async (owner, targets) => {
      const made = await log.claim(owner, targets)
      return { ...made, close: () => made.close().then(() => void closed.push(owner)) }
    }
    return { ...log, claim }
  }

  it('is let go of where it cannot begin, since its claim would be renewed for ever', async () => {
    const begun = testTask()
    const closed: string[] = []
    const ports = { ...begun.ports, log: countsCloses(begun.ports.log, closed) }
    const owning = { ...begun, ports, name: 'reader', partition: 3, inputs: [IN], outputs: [] } as const
    await expect(openOwned(owning, () => Promise.reject(new Error('no state')))).rejects.toThrow('no state')
    expect(closed).toEqual(['reader-3'])
  })

  it('says how long restoring has taken', async () => {
    const { broker } = testTask()
    let ms = 0
    const restored: unknown[] = []
    const clock = { ...stillClock, steady: () => ms }
    const meter = { ...quietMeter, restored: (...told: unknown[]) => void restored.push(told) }
    const owning = { ...testTaskOn(broker, { clock, meter }), name: 'reader', partition: 0, inputs: [], outputs: [] }
    await openOwned(owning, async () => {
      ms = 70
    })
    expect(restored).toEqual([['reader', 70]])
  })
})

describe('a partition of two inputs', () => {
  it.each([[[IN]], [[OTHER]], [[IN, OTHER]]])('takes in all that is in the place of what %s lost', async (lost) => {
    const { begun, owned } = await readBoth()
    for (const topic of lost) begun.broker.lose(topic, 0, 1)
    for (const topic of lost) begun.broker.append(topic, 0, marks(4, 5, 6, 7))
    expect((await takeAll(owned, begun)).toSorted()).toEqual(lost.flatMap((topic) => offsets(topic, 1, 5)).toSorted())
    expect(gapsTold(begun)).toHaveLength(lost.length)
  })

  it('looks at both, though the first of them is another log', async () => {
    const { begun, owned } = await readBoth()
    for (const topic of [IN, OTHER]) {
      begun.broker.replace(topic, 0)
      begun.broker.append(topic, 0, marks(11, 12, 13, 14, 15))
    }
    owned.interrupted()
    await take(owned, await fetch(owned, begun))
    expect(gapsTold(begun)).toMatchObject([
      { topic: IN, reason: 'replaced', position: 3, next: 5 },
      { topic: OTHER, reason: 'replaced', position: 3, next: 5 },
    ])
  })

  it.each([
    ['in part', 4, [`${OTHER} 4`], 5],
    ['all of it', 6, [], 6],
  ])('takes nothing of a gap in, though it was fetched before: %s', async (_, before, taken, position) => {
    const { begun, owned } = await readBoth()
    begun.broker.append(OTHER, 0, marks(4, 5))
    const fetched = await fetch(owned, begun)
    begun.broker.append(OTHER, 0, marks(6, 7))
    begun.broker.truncate(OTHER, 0, before)
    owned.interrupted()
    const [, other] = fetched
    if (other === undefined) throw new Error('it was fetched')
    await owned.check()
    expect(await take(owned, [other])).toEqual(taken)
    expect(owned.position(OTHER)).toBe(position)
  })
})

describe('an input that is read once more', () => {
  /** Five records that were read before, of which the first is read again. */
  async function rereads(): Promise<{ begun: TestTask; owned: OwnedPartition }> {
    const begun = testTask()
    begun.broker.append(IN, 0, marks(1, 2, 3, 4, 5))
    const owned = await own(begun, 0)
    expect(await take(owned, await fetch(owned, begun, 1))).toEqual([`${IN} 0`])
    return { begun, owned }
  }

  it('was read up to where it was, whatever is read of it again', async () => {
    const { begun, owned } = await rereads()
    owned.interrupted()
    expect(await takeAll(owned, begun)).toEqual(offsets(IN, 1, 5))
    expect(gapsTold(begun)).toEqual([])
  })

  it('is read from there on where its log has lost a tail that had been read', async () => {
    const { begun, owned } = await rereads()
    begun.broker.lose(IN, 0, 3)
    begun.broker.append(IN, 0, marks(6, 7, 8))
    owned.interrupted()
    expect(await takeAll(owned, begun)).toEqual(offsets(IN, 1, 6))
    expect(gapsTold(begun)).toMatchObject([{ reason: 'cut', position: 5, next: 3 }])
  })

  it('is read from where its log begins now, which is no gap: all of it had been read', async () => {
    const { begun, owned } = await rereads()
    begun.broker.truncate(IN, 0, 3)
    expect(await takeAll(owned, begun)).toEqual(offsets(IN, 3, 5))
    expect(gapsTold(begun)).toEqual([])
  })
})

it('stays where it is where a leader shows less than the log has, for a moment', async () => {
  const { begun, owned } = await readBoth()
  const [slice] = await fetch(owned, begun)
  if (slice === undefined) throw new Error('there is a slice')
  expect(await take(owned, [{ ...slice, records: [], end: 1, error: 'out-of-range' }])).toEqual([])
  expect(owned.position(IN)).toBe(3)
  expect(gapsTold(begun)).toEqual([])
})

it('looks once after an interruption', async () => {
  const { begun, owned } = await readBoth()
  begun.broker.append(IN, 0, marks(4, 5, 6))
  let looks = 0
  const { reader } = begun.ports
  const own = reader.fetch.bind(reader)
  owned.interrupted()
  for (const expected of [2, 0, 0]) {
    const slices = await own(owned.positions(), { maxWaitMs: 0, maxBytesPerPartition: 1 })
    Object.assign(reader, { fetch: (...asked: Parameters<typeof own>) => ((looks += 1), own(...asked)) })
    await take(owned, slices)
    expect(looks).toBe(expected)
    looks = 0
  }
})

it('reads all that comes where an input lost what nobody reads, twice, before anything of it was read', async () => {
  const begun = testTask()
  const { broker } = begun
  const owned = await own(begun)
  const claimed = async (marks: number): Promise<void> => {
    for (let n = 0; n < marks; n++) broker.at(IN, 0).skip()
    await takeAll(owned, begun)
  }
  await claimed(3)
  broker.lose(IN, 0, 2)
  await takeAll(owned, begun)
  await claimed(2)
  broker.lose(IN, 0, 1)
  broker.append(IN, 0, marks(1, 2, 3, 4))
  expect(await takeAll(owned, begun)).toEqual(offsets(IN, 1, 5))
  expect(gapsTold(begun)).toMatchObject([
    { reason: 'cut', position: 3, next: 2 },
    { reason: 'cut', position: 4, next: 1 },
  ])
})

it('tells once that what fills a gap is in no row, in versions that go on', async () => {
  const heard: string[] = []
  const { begun, owned } = await readBoth(heard)
  begun.broker.lose(IN, 0, 1)
  begun.broker.append(IN, 0, marks(4))
  await takeAll(owned, begun)
  const [cut] = gapsTold(begun)
  for (const _look of [1, 2]) await owned.tellLeftOut(IN, 2, { from_time: 5, to_time: 6 })
  expect(gapsTold(begun).slice(1)).toMatchObject([
    { reason: 'retention', position: 2, next: 2, shift: cut?.shift, missing: null, from_time: 5, to_time: 6 },
  ])
  expect(heard).toEqual(['cut', 'retention'])
})
