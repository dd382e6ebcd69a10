import { Kafka, logLevel } from 'kafkajs'
import { connectLog } from '../../infra/kafka/kafkajs.ts'
import type { Log, OutRecord } from '../../infra/kafka/seam.ts'
import { createTestTopics, freshNamespace } from '../../infra/kafka/testing/topics.ts'
import { localCodec } from '../../schemas/codec.ts'
import type { Trade } from '../../schemas/records.ts'
import type { BenchParts, Figure } from '../figure.ts'
import { percentiles, startCost } from './system/cost.ts'

const TOPIC = 'market.trades'
const PARTITIONS = 3
const RECORDS = 300_000
const BATCH = 1_000
const SENDS = 1_000
const CLAIMS = 50
const START = 1_722_850_000_000
const codec = localCodec()

/** What the seam costs over Kafka: reading against kafkajs' own consumer, writing against its producer, delays. */
export default async function bench(parts: () => Promise<BenchParts>): Promise<readonly Figure[]> {
  const { brokers } = await parts()
  const namespace = freshNamespace()
  await createTestTopics(brokers, [`${namespace}${TOPIC}`, `${namespace}latency`])
  const log = await connectLog({ brokers, namespace, clientId: 'bench' })
  try {
    const writing = await measureWriting(log, brokers, namespace)
    const reading = await measureReading(log, brokers, namespace)
    return [...writing, ...reading, ...(await measureDelays(log))]
  } finally {
    await log.close()
  }
}

async function measureWriting(log: Log, brokers: readonly string[], namespace: string): Promise<Figure[]> {
  const batches = Array.from({ length: RECORDS / BATCH }, (_, batch) => trades(batch * BATCH))
  const writer = log.writer()
  const ours = await rateOf(RECORDS, async () => {
    await Promise.all(batches.map((records, batch) => writer.send(TOPIC, batch % PARTITIONS, records)))
  })
  const producer = client(brokers).producer({ idempotent: true, maxInFlightRequests: 5 })
  await producer.connect()
  const theirs = await rateOf(RECORDS, async () => {
    for (let batch = 0; batch < batches.length; batch += PARTITIONS) {
      await Promise.all(
        batches.slice(batch, batch + PARTITIONS).map((records, partition) =>
          producer.send({
            topic: `${namespace}latency`,
            messages: records.map(({ key, value, time }) => ({ key, value, partition, timestamp: String(time) })),
          }),
        ),
      )
    }
  })
  await producer.disconnect()
  return compare('write, batches of 1,000, against kafkajs producer', ours, theirs)
}

async function measureReading(log: Log, brokers: readonly string[], namespace: string): Promise<Figure[]> {
  const reader = log.reader()
  await readAll(reader) // both sides read from a warm page cache, with warm code
  const ours = await rateOf(RECORDS, () => readAll(reader))
  await readWithConsumer(brokers, namespace)
  const theirs = await readWithConsumer(brokers, namespace)
  return compare('read and decode, against kafkajs consumer', ours, theirs)
}

async function readAll(reader: ReturnType<Log['reader']>): Promise<void> {
  const ends = await reader.offsets(TOPIC, [0, 1, 2], 'end')
  let positions = [...ends.keys()].map((partition) => ({ topic: TOPIC, partition, offset: 0 }))
  while (positions.length > 0) {
    const slices = await reader.fetch(positions, { maxWaitMs: 100, maxBytesPerPartition: 1 << 20 })
    for (const { records } of slices) for (const { value } of records) if (value !== null) codec.decode(value)
    positions = slices
      .filter(({ partition, next }) => next < (ends.get(partition) ?? 0))
      .map(({ topic, partition, next }) => ({ topic, partition, offset: next }))
  }
}

/** Records a second from the first batch on, so that joining the group is not counted. */
async function readWithConsumer(brokers: readonly string[], namespace: string): Promise<Rate> {
  const consumer = client(brokers).consumer({ groupId: `${namespace}${Date.now()}`, maxBytesPerPartition: 1 << 20 })
  await consumer.connect()
  await consumer.subscribe({ topics: [`${namespace}${TOPIC}`], fromBeginning: true })
  let read = 0
  let stop: (() => Rate) | undefined
  const done = new Promise<Rate>((resolve, reject) => {
    consumer
      .run({
        autoCommit: false,
        eachBatch: async ({ batch }) => {
          stop ??= startRate(RECORDS)
          for (const { value } of batch.messages) if (value !== null) codec.decode(value)
          read += batch.messages.length
          if (read >= RECORDS) resolve(stop())
        },
      })
      .catch(reject)
  })
  const rate = await done
  await consumer.disconnect()
  return rate
}

async function measureDelays(log: Log): Promise<Figure[]> {
  const writer = log.writer()
  const sends = await timesOf(SENDS, (index) => writer.send('latency', 0, [record(index)]))
  const claims = await timesOf(CLAIMS, async (index) => {
    const claim = await log.claim(`bench-${index % 2}`, [{ topic: 'latency', partition: index % 2 }])
    await claim.close()
  })
  return [
    ...percentiles('send of one record', sends),
    ...percentiles('claim of a partition', claims),
    ...percentiles('from send to reader', await measureOneWay(log)),
  ]
}

async function measureOneWay(log: Log): Promise<number[]> {
  const writer = log.writer()
  const reader = log.reader()
  let offset = (await reader.offsets('latency', [2], 'end')).get(2) ?? 0
  return timesOf(SENDS, async (index) => {
    const seen = reader.fetch([{ topic: 'latency', partition: 2, offset }], {
      maxWaitMs: 5_000,
      maxBytesPerPartition: 65_536,
    })
    void writer.send('latency', 2, [record(index)])
    offset = (await seen)[0]?.next ?? offset
  })
}

/** Records a second of the clock, and a second of this process' CPU: the second one says less of the neighbours. */
interface Rate {
  readonly clock: number
  readonly cpu: number
}

function startRate(count: number): () => Rate {
  const ended = startCost()
  return () => {
    const { seconds, cpu } = ended()
    return { clock: count / seconds, cpu: count / cpu }
  }
}

async function rateOf(count: number, work: () => Promise<void>): Promise<Rate> {
  const stop = startRate(count)
  await work()
  return stop()
}

async function timesOf(count: number, work: (index: number) => Promise<unknown>): Promise<number[]> {
  const times: number[] = []
  for (let index = 0; index < count; index += 1) {
    const began = performance.now()
    await work(index)
    times.push(performance.now() - began)
  }
  return times
}

function compare(metric: string, ours: Rate, theirs: Rate): Figure[] {
  const figure = (unit: string, value: number, baseline: number): Figure => {
    return { metric, value, unit, baseline, n: RECORDS }
  }
  return [figure('records/s', ours.clock, theirs.clock), figure('records/CPU s', ours.cpu, theirs.cpu)]
}

function client(brokers: readonly string[]): Kafka {
  return new Kafka({ brokers: [...brokers], clientId: 'bench', logLevel: logLevel.NOTHING, requestTimeout: 10_000 })
}

function trades(from: number): OutRecord[] {
  return Array.from({ length: BATCH }, (_, index) => record(from + index))
}

function record(index: number): OutRecord {
  const trade: Trade = {
    instrument: 'binance:perp:BTCUSDT',
    asset: 'btc',
    first_id: index,
    last_id: index,
    count: 1,
    sequence: null,
    price: 54_321.1 + (index % 100) / 10,
    size: 0.001 * (1 + (index % 50)),
    quote: 54.3 * (1 + (index % 50)),
    size_factor: 1,
    price_factor: 1,
    taker: index % 2 === 0 ? 'buy' : 'sell',
    time: (START + index) * 1_000,
    received: (START + index) * 1_000 + 1_500,
    origin: 'stream',
    gap_id: null,
  }
  const value = codec.encode(TOPIC, 'trade', trade)
  return { key: trade.asset, value, time: START + index }
}
