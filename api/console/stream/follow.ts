import { loadCodec, SchemaError, type RegistryCodec } from '../../../infra/kafka/codec.ts'
import { connectLog } from '../../../infra/kafka/kafkajs.ts'
import type { Log, LogReader, LogRecord } from '../../../infra/kafka/seam.ts'
import type { Logger } from '../../../infra/log.ts'
import type { RecordType } from '../../../schemas/records.ts'
import { decode } from '../../alerts/decode.ts'
import { Tail } from '../../alerts/tail.ts'
import type { Unread } from '../../unread.ts'
import { Board, type Place, type Update } from './board.ts'
import { Digest, followed } from './digest.ts'
import type { Latencies } from './latencies.ts'

const GIVE_UP_MS = 60_000
/** Half of the time between two flushes to the pages. */
const FETCH_EVERY_MS = 100

export interface FollowOptions {
  readonly brokers: readonly string[]
  readonly namespace: string
  readonly registryUrl: string
  readonly partitions: number
  readonly log: Logger
  /** Host's clock, milliseconds. */
  readonly now: () => number
  readonly latencies: Latencies
  readonly unread: Unread
}

export interface Following {
  readonly board: Board
  close(): Promise<void>
}

/** Follows the log once for all pages: a tail per topic into one board. Resolves when all of them follow. */
export async function follow(options: FollowOptions): Promise<Following> {
  const { registryUrl, brokers, namespace, log } = options
  const codec = await loadCodec(registryUrl)
  const kafka = await connectLog({ brokers, namespace, clientId: 'console', log, giveUpMs: GIVE_UP_MS })
  try {
    return await tailAll(kafka, codec, options)
  } catch (error) {
    await kafka.close()
    throw error
  }
}

async function tailAll(kafka: Log, codec: RegistryCodec, options: FollowOptions): Promise<Following> {
  const { partitions, log, now, unread } = options
  const readers = followed.map(() => kafka.reader())
  const starts = await Promise.all(readers.map((reader, at) => startOf(reader, at, options)))
  const board = new Board(starts.map((offsets) => [...Array(partitions).keys()].map((at) => offsets.get(at) ?? 0)))
  const reading: Reading = { codec, digest: new Digest(now() * 1000), log, unread }
  const began = now()
  const tails = followed.map(({ topic }, at) => {
    const take = async (record: LogRecord, partition: number): Promise<void> => {
      // What was written before we looked was not late.
      if (record.time >= began) options.latencies.seen(topic, now() - record.time, now())
      const place = { topic: at, partition, offset: record.offset }
      board.take(place, await updatesOf(record, place, reading))
    }
    const onMissed = { ...(topic === 'alerts.state' && { onMissed: () => board.forget('alert') }) }
    const reader = readers[at] ?? kafka.reader()
    return new Tail({ topic, partitions, reader, log, everyMs: FETCH_EVERY_MS, take, ...onMissed })
  })
  for (const [at, tail] of tails.entries()) tail.startFrom(starts[at] ?? new Map())
  return {
    board,
    close: async () => {
      await Promise.all(tails.map((tail) => tail.close()))
      await kafka.close()
    },
  }
}

function startOf(reader: LogReader, at: number, { partitions, now }: FollowOptions): Promise<Map<number, number>> {
  const topic = followed[at]
  if (topic === undefined) throw new Error('a reader follows a topic of the table')
  const from = topic.sinceMs === 'start' ? 'start' : { time: now() - topic.sinceMs }
  return reader.offsets(topic.topic, [...Array(partitions).keys()], from)
}

interface Reading {
  readonly codec: RegistryCodec
  readonly digest: Digest
  readonly log: Logger
  readonly unread: Unread
}

/** What a record says; most say nothing and are not decoded. One that cannot be read must not stop the others. */
async function updatesOf(record: LogRecord, place: Place, { codec, digest, log, unread }: Reading): Promise<Update[]> {
  const topic = followed[place.topic]
  if (topic === undefined) return []
  if (record.value === null) return tombstone(topic.topic, record.key)
  const wanted: readonly RecordType[] = topic.records
  const type = codec.typeOf(record.value)
  if (type !== undefined && !wanted.includes(type)) return []
  try {
    return digest.of(await decode(codec, record.value), topic.topic, place.partition)
  } catch (error) {
    if (error instanceof SchemaError) throw error // the record is fetched again
    unread.add({ topic: topic.topic, partition: place.partition, offset: place.offset }, error, log)
    return []
  }
}

function tombstone(topic: string, key: Buffer | null): Update[] {
  if (topic !== 'alerts.state' || key === null) return []
  return [{ kind: 'alert', key: key.toString(), asset: null, value: null }]
}
