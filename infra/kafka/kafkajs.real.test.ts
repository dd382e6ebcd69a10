import { setImmediate as turnOver } from 'node:timers/promises'
import { pino } from 'pino'
import { describe, expect, inject, it } from 'vitest'
import { logContract } from './testing/contract.ts'
import type { OpenLog } from './testing/contract/parts.ts'
import { connectLog } from './kafkajs.ts'
import { LogError, type Log, type Slice } from './seam.ts'
import { forgotten } from './testing/owners.ts'
import { createTestTopics, freshNamespace, withAdmin } from './testing/topics.ts'

const { brokers } = inject('parts')

async function open(topics: readonly string[], settings: Readonly<Record<string, string>> = {}): Promise<OpenLog> {
  const namespace = freshNamespace()
  await createTestTopics(
    brokers,
    topics.map((topic) => namespace + topic),
    settings,
  )
  const logs: Log[] = []
  const connect = async (): Promise<Log> => {
    const log = await connectLog({ brokers, namespace, clientId: 'test' })
    logs.push(log)
    return log
  }
  return {
    log: await connect(),
    another: connect,
    forgotten: () => forgotten(brokers),
    dispose: async () => {
      await Promise.all(logs.map((log) => log.close()))
    },
  }
}

logContract('Kafka', open)

describe('Kafka beyond the contract', () => {
  it('reads past the holes that compaction leaves', async () => {
    const { log, dispose } = await open(['state'], {
      'cleanup.policy': 'compact',
      'segment.ms': '200',
      'min.cleanable.dirty.ratio': '0.01',
      'max.compaction.lag.ms': '200',
      'delete.retention.ms': '0',
    })
    const writer = log.writer()
    const reader = log.reader()
    const put = (key: string, value: string) =>
      writer.send('state', 0, [{ key, value: Buffer.from(value), time: Date.now() }])
    for (let number = 0; number < 100; number += 1) await put('a', `${number}`)
    const read = async (): Promise<string[]> => {
      await put('b', 'rolls the segment') // an idle segment is not rolled
      const values: string[] = []
      for await (const records of reader.toEnd('state', 0)) {
        for (const { key, value } of records) if (key?.toString() === 'a') values.push(value?.toString() ?? '')
      }
      return values
    }
    await expect.poll(read, { interval: 300 }).toEqual(['99'])
    const [slice] = await reader.fetch([{ topic: 'state', partition: 0, offset: 50 }], {
      maxWaitMs: 50,
      maxBytesPerPartition: 1 << 20,
    })
    expect(slice?.records[0]?.value?.toString()).toBe('99')
    await dispose()
  })

  it('passes over nothing that comes while a time is looked up', async () => {
    const topics = Array.from({ length: 10 }, (_, n) => `in${n}`)
    const { log, another, dispose } = await open(topics)
    const [reader, writer] = [log.reader(), (await another()).writer()]
    for (const topic of topics) {
      expect((await reader.offsets(topic, [0], 'end')).get(0)).toBe(0)
      const looked = reader.offsets(topic, [0], { time: 1 })
      const [offsets] = await Promise.all([looked, writer.send(topic, 0, [{ key: null, value: null, time: 2 }])])
      expect(offsets.get(0)).toBe(0)
    }
    await dispose()
  })

  it('leaves no connection behind that is closed while it opens', async () => {
    const { log, dispose } = await open(['in'])
    const sockets = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length
    await log.reader().offsets('in', [0], 'end')
    const before = sockets()
    for (let turns = 0; turns < 40; turns += 1) {
      const reader = log.reader()
      const options = { maxWaitMs: 1, maxBytesPerPartition: 1 << 10 }
      const asked = reader.fetch([{ topic: 'in', partition: 0, offset: 0 }], options).catch(() => undefined)
      for (let turn = 0; turn < turns; turn += 1) await turnOver()
      await reader.close()
      await asked
    }
    await expect.poll(sockets).toBe(before)
    await dispose()
  })

  it('says that a topic does not exist', async () => {
    const { log, dispose } = await open(['in'])
    await expect(log.reader().offsets('nowhere', [0], 'end')).rejects.toMatchObject({ code: 'no-topic' })
    await expect(log.writer().send('nowhere', 0, [])).resolves.toBeUndefined()
    await expect(log.writer().send('nowhere', 0, [{ key: null, value: null, time: 0 }])).rejects.toMatchObject({
      code: 'no-topic',
    })
    await dispose()
  })

  it('reads and writes on when another topic was deleted, and tells which', async () => {
    const namespace = freshNamespace()
    await createTestTopics(brokers, [`${namespace}in`, `${namespace}other`])
    const lines: string[] = []
    const told = pino({}, { write: (line) => lines.push(line) })
    const log = await connectLog({ brokers, namespace, clientId: 'test', log: told })
    const [reader, writer] = [log.reader(), log.writer()]
    const write = (): Promise<unknown> => writer.send('in', 0, [{ key: null, value: null, time: 0 }])
    const from = ['in', 'other'].map((topic) => ({ topic, partition: 0, offset: 0 }))
    const fetch = (): Promise<Slice[]> => reader.fetch(from, { maxWaitMs: 50, maxBytesPerPartition: 1 << 20 })
    await write()
    await expect.poll(async () => (await fetch())[0]?.next).toBe(1)
    await withAdmin(brokers, (admin) => admin.deleteTopics({ topics: [`${namespace}other`] }))
    await expect.poll(async () => (await fetch())[1]?.error).toBe('moved')
    await write()
    await expect.poll(fetch, { timeout: 30_000 }).toMatchObject([{ next: 2 }, { error: 'moved' }])
    const missing = `topic ${namespace}other does not exist; npx node infra/prepare.ts makes it`
    await expect.poll(async () => fetch().then(() => lines.join('')), { timeout: 30_000 }).toContain(missing)
    await log.close()
  })

  it('tells a refused record to its own send only', async () => {
    const { log, dispose } = await open(['in'])
    const writer = log.writer()
    const send = (time: number) => writer.send('in', 0, [{ key: null, value: Buffer.from('x'), time }])
    const tooFar = Date.now() + 7_200_000
    const results = await Promise.allSettled([send(0), send(1), send(tooFar), send(2)])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
    const refusal = results[2]?.status === 'rejected' ? (results[2].reason as unknown) : undefined
    expect(refusal).toBeInstanceOf(LogError)
    expect(refusal).toMatchObject({ code: 'refused', message: expect.stringContaining('invalid timestamp') as unknown })
    const times: number[] = []
    for await (const records of log.reader().toEnd('in', 0)) times.push(...records.map(({ time }) => time))
    expect(times).toEqual([0, 1, 2])
    await dispose()
  })

  it('gives up on a broker that does not answer, naming it', async () => {
    const log = connectLog({ brokers: ['127.0.0.1:1'], namespace: '', clientId: 'test', connectMs: 500 })
    await expect(log).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('127.0.0.1:1') as unknown,
    })
  })
})
