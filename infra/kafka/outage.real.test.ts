import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startBroker } from '../local/broker.ts'
import type { Child } from '../local/child.ts'
import { cutTail } from '../local/testing/faults.ts'
import { connectLog } from './kafkajs.ts'
import type { Claim, Log, LogReader } from './seam.ts'
import { createTestTopics, freshNamespace } from './testing/topics.ts'

/** Long enough that requests run into their deadlines. */
const FROZEN_MS = 12_000
const AWAY_MS = 5_000

describe('a broker that goes away', () => {
  let dataDir: string
  let broker: Child

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'outage-'))
    broker = await start(0)
  })
  afterAll(async () => {
    await broker.stop()
    await rm(dataDir, { recursive: true, force: true })
  })

  const start = (port: number): Promise<Child> =>
    startBroker({ dataDir, port, logFile: join(dataDir, 'kafka.log'), onProgress: () => undefined })

  const open = async (): Promise<Log> => {
    const namespace = freshNamespace()
    await createTestTopics([broker.url], [`${namespace}in`, `${namespace}state`])
    return connectLog({ brokers: [broker.url], namespace, clientId: 'test' })
  }

  it('costs a killed broker’s clients nothing but time: all sends arrive once and in order, tails go on', async () => {
    const log = await open()
    const tail = follow(log.reader())
    const claim = await log.claim('cvd-0', [{ topic: 'state', partition: 0 }])
    const sender = sendSteadily(log)
    await expect.poll(() => sender.sent()).toBeGreaterThan(50)
    process.kill(broker.pid, 'SIGKILL')
    await broker.exited
    const during = sendState(claim)
    await delay(AWAY_MS)
    broker = await start(Number(broker.url.split(':')[1]))
    await during
    const sent = await sender.stop()
    for (const partition of [0, 1, 2]) {
      expect(await numbersOf(log.reader(), partition)).toEqual(sent.filter((number) => number % 3 === partition))
    }
    await expect.poll(() => tail.seen.length).toBe(sent.filter((number) => number % 3 === 0).length)
    expect(tail.seen).toEqual(sent.filter((number) => number % 3 === 0))
    await tail.stop()
    await log.close()
  })

  it('keeps order and count when the broker is frozen past the deadlines of requests', async () => {
    const log = await open()
    const sender = sendSteadily(log)
    await expect.poll(() => sender.sent()).toBeGreaterThan(20)
    process.kill(broker.pid, 'SIGSTOP')
    try {
      await delay(FROZEN_MS)
    } finally {
      process.kill(broker.pid, 'SIGCONT')
    }
    const sent = await sender.stop()
    for (const partition of [0, 1, 2]) {
      expect(await numbersOf(log.reader(), partition)).toEqual(sent.filter((number) => number % 3 === partition))
    }
    await log.close()
  })

  it('that comes back with less than it had says where its log differs, and writers hear of it', async () => {
    const namespace = freshNamespace()
    await createTestTopics([broker.url], [`${namespace}in`, `${namespace}state`])
    const log = await connectLog({ brokers: [broker.url], namespace, clientId: 'test' })
    const [reader, writer] = [log.reader(), log.writer()]
    const claim = await log.claim('cvd-0', [{ topic: 'state', partition: 0 }])
    const record = (number: number) => [{ key: null, value: Buffer.from(`${number}`), time: 0 }]
    for (let number = 0; number < 10; number += 1) {
      await writer.send('in', 0, record(number))
      await claim.send('state', 0, record(number))
    }
    const last = (await epochsOf(reader)).at(-1) ?? -1
    process.kill(broker.pid, 'SIGKILL')
    await broker.exited
    expect(await cutTail(dataDir, `${namespace}in`, 0, 4)).toMatchObject({ from: 6, to: 10 })
    expect(await cutTail(dataDir, `${namespace}state`, 0, 4)).toMatchObject({ from: 7, to: 11 })
    broker = await start(Number(broker.url.split(':')[1]))
    expect(await reader.endOfEpoch('in', 0, last)).toBe(6)
    for (let number = 20; number < 26; number += 1) await writer.send('in', 0, record(number))
    expect(await numbersOf(reader, 0)).toEqual([0, 1, 2, 3, 4, 5, 20, 21, 22, 23, 24, 25])
    expect(await reader.endOfEpoch('in', 0, last)).toBe(6)
    expect((await epochsOf(reader)).at(-1)).toBeGreaterThan(last)
    expect(await claim.send('state', 0, record(20))).toBe(7) // where its last four were
    await log.close()
  })

  it('rejects a send that was tried for as long as it may be, and goes on with the next', async () => {
    const namespace = freshNamespace()
    await createTestTopics([broker.url], [`${namespace}in`])
    const log = await connectLog({ brokers: [broker.url], namespace, clientId: 'test', giveUpMs: 1_000 })
    const writer = log.writer()
    const record = (number: number) => [{ key: null, value: Buffer.from(`${number}`), time: 0 }]
    const sends = (number: number): Promise<string> => writer.send('in', 0, record(number)).then(() => 'sent')
    await expect.poll(() => sends(0)).toBe('sent')
    process.kill(broker.pid, 'SIGKILL')
    await broker.exited
    await expect(writer.send('in', 0, record(1))).rejects.toMatchObject({ code: 'unavailable', retriable: true })
    broker = await start(Number(broker.url.split(':')[1]))
    await expect.poll(() => sends(2)).toBe('sent')
    expect(await numbersOf(log.reader(), 0)).toEqual([0, 2])
    await log.close()
  }, 240_000)
})

/** Sends 0, 1, 2, .. to partition n % 3, several at a time, until it is stopped; every one of them must arrive. */
function sendSteadily(log: Log): { sent: () => number; stop: () => Promise<number[]> } {
  const writer = log.writer()
  const sends: Promise<unknown>[] = []
  const timer = setInterval(() => {
    for (let burst = 0; burst < 5; burst += 1) {
      const number = sends.length
      sends.push(writer.send('in', number % 3, [{ key: null, value: Buffer.from(`${number}`), time: 0 }]))
    }
  }, 10)
  return {
    sent: () => sends.length,
    stop: async () => {
      clearInterval(timer)
      await Promise.all(sends)
      return sends.map((_send, number) => number)
    },
  }
}

function sendState(claim: Claim): Promise<unknown> {
  return claim.send('state', 0, [{ key: 'state', value: Buffer.from('{}'), time: 0 }])
}

/** Reads partition 0 as a processor does: fetch after fetch, over whatever happens. */
function follow(reader: LogReader): { readonly seen: number[]; stop: () => Promise<void> } {
  const seen: number[] = []
  const state = { stopped: false }
  const loop = (async () => {
    let offset = 0
    while (!state.stopped) {
      const [slice] = await reader.fetch([{ topic: 'in', partition: 0, offset }], {
        maxWaitMs: 100,
        maxBytesPerPartition: 1 << 20,
      })
      for (const { value } of slice?.records ?? []) seen.push(Number(value?.toString()))
      offset = slice?.next ?? offset
    }
  })()
  return {
    seen,
    stop: async () => {
      state.stopped = true
      await loop
    },
  }
}

async function numbersOf(reader: LogReader, partition: number): Promise<number[]> {
  const numbers: number[] = []
  for await (const records of reader.toEnd('in', partition)) {
    for (const { value } of records) numbers.push(Number(value?.toString()))
  }
  return numbers
}

async function epochsOf(reader: LogReader): Promise<(number | undefined)[]> {
  const epochs: (number | undefined)[] = []
  for await (const records of reader.toEnd('in', 0)) epochs.push(...records.map(({ epoch }) => epoch))
  return epochs
}

/** The outage's own length; nothing is awaited by it. */
function delay(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}
